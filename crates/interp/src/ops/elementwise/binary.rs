//! Functions of two elements.

use num_complex::Complex;
use shard_ir::{ElementType, NumberKind};

use super::super::numeric::{
    complexes, each_integer, from_complexes, from_integers, from_singles, is_narrow_float,
    no_meaning, same_element, singles,
};
use super::lanes::{self, common_dims, zip};
use super::{complex, special};
use crate::{Fault, Tensor};

type Binary = Result<Tensor, Fault>;

/// A function that is exact in `f32` and `f64` alike; the closure is compiled for both.
macro_rules! exact {
    ($a:expr, $b:expr, |$v:ident, $w:ident| $body:expr) => {{
        let (a, b): (&Tensor, &Tensor) = ($a, $b);
        same_element(a, b)?;
        let dims = common_dims(&[a, b]);
        match a.element() {
            ElementType::F64 => {
                let values = zip(a.lanes::<f64>(), b.lanes::<f64>(), |$v: f64, $w: f64| $body)?;
                Ok(Tensor::from_lanes(a.element(), dims, values))
            }
            element if is_narrow_float(element) => {
                let values = zip(&singles(a), &singles(b), |$v: f32, $w: f32| $body)?;
                Ok(from_singles(element, dims, values))
            }
            element => Err(no_meaning(element)),
        }
    }};
}

/// A function of integers; those of 2 and 4 bits are wrapped.
macro_rules! integers {
    ($a:expr, $b:expr, |$v:ident, $w:ident: $int:ident| $body:expr) => {{
        let (a, b): (&Tensor, &Tensor) = ($a, $b);
        same_element(a, b)?;
        let dims = common_dims(&[a, b]);
        each_integer!(
            a.element(),
            |$int| {
                let values = zip(a.lanes::<$int>(), b.lanes::<$int>(), |$v: $int, $w: $int| $body)?;
                Ok(from_integers(a.element(), dims, values))
            },
            else Err(no_meaning(a.element()))
        )
    }};
}

/// A function of complex numbers that is compiled for both types.
macro_rules! complex_exact {
    ($a:expr, $b:expr, |$v:ident, $w:ident| $body:expr) => {{
        let (a, b): (&Tensor, &Tensor) = ($a, $b);
        same_element(a, b)?;
        let dims = common_dims(&[a, b]);
        match a.element() {
            ElementType::C128 => {
                type C = Complex<f64>;
                let values = zip(a.lanes::<C>(), b.lanes::<C>(), |$v: C, $w: C| $body)?;
                Ok(Tensor::from_lanes(a.element(), dims, values))
            }
            _ => {
                type C = Complex<f32>;
                let values = zip(a.lanes::<C>(), b.lanes::<C>(), |$v: C, $w: C| $body)?;
                Ok(Tensor::from_lanes(a.element(), dims, values))
            }
        }
    }};
}

/// A function of floats that is computed in `f64` and rounded once.
fn wide(a: &Tensor, b: &Tensor, f: impl Fn(f64, f64) -> f64) -> Binary {
    same_element(a, b)?;
    let dims = common_dims(&[a, b]);
    match a.element() {
        ElementType::F32 | ElementType::TF32 => {
            let f = |a: f32, b: f32| f(f64::from(a), f64::from(b)) as f32;
            let values = zip(a.lanes::<f32>(), b.lanes::<f32>(), f)?;
            Ok(from_singles(a.element(), dims, values))
        }
        element if element.is_float() => {
            let values = zip(&a.floats(), &b.floats(), f)?;
            Ok(Tensor::from_floats(element, dims, values))
        }
        element => Err(no_meaning(element)),
    }
}

/// A function of complex numbers that is computed in `f64`.
fn wide_complex(
    a: &Tensor,
    b: &Tensor,
    f: impl Fn(Complex<f64>, Complex<f64>) -> Complex<f64>,
) -> Binary {
    same_element(a, b)?;
    let dims = common_dims(&[a, b]);
    Ok(from_complexes(a.element(), dims, zip(&complexes(a), &complexes(b), f)?))
}

/// A function of booleans.
fn booleans(a: &Tensor, b: &Tensor, f: impl Fn(u8, u8) -> u8) -> Binary {
    same_element(a, b)?;
    let values = zip(a.lanes::<u8>(), b.lanes::<u8>(), f)?;
    Ok(Tensor::from_lanes(ElementType::I1, common_dims(&[a, b]), values))
}

pub(super) fn add(a: &Tensor, b: &Tensor) -> Binary {
    match a.element().kind() {
        NumberKind::Float => exact!(a, b, |v, w| v + w),
        NumberKind::Complex => complex_exact!(a, b, |v, w| v + w),
        NumberKind::Signed | NumberKind::Unsigned => {
            integers!(a, b, |v, w: Int| v.wrapping_add(w))
        }
        NumberKind::Bool => booleans(a, b, |v, w| v | w),
        NumberKind::Quantized => Err(no_meaning(a.element())),
    }
}

