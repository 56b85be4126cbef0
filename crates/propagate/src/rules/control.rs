//! Control flow and calls have no rules: their values are connected by data flow.

use shard_ir::ops::Control;
use shard_ir::{Module, OpId};

use super::OpRule;

pub(super) fn rule(_module: &Module, _op: OpId, kind: &Control) -> Option<OpRule> {
    match kind {
        Control::While
        | Control::If
        | Control::Case
        | Control::OptimizationBarrier
        | Control::Return
        | Control::FuncReturn
        | Control::SdyReturn
        | Control::Call(_) => None,
    }
}
