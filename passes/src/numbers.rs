//! Constants of any element type from small integers.

use shard_ir::ops::{Constant, Op};
use shard_ir::sharding::Combiner;
use shard_ir::{Dense, DenseData, ElementType, Module, NumberKind};
use shard_propagate::rules::Reducer;

/// The bytes of one element of value `value` (little endian).
pub fn encode(element: ElementType, value: i64) -> Vec<u8> {
    if let Some(bytes) = encode_float(element, value as f64) {
        return bytes;
    }
    match element.kind() {
        NumberKind::Bool => vec![u8::from(value != 0)],
        NumberKind::Signed
        | NumberKind::Unsigned
        | NumberKind::Float
        | NumberKind::Complex
        | NumberKind::Quantized => value.to_le_bytes()[..element.storage_bytes()].to_vec(),
    }
}

/// The bytes of a float or a real complex number of value `value`, rounded to the type; `None` for
/// other types and for floats of a byte and less.
pub fn encode_float(element: ElementType, value: f64) -> Option<Vec<u8>> {
    use ElementType::*;
    Some(match element {
        F64 => value.to_le_bytes().to_vec(),
        F32 | TF32 => (value as f32).to_le_bytes().to_vec(),
        BF16 => half::bf16::from_f64(value).to_le_bytes().to_vec(),
        F16 => half::f16::from_f64(value).to_le_bytes().to_vec(),
        C64 => [(value as f32).to_le_bytes(), 0f32.to_le_bytes()].concat(),
        C128 => [value.to_le_bytes(), 0f64.to_le_bytes()].concat(),
        _ => return None,
    })
}

/// A scalar constant that leaves any value as it is when combined with it.
pub fn neutral(module: &mut Module, element: ElementType, combiner: Combiner) -> Op {
    let ty = module.tensor(element, []);
    Constant { value: Dense { ty, data: DenseData::splat(&neutral_bytes(element, combiner)) } }
        .into()
}

/// The bytes of the neutral element of a combiner. For a sum of floats it is negative zero, which
/// alone leaves both zeros as they are.
pub fn neutral_bytes(element: ElementType, combiner: Combiner) -> Vec<u8> {
    let bits = element.bits();
    match (combiner, element.kind()) {
        (Combiner::Sum, NumberKind::Float) => {
            let mut bytes = encode(element, 0);
            if let Some(last) = bytes.last_mut()
                && bits >= 16
            {
                *last |= 0x80;
            }
            bytes
        }
        (Combiner::Sum, _) => encode(element, 0),
        (Combiner::Max, NumberKind::Bool) => vec![0],
        (Combiner::Min, NumberKind::Bool) => vec![1],
        (Combiner::Max, NumberKind::Unsigned) => encode(element, 0),
        (Combiner::Min, NumberKind::Unsigned) => encode(element, -1),
        (Combiner::Max, NumberKind::Signed | NumberKind::Quantized | NumberKind::Complex) => {
            encode(element, i64::MIN >> (64 - bits.min(64)))
        }
        (Combiner::Min, NumberKind::Signed | NumberKind::Quantized | NumberKind::Complex) => {
            encode(element, i64::MAX >> (64 - bits.min(64)))
        }
        (Combiner::Max, NumberKind::Float) => infinity(element, true),
        (Combiner::Min, NumberKind::Float) => infinity(element, false),
    }
}

/// The bytes of the value that a reduction leaves as it is; `None` for a region that is no single
/// op, and for floats of a byte and less.
pub fn identity(element: ElementType, reducer: Reducer) -> Option<Vec<u8>> {
    let small = element.is_float() && element.bits() < 16;
    match reducer {
        _ if small => None,
        Reducer::Sum => Some(neutral_bytes(element, Combiner::Sum)),
        Reducer::Max => Some(neutral_bytes(element, Combiner::Max)),
        Reducer::Min => Some(neutral_bytes(element, Combiner::Min)),
        Reducer::Product => Some(encode(element, 1)),
        Reducer::And => Some(match element.kind() {
            NumberKind::Bool => vec![1],
            _ => encode(element, -1),
        }),
        Reducer::Or | Reducer::Xor => Some(encode(element, 0)),
        Reducer::Other => None,
    }
}

/// An infinity, of the types that have one.
fn infinity(element: ElementType, negative: bool) -> Vec<u8> {
    let value = if negative { f64::NEG_INFINITY } else { f64::INFINITY };
    encode_float(element, value).unwrap_or_else(|| (value as f32).to_le_bytes().to_vec())
}
