//! Data movement: attributes that hold sizes get the local ones.

use shard_ir::ops::{DynamicSlice, Movement, Slice};
use shard_ir::{Diagnostic, OpId};

use super::Local;
use crate::rewrite::Rewriter;

pub(super) fn lower(
    local: &mut Local,
    rw: &mut Rewriter<'_>,
    op: OpId,
    kind: Movement,
) -> Result<(), Diagnostic> {
    match kind {
        Movement::Slice(slice) => {
            let operand = local.local(rw.module, rw.module.operand(op, 0)).dims;
            let global = local.global(rw.module, rw.module.operand(op, 0)).dims;
            let mut limit = slice.limit.clone();
            for dim in (0..limit.len()).filter(|&dim| operand[dim] != global[dim]) {
                limit[dim] = operand[dim];
            }
            rw.module.op_mut(op).op = Slice { limit, ..*slice }.into();
            local.shrink(rw, op)
        }
        Movement::DynamicSlice(slice) => {
            let result = rw.module.result(op, 0);
            let mut sizes = slice.sizes.clone();
            for (dim, size) in sizes.iter_mut().enumerate() {
                let along = local.dim_axes(rw.module, result, dim);
                *size /= shard_ir::sharding::axes::product(&along) as i64;
            }
            rw.module.op_mut(op).op = DynamicSlice { sizes }.into();
            local.shrink(rw, op)
        }
        Movement::Reshape
        | Movement::BitcastConvert
        | Movement::DynamicUpdateSlice
        | Movement::DynamicReshape
        | Movement::RealDynamicSlice
        | Movement::DynamicPad
        | Movement::BroadcastInDim(_)
        | Movement::DynamicBroadcastInDim(_)
        | Movement::Broadcast(_)
        | Movement::Transpose(_)
        | Movement::Pad(_)
        | Movement::Concatenate(_)
        | Movement::Reverse(_)
        | Movement::GetDimensionSize(_)
        | Movement::SetDimensionSize(_) => local.shrink(rw, op),
    }
}
