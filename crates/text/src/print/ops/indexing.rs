//! Gathers and scatters.

use shard_ir::OpId;
use shard_ir::ops::Indexing;

use super::super::Printer;

impl Printer<'_> {
    pub(super) fn indexing(&mut self, op: OpId, kind: &Indexing) {
        match kind {
            Indexing::Gather(_)
            | Indexing::DynamicGather(_)
            | Indexing::Scatter(_)
            | Indexing::TorchIndexSelect(_) => self.generic_op(op),
        }
    }
}
