//! Contractions: batch dimensions and free ones pass through, contracted ones are reductions.

use shard_ir::ops::{Dot, DotDims};
use shard_ir::{Module, OpId};

use super::builder::{self, dims};
use super::{FactorKind, OpRule, Reducer, RuleBuilder};

pub(super) fn rule(module: &Module, op: OpId, kind: &Dot) -> Option<OpRule> {
    let &[lhs, rhs] = module.operands(op) else { return None };
    let numbers = match kind {
        Dot::DotGeneral(dot) => dot.dims.clone(),
        Dot::DotPlain(_) => DotDims {
            lhs_contracting: [builder::rank(module, lhs) as i64 - 1].into_iter().collect(),
            rhs_contracting: [0].into_iter().collect(),
            ..DotDims::default()
        },
    };
    let (lhs_shape, rhs_shape) = (builder::shape(module, lhs), builder::shape(module, rhs));
    let mut builder = RuleBuilder::new(module, op);
    let mut out = 0;
    for (left, right) in dims(&numbers.lhs_batch).zip(dims(&numbers.rhs_batch)) {
        builder.pass(&[Some(left), Some(right)], &[Some(out)], *lhs_shape.get(left)?);
        out += 1;
    }
    for left in dims(&numbers.lhs_free(lhs_shape.len())) {
        builder.pass(&[Some(left), None], &[Some(out)], lhs_shape[left]);
        out += 1;
    }
    for right in dims(&numbers.rhs_free(rhs_shape.len())) {
        builder.pass(&[None, Some(right)], &[Some(out)], rhs_shape[right]);
        out += 1;
    }
    let sum = FactorKind::Reduction(Reducer::sum_of(module, *module.results(op).first()?));
    for (left, right) in dims(&numbers.lhs_contracting).zip(dims(&numbers.rhs_contracting)) {
        builder.add(&[Some(left), Some(right)], &[None], *lhs_shape.get(left)?, sum, false);
    }
    Some(builder.build())
}
