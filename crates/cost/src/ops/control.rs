//! Control flow: nothing by itself.

use shard_ir::ops::Control;

pub(super) fn bytes(kind: &Control) -> f64 {
    match kind {
        Control::While
        | Control::If
        | Control::Case
        | Control::OptimizationBarrier
        | Control::Return
        | Control::FuncReturn
        | Control::SdyReturn
        | Control::Call(_) => 0.0,
    }
}
