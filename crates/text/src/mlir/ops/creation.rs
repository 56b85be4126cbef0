//! `stablehlo.constant dense<...> : type`, `stablehlo.iota dim = 0 : type`.

use shard_ir::ops::{Constant, DynamicIota, Iota, SdyConstant};
use shard_ir::{Attr, Dense, OpId};

use super::super::parser::{OpStart, Parser, Parts, Read};
use super::{Entry, Pretty};

pub(super) fn pretty(name: &str) -> Option<Pretty> {
    Some(match name {
        "stablehlo.constant" | "sdy.constant" => constant,
        "stablehlo.iota" => iota,
        "stablehlo.dynamic_iota" => dynamic_iota,
        _ => return None,
    })
}

fn constant<'a>(p: &mut Parser<'a>, start: &OpStart<'a>, entry: &'static Entry) -> Read<OpId> {
    let mut parts = Parts::default();
    if p.c.eat(b'(') {
        // The generic form behind the pretty name, where the result's type isn't the constant's.
        p.expect(b')')?;
        if p.c.eat(b'<') {
            p.attr_dict(&mut parts.attrs)?;
            p.expect(b'>')?;
        }
        p.optional_attr_dict(&mut parts.attrs)?;
        let op = p.op_from_attrs(start, entry, &mut parts.attrs)?;
        return p.functional_type(start, op, parts);
    }
    p.optional_attr_dict(&mut parts.attrs)?;
    p.c.skip_space();
    let at = p.c.pos();
    let value: Dense = if p.c.eat_word("dense") {
        p.dense(None)?
    } else if p.c.eat_word("dense_resource") {
        p.dense_resource()?
    } else if p.c.peek() == b'#' {
        match p.attr()? {
            Attr::Dense(dense) => dense,
            _ => {
                let end = p.c.pos();
                return p.error(at..end, "expected a constant");
            }
        }
    } else {
        return p.expected("a constant such as 'dense<0.0> : tensor<f32>'");
    };
    parts.results.push(value.ty);
    if start.name == "sdy.constant" {
        return p.finish(start, SdyConstant { value }.into(), parts);
    }
    p.finish(start, Constant { value }.into(), parts)
}

fn iota<'a>(p: &mut Parser<'a>, start: &OpStart<'a>, _: &'static Entry) -> Read<OpId> {
    let mut parts = Parts::default();
    p.key("dim")?;
    let dimension = p.integer()?;
    p.optional_attr_dict(&mut parts.attrs)?;
    p.expect(b':')?;
    parts.results.push(p.ty()?);
    p.finish(start, Iota { dimension }.into(), parts)
}

fn dynamic_iota<'a>(p: &mut Parser<'a>, start: &OpStart<'a>, _: &'static Entry) -> Read<OpId> {
    let mut parts = Parts::default();
    parts.operands.push(p.operand()?);
    p.expect(b',')?;
    p.key("dim")?;
    let dimension = p.integer()?;
    p.functional(start, DynamicIota { dimension }, parts)
}
