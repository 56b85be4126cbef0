//! Convolutions: a device has its share of the groups.

use shard_ir::ops::{Conv, Convolution};
use shard_ir::{Diagnostic, OpId};

use super::Local;
use crate::rewrite::Rewriter;

pub(super) fn lower(
    local: &mut Local,
    rw: &mut Rewriter<'_>,
    op: OpId,
    kind: Convolution,
) -> Result<(), Diagnostic> {
    local.shrink(rw, op)?;
    let Convolution::Conv(conv) = kind else { return Ok(()) };
    let numbers = &conv.dims;
    let size = |value, dim: i64| {
        let ty = local.local(rw.module, value);
        usize::try_from(dim).ok().and_then(|dim| ty.dims.get(dim).copied()).unwrap_or(1).max(1)
    };
    let (input, kernel) = (rw.module.operand(op, 0), rw.module.operand(op, 1));
    let result = rw.module.result(op, 0);
    // What is left of a dimension that has all groups, by what one group has of it.
    let mut feature_groups = conv.feature_groups;
    if feature_groups > 1 {
        feature_groups =
            size(input, numbers.input_feature) / size(kernel, numbers.kernel_input_feature);
    }
    let mut batch_groups = conv.batch_groups;
    if batch_groups > 1 {
        batch_groups = size(input, numbers.input_batch) / size(result, numbers.output_batch);
    }
    rw.module.op_mut(op).op = Conv { feature_groups, batch_groups, ..*conv }.into();
    Ok(())
}
