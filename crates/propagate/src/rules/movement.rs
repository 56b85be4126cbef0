//! Data movement that depends on shapes, on attributes, or on start indices.

use shard_ir::ops::{Concatenate, Movement, Op};
use shard_ir::{DYNAMIC, Module, OpId, ValueId};

use super::builder::{self, DimChoice, dims, lists};
use super::{FactorKind, OpRule, RuleBuilder};

pub(super) fn rule(
    module: &Module,
    op: OpId,
    kind: &Movement,
    conservative: bool,
) -> Option<OpRule> {
    let result = *module.results(op).first()?;
    let input = *module.operands(op).first()?;
    let (in_shape, out_shape) = (builder::shape(module, input), builder::shape(module, result));
    let mut builder = RuleBuilder::new(module, op);
    match kind {
        Movement::Reshape => return reshape(module, op),
        Movement::BitcastConvert => {
            // The tensor of narrower elements has one dimension more, the innermost.
            let shared = in_shape.len().min(out_shape.len());
            builder.pointwise(&in_shape[..shared]);
            if in_shape.len() < out_shape.len() {
                builder.whole(&[None], &[Some(shared)], out_shape[shared]);
            } else if in_shape.len() > out_shape.len() {
                builder.whole(&[Some(shared)], &[None], in_shape[shared]);
            }
        }
        Movement::DynamicUpdateSlice => {
            let update = *module.operands(op).get(1)?;
            let mut on_update: Vec<DimChoice> = vec![None; module.operands(op).len()];
            let sizes = in_shape.iter().zip(builder::shape(module, update));
            for (dim, (&size, &update_size)) in sizes.enumerate() {
                if size == update_size {
                    builder.everywhere(dim, size, FactorKind::PassThrough, false);
                    continue;
                }
                let mut on_input = on_update.clone();
                on_input[0] = Some(dim);
                let moves = FactorKind::Permutation;
                builder.add(&on_input, &[Some(dim)], size, moves, false);
                on_update[1] = Some(dim);
                builder.add(&on_update, &[None], update_size, moves, false);
                on_update[1] = None;
            }
        }
        Movement::BroadcastInDim(broadcast) => {
            broadcast_dims(&mut builder, dims(&broadcast.dimensions), in_shape, out_shape);
        }
        Movement::Broadcast(broadcast) => {
            let added = broadcast.sizes.len();
            broadcast_dims(&mut builder, added..added + in_shape.len(), in_shape, out_shape);
        }
        Movement::Transpose(transpose) => {
            for (out, dim) in dims(&transpose.permutation).enumerate() {
                builder.pass(&[Some(dim)], &[Some(out)], *in_shape.get(dim)?);
            }
        }
        Movement::Slice(_) => {
            let kind = FactorKind::Permutation;
            builder.pointwise_but_mismatches(in_shape, out_shape, kind, conservative);
        }
        Movement::DynamicSlice(_) => {
            let kind = FactorKind::NeedReplication;
            builder.pointwise_but_mismatches(in_shape, out_shape, kind, true);
        }
        Movement::Pad(pad) => {
            let zero = |amounts: &[i64], dim: usize| amounts.get(dim).copied().unwrap_or(0) == 0;
            for (dim, (&size, &out)) in in_shape.iter().zip(out_shape).enumerate() {
                if size != out {
                    builder.everywhere(dim, size, FactorKind::Permutation, conservative);
                } else if zero(&pad.low, dim) && zero(&pad.high, dim) {
                    builder.everywhere(dim, size, FactorKind::PassThrough, false);
                } else {
                    builder.everywhere(dim, size, FactorKind::Permutation, false);
                }
            }
        }
        Movement::Concatenate(concatenate) => {
            for (dim, &size) in out_shape.iter().enumerate() {
                if !lists(&[concatenate.dimension], dim) {
                    builder.everywhere(dim, size, FactorKind::PassThrough, false);
                } else if !conservative {
                    builder.everywhere(dim, size, joined(module, op, concatenate), false);
                }
            }
        }
        Movement::Reverse(reverse) => {
            for (dim, &size) in out_shape.iter().enumerate() {
                let kind = if lists(&reverse.dimensions, dim) {
                    FactorKind::Permutation
                } else {
                    FactorKind::PassThrough
                };
                builder.everywhere(dim, size, kind, false);
            }
        }
        Movement::GetDimensionSize(_) => {
            // The size is known without looking at the data.
            for (dim, &size) in in_shape.iter().enumerate() {
                builder.pass(&[Some(dim)], &[None], size);
            }
        }
        Movement::SetDimensionSize(set) => {
            for (dim, &size) in in_shape.iter().enumerate() {
                if lists(&[set.dimension], dim) {
                    builder.everywhere(dim, size, FactorKind::NeedReplication, true);
                } else {
                    builder.everywhere(dim, size, FactorKind::PassThrough, false);
                }
            }
        }
        Movement::DynamicReshape
        | Movement::RealDynamicSlice
        | Movement::DynamicPad
        | Movement::DynamicBroadcastInDim(_) => return None,
    }
    Some(builder.build())
}

