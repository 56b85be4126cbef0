//! Batch normalisations: features pass through. With given statistics every other dimension does
//! too; where statistics are computed, the others must be whole.

use shard_ir::ops::Normalization;
use shard_ir::{Module, OpId, ValueId};

use super::builder::{self, DimChoice};
use super::{FactorKind, OpRule, RuleBuilder};

pub(super) fn rule(module: &Module, op: OpId, kind: &Normalization) -> Option<OpRule> {
    let (feature, others) = match kind {
        Normalization::BatchNormInference(norm) => (norm.feature, FactorKind::PassThrough),
        Normalization::BatchNormTraining(norm) => (norm.feature, FactorKind::NeedReplication),
        Normalization::BatchNormGrad(norm) => (norm.feature, FactorKind::NeedReplication),
    };
    let shape = builder::shape(module, *module.operands(op).first()?);
    let mut builder = RuleBuilder::new(module, op);
    for (dim, &size) in shape.iter().enumerate() {
        let is_feature = i64::try_from(dim) == Ok(feature);
        // Operands and results are of the input's shape, or vectors with an element a feature.
        let choose = |values: &[ValueId]| -> Vec<DimChoice> {
            let choice = |&value: &ValueId| {
                if builder::rank(module, value) == shape.len() && shape.len() != 1 {
                    Some(dim)
                } else {
                    is_feature.then_some(0)
                }
            };
            values.iter().map(choice).collect()
        };
        let kind = if is_feature { FactorKind::PassThrough } else { others };
        let (operands, results) = (choose(module.operands(op)), choose(module.results(op)));
        builder.add(&operands, &results, size, kind, false);
    }
    Some(builder.build())
}
