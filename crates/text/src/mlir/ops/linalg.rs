//! `stablehlo.cholesky %0, lower = true : type`, `stablehlo.fft %0, type = FFT, length = [8]`.

use shard_ir::OpId;
use shard_ir::ops::{Cholesky, Fft, FftType};

use super::super::parser::{OpStart, Parser, Parts, Read};
use super::{Entry, Pretty};

pub(super) fn pretty(name: &str) -> Option<Pretty> {
    Some(match name {
        "stablehlo.cholesky" => cholesky,
        "stablehlo.fft" => fft,
        _ => return None,
    })
}

fn cholesky<'a>(p: &mut Parser<'a>, start: &OpStart<'a>, _: &'static Entry) -> Read<OpId> {
    let mut parts = Parts::default();
    parts.operands.push(p.operand()?);
    let mut lower = None;
    if p.c.eat(b',') {
        p.key("lower")?;
        lower = Some(p.c.eat_word("true"));
        if lower == Some(false) {
            p.expect_word("false")?;
        }
    }
    p.same_types(start, Cholesky { lower }, parts)
}

fn fft<'a>(p: &mut Parser<'a>, start: &OpStart<'a>, _: &'static Entry) -> Read<OpId> {
    let mut parts = Parts::default();
    parts.operands.push(p.operand()?);
    p.expect(b',')?;
    p.key("type")?;
    let kind = p.enumeration("a kind such as 'FFT'", FftType::from_text)?;
    p.expect(b',')?;
    p.key("length")?;
    let length = p.dims()?;
    p.functional(start, Fft { kind, length }, parts)
}
