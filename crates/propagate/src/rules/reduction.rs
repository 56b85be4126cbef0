//! Reductions over whole dimensions and over windows.

use shard_ir::ops::{Padding, Reduction};
use shard_ir::{Module, OpId};

use super::builder::{self, DimChoice, lists};
use super::reducer::region_reducer;
use super::{FactorKind, OpRule, Reducer, RuleBuilder};

pub(super) fn rule(
    module: &Module,
    op: OpId,
    kind: &Reduction,
    conservative: bool,
) -> Option<OpRule> {
    match kind {
        Reduction::Reduce(reduce) => {
            let count = module.results(op).len();
            let input = *module.operands(op).first()?;
            let reducer = match module.regions(op).first() {
                Some(&region) => region_reducer(module, region, count),
                None => Reducer::Other,
            };
            let mut builder = RuleBuilder::new(module, op);
            let mut operands: Vec<DimChoice> = vec![None; module.operands(op).len()];
            let inputs = count.min(operands.len());
            let mut out = 0;
            for (dim, &size) in builder::shape(module, input).iter().enumerate() {
                operands[..inputs].fill(Some(dim));
                if lists(&reduce.dimensions, dim) {
                    let kind = FactorKind::Reduction(reducer);
                    builder.add(&operands, &vec![None; count], size, kind, false);
                } else {
                    builder.pass(&operands, &vec![Some(out); count], size);
                    out += 1;
                }
            }
            Some(builder.build())
        }
        Reduction::ReduceWindow(window) => {
            let result = *module.results(op).first()?;
            let mut builder = RuleBuilder::new(module, op);
            for (dim, &size) in builder::shape(module, result).iter().enumerate() {
                let strides = window.strides.as_deref();
                let undilated = window.base_dilations.as_deref().is_none_or(|d| at(d, dim) == 1);
                let keeps =
                    window_keeps(window.padding.as_ref(), Some(&window.window), strides, dim);
                if undilated && keeps {
                    builder.everywhere(dim, size, FactorKind::PassThrough, false);
                } else {
                    builder.everywhere(dim, size, FactorKind::Permutation, conservative);
                }
            }
            Some(builder.build())
        }
        Reduction::SelectAndScatter(select) => {
            let &[_, source, _] = module.operands(op) else { return None };
            let result = *module.results(op).first()?;
            let mut builder = RuleBuilder::new(module, op);
            for (dim, &size) in builder::shape(module, result).iter().enumerate() {
                let (window, strides) = (select.window.as_deref(), select.strides.as_deref());
                if window_keeps(select.padding.as_ref(), window, strides, dim) {
                    builder.everywhere(dim, size, FactorKind::PassThrough, false);
                    continue;
                }
                let source_size = *builder::shape(module, source).get(dim)?;
                let operands = [None, Some(dim), None];
                let whole = FactorKind::NeedReplication;
                builder.add(&operands, &[None], source_size, whole, conservative);
                let operands = [Some(dim), None, None];
                builder.add(&operands, &[Some(dim)], size, FactorKind::Permutation, conservative);
            }
            Some(builder.build())
        }
    }
}

fn at(values: &[i64], dim: usize) -> i64 {
    values.get(dim).copied().unwrap_or(1)
}

/// Whether a window maps each element of a dimension to itself: size and stride one, no padding.
fn window_keeps(
    padding: Option<&Padding>,
    window: Option<&[i64]>,
    strides: Option<&[i64]>,
    dim: usize,
) -> bool {
    padding.is_none_or(|padding| padding.get(dim).is_none_or(|&pair| pair == [0, 0]))
        && window.is_none_or(|window| at(window, dim) == 1)
        && strides.is_none_or(|strides| at(strides, dim) == 1)
}
