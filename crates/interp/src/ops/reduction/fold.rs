//! Folds with one op that has no order.
//!
//! Over whole dimensions, sums and products of floats are in a wider type, and rounded once: how a
//! program is divided among devices changes their order, and should change little else. Those of
//! windows are short, and rounded at each step, as the region says.

use num_complex::Complex;
use shard_ir::ops::{Elementwise, Op};
use shard_ir::{Dims, ElementType, NumberKind};

use super::super::elementwise::{from_integer_bits, integer_bits, maximum, minimum};
use super::super::numeric::{complexes, from_complexes, from_singles, singles};
use crate::Tensor;
use crate::region::Region;

/// An op that elements may be folded with in any order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Combine {
    Add,
    Multiply,
    Maximum,
    Minimum,
    And,
    Or,
    Xor,
}

/// When sums and products of floats are rounded to their type.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Rounding {
    /// In the end.
    Once,
    /// At each step.
    EachStep,
}

impl Combine {
    /// The op that a region is, if it is one that [`fold`] knows for these elements.
    pub(super) fn of(
        region: &Region<'_>,
        element: ElementType,
        rounding: Rounding,
    ) -> Option<Combine> {
        let combine = match region.single_op()? {
            Op::Elementwise(Elementwise::Add) => Combine::Add,
            Op::Elementwise(Elementwise::Multiply) => Combine::Multiply,
            Op::Elementwise(Elementwise::Maximum) => Combine::Maximum,
            Op::Elementwise(Elementwise::Minimum) => Combine::Minimum,
            Op::Elementwise(Elementwise::And) => Combine::And,
            Op::Elementwise(Elementwise::Or) => Combine::Or,
            Op::Elementwise(Elementwise::Xor) => Combine::Xor,
            _ => return None,
        };
        let known = match (element.kind(), combine) {
            (NumberKind::Float, Combine::And | Combine::Or | Combine::Xor) => false,
            // Maxima of complex numbers have an order where parts are NaN.
            (NumberKind::Complex, _) => matches!(combine, Combine::Add | Combine::Multiply),
            (NumberKind::Quantized, _) => false,
            // What is computed in `f32` must be rounded by the ops themselves.
            (NumberKind::Float, Combine::Add | Combine::Multiply) => {
                rounding == Rounding::Once
                    || matches!(element, ElementType::F32 | ElementType::TF32 | ElementType::F64)
            }
            (NumberKind::Float, _)
            | (NumberKind::Bool | NumberKind::Signed | NumberKind::Unsigned, _) => true,
        };
        known.then_some(combine)
    }
}

/// A way to go through elements.
pub(super) trait Fold {
    /// Folds `x`, each element widened, beginning with `init`.
    fn run<T: Copy, A: Copy>(
        &self,
        x: &[T],
        init: A,
        widen: impl Fn(T) -> A + Copy,
        combine: impl Fn(A, A) -> A + Copy,
    ) -> Vec<A>;
}

/// Folds a tensor's elements; the result has these dims.
pub(super) fn fold(
    combine: Combine,
    rounding: Rounding,
    x: &Tensor,
    init: &Tensor,
    dims: Dims,
    way: &impl Fold,
) -> Tensor {
    let element = x.element();
    match element.kind() {
        NumberKind::Float => fold_floats(combine, rounding, x, init, dims, way),
        NumberKind::Complex if element == ElementType::C64 && rounding == Rounding::EachStep => {
            let x = x.lanes::<Complex<f32>>();
            let start = init.lanes::<Complex<f32>>().first().copied().unwrap_or_default();
            let values = match combine {
                Combine::Multiply => way.run(x, start, |v| v, |a, b| a * b),
                _ => way.run(x, start, |v| v, |a, b| a + b),
            };
            Tensor::from_lanes(element, dims, values)
        }
        NumberKind::Complex => {
            let start = complexes(init).first().copied().unwrap_or_default();
            let wide = |v: Complex<f32>| Complex::new(f64::from(v.re), f64::from(v.im));
            let values = match (element, combine) {
                (ElementType::C128, Combine::Multiply) => {
                    way.run(x.lanes::<Complex<f64>>(), start, |v| v, |a, b| a * b)
                }
                (ElementType::C128, _) => {
                    way.run(x.lanes::<Complex<f64>>(), start, |v| v, |a, b| a + b)
                }
                (_, Combine::Multiply) => {
                    way.run(x.lanes::<Complex<f32>>(), start, wide, |a, b| a * b)
                }
                _ => way.run(x.lanes::<Complex<f32>>(), start, wide, |a, b| a + b),
            };
            from_complexes(element, dims, values)
        }
        NumberKind::Bool | NumberKind::Signed | NumberKind::Unsigned | NumberKind::Quantized => {
            fold_integers(combine, x, init, dims, way)
        }
    }
}

