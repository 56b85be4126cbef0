//! Functions of one element.

use num_complex::Complex;
use shard_ir::{ElementType, NumberKind};

use super::super::numeric::{
    complexes, each_integer, from_complexes, from_integers, from_singles, is_narrow_float,
    no_meaning, singles,
};
use super::{complex, special};
use crate::{Fault, Tensor};

type Unary = Result<Tensor, Fault>;

/// A function that is exact in `f32` and `f64` alike; the closure is compiled for both.
macro_rules! exact {
    ($x:expr, |$v:ident| $body:expr) => {{
        let x: &Tensor = $x;
        match x.element() {
            ElementType::F64 => {
                let values = x
                    .lanes::<f64>()
                    .iter()
                    .map(|e| {
                        let $v = *e;
                        $body
                    })
                    .collect::<Vec<f64>>();
                Ok(Tensor::from_lanes(x.element(), x.dims(), values))
            }
            element if is_narrow_float(element) => {
                let values = singles(x)
                    .iter()
                    .map(|e| {
                        let $v = *e;
                        $body
                    })
                    .collect();
                Ok(from_singles(element, x.dims(), values))
            }
            element => Err(no_meaning(element)),
        }
    }};
}

/// A function of floats that is computed in `f64` and rounded once.
fn wide(x: &Tensor, f: impl Fn(f64) -> f64) -> Unary {
    match x.element() {
        ElementType::F32 | ElementType::TF32 => {
            let values = x.lanes::<f32>().iter().map(|e| f(f64::from(*e)) as f32).collect();
            Ok(from_singles(x.element(), x.dims(), values))
        }
        element if element.is_float() => {
            let values = x.floats().iter().map(|e| f(*e)).collect();
            Ok(Tensor::from_floats(element, x.dims(), values))
        }
        element => Err(no_meaning(element)),
    }
}

/// A function of floats or of complex numbers.
fn function(
    x: &Tensor,
    real: impl Fn(f64) -> f64,
    complex: impl Fn(Complex<f64>) -> Complex<f64>,
) -> Unary {
    match x.element().kind() {
        NumberKind::Complex => {
            let values = complexes(x).iter().map(|e| complex(*e)).collect();
            Ok(from_complexes(x.element(), x.dims(), values))
        }
        _ => wide(x, real),
    }
}

/// A function of integers; those of 2 and 4 bits are wrapped.
macro_rules! integers {
    ($x:expr, |$v:ident: $int:ident| $body:expr) => {{
        let x: &Tensor = $x;
        each_integer!(
            x.element(),
            |$int| {
                let values = x.lanes::<$int>().iter().map(|e| { let $v = *e; $body }).collect::<Vec<$int>>();
                Ok(from_integers(x.element(), x.dims(), values))
            },
            else Err(no_meaning(x.element()))
        )
    }};
}

/// A real number of each complex one.
fn real_of(x: &Tensor, f: impl Fn(Complex<f64>) -> f64) -> Tensor {
    let element = match x.element() {
        ElementType::C128 => ElementType::F64,
        _ => ElementType::F32,
    };
    let values = complexes(x).iter().map(|e| f(*e)).collect();
    Tensor::from_floats(element, x.dims(), values)
}

/// A boolean of each float.
fn predicate(x: &Tensor, f: impl Fn(f64) -> bool) -> Unary {
    let values: Vec<u8> = match x.element() {
        ElementType::F64 => x.lanes::<f64>().iter().map(|e| u8::from(f(*e))).collect(),
        element if is_narrow_float(element) => {
            singles(x).iter().map(|e| u8::from(f(f64::from(*e)))).collect()
        }
        element => return Err(no_meaning(element)),
    };
    Ok(Tensor::from_lanes(ElementType::I1, x.dims(), values))
}

