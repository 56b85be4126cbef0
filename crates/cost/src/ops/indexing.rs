//! Gathers and scatters.

use shard_ir::ops::Indexing;

use super::{Cx, Work};

pub(super) fn work(cx: Cx, kind: &Indexing) -> Work {
    match kind {
        Indexing::Gather(_) | Indexing::DynamicGather(_) | Indexing::TorchIndexSelect(_) => {
            Work::default()
        }
        Indexing::Scatter(_) => {
            let updates = cx.operand_elements(cx.module.operands(cx.op).len().saturating_sub(1));
            cx.body(0).times(updates)
        }
    }
}

pub(super) fn bytes(cx: Cx, kind: &Indexing) -> f64 {
    let operands = cx.module.operands(cx.op);
    match kind {
        // What is gathered is read and written; the rest of the operand isn't touched.
        Indexing::Gather(_) | Indexing::DynamicGather(_) | Indexing::TorchIndexSelect(_) => {
            2.0 * cx.result_bytes() + cx.bytes(operands.get(1..2).unwrap_or_default())
        }
        // In place: the updates are read, and as much of the input is read and written.
        Indexing::Scatter(_) => {
            let n = operands.len() / 2;
            let indices = operands.get(n..n + 1).unwrap_or_default();
            let updates = operands.get(n + 1..).unwrap_or_default();
            cx.bytes(indices) + 3.0 * cx.bytes(updates)
        }
    }
}
