//! Random numbers.

use shard_ir::ops::Random;
use shard_ir::{Module, OpId};

use super::builder;
use super::{FactorKind, OpRule, RuleBuilder};

pub(super) fn rule(module: &Module, op: OpId, kind: &Random) -> Option<OpRule> {
    let mut builder = RuleBuilder::new(module, op);
    match kind {
        Random::Rng(_) => {
            // Which element gets which number is up to the implementation: keep it whole.
            let result = *module.results(op).first()?;
            let operands = vec![None; module.operands(op).len()];
            for (dim, &size) in builder::shape(module, result).iter().enumerate() {
                builder.whole(&operands, &[Some(dim)], size);
            }
            for (index, &operand) in module.operands(op).iter().enumerate() {
                for (dim, &size) in builder::shape(module, operand).iter().enumerate() {
                    let mut operands = operands.clone();
                    operands[index] = Some(dim);
                    builder.whole(&operands, &[None], size);
                }
            }
        }
        Random::RngBitGenerator(_) => {
            let state = *module.operands(op).first()?;
            let output = *module.results(op).get(1)?;
            for (dim, &size) in builder::shape(module, state).iter().enumerate() {
                let results = [Some(dim), None];
                builder.add(&[Some(dim)], &results, size, FactorKind::NeedReplication, true);
            }
            // Any part can be made where it is needed, by one who knows the algorithm.
            for (dim, &size) in builder::shape(module, output).iter().enumerate() {
                builder.pass(&[None], &[None, Some(dim)], size);
            }
        }
    }
    Some(builder.build())
}