pub(super) fn abs(x: &Tensor) -> Unary {
    match x.element().kind() {
        NumberKind::Float => exact!(x, |v| v.abs()),
        NumberKind::Complex => Ok(real_of(x, |v| libm::hypot(v.re, v.im))),
        NumberKind::Unsigned | NumberKind::Bool => Ok(x.clone()),
        NumberKind::Signed => match x.element() {
            ElementType::I16 => signed_abs(x, i16::wrapping_abs),
            ElementType::I32 => signed_abs(x, i32::wrapping_abs),
            ElementType::I64 | ElementType::Index => signed_abs(x, i64::wrapping_abs),
            _ => signed_abs(x, i8::wrapping_abs),
        },
        NumberKind::Quantized => Err(no_meaning(x.element())),
    }
}

fn signed_abs<T: crate::Lane>(x: &Tensor, f: impl Fn(T) -> T) -> Unary {
    let values = x.lanes::<T>().iter().map(|v| f(*v)).collect::<Vec<T>>();
    Ok(from_integers(x.element(), x.dims(), values))
}

pub(super) fn negate(x: &Tensor) -> Unary {
    match x.element().kind() {
        NumberKind::Float => exact!(x, |v| -v),
        NumberKind::Complex => function(x, |v| v, |v| -v),
        NumberKind::Signed | NumberKind::Unsigned => integers!(x, |v: Int| v.wrapping_neg()),
        NumberKind::Bool | NumberKind::Quantized => Err(no_meaning(x.element())),
    }
}

pub(super) fn sign(x: &Tensor) -> Unary {
    match x.element().kind() {
        NumberKind::Float => {
            exact!(x, |v| if v == 0.0 || v.is_nan() { v } else { v.signum() })
        }
        NumberKind::Complex => function(x, |v| v, complex::sign),
        // Exact in `i64`; an unsigned one is compared with 0 alone.
        NumberKind::Signed => integers!(x, |v: Int| (v as i64).signum() as Int),
        NumberKind::Unsigned => integers!(x, |v: Int| Int::from(v != 0)),
        NumberKind::Bool | NumberKind::Quantized => Err(no_meaning(x.element())),
    }
}

pub(super) fn square(x: &Tensor) -> Unary {
    match x.element().kind() {
        NumberKind::Float => exact!(x, |v| v * v),
        NumberKind::Complex => function(x, |v| v, complex::square),
        NumberKind::Signed | NumberKind::Unsigned => integers!(x, |v: Int| v.wrapping_mul(v)),
        NumberKind::Bool => Ok(x.clone()),
        NumberKind::Quantized => Err(no_meaning(x.element())),
    }
}

pub(super) fn conj(x: &Tensor) -> Unary {
    match x.element().kind() {
        NumberKind::Complex => function(x, |v| v, |v| v.conj()),
        NumberKind::Float | NumberKind::Signed | NumberKind::Unsigned | NumberKind::Bool => {
            Ok(x.clone())
        }
        NumberKind::Quantized => Err(no_meaning(x.element())),
    }
}

pub(super) fn real(x: &Tensor) -> Unary {
    match x.element().kind() {
        NumberKind::Complex => Ok(real_of(x, |v| v.re)),
        NumberKind::Float => Ok(x.clone()),
        _ => Err(no_meaning(x.element())),
    }
}

pub(super) fn imag(x: &Tensor) -> Unary {
    match x.element().kind() {
        NumberKind::Complex => Ok(real_of(x, |v| v.im)),
        NumberKind::Float => Ok(zeros(x)),
        _ => Err(no_meaning(x.element())),
    }
}

/// Zeros in the type and shape of a tensor of floats.
fn zeros(x: &Tensor) -> Tensor {
    Tensor::from_floats(x.element(), x.dims(), vec![0.0; x.len()])
}

pub(super) fn not(x: &Tensor) -> Unary {
    match x.element() {
        ElementType::I1 => {
            let values = x.lanes::<u8>().iter().map(|v| v ^ 1).collect::<Vec<u8>>();
            Ok(Tensor::from_lanes(ElementType::I1, x.dims(), values))
        }
        _ => integers!(x, |v: Int| !v),
    }
}

pub(super) fn popcnt(x: &Tensor) -> Unary {
    let bits = x.element().bits();
    integers!(x, |v: Int| (v << (Int::BITS - bits)).count_ones() as Int)
}

