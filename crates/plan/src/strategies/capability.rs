//! What an op's lowering can do along each factor.

use shard_ir::ops::{Convolution, Indexing, Movement, Op, Reduction};
use shard_ir::sharding::Combiner;
use shard_ir::{ElementType, Module, OpId};
use shard_propagate::rules::{FactorKind, OpRule, Reducer};

/// What sharding along a factor means for the computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capability {
    /// Each device computes its part.
    Free,
    /// Each device computes a partial result, combined as stated. What the op adds up from (see
    /// `is_accumulator`) must be partial too.
    Partial(Combiner),
    /// The dimension must be whole.
    Whole,
}

/// The capability of each factor of an op.
pub fn capabilities(module: &Module, op: OpId, rule: &OpRule) -> Vec<Capability> {
    let result = module.results(op).first().and_then(|&value| module.tensor_type(value));
    let element = result.map_or(ElementType::F32, |ty| ty.element);
    (0..rule.factors.len())
        .map(|index| {
            if !can_split(module, op, rule, index) {
                return Capability::Whole;
            }
            match rule.factors[index].kind {
                // Every result depends on all of a dimension that no result has.
                FactorKind::PassThrough if !is_on_result(rule, index) => Capability::Whole,
                FactorKind::PassThrough => Capability::Free,
                FactorKind::Reduction(reducer) => match combiner(reducer, element) {
                    Some(combiner) => Capability::Partial(combiner),
                    None => Capability::Whole,
                },
                FactorKind::NeedReplication | FactorKind::Permutation => Capability::Whole,
            }
        })
        .collect()
}

/// Whether the results of an op start from an operand: the inputs of a scatter, the initial values
/// of a reduction. When the op is computed in parts that are summed, only one may start from it.
/// (Of a maximum or minimum all may.)
pub(super) fn is_accumulator(module: &Module, op: OpId, operand: usize) -> bool {
    let results = module.results(op).len();
    match module.kind(op) {
        Op::Indexing(Indexing::Scatter(_)) => operand < results,
        Op::Reduction(Reduction::Reduce(_)) => operand >= results,
        _ => false,
    }
}

/// How parts of a reduction combine as an unreduced value; of booleans, `or` is the maximum and
/// `and` the minimum.
pub fn combiner(reducer: Reducer, element: ElementType) -> Option<Combiner> {
    let boolean = element == ElementType::I1;
    // Floats of a byte and less may have no infinity, which the other devices would hold.
    let small = element.is_float() && element.bits() < 16;
    match reducer {
        Reducer::Max | Reducer::Min if small => None,
        Reducer::Sum if !boolean => Some(Combiner::Sum),
        Reducer::Max => Some(Combiner::Max),
        Reducer::Min => Some(Combiner::Min),
        Reducer::Or if boolean => Some(Combiner::Max),
        Reducer::And if boolean => Some(Combiner::Min),
        Reducer::Sum
        | Reducer::Or
        | Reducer::And
        | Reducer::Product
        | Reducer::Xor
        | Reducer::Other => None,
    }
}

/// Whether the lowering of the op's family can split a factor at all.
fn can_split(module: &Module, op: OpId, rule: &OpRule, factor: usize) -> bool {
    match module.kind(op) {
        Op::Movement(Movement::DynamicUpdateSlice) => {
            // Where the update doesn't span the dimension, its place decides which shard changes.
            rule.operands.get(1).is_none_or(|update| update.iter().flatten().any(|&f| f == factor))
        }
        Op::Convolution(Convolution::Conv(conv)) => {
            // A window reaches over the border of its shard. (Groups are split as they are
            // numbered, and features or images inside a group only where each shard has one.) A
            // dimension of one element has nothing to split, and no window fits it padded.
            let spatial = |tensor: usize, dims: &[i64]| {
                dims.iter().any(|&dim| has_factor(rule, tensor, dim, factor))
            };
            rule.factors[factor].size > 1
                && !spatial(0, &conv.dims.input_spatial)
                && !spatial(1, &conv.dims.kernel_spatial)
        }
        Op::Convolution(Convolution::DynamicConv(_)) | Op::Random(_) | Op::Effects(_) => false,
        Op::Elementwise(_)
        | Op::Creation(_)
        | Op::Dot(_)
        | Op::Reduction(_)
        | Op::Movement(_)
        | Op::Indexing(_)
        | Op::Sorting(_)
        | Op::Linalg(_)
        | Op::Normalization(_)
        | Op::Control(_)
        | Op::Collective(_)
        | Op::Sdy(_)
        | Op::Custom(_)
        | Op::Hlo(_)
        | Op::Opaque(_) => true,
    }
}

/// Whether some result has a factor, of an op that has results.
fn is_on_result(rule: &OpRule, factor: usize) -> bool {
    rule.results.is_empty() || rule.results.iter().flatten().any(|dim| dim.contains(&factor))
}

/// Whether a factor's dimensions can be padded to a multiple of their shards. Where indices
/// address a dimension, its true end matters.
pub(super) fn may_pad(module: &Module, op: OpId, rule: &OpRule, factor: usize) -> bool {
    match module.kind(op) {
        Op::Indexing(_) => {
            let tensors = rule.tensors().filter(|t| t.iter().any(|dim| dim.contains(&factor)));
            tensors.count() > 1 && !is_input_only(rule, factor)
        }
        Op::Collective(_)
        | Op::Convolution(Convolution::DynamicConv(_))
        | Op::Sdy(_)
        | Op::Custom(_)
        | Op::Hlo(_)
        | Op::Opaque(_)
        | Op::Linalg(_) => false,
        Op::Convolution(Convolution::Conv(conv)) => {
            // The number of groups goes with the size of the dimensions that have them.
            let grouped = [
                (0, conv.dims.input_feature, conv.feature_groups > 1),
                (0, conv.dims.input_batch, conv.batch_groups > 1),
                (
                    1,
                    conv.dims.kernel_output_feature,
                    conv.feature_groups > 1 || conv.batch_groups > 1,
                ),
            ];
            !grouped
                .iter()
                .any(|&(tensor, dim, grouped)| grouped && has_factor(rule, tensor, dim, factor))
        }
        Op::Elementwise(_)
        | Op::Creation(_)
        | Op::Dot(_)
        | Op::Reduction(_)
        | Op::Movement(_)
        | Op::Sorting(_)
        | Op::Random(_)
        | Op::Normalization(_)
        | Op::Control(_)
        | Op::Effects(_) => true,
    }
}

/// Whether a dimension of an operand has a factor.
fn has_factor(rule: &OpRule, operand: usize, dim: i64, factor: usize) -> bool {
    let dim = usize::try_from(dim).unwrap_or(usize::MAX);
    let mapping = rule.operands.get(operand).and_then(|mapping| mapping.get(dim));
    mapping.is_some_and(|dim| dim.contains(&factor))
}

/// Whether only the inputs of a gather or scatter (and a scatter's results, which have their
/// shapes) have a factor: indices address it.
fn is_input_only(rule: &OpRule, factor: usize) -> bool {
    let has = |tensor: &Vec<_>| {
        tensor.iter().any(|dim: &shard_propagate::rules::DimMapping| dim.contains(&factor))
    };
    let inputs = if rule.operands.len() > 2 { rule.results.len() } else { 1 };
    !rule.operands.iter().skip(inputs).any(has)
        && (rule.operands.len() > 2 || !rule.results.iter().any(has))
}
