//! Batch normalisations.

use shard_ir::OpId;
use shard_ir::ops::Normalization;

use super::super::Printer;

impl Printer<'_> {
    pub(super) fn normalization(&mut self, op: OpId, kind: &Normalization) {
        match kind {
            Normalization::BatchNormGrad(_)
            | Normalization::BatchNormInference(_)
            | Normalization::BatchNormTraining(_) => self.generic_op(op),
        }
    }
}
