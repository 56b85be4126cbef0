//! Data movement: bytes only, and only of what is moved.

use shard_ir::ops::Movement;

use super::{Cx, type_bytes};

pub(super) fn bytes(cx: Cx, kind: &Movement) -> f64 {
    let operand = |index: usize| {
        let value = cx.module.operands(cx.op).get(index);
        value.map_or(0.0, |&v| type_bytes(cx.module, cx.module.value_type(v)) as f64)
    };
    match kind {
        // The same bytes in the same order.
        Movement::Reshape | Movement::DynamicReshape | Movement::BitcastConvert => 0.0,
        Movement::GetDimensionSize(_) | Movement::SetDimensionSize(_) => 0.0,
        Movement::Slice(_) | Movement::DynamicSlice(_) | Movement::RealDynamicSlice => {
            2.0 * cx.result_bytes()
        }
        // In place: only the block is read and written.
        Movement::DynamicUpdateSlice => 2.0 * operand(1),
        Movement::DynamicPad
        | Movement::BroadcastInDim(_)
        | Movement::DynamicBroadcastInDim(_)
        | Movement::Broadcast(_)
        | Movement::Transpose(_)
        | Movement::Pad(_)
        | Movement::Concatenate(_)
        | Movement::Reverse(_) => cx.all_bytes(),
    }
}
