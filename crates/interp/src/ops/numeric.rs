//! What the kernels that compute share: elements as the numbers that Rust computes with.
//!
//! Floats of fewer than 32 bits are computed in `f32` and rounded once an op; integers of 2 and 4
//! bits in 8 bits, and wrapped afterwards.

use std::borrow::Cow;

use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};
use num_complex::Complex;
use shard_ir::{Dims, ElementType, NumberKind, float};
use smallvec::smallvec;

use crate::site::Results;
use crate::tensor::small_floats;
use crate::{Fault, Lane, Tensor};

/// Does the same with the lanes of any integer type:
/// `each_integer!(element, |Int| work::<Int>(..), else fault)`.
macro_rules! each_integer {
    ($element:expr, |$int:ident| $body:expr, else $other:expr) => {{
        #[allow(clippy::allow_attributes, unused_imports)]
        use shard_ir::ElementType as E;
        match $element {
            E::I2 | E::I4 | E::I8 => {
                type $int = i8;
                $body
            }
            E::I16 => {
                type $int = i16;
                $body
            }
            E::I32 => {
                type $int = i32;
                $body
            }
            E::I64 | E::Index => {
                type $int = i64;
                $body
            }
            E::UI2 | E::UI4 | E::UI8 => {
                type $int = u8;
                $body
            }
            E::UI16 => {
                type $int = u16;
                $body
            }
            E::UI32 => {
                type $int = u32;
                $body
            }
            E::UI64 => {
                type $int = u64;
                $body
            }
            _ => $other,
        }
    }};
}
pub(crate) use each_integer;

/// Integers of 2 and 4 bits by their value; others stay as they are.
pub(crate) fn wrap<T: Lane>(element: ElementType, mut values: Vec<T>) -> Vec<T> {
    let (bits, signed) = match element {
        ElementType::I2 => (2, true),
        ElementType::I4 => (4, true),
        ElementType::UI2 => (2, false),
        ElementType::UI4 => (4, false),
        _ => return values,
    };
    let shift = 8 - bits;
    for byte in bytemuck::cast_slice_mut::<T, u8>(&mut values) {
        *byte =
            if signed { ((*byte << shift) as i8 >> shift) as u8 } else { *byte << shift >> shift };
    }
    values
}

/// A tensor of integers in the lane of the type, which are wrapped to its width.
pub(crate) fn from_integers<T: Lane>(
    element: ElementType,
    dims: impl Into<Dims>,
    values: Vec<T>,
) -> Tensor {
    Tensor::from_lanes(element, dims, wrap(element, values))
}

/// Elements of any float type but `f64`.
///
/// # Panics
/// For other element types.
pub(crate) fn singles(tensor: &Tensor) -> Cow<'_, [f32]> {
    match tensor.element() {
        ElementType::F32 | ElementType::TF32 => Cow::Borrowed(tensor.lanes::<f32>()),
        ElementType::F16 => Cow::Owned(tensor.lanes::<f16>().to_f32_vec()),
        ElementType::BF16 => {
            Cow::Owned(tensor.lanes::<bf16>().iter().map(|e| e.to_f32()).collect())
        }
        other => {
            let table: Vec<f32> = small_floats(other).iter().map(|v| *v as f32).collect();
            Cow::Owned(tensor.lanes::<u8>().iter().map(|e| table[usize::from(*e)]).collect())
        }
    }
}

/// A tensor of floats of any type but `f64`, each rounded to the type.
///
/// # Panics
/// If the type is none of those.
pub(crate) fn from_singles(
    element: ElementType,
    dims: impl Into<Dims>,
    values: Vec<f32>,
) -> Tensor {
    match element {
        ElementType::F32 | ElementType::TF32 => Tensor::from_lanes(element, dims, values),
        ElementType::F16 => {
            let values = values.iter().map(|v| f16::from_f32(*v)).collect::<Vec<_>>();
            Tensor::from_lanes(element, dims, values)
        }
        ElementType::BF16 => {
            let values = values.iter().map(|v| bf16::from_f32(*v)).collect::<Vec<_>>();
            Tensor::from_lanes(element, dims, values)
        }
        other if other.is_float() => {
            let round = |v: &f32| float::from_f64(f64::from(*v), other) as u8;
            Tensor::from_lanes(element, dims, values.iter().map(round).collect::<Vec<_>>())
        }
        other => panic!("{other} is no float"),
    }
}

/// Elements of any complex type.
///
/// # Panics
/// For other element types.
pub(crate) fn complexes(tensor: &Tensor) -> Cow<'_, [Complex<f64>]> {
    match tensor.element() {
        ElementType::C128 => Cow::Borrowed(tensor.lanes::<Complex<f64>>()),
        _ => Cow::Owned(
            tensor
                .lanes::<Complex<f32>>()
                .iter()
                .map(|e| Complex::new(f64::from(e.re), f64::from(e.im)))
                .collect(),
        ),
    }
}

/// A tensor of complex numbers, rounded to the type.
pub(crate) fn from_complexes(
    element: ElementType,
    dims: impl Into<Dims>,
    values: Vec<Complex<f64>>,
) -> Tensor {
    match element {
        ElementType::C128 => Tensor::from_lanes(element, dims, values),
        _ => {
            let round = |e: &Complex<f64>| Complex::new(e.re as f32, e.im as f32);
            Tensor::from_lanes(element, dims, values.iter().map(round).collect::<Vec<_>>())
        }
    }
}

/// One result.
pub(crate) fn single(tensor: Tensor) -> Results {
    smallvec![tensor]
}

/// What an op can't compute with elements of this type.
pub(crate) fn no_meaning(element: ElementType) -> Fault {
    Fault::unsupported(format!("this op of {element} elements"))
}

/// Complains about two tensors that must have the same elements and haven't.
pub(crate) fn same_element(a: &Tensor, b: &Tensor) -> Result<(), Fault> {
    if a.element() == b.element() {
        return Ok(());
    }
    Err(Fault::invalid(format!("elements of {} meet elements of {}", a.element(), b.element())))
}

/// Whether elements are floats of at most 32 bits.
pub(crate) fn is_narrow_float(element: ElementType) -> bool {
    element.kind() == NumberKind::Float && element != ElementType::F64
}
