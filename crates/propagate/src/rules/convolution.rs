//! Convolutions: batch and output features pass through, input features are summed, and a spatial
//! dimension of the input splits into the windows (a halo is exchanged) and the window (a sum).

use shard_ir::ops::Convolution;
use shard_ir::{Module, OpId};

use super::builder;
use super::{FactorKind, OpRule, Reducer, RuleBuilder};

pub(super) fn rule(
    module: &Module,
    op: OpId,
    kind: &Convolution,
    conservative: bool,
) -> Option<OpRule> {
    let conv = match kind {
        Convolution::Conv(conv) => conv,
        // How windows lie depends on a run-time value.
        Convolution::DynamicConv(_) => return None,
    };
    let &[lhs, rhs] = module.operands(op) else { return None };
    let out = *module.results(op).first()?;
    let numbers = &conv.dims;
    let dim = |number: i64| usize::try_from(number).ok();
    let size = |value, dim: usize| builder::shape(module, value).get(dim).copied();
    let (in_batch, in_feature) = (dim(numbers.input_batch)?, dim(numbers.input_feature)?);
    let (kernel_in, kernel_out) =
        (dim(numbers.kernel_input_feature)?, dim(numbers.kernel_output_feature)?);
    let (out_batch, out_feature) = (dim(numbers.output_batch)?, dim(numbers.output_feature)?);
    let sum = FactorKind::Reduction(Reducer::sum_of(module, out));
    let mut builder = RuleBuilder::new(module, op);

    if conv.batch_groups > 1 {
        let operands = [Some(in_batch), Some(kernel_out)];
        builder.pass(&operands, &[Some(out_feature)], conv.batch_groups);
    }
    builder.pass(&[Some(in_batch), None], &[Some(out_batch)], size(out, out_batch)?);

    let spatial = numbers
        .input_spatial
        .iter()
        .zip(&numbers.kernel_spatial)
        .zip(&numbers.output_spatial)
        .take(if conservative { 0 } else { usize::MAX });
    for ((&left, &right), &output) in spatial {
        let (left, right, output) = (dim(left)?, dim(right)?, dim(output)?);
        let (windows, window) = (size(out, output)?, size(rhs, right)?);
        // The larger of the two is the major factor: it takes the input's sharding first.
        let mut parts = [(windows, false), (window, true)];
        if window > windows {
            parts.reverse();
        }
        let mut remaining = size(lhs, left)?;
        for (part, contracting) in parts {
            let shared = part.min(remaining);
            let (on_kernel, on_output) =
                if contracting { (Some(right), None) } else { (None, Some(output)) };
            if shared > 1 {
                let kind = if contracting { sum } else { FactorKind::Permutation };
                builder.add(&[Some(left), on_kernel], &[on_output], shared, kind, false);
                remaining /= shared;
            } else if part > 1 {
                // Nothing of the input is left to go along with it.
                let kind = FactorKind::Permutation;
                builder.add(&[None, on_kernel], &[on_output], part, kind, false);
            }
        }
    }

    if conv.feature_groups > 1 {
        let operands = [Some(in_feature), Some(kernel_out)];
        builder.pass(&operands, &[Some(out_feature)], conv.feature_groups);
    }
    let operands = [Some(in_feature), Some(kernel_in)];
    builder.add(&operands, &[None], size(rhs, kernel_in)?, sum, false);
    let groups = conv.batch_groups.max(1).saturating_mul(conv.feature_groups.max(1));
    let features = size(out, out_feature)? / groups;
    if features > 1 {
        builder.pass(&[None, Some(kernel_out)], &[Some(out_feature)], features);
    }
    Some(builder.build())
}
