//! `stablehlo.partition_id : type`; collectives have the generic form only.

use shard_ir::OpId;

use super::super::parser::{OpStart, Parser, Parts, Read};
use super::{Entry, Pretty};

pub(super) fn pretty(name: &str) -> Option<Pretty> {
    match name {
        "stablehlo.partition_id" | "stablehlo.replica_id" => Some(nullary),
        _ => None,
    }
}

/// `{...} : type`.
pub(super) fn nullary<'a>(
    p: &mut Parser<'a>,
    start: &OpStart<'a>,
    entry: &'static Entry,
) -> Read<OpId> {
    let op = p.plain(start, entry)?;
    let mut parts = Parts::default();
    p.optional_attr_dict(&mut parts.attrs)?;
    p.expect(b':')?;
    parts.results.push(p.ty()?);
    p.finish(start, op, parts)
}
