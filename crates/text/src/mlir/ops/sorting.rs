//! `chlo.top_k(%0, k = 2) : type -> (type, type)`; a sort has the generic form only.

use shard_ir::OpId;
use shard_ir::ops::TopK;

use super::super::parser::{OpStart, Parser, Parts, Read};
use super::{Entry, Pretty};

pub(super) fn pretty(name: &str) -> Option<Pretty> {
    match name {
        "chlo.top_k" => Some(top_k),
        _ => None,
    }
}

fn top_k<'a>(p: &mut Parser<'a>, start: &OpStart<'a>, _: &'static Entry) -> Read<OpId> {
    let mut parts = Parts::default();
    p.expect(b'(')?;
    parts.operands.push(p.operand()?);
    p.expect(b',')?;
    p.key("k")?;
    let k = p.integer()?;
    if p.c.eat(b',') {
        p.key("is_stable")?;
        let stable = p.attr()?;
        if stable != shard_ir::Attr::Bool(true) {
            let name = p.m.symbol("is_stable");
            parts.attrs.push((name, stable));
        }
    }
    p.expect(b')')?;
    p.optional_attr_dict(&mut parts.attrs)?;
    p.expect(b':')?;
    let at = p.c.pos();
    let ty = p.ty()?;
    p.check_types(at, &parts.operands, &[ty])?;
    p.expect_str("->")?;
    p.result_types(&mut parts.results)?;
    p.finish(start, TopK { k }.into(), parts)
}