pub(super) fn count_leading_zeros(x: &Tensor) -> Unary {
    let bits = x.element().bits();
    integers!(x, |v: Int| (v << (Int::BITS - bits)).leading_zeros().min(bits) as Int)
}

pub(super) fn is_finite(x: &Tensor) -> Unary {
    predicate(x, f64::is_finite)
}

pub(super) fn is_inf(x: &Tensor) -> Unary {
    predicate(x, f64::is_infinite)
}

pub(super) fn is_pos_inf(x: &Tensor) -> Unary {
    predicate(x, |v| v == f64::INFINITY)
}

pub(super) fn is_neg_inf(x: &Tensor) -> Unary {
    predicate(x, |v| v == f64::NEG_INFINITY)
}

pub(super) fn ceil(x: &Tensor) -> Unary {
    exact!(x, |v| v.ceil())
}

pub(super) fn floor(x: &Tensor) -> Unary {
    exact!(x, |v| v.floor())
}

pub(super) fn round_afz(x: &Tensor) -> Unary {
    exact!(x, |v| v.round())
}

pub(super) fn round_even(x: &Tensor) -> Unary {
    exact!(x, |v| v.round_ties_even())
}

pub(super) fn sqrt(x: &Tensor) -> Unary {
    match x.element().kind() {
        NumberKind::Complex => function(x, |v| v, complex::sqrt),
        _ => exact!(x, |v| v.sqrt()),
    }
}

pub(super) fn cosh(x: &Tensor) -> Unary {
    match x.element() {
        ElementType::F32 | ElementType::TF32 => {
            let half = |x: f32| libm::exp(special::less_log_two(x));
            exact_single(x, |x| (half(x) + half(-x)) as f32)
        }
        _ => function(x, libm::cosh, complex::cosh),
    }
}

pub(super) fn sinh(x: &Tensor) -> Unary {
    match x.element() {
        ElementType::F32 | ElementType::TF32 => {
            let half = |x: f32| libm::exp(special::less_log_two(x));
            exact_single(x, |x| {
                if x.abs() < 1.0 {
                    libm::sinh(x.into()) as f32
                } else {
                    (half(x) - half(-x)) as f32
                }
            })
        }
        _ => function(x, libm::sinh, complex::sinh),
    }
}

/// A function of `f32`.
fn exact_single(x: &Tensor, f: impl Fn(f32) -> f32) -> Unary {
    let values = x.lanes::<f32>().iter().map(|v| f(*v)).collect();
    Ok(from_singles(x.element(), x.dims(), values))
}

pub(super) fn erf(x: &Tensor) -> Unary {
    wide(x, libm::erf)
}

pub(super) fn erfc(x: &Tensor) -> Unary {
    wide(x, libm::erfc)
}

pub(super) fn erf_inv(x: &Tensor) -> Unary {
    wide(x, special::erf_inv)
}

pub(super) fn lgamma(x: &Tensor) -> Unary {
    wide(x, special::lgamma)
}

pub(super) fn digamma(x: &Tensor) -> Unary {
    wide(x, special::digamma)
}

pub(super) fn bessel_i1e(x: &Tensor) -> Unary {
    wide(x, special::bessel_i1e)
}

/// Functions of floats and of complex numbers.
macro_rules! functions {
    ($($name:ident = $real:expr;)*) => {$(
        pub(super) fn $name(x: &Tensor) -> Unary {
            function(x, $real, complex::$name)
        }
    )*};
}

functions! {
    cbrt = libm::cbrt;
    cos = libm::cos;
    exp = libm::exp;
    exp_m1 = libm::expm1;
    ln = libm::log;
    ln_1p = libm::log1p;
    logistic = special::logistic;
    rsqrt = special::rsqrt;
    sin = libm::sin;
    tan = libm::tan;
    tanh = libm::tanh;
    acos = libm::acos;
    acosh = special::acosh;
    asin = libm::asin;
    asinh = libm::asinh;
    atan = libm::atan;
    atanh = libm::atanh;
}
