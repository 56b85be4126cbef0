//! `stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : (types) -> type`.

use shard_ir::ops::{DotDims, DotGeneral, DotPlain, Precision, Precisions};
use shard_ir::{Attr, Dims, OpId};

use super::super::dialect_attrs::wrong_algorithm;
use super::super::parser::{OpStart, Parser, Parts, Read};
use super::{Entry, Pretty};

pub(super) fn pretty(name: &str) -> Option<Pretty> {
    Some(match name {
        "stablehlo.dot_general" => dot_general,
        "stablehlo.dot" => dot,
        _ => return None,
    })
}

fn dot_general<'a>(p: &mut Parser<'a>, start: &OpStart<'a>, _: &'static Entry) -> Read<OpId> {
    let mut parts = Parts::default();
    parts.operands.push(p.operand()?);
    p.expect(b',')?;
    parts.operands.push(p.operand()?);
    p.expect(b',')?;
    let mut dims = DotDims::default();
    if p.c.eat_word("batching_dims") {
        p.expect(b'=')?;
        (dims.lhs_batch, dims.rhs_batch) = p.dims_pair()?;
        p.expect(b',')?;
    }
    p.key("contracting_dims")?;
    (dims.lhs_contracting, dims.rhs_contracting) = p.dims_pair()?;
    let mut precision = Precisions::default();
    let mut algorithm = None;
    while p.c.eat(b',') {
        if p.c.eat_word("algorithm") {
            p.expect(b'=')?;
            p.c.skip_space();
            let at = p.c.pos();
            if p.c.here() != b'<' {
                return p.expected("'<' of an algorithm");
            }
            p.balanced("algorithm")?;
            let text = p.c.slice_from(at);
            if let Some(message) = wrong_algorithm(text) {
                return p.error(at..p.c.pos(), message);
            }
            let text = format!("#stablehlo.dot_algorithm{text}");
            algorithm = Some(Attr::Text(p.m.symbol(&text)));
        } else {
            precision = p.precisions()?;
        }
    }
    p.functional(start, DotGeneral { dims, precision, algorithm }, parts)
}

fn dot<'a>(p: &mut Parser<'a>, start: &OpStart<'a>, _: &'static Entry) -> Read<OpId> {
    let mut parts = Parts::default();
    parts.operands.push(p.operand()?);
    p.expect(b',')?;
    parts.operands.push(p.operand()?);
    let precision = if p.c.eat(b',') { p.precisions()? } else { Precisions::default() };
    p.functional(start, DotPlain { precision }, parts)
}

impl Parser<'_> {
    /// `[0] x [1]`.
    fn dims_pair(&mut self) -> Read<(Dims, Dims)> {
        let lhs = self.dims()?;
        self.expect_word("x")?;
        Ok((lhs, self.dims()?))
    }

    /// `precision = [DEFAULT, HIGH]`.
    fn precisions(&mut self) -> Read<Precisions> {
        self.key("precision")?;
        let mut list = Precisions::default();
        self.list(b'[', b']', |p| {
            list.0.push(p.enumeration("a precision such as 'DEFAULT'", Precision::from_text)?);
            Ok(())
        })?;
        Ok(list)
    }
}
