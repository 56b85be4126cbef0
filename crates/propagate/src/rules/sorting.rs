//! Sorts and selections by order: batch dimensions pass through, the ordered one must be whole.

use shard_ir::ops::Sorting;
use shard_ir::{Module, OpId};

use super::builder;
use super::{FactorKind, OpRule, RuleBuilder};

pub(super) fn rule(module: &Module, op: OpId, kind: &Sorting) -> Option<OpRule> {
    let input = *module.operands(op).first()?;
    let shape = builder::shape(module, input);
    match kind {
        Sorting::Sort(sort) => {
            let rank = shape.len() as i64;
            let sorted = if sort.dimension < 0 { sort.dimension + rank } else { sort.dimension };
            let is_sorted = |dim: usize| dim as i64 == sorted;
            // With nothing else to shard, sharding the sorted dimension only moves data around.
            let alone = shape.iter().enumerate().all(|(dim, &size)| is_sorted(dim) || size == 1);
            let mut builder = RuleBuilder::new(module, op);
            for (dim, &size) in shape.iter().enumerate() {
                if is_sorted(dim) {
                    builder.everywhere(dim, size, FactorKind::NeedReplication, alone);
                } else {
                    builder.everywhere(dim, size, FactorKind::PassThrough, false);
                }
            }
            Some(builder.build())
        }
        Sorting::TopK(_) => top_k(module, op),
    }
}

/// The rule of a top-k along the last dimension, as an op or as a custom call.
pub(super) fn top_k(module: &Module, op: OpId) -> Option<OpRule> {
    let input = builder::shape(module, *module.operands(op).first()?);
    let output = builder::shape(module, *module.results(op).first()?);
    let mut builder = RuleBuilder::new(module, op);
    for (dim, (&size, &kept)) in input.iter().zip(output).enumerate() {
        if dim + 1 == input.len() || size != kept {
            builder.everywhere(dim, size, FactorKind::NeedReplication, size != kept);
        } else {
            builder.everywhere(dim, size, FactorKind::PassThrough, false);
        }
    }
    Some(builder.build())
}
