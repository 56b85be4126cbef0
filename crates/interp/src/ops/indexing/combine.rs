//! Updates by one op: the common regions of scatters, without a region.

use half::{bf16, f16};
use num_complex::Complex;
use shard_ir::ElementType;
use shard_ir::ops::{Elementwise, Op};

use super::super::elementwise::{maximum, minimum};
use crate::{Lane, Tensor};

/// Says of each row where its elements are, where its updates are, how many they are, and the
/// distances between them.
pub(super) type Rows<'a> = dyn Fn(&mut dyn FnMut(isize, isize, usize, (isize, isize))) + 'a;

/// Does the same for each of some element types, in the lane that is named; `None` for others.
macro_rules! by_element {
    ($x:expr, $update:expr, $rows:expr, |$a:ident, $b:ident| $body:expr, $($element:ident: $lane:ty),*) => {
        match $x.element() {
            $(ElementType::$element => {
                Some(updated($x, $update, $rows, |$a: $lane, $b: $lane| $body))
            })*
            _ => None,
        }
    };
}

/// The elements of `x` updated by an op. `None` if the op is none of the common ones on common
/// elements.
pub(super) fn combine(op: &Op, x: &Tensor, update: &Tensor, rows: &Rows<'_>) -> Option<Tensor> {
    let Op::Elementwise(op) = op else { return None };
    macro_rules! integers {
        (|$a:ident, $b:ident| $body:expr) => {
            by_element!(
                x, update, rows, |$a, $b| $body,
                I8: i8, I16: i16, I32: i32, I64: i64, UI8: u8, UI16: u16, UI32: u32, UI64: u64
            )
        };
    }
    macro_rules! floats {
        (|$a:ident, $b:ident| $body:expr) => {
            by_element!(x, update, rows, |$a, $b| $body, F32: f32, F64: f64).or_else(|| {
                // Computed in more digits, and rounded once.
                match x.element() {
                    ElementType::F16 => Some(updated(x, update, rows, |a: f16, b: f16| {
                        let ($a, $b) = (a.to_f32(), b.to_f32());
                        f16::from_f32($body)
                    })),
                    ElementType::BF16 => Some(updated(x, update, rows, |a: bf16, b: bf16| {
                        let ($a, $b) = (a.to_f32(), b.to_f32());
                        bf16::from_f32($body)
                    })),
                    _ => None,
                }
            })
        };
    }
    macro_rules! complexes {
        (|$a:ident, $b:ident| $body:expr) => {
            by_element!(x, update, rows, |$a, $b| $body, C64: Complex<f32>, C128: Complex<f64>)
        };
    }
    macro_rules! booleans {
        (|$a:ident, $b:ident| $body:expr) => {
            by_element!(x, update, rows, |$a, $b| $body, I1: u8)
        };
    }
    match op {
        Elementwise::Add => integers!(|a, b| a.wrapping_add(b))
            .or_else(|| floats!(|a, b| a + b))
            .or_else(|| complexes!(|a, b| a + b))
            .or_else(|| booleans!(|a, b| a | b)),
        Elementwise::Multiply => integers!(|a, b| a.wrapping_mul(b))
            .or_else(|| floats!(|a, b| a * b))
            .or_else(|| complexes!(|a, b| a * b))
            .or_else(|| booleans!(|a, b| a & b)),
        Elementwise::Minimum => integers!(|a, b| a.min(b))
            .or_else(|| floats!(|a, b| minimum(a, b)))
            .or_else(|| booleans!(|a, b| a & b)),
        Elementwise::Maximum => integers!(|a, b| a.max(b))
            .or_else(|| floats!(|a, b| maximum(a, b)))
            .or_else(|| booleans!(|a, b| a | b)),
        Elementwise::And => integers!(|a, b| a & b).or_else(|| booleans!(|a, b| a & b)),
        Elementwise::Or => integers!(|a, b| a | b).or_else(|| booleans!(|a, b| a | b)),
        Elementwise::Xor => integers!(|a, b| a ^ b).or_else(|| booleans!(|a, b| a ^ b)),
        _ => None,
    }
}

fn updated<T: Lane>(
    x: &Tensor,
    update: &Tensor,
    rows: &Rows<'_>,
    combine: impl Fn(T, T) -> T,
) -> Tensor {
    let mut elements = x.lanes::<T>().to_vec();
    let updates = update.lanes::<T>();
    rows(&mut |at, from, row, (step, from_step)| {
        if step == 1 && from_step == 1 {
            let (at, from) = (at as usize, from as usize);
            let pairs = elements[at..at + row].iter_mut().zip(&updates[from..from + row]);
            pairs.for_each(|(element, update)| *element = combine(*element, *update));
        } else {
            for i in 0..row as isize {
                let element = &mut elements[(at + i * step) as usize];
                *element = combine(*element, updates[(from + i * from_step) as usize]);
            }
        }
    });
    Tensor::from_lanes(x.element(), x.dims(), elements)
}
