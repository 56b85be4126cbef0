//! `stablehlo.rng %0, %1, %2, distribution = UNIFORM`, `stablehlo.rng_bit_generator`.

use shard_ir::OpId;
use shard_ir::ops::{Distribution, Rng, RngAlgorithm, RngBitGenerator};

use super::super::parser::{OpStart, Parser, Parts, Read};
use super::{Entry, Pretty};

pub(super) fn pretty(name: &str) -> Option<Pretty> {
    Some(match name {
        "stablehlo.rng" => rng,
        "stablehlo.rng_bit_generator" => rng_bit_generator,
        _ => return None,
    })
}

fn rng<'a>(p: &mut Parser<'a>, start: &OpStart<'a>, _: &'static Entry) -> Read<OpId> {
    let mut parts = Parts::default();
    while p.c.peek() == b'%' {
        parts.operands.push(p.operand()?);
        p.expect(b',')?;
    }
    p.key("distribution")?;
    let what = "a distribution such as 'UNIFORM'";
    let distribution = p.enumeration(what, Distribution::from_text)?;
    p.functional(start, Rng { distribution }, parts)
}

fn rng_bit_generator<'a>(p: &mut Parser<'a>, start: &OpStart<'a>, _: &'static Entry) -> Read<OpId> {
    let mut parts = Parts::default();
    parts.operands.push(p.operand()?);
    p.expect(b',')?;
    p.key("algorithm")?;
    let algorithm = p.enumeration("an algorithm such as 'THREE_FRY'", RngAlgorithm::from_text)?;
    p.functional(start, RngBitGenerator { algorithm }, parts)
}
