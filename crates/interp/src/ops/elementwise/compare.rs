//! Comparisons.

use std::cmp::Ordering;

use num_complex::Complex;
use shard_ir::ops::{CompareType, Direction};
use shard_ir::{ElementType, NumberKind};

use super::super::numeric::{each_integer, no_meaning, same_element, singles};
use super::lanes::{common_dims, zip};
use crate::{Fault, Lane, Tensor};

pub(super) fn compare(
    direction: Direction,
    compare_type: Option<CompareType>,
    a: &Tensor,
    b: &Tensor,
) -> Result<Tensor, Fault> {
    same_element(a, b)?;
    let element = a.element();
    let holds = match element.kind() {
        NumberKind::Float if compare_type == Some(CompareType::TotalOrder) => {
            total_order(direction, a, b)?
        }
        NumberKind::Float if element == ElementType::F64 => {
            ordered(direction, a.lanes::<f64>(), b.lanes::<f64>())?
        }
        NumberKind::Float => ordered(direction, &singles(a), &singles(b))?,
        NumberKind::Complex => complex(direction, a, b)?,
        NumberKind::Bool => ordered(direction, a.lanes::<u8>(), b.lanes::<u8>())?,
        NumberKind::Signed | NumberKind::Unsigned => each_integer!(
            element,
            |Int| ordered(direction, a.lanes::<Int>(), b.lanes::<Int>())?,
            else return Err(no_meaning(element))
        ),
        NumberKind::Quantized => return Err(no_meaning(element)),
    };
    Ok(Tensor::from_lanes(ElementType::I1, common_dims(&[a, b]), holds))
}

fn ordered<T: Copy + PartialOrd>(direction: Direction, a: &[T], b: &[T]) -> Result<Vec<u8>, Fault> {
    match direction {
        Direction::Eq => zip(a, b, |a, b| u8::from(a == b)),
        Direction::Ne => zip(a, b, |a, b| u8::from(a != b)),
        Direction::Ge => zip(a, b, |a, b| u8::from(a >= b)),
        Direction::Gt => zip(a, b, |a, b| u8::from(a > b)),
        Direction::Le => zip(a, b, |a, b| u8::from(a <= b)),
        Direction::Lt => zip(a, b, |a, b| u8::from(a < b)),
    }
}

/// Complex numbers have no order but that of their parts, the real ones first.
fn complex(direction: Direction, a: &Tensor, b: &Tensor) -> Result<Vec<u8>, Fault> {
    fn of<T: Copy + PartialOrd>(
        direction: Direction,
        a: &[Complex<T>],
        b: &[Complex<T>],
    ) -> Result<Vec<u8>, Fault> {
        zip(a, b, |a, b| {
            let (re, im) = (a.re.partial_cmp(&b.re), a.im.partial_cmp(&b.im));
            let equal = [re, im] == [Some(Ordering::Equal); 2];
            let order = if re == Some(Ordering::Equal) { im } else { re };
            u8::from(match direction {
                Direction::Eq => equal,
                Direction::Ne => !equal,
                Direction::Ge => order.is_some_and(Ordering::is_ge),
                Direction::Gt => order.is_some_and(Ordering::is_gt),
                Direction::Le => order.is_some_and(Ordering::is_le),
                Direction::Lt => order.is_some_and(Ordering::is_lt),
            })
        })
    }
    match a.element() {
        ElementType::C128 => of(direction, a.lanes::<Complex<f64>>(), b.lanes::<Complex<f64>>()),
        _ => of(direction, a.lanes::<Complex<f32>>(), b.lanes::<Complex<f32>>()),
    }
}

/// -NaN < -inf < ... < -0 < +0 < ... < +inf < +NaN
fn total_order(direction: Direction, a: &Tensor, b: &Tensor) -> Result<Vec<u8>, Fault> {
    /// Signed integers in the order of the floats that have their bits.
    fn keys<T: Lane, K>(tensor: &Tensor, key: impl Fn(T) -> K) -> Vec<K> {
        tensor.lanes::<T>().iter().map(|v| key(*v)).collect()
    }
    let bits = a.element().bits();
    match bits {
        64 => {
            let key = |v: i64| v ^ ((v >> 63) as u64 >> 1) as i64;
            ordered(direction, &keys(a, key), &keys(b, key))
        }
        32 => {
            let key = |v: i32| v ^ ((v >> 31) as u32 >> 1) as i32;
            ordered(direction, &keys(a, key), &keys(b, key))
        }
        16 => {
            let key = |v: i16| v ^ ((v >> 15) as u16 >> 1) as i16;
            ordered(direction, &keys(a, key), &keys(b, key))
        }
        // An exponent alone has no sign.
        _ if a.element() == ElementType::F8E8M0FNU => {
            ordered(direction, a.lanes::<u8>(), b.lanes::<u8>())
        }
        _ => {
            let key = |v: u8| {
                let v = (v << (8 - bits)) as i8;
                v ^ ((v >> 7) as u8 >> 1) as i8
            };
            ordered(direction, &keys(a, key), &keys(b, key))
        }
    }
}
