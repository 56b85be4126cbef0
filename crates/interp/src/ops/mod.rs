//! Kernels: what each op computes on one device from its operands alone.
//!
//! One file a family of ops. A kernel takes its shapes from the operands, so that dynamic shapes
//! need nothing of their own, and element types from the program.

mod convolution;
mod creation;
pub(crate) mod custom;
mod dot;
mod elementwise;
mod indexing;
mod linalg;
pub(crate) mod movement;
mod normalization;
pub(crate) mod numeric;
pub(crate) mod operands;
mod product;
mod quantized;
mod random;
mod reduction;
mod sorting;
mod window;

use shard_ir::ops::{Elementwise, Hlo, Op};
use shard_ir::sharding::Combiner;

pub(crate) use sorting::{sort_by_function, top_k};

use crate::site::{Results, Site};
use crate::{Fault, Tensor};

/// Executes an op that needs no other device and no control flow.
///
/// # Errors
/// If the op has no meaning on these operands, or isn't one of those.
pub(crate) fn eval(site: &Site<'_>, operands: &[Tensor]) -> Result<Results, Fault> {
    if !site.expressed && quantized::concerns(site, operands) {
        return quantized::eval(site, operands);
    }
    kernel(site, operands)
}

/// The same, of elements that aren't quantized, or that are only moved.
fn kernel(site: &Site<'_>, operands: &[Tensor]) -> Result<Results, Fault> {
    match site.kind() {
        Op::Elementwise(op) => elementwise::eval(op, site, operands),
        Op::Creation(op) => creation::eval(op, site, operands),
        Op::Dot(op) => dot::eval(op, site, operands),
        Op::Convolution(op) => convolution::eval(op, site, operands),
        Op::Reduction(op) => reduction::eval(op, site, operands),
        Op::Movement(op) => movement::eval(op, site, operands),
        Op::Indexing(op) => indexing::eval(op, site, operands),
        Op::Sorting(op) => sorting::eval(op, site, operands),
        Op::Linalg(op) => linalg::eval(op, site, operands),
        Op::Random(op) => random::eval(op, site, operands),
        Op::Normalization(op) => normalization::eval(op, site, operands),
        Op::Hlo(op) => hlo(op, operands),
        Op::Control(_)
        | Op::Collective(_)
        | Op::Sdy(_)
        | Op::Effects(_)
        | Op::Custom(_)
        | Op::Opaque(_) => Err(Fault::unsupported(format!(
            "'{}' in a region of scalars",
            site.module.op_name(site.op)
        ))),
    }
}

/// An elementwise op that the program calls by another name.
///
/// # Errors
/// As [`eval`].
pub(crate) fn apply_elementwise(
    op: &Elementwise,
    site: &Site<'_>,
    operands: &[Tensor],
) -> Result<Results, Fault> {
    elementwise::eval(op, site, operands)
}

fn hlo(op: &Hlo, operands: &[Tensor]) -> Result<Results, Fault> {
    match (op, operands) {
        (Hlo::Copy | Hlo::AddDependency, [operand, ..]) => {
            Ok(Results::from_iter([operand.clone()]))
        }
        _ => Err(Fault::unsupported("an op of HLO's own (see --hlo-to-stablehlo)")),
    }
}

/// Two parts of a partial value as one.
///
/// # Errors
/// If the element type has no such order or sum.
pub(crate) fn combine(combiner: Combiner, a: &Tensor, b: &Tensor) -> Result<Tensor, Fault> {
    let op = match combiner {
        Combiner::Sum => Elementwise::Add,
        Combiner::Max => Elementwise::Maximum,
        Combiner::Min => Elementwise::Minimum,
    };
    elementwise::binary(&op, a, b)
}