pub(super) fn subtract(a: &Tensor, b: &Tensor) -> Binary {
    match a.element().kind() {
        NumberKind::Float => exact!(a, b, |v, w| v - w),
        NumberKind::Complex => complex_exact!(a, b, |v, w| v - w),
        NumberKind::Signed | NumberKind::Unsigned => {
            integers!(a, b, |v, w: Int| v.wrapping_sub(w))
        }
        NumberKind::Bool | NumberKind::Quantized => Err(no_meaning(a.element())),
    }
}

pub(super) fn multiply(a: &Tensor, b: &Tensor) -> Binary {
    match a.element().kind() {
        NumberKind::Float => exact!(a, b, |v, w| v * w),
        NumberKind::Complex => complex_exact!(a, b, |v, w| v * w),
        NumberKind::Signed | NumberKind::Unsigned => {
            integers!(a, b, |v, w: Int| v.wrapping_mul(w))
        }
        NumberKind::Bool => booleans(a, b, |v, w| v & w),
        NumberKind::Quantized => Err(no_meaning(a.element())),
    }
}

/// Of integers: rounds towards zero, by zero all bits are ones, and what overflows wraps.
pub(super) fn divide(a: &Tensor, b: &Tensor) -> Binary {
    match a.element().kind() {
        NumberKind::Float => exact!(a, b, |v, w| v / w),
        NumberKind::Complex => wide_complex(a, b, complex::divide),
        NumberKind::Signed | NumberKind::Unsigned => {
            integers!(a, b, |v, w: Int| if w == 0 { !0 } else { v.wrapping_div(w) })
        }
        NumberKind::Bool | NumberKind::Quantized => Err(no_meaning(a.element())),
    }
}

/// With the sign of the dividend; by zero, the dividend.
pub(super) fn remainder(a: &Tensor, b: &Tensor) -> Binary {
    match a.element().kind() {
        NumberKind::Float => exact!(a, b, |v, w| v % w),
        NumberKind::Signed | NumberKind::Unsigned => {
            integers!(a, b, |v, w: Int| if w == 0 { v } else { v.wrapping_rem(w) })
        }
        NumberKind::Complex | NumberKind::Bool | NumberKind::Quantized => {
            Err(no_meaning(a.element()))
        }
    }
}

pub(super) fn maximum(a: &Tensor, b: &Tensor) -> Binary {
    match a.element().kind() {
        NumberKind::Float => exact!(a, b, |v, w| lanes::maximum(v, w)),
        NumberKind::Complex => complex_exact!(a, b, |v, w| {
            let first = if v.re == w.re { v.im > w.im } else { v.re > w.re };
            if first { v } else { w }
        }),
        NumberKind::Signed | NumberKind::Unsigned => integers!(a, b, |v, w: Int| v.max(w)),
        NumberKind::Bool => booleans(a, b, |v, w| v | w),
        NumberKind::Quantized => Err(no_meaning(a.element())),
    }
}

pub(super) fn minimum(a: &Tensor, b: &Tensor) -> Binary {
    match a.element().kind() {
        NumberKind::Float => exact!(a, b, |v, w| lanes::minimum(v, w)),
        NumberKind::Complex => complex_exact!(a, b, |v, w| {
            let first = if v.re == w.re { v.im < w.im } else { v.re < w.re };
            if first { v } else { w }
        }),
        NumberKind::Signed | NumberKind::Unsigned => integers!(a, b, |v, w: Int| v.min(w)),
        NumberKind::Bool => booleans(a, b, |v, w| v & w),
        NumberKind::Quantized => Err(no_meaning(a.element())),
    }
}

pub(super) fn power(a: &Tensor, b: &Tensor) -> Binary {
    match a.element().kind() {
        NumberKind::Float => wide(a, b, libm::pow),
        NumberKind::Complex => wide_complex(a, b, complex::power),
        NumberKind::Unsigned => integers!(a, b, |v, w: Int| {
            let mut left = w;
            let (mut base, mut result) = (v, 1 as Int);
            while left != 0 {
                if left & 1 != 0 {
                    result = result.wrapping_mul(base);
                }
                base = base.wrapping_mul(base);
                left >>= 1;
            }
            result
        }),
        // Of a negative power of an integer only that of 1 and -1 is one.
        NumberKind::Signed => integers!(a, b, |v, w: Int| {
            let unit = v == 1 || v == !0;
            if w < 0 as Int && !unit {
                0
            } else {
                // The power of -1 depends on the lowest bit alone, whatever the sign.
                let mut left = if unit { w & 1 } else { w };
                let (mut base, mut result) = (v, 1 as Int);
                while left != 0 {
                    if left & 1 != 0 {
                        result = result.wrapping_mul(base);
                    }
                    base = base.wrapping_mul(base);
                    left >>= 1;
                }
                result
            }
        }),
        NumberKind::Bool => booleans(a, b, |v, w| v | (w ^ 1)),
        NumberKind::Quantized => Err(no_meaning(a.element())),
    }
}

