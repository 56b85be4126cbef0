//! Which values are known to be finite, whatever the arguments are.

use shard_ir::ops::{Creation, Elementwise, Movement, Op, Sdy};
use shard_ir::{DenseData, ElementType, Module, ValueId};

/// Whether every element of a value is known to be finite, and where `nonzero`, no zero.
pub(crate) fn is_finite(module: &Module, value: ValueId, nonzero: bool) -> bool {
    within(module, value, nonzero, MOST_OPS)
}

/// How far back a value is followed.
const MOST_OPS: u32 = 8;

fn within(module: &Module, value: ValueId, nonzero: bool, ops: u32) -> bool {
    let Some(op) = module.defining_op(value).filter(|_| ops > 0) else { return false };
    let operand = |index: usize| {
        let operand = module.operands(op).get(index);
        operand.is_some_and(|&operand| within(module, operand, nonzero, ops - 1))
    };
    match module.kind(op) {
        Op::Creation(Creation::Constant(constant)) => {
            let Some(ty) = module.tensor_type(value) else { return false };
            constant_is_finite(&constant.value.data, ty.element, nonzero)
        }
        Op::Movement(Movement::BroadcastInDim(_) | Movement::Reshape | Movement::Transpose(_))
        | Op::Sdy(Sdy::Reshard(_))
        | Op::Elementwise(Elementwise::Negate | Elementwise::Abs) => operand(0),
        Op::Elementwise(Elementwise::Convert) => {
            let from = module.tensor_type(module.operand(op, 0)).map(|ty| ty.element);
            // Integers are finite; only a wider float can hold what a narrower one can't.
            let whole_numbers =
                from.is_some_and(|from| from.is_integer() || from == ElementType::I1);
            let to = module.tensor_type(value).map(|ty| ty.element);
            let fits = to.is_some_and(|to| to.is_float() && to.bits() >= 32);
            let widens = from.zip(to).is_some_and(|(from, to)| from.bits() <= to.bits());
            if whole_numbers && !nonzero { fits } else { widens && operand(0) }
        }
        Op::Elementwise(Elementwise::Select) => operand(1) && operand(2),
        _ => false,
    }
}

fn constant_is_finite(data: &DenseData, element: ElementType, nonzero: bool) -> bool {
    let width = element.storage_bytes();
    // Where sign and mantissa lie, of the formats that have infinities in the usual place.
    let exponent: (u32, u64) = match element {
        ElementType::F64 => (52, 0x7ff),
        ElementType::F32 => (23, 0xff),
        ElementType::BF16 => (7, 0xff),
        ElementType::F16 => (10, 0x1f),
        _ if element.is_integer() || element == ElementType::I1 => (0, 0),
        _ => return false,
    };
    let fits = |bytes: &[u8]| {
        let mut bits = [0; 8];
        bits[..bytes.len().min(8)].copy_from_slice(&bytes[..bytes.len().min(8)]);
        let bits = u64::from_le_bytes(bits);
        let (shift, top) = exponent;
        let finite = top == 0 || (bits >> shift) & top != top;
        let zero = if top == 0 { bits == 0 } else { bits << (65 - 8 * width as u32) == 0 };
        finite && !(nonzero && zero)
    };
    match data {
        DenseData::Splat(bytes) => fits(bytes),
        DenseData::Bytes(bytes) => bytes.bytes().chunks_exact(width.max(1)).all(fits),
        DenseData::Resource(_) | DenseData::Text(_) => false,
    }
}