fn fold_floats(
    combine: Combine,
    rounding: Rounding,
    x: &Tensor,
    init: &Tensor,
    dims: Dims,
    way: &impl Fold,
) -> Tensor {
    let element = x.element();
    if element == ElementType::F64 {
        let x = x.lanes::<f64>();
        let start = init.lanes::<f64>().first().copied().unwrap_or_default();
        let values = match combine {
            Combine::Multiply => way.run(x, start, |v| v, |a, b| a * b),
            Combine::Maximum => way.run(x, start, |v| v, maximum),
            Combine::Minimum => way.run(x, start, |v| v, minimum),
            Combine::Add | Combine::And | Combine::Or | Combine::Xor => {
                way.run(x, start, |v| v, |a, b| a + b)
            }
        };
        return Tensor::from_lanes(element, dims, values);
    }
    let x = singles(x);
    let start = singles(init).first().copied().unwrap_or_default();
    match combine {
        Combine::Multiply if rounding == Rounding::EachStep => {
            from_singles(element, dims, way.run(&x, start, |v| v, |a, b| a * b))
        }
        Combine::Add if rounding == Rounding::EachStep => {
            from_singles(element, dims, way.run(&x, start, |v| v, |a, b| a + b))
        }
        Combine::Maximum => from_singles(element, dims, way.run(&x, start, |v| v, maximum)),
        Combine::Minimum => from_singles(element, dims, way.run(&x, start, |v| v, minimum)),
        Combine::Multiply => {
            let values = way.run(&x, start.into(), f64::from, |a, b| a * b);
            Tensor::from_floats(element, dims, values)
        }
        Combine::Add | Combine::And | Combine::Or | Combine::Xor => {
            let values = way.run(&x, start.into(), f64::from, |a, b| a + b);
            Tensor::from_floats(element, dims, values)
        }
    }
}

/// In 64 bits; what is beyond the type wraps in the end, which comes to the same.
fn fold_integers(
    combine: Combine,
    x: &Tensor,
    init: &Tensor,
    dims: Dims,
    way: &impl Fold,
) -> Tensor {
    let element = x.element();
    let boolean = element == ElementType::I1;
    let combine = match combine {
        Combine::Add if boolean => Combine::Or,
        Combine::Multiply if boolean => Combine::And,
        other => other,
    };
    let bits = integer_bits(x);
    let start = integer_bits(init).first().copied().unwrap_or_default();
    // So that unsigned numbers of 64 bits are in the order of signed ones.
    let flip = if element == ElementType::UI64 { i64::MIN } else { 0 };
    let same = |v: i64| v;
    let mut values = match combine {
        Combine::Add => way.run(&bits, start, same, i64::wrapping_add),
        Combine::Multiply => way.run(&bits, start, same, i64::wrapping_mul),
        Combine::Maximum => way.run(&bits, start ^ flip, |v| v ^ flip, |a, b| a.max(b)),
        Combine::Minimum => way.run(&bits, start ^ flip, |v| v ^ flip, |a, b| a.min(b)),
        Combine::And => way.run(&bits, start, same, |a, b| a & b),
        Combine::Or => way.run(&bits, start, same, |a, b| a | b),
        Combine::Xor => way.run(&bits, start, same, |a, b| a ^ b),
    };
    if matches!(combine, Combine::Maximum | Combine::Minimum) {
        values.iter_mut().for_each(|v| *v ^= flip);
    }
    from_integer_bits(element, &dims, &values)
}