pub(super) fn atan2(a: &Tensor, b: &Tensor) -> Binary {
    match a.element().kind() {
        NumberKind::Complex => wide_complex(a, b, complex::atan2),
        _ => wide(a, b, libm::atan2),
    }
}

pub(super) fn complex(a: &Tensor, b: &Tensor) -> Binary {
    same_element(a, b)?;
    let dims = common_dims(&[a, b]);
    match a.element() {
        ElementType::F64 => {
            let values = zip(a.lanes::<f64>(), b.lanes::<f64>(), Complex::new)?;
            Ok(Tensor::from_lanes(ElementType::C128, dims, values))
        }
        ElementType::F32 => {
            let values = zip(a.lanes::<f32>(), b.lanes::<f32>(), Complex::new)?;
            Ok(Tensor::from_lanes(ElementType::C64, dims, values))
        }
        element => Err(no_meaning(element)),
    }
}

/// Bitwise, which is logical for booleans, too.
macro_rules! bitwise {
    ($($name:ident |$v:ident, $w:ident| $body:expr;)*) => {$(
        pub(super) fn $name(a: &Tensor, b: &Tensor) -> Binary {
            match a.element() {
                ElementType::I1 => booleans(a, b, |$v, $w| $body),
                _ => integers!(a, b, |$v, $w: Int| $body),
            }
        }
    )*};
}

bitwise! {
    and |v, w| v & w;
    or |v, w| v | w;
    xor |v, w| v ^ w;
}

/// The distance of a shift, if it is less than the width: a negative one is more than any.
macro_rules! distance {
    ($w:expr, $bits:expr) => {
        u32::try_from($w as i64).ok().filter(|by| *by < $bits)
    };
}

/// What is shifted out is lost; by the width or more, all is.
pub(super) fn shift_left(a: &Tensor, b: &Tensor) -> Binary {
    let bits = a.element().bits();
    integers!(a, b, |v, w: Int| match distance!(w, bits) {
        Some(by) => v << by,
        None => 0,
    })
}

/// By the width or more, the sign alone is left.
pub(super) fn shift_right_arithmetic(a: &Tensor, b: &Tensor) -> Binary {
    let bits = a.element().bits();
    // Sign bits of unsigned integers count as such.
    integers!(a, b, |v, w: Int| {
        let unused = 64 - bits;
        let value = ((v as i64) << unused) >> unused;
        (value >> distance!(w, bits).unwrap_or(63)) as Int
    })
}

/// By the width or more, nothing is left.
pub(super) fn shift_right_logical(a: &Tensor, b: &Tensor) -> Binary {
    let bits = a.element().bits();
    integers!(a, b, |v, w: Int| {
        let unused = 64 - bits;
        let value = ((v as u64) << unused) >> unused;
        distance!(w, bits).map_or(0, |by| (value >> by) as Int)
    })
}

pub(super) fn mulhi(a: &Tensor, b: &Tensor) -> Binary {
    let bits = a.element().bits();
    integers!(a, b, |v, w: Int| (i128::from(v).wrapping_mul(w.into()) >> bits) as Int)
}

pub(super) fn polygamma(a: &Tensor, b: &Tensor) -> Binary {
    wide(a, b, special::polygamma)
}

pub(super) fn zeta(a: &Tensor, b: &Tensor) -> Binary {
    wide(a, b, special::zeta)
}

/// The neighbour of `a` in the direction of `b`: as whole numbers, the bits of floats of one sign
/// are in order.
pub(super) fn next_after(a: &Tensor, b: &Tensor) -> Binary {
    same_element(a, b)?;
    let element = a.element();
    if !element.is_float() {
        return Err(no_meaning(element));
    }
    let dims = common_dims(&[a, b]);
    let step = |from: u64, to: u64| special::next_after(from, to, element);
    Ok(match element.bits() {
        64 => {
            let step = |from: f64, to: f64| f64::from_bits(step(from.to_bits(), to.to_bits()));
            Tensor::from_lanes(element, dims, zip(a.lanes(), b.lanes(), step)?)
        }
        32 => {
            let step = |from: u32, to: u32| step(from.into(), to.into()) as u32;
            Tensor::from_lanes(element, dims, zip(a.lanes(), b.lanes(), step)?)
        }
        16 => {
            let step = |from: u16, to: u16| step(from.into(), to.into()) as u16;
            Tensor::from_lanes(element, dims, zip(a.lanes(), b.lanes(), step)?)
        }
        _ => {
            let step = |from: u8, to: u8| step(from.into(), to.into()) as u8;
            Tensor::from_lanes(element, dims, zip(a.lanes(), b.lanes(), step)?)
        }
    })
}
