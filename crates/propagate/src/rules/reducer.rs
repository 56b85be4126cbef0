//! What a region of scalars computes: the op that combines partial results.

use shard_ir::ops::{Control, Elementwise, Op, Sdy};
use shard_ir::sharding::Combiner;
use shard_ir::{Module, NumberKind, RegionId, ValueDef, ValueId};

/// How partial results of a reduction combine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reducer {
    /// The sum.
    Sum,
    /// The product.
    Product,
    /// The larger.
    Max,
    /// The smaller.
    Min,
    /// Bitwise and; the logical one for booleans.
    And,
    /// Bitwise or; the logical one for booleans.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Something else: a region that no single op says, or several operands reduced together.
    Other,
}

impl Reducer {
    /// The combiner that an unreduced sharding can state, where there is one.
    pub fn combiner(self) -> Option<Combiner> {
        match self {
            Reducer::Sum => Some(Combiner::Sum),
            Reducer::Max => Some(Combiner::Max),
            Reducer::Min => Some(Combiner::Min),
            Reducer::Product | Reducer::And | Reducer::Or | Reducer::Xor | Reducer::Other => None,
        }
    }

    /// The combiner of sums of the given element type: booleans have `or`.
    pub(crate) fn sum_of(module: &Module, value: ValueId) -> Reducer {
        if is_bool(module, value) { Reducer::Or } else { Reducer::Sum }
    }
}

fn is_bool(module: &Module, value: ValueId) -> bool {
    module.tensor_type(value).is_some_and(|ty| ty.element.kind() == NumberKind::Bool)
}

/// What a value is when sharding constraints, reshards and barriers are looked through.
fn look_through(module: &Module, mut value: ValueId) -> ValueId {
    // A chain can't be longer than the number of ops, and well-formed ones end.
    for _ in 0..64 {
        let Some(op) = module.defining_op(value) else { return value };
        match module.kind(op) {
            Op::Sdy(Sdy::ShardingConstraint(_) | Sdy::Reshard(_) | Sdy::PropagationBarrier(_)) => {
                match module.operands(op).first() {
                    Some(&input) => value = input,
                    None => return value,
                }
            }
            _ => return value,
        }
    }
    value
}

/// The op that a region applies to each pair of its parameters: `count` accumulators, then `count`
/// elements, as in `reduce`, `reduce_window`, `scatter`, `all_reduce`. All must be combined by the
/// same op, in either order of its operands; anything else is [`Reducer::Other`].
pub fn region_reducer(module: &Module, region: RegionId, count: usize) -> Reducer {
    let Some(&entry) = module.region(region).blocks.first() else { return Reducer::Other };
    let Some(&last) = module.block_ops(entry).last() else { return Reducer::Other };
    if !matches!(module.kind(last), Op::Control(Control::Return)) {
        return Reducer::Other;
    }
    let returned = module.operands(last);
    if count == 0 || returned.len() != count || module.params(entry).len() != 2 * count {
        return Reducer::Other;
    }
    let mut common = None;
    for (index, &value) in returned.iter().enumerate() {
        let value = look_through(module, value);
        let Some(op) = module.defining_op(value) else { return Reducer::Other };
        let &[lhs, rhs] = module.operands(op) else { return Reducer::Other };
        let param = |value| match module.value_def(look_through(module, value)) {
            ValueDef::Param(block, at) if block == entry => Some(at as usize),
            ValueDef::Param(..) | ValueDef::Result(..) => None,
        };
        let pair = (param(lhs), param(rhs));
        let wanted = (Some(index), Some(index + count));
        if pair != wanted && (pair.1, pair.0) != wanted {
            return Reducer::Other;
        }
        let logical = is_bool(module, value);
        let reducer = match module.kind(op) {
            Op::Elementwise(kind) => match kind {
                Elementwise::Add if logical => Reducer::Or,
                Elementwise::Multiply if logical => Reducer::And,
                Elementwise::Maximum if logical => Reducer::Or,
                Elementwise::Minimum if logical => Reducer::And,
                Elementwise::Add => Reducer::Sum,
                Elementwise::Multiply => Reducer::Product,
                Elementwise::Maximum => Reducer::Max,
                Elementwise::Minimum => Reducer::Min,
                Elementwise::And => Reducer::And,
                Elementwise::Or => Reducer::Or,
                Elementwise::Xor => Reducer::Xor,
                _ => return Reducer::Other,
            },
            _ => return Reducer::Other,
        };
        if *common.get_or_insert(reducer) != reducer {
            return Reducer::Other;
        }
    }
    common.unwrap_or(Reducer::Other)
}
