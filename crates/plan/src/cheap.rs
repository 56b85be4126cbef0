//! Values that are computed again where another sharding is wanted, and never moved.

use shard_ir::ops::{Creation, Movement, Op};
use shard_ir::{DenseData, Module, ValueId};

/// Whether a value costs next to nothing to compute under any sharding: splat constants, iotas,
/// and broadcasts of scalars.
pub fn is_cheap(module: &Module, value: ValueId) -> bool {
    let Some(op) = module.defining_op(value) else { return false };
    match module.kind(op) {
        Op::Creation(Creation::Constant(constant)) => {
            matches!(constant.value.data, DenseData::Splat(_))
        }
        Op::Creation(Creation::Iota(_)) => true,
        Op::Movement(Movement::BroadcastInDim(_)) => module
            .operands(op)
            .first()
            .and_then(|&operand| module.tensor_type(operand))
            .is_some_and(|ty| ty.dims.is_empty()),
        _ => false,
    }
}

/// Whether every element of a cheap value is zero, which any number of partial sums may have.
pub fn is_zero(module: &Module, value: ValueId) -> bool {
    let Some(op) = module.defining_op(value) else { return false };
    match module.kind(op) {
        Op::Creation(Creation::Constant(constant)) => match &constant.value.data {
            // Negative zero of a float is as good.
            DenseData::Splat(bytes) => match bytes.split_last() {
                Some((last, rest)) => {
                    let float = module.tensor_type(value).is_some_and(|ty| ty.element.is_float());
                    rest.iter().all(|b| *b == 0) && (*last == 0 || (float && *last == 0x80))
                }
                None => false,
            },
            DenseData::Bytes(_) | DenseData::Resource(_) | DenseData::Text(_) => false,
        },
        Op::Movement(Movement::BroadcastInDim(_)) => {
            module.operands(op).first().is_some_and(|&operand| is_zero(module, operand))
        }
        _ => false,
    }
}
