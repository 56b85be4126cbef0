//! Elements as integers in the same order.

use half::{bf16, f16};
use shard_ir::{ElementType, NumberKind};

use crate::{Lane, Tensor};

/// Integers in the order of the elements, floats in their total order: negative NaNs, numbers (-0
/// before 0), positive NaNs. `None` for elements without an order.
pub(super) fn total_order(x: &Tensor) -> Option<Vec<i64>> {
    fn keys<T: Lane>(x: &Tensor, key: impl Fn(T) -> i64) -> Vec<i64> {
        x.lanes::<T>().iter().map(|e| key(*e)).collect()
    }
    // Below zero, the larger the magnitude the less the value.
    let float = |bits: i64| if bits < 0 { bits ^ i64::MAX } else { bits };
    match x.element() {
        // In the upper half the order is the other way for signed numbers, not so for these.
        ElementType::UI64 => Some(keys(x, |e: u64| (e ^ 1 << 63) as i64)),
        ElementType::F64 => Some(keys(x, |e: f64| float(e.to_bits() as i64))),
        ElementType::F32 | ElementType::TF32 => {
            Some(keys(x, |e: f32| float((e.to_bits() as i32).into())))
        }
        ElementType::F16 => Some(keys(x, |e: f16| float((e.to_bits() as i16).into()))),
        ElementType::BF16 => Some(keys(x, |e: bf16| float((e.to_bits() as i16).into()))),
        ElementType::F8E8M0FNU => Some(keys(x, |e: u8| e.into())),
        element => match element.kind() {
            NumberKind::Bool | NumberKind::Signed | NumberKind::Unsigned => Some(x.integers()),
            NumberKind::Float => {
                let shift = 8 - element.bits();
                Some(keys(x, |e: u8| float(((e << shift) as i8).into())))
            }
            NumberKind::Complex | NumberKind::Quantized => None,
        },
    }
}
