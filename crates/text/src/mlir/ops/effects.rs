//! Tokens and tuples; infeed, outfeed, send and recv have the generic form only.

use shard_ir::ops::GetTupleElement;
use shard_ir::{OpId, Type};

use super::super::parser::{OpStart, Parser, Parts, Read};
use super::{Entry, Pretty};

pub(super) fn pretty(name: &str) -> Option<Pretty> {
    Some(match name {
        "stablehlo.create_token" => super::collective::nullary,
        "stablehlo.after_all" => after_all,
        "stablehlo.tuple" => tuple,
        "stablehlo.get_tuple_element" => get_tuple_element,
        _ => return None,
    })
}

fn after_all<'a>(p: &mut Parser<'a>, start: &OpStart<'a>, entry: &'static Entry) -> Read<OpId> {
    let op = p.plain(start, entry)?;
    let mut parts = Parts::default();
    p.operands(&mut parts.operands)?;
    p.same_types(start, op, parts)
}

/// `%0, %1 : tuple<...>`.
fn tuple<'a>(p: &mut Parser<'a>, start: &OpStart<'a>, entry: &'static Entry) -> Read<OpId> {
    let op = p.plain(start, entry)?;
    let mut parts = Parts::default();
    p.operands(&mut parts.operands)?;
    p.optional_attr_dict(&mut parts.attrs)?;
    p.expect(b':')?;
    let at = p.c.pos();
    let ty = p.ty()?;
    let Type::Tuple(items) = p.m.ty(ty) else {
        let end = p.c.pos();
        return p.error(at..end, "expected the type of a tuple");
    };
    let items = items.clone();
    p.check_types(at, &parts.operands, &items)?;
    parts.results.push(ty);
    p.finish(start, op, parts)
}

/// `%0[1] : (tuple) -> type`.
fn get_tuple_element<'a>(p: &mut Parser<'a>, start: &OpStart<'a>, _: &'static Entry) -> Read<OpId> {
    let mut parts = Parts::default();
    parts.operands.push(p.operand()?);
    p.expect(b'[')?;
    p.c.skip_space();
    let at = p.c.pos();
    let Ok(index) = i32::try_from(p.integer()?) else {
        let end = p.c.pos();
        return p.error(at..end, "the number of an element fits into 32 bits");
    };
    p.expect(b']')?;
    p.functional(start, GetTupleElement { index }, parts)
}
