//! `stablehlo.custom_call @name(%0) {...} : (types) -> types`, `stablehlo.composite "name" %0 {...}`.

use shard_ir::{Attr, OpId};

use super::super::parser::{OpStart, Parser, Parts, Read};
use super::{Entry, Pretty};

pub(super) fn pretty(name: &str) -> Option<Pretty> {
    Some(match name {
        "stablehlo.custom_call" => custom_call,
        "stablehlo.composite" => composite,
        _ => return None,
    })
}

fn custom_call<'a>(p: &mut Parser<'a>, start: &OpStart<'a>, entry: &'static Entry) -> Read<OpId> {
    let mut parts = Parts::default();
    let target = p.symbol_name()?;
    p.expect(b'(')?;
    p.operands(&mut parts.operands)?;
    p.expect(b')')?;
    p.optional_attr_dict(&mut parts.attrs)?;
    let name = p.m.symbol("call_target_name");
    parts.attrs.push((name, Attr::String(target)));
    let op = p.op_from_attrs(start, entry, &mut parts.attrs)?;
    p.functional_type(start, op, parts)
}

fn composite<'a>(p: &mut Parser<'a>, start: &OpStart<'a>, entry: &'static Entry) -> Read<OpId> {
    let mut parts = Parts::default();
    let target = p.string_symbol()?;
    p.operands(&mut parts.operands)?;
    p.optional_attr_dict(&mut parts.attrs)?;
    let name = p.m.symbol("name");
    parts.attrs.push((name, Attr::String(target)));
    let op = p.op_from_attrs(start, entry, &mut parts.attrs)?;
    p.functional_type(start, op, parts)
}