/// Maps operand dimension `i` to the `i`th of `out_dims`, where it isn't repeated.
fn broadcast_dims(
    builder: &mut RuleBuilder,
    out_dims: impl Iterator<Item = usize>,
    in_shape: &[i64],
    out_shape: &[i64],
) {
    let mut source: Vec<DimChoice> = vec![None; out_shape.len()];
    for (dim, out) in out_dims.enumerate() {
        if let (Some(source), true) = (source.get_mut(out), dim < in_shape.len()) {
            *source = Some(dim);
        }
    }
    for (out, (&size, from)) in out_shape.iter().zip(source).enumerate() {
        match from {
            Some(dim) if in_shape[dim] == 1 && size != 1 => {
                builder.pass(&[Some(dim)], &[None], 1);
                builder.pass(&[None], &[Some(out)], size);
            }
            from => builder.pass(&[from], &[Some(out)], size),
        }
    }
}

/// The kind of a joined dimension's factor: where slices of one tensor (or only slices) are joined,
/// as in a roll, elements just move; else the dimension must be whole.
fn joined(module: &Module, op: OpId, _concatenate: &Concatenate) -> FactorKind {
    let sliced_from = |value: ValueId| {
        let slice = module.defining_op(value)?;
        matches!(module.kind(slice), Op::Movement(Movement::Slice(_)))
            .then(|| module.operand(slice, 0))
    };
    let operands = module.operands(op);
    let Some(&first) = operands.first() else { return FactorKind::NeedReplication };
    let same = sliced_from(first).unwrap_or(first);
    let mut slices = operands.iter().map(|&value| sliced_from(value));
    let all_slices = slices.clone().all(|source| source.is_some());
    let one_source = || operands.iter().all(|&v| sliced_from(v).unwrap_or(v) == same);
    if all_slices || (one_source() && slices.any(|source| source.is_some())) {
        FactorKind::Permutation
    } else {
        FactorKind::NeedReplication
    }
}

fn gcd(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// One side of the walk over a reshape's dimensions.
struct Side<'a> {
    shape: &'a [i64],
    dim: usize,
    /// Product of the sizes of the dimensions begun so far.
    sizes: i64,
    /// Product of the factors given so far.
    factors: i64,
}

impl Side<'_> {
    fn size(&self) -> Option<i64> {
        self.shape.get(self.dim).copied()
    }

    /// What is left of the dimension at hand.
    fn rest(&mut self) -> i64 {
        if let (Some(size), true) = (self.size(), self.sizes == self.factors) {
            self.sizes = self.sizes.saturating_mul(size);
        }
        self.sizes / self.factors
    }

    fn take(&mut self, factor: i64) {
        self.factors = self.factors.saturating_mul(factor);
    }

    fn advance(&mut self) {
        if self.dim < self.shape.len() && self.sizes == self.factors {
            self.dim += 1;
        }
    }

    /// The next factor of this side where it lags behind the other: one that lets the two meet
    /// again, or one that keeps what they have in common for the next step.
    fn catch_up(&self, rest: i64, common: i64, ahead: i64) -> i64 {
        if ahead % self.factors == 0 && rest % (ahead / self.factors) == 0 {
            ahead / self.factors
        } else if rest > common {
            rest / common
        } else {
            rest
        }
    }
}

/// Walks the dimensions of both sides from major to minor. While the products of the factors given
/// to both sides are equal, what the next dimensions have in common becomes a shared factor; where
/// they have nothing in common, a factor of the input's size permutes, and then each side gets
/// factors of its own until the products meet again.
fn reshape(module: &Module, op: OpId) -> Option<OpRule> {
    let in_shape = builder::shape(module, *module.operands(op).first()?);
    let out_shape = builder::shape(module, *module.results(op).first()?);
    let elements = |shape: &[i64]| {
        shape.iter().try_fold(1i64, |n, &size| if size <= 0 { None } else { n.checked_mul(size) })
    };
    // Nothing can be said about a tensor without elements, or of unknown size.
    if in_shape.contains(&DYNAMIC) || elements(in_shape)? != elements(out_shape)? {
        return None;
    }
    let side = |shape| Side { shape, dim: 0, sizes: 1, factors: 1 };
    let (mut input, mut output) = (side(in_shape), side(out_shape));
    let mut builder = RuleBuilder::new(module, op);
    while input.size().is_some() || output.size().is_some() {
        let (on_input, on_output) = ([Some(input.dim)], [Some(output.dim)]);
        if input.size() == Some(1) {
            builder.whole(&on_input, &[None], 1);
            input.dim += 1;
            continue;
        }
        if output.size() == Some(1) {
            builder.whole(&[None], &on_output, 1);
            output.dim += 1;
            continue;
        }
        let (rest_in, rest_out) = (input.rest(), output.rest());
        let common = gcd(rest_in, rest_out);
        if input.factors == output.factors && common > 1 {
            builder.pass(&on_input, &on_output, common);
            input.take(common);
            output.take(common);
        } else if input.factors == output.factors {
            // Parts of one side overlap several of the other.
            let kind = FactorKind::Permutation;
            builder.add(&on_input, &on_output, rest_in, kind, false);
            input.take(rest_in);
            output.take(rest_out);
        } else if input.factors < output.factors {
            let factor = input.catch_up(rest_in, common, output.factors);
            builder.whole(&on_input, &[None], factor);
            input.take(factor);
        } else {
            let factor = output.catch_up(rest_out, common, input.factors);
            builder.whole(&[None], &on_output, factor);
            output.take(factor);
        }
        input.advance();
        output.advance();
    }
    Some(builder.build())
}
