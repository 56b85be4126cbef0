//! Changes of the element type.

use num_complex::Complex;
use shard_ir::{ElementType, NumberKind};

use super::super::numeric::{
    complexes, each_integer, from_complexes, from_integers, from_singles, is_narrow_float,
    no_meaning, singles,
};
use super::{from_integer_bits, integer_bits};
use crate::{Fault, Tensor};

/// The elements as another type: floats become integers towards zero, as near as those get (NaN
/// becomes 0); integers wrap; complex numbers lose their imaginary part; what isn't zero is true.
pub(crate) fn convert(x: &Tensor, element: ElementType) -> Result<Tensor, Fault> {
    if x.element() == element {
        return Ok(x.clone());
    }
    match (x.element().kind(), element.kind()) {
        (NumberKind::Quantized, _) => Err(no_meaning(x.element())),
        (_, NumberKind::Quantized) => Err(no_meaning(element)),
        (NumberKind::Float, _) => Ok(from_float(x, element)),
        (NumberKind::Complex, NumberKind::Complex) => {
            Ok(from_complexes(element, x.dims(), complexes(x).into_owned()))
        }
        (NumberKind::Complex, _) => Ok(from_float(&super::unary::real(x)?, element)),
        (NumberKind::Bool | NumberKind::Signed | NumberKind::Unsigned, _) => {
            Ok(from_integer(x, element))
        }
    }
}

fn from_float(x: &Tensor, element: ElementType) -> Tensor {
    if x.element() == element {
        return x.clone();
    }
    match element.kind() {
        NumberKind::Float if is_narrow_float(x.element()) && element != ElementType::F64 => {
            from_singles(element, x.dims(), singles(x).into_owned())
        }
        NumberKind::Float => Tensor::from_floats(element, x.dims(), x.floats()),
        NumberKind::Complex => {
            let values = x.floats().iter().map(|v| Complex::new(*v, 0.0)).collect();
            from_complexes(element, x.dims(), values)
        }
        NumberKind::Bool => {
            let values = x.floats().iter().map(|v| u8::from(*v != 0.0)).collect::<Vec<_>>();
            Tensor::from_lanes(element, x.dims(), values)
        }
        NumberKind::Signed | NumberKind::Unsigned | NumberKind::Quantized => {
            let (low, high) = match element {
                ElementType::I2 => (-2.0, 1.0),
                ElementType::I4 => (-8.0, 7.0),
                ElementType::UI2 => (0.0, 3.0),
                ElementType::UI4 => (0.0, 15.0),
                // Rust's conversion ends where the type does.
                _ => (f64::NEG_INFINITY, f64::INFINITY),
            };
            let values = x.floats();
            each_integer!(
                element,
                |Int| {
                    // A NaN stays one, and becomes 0.
                    let values = values.iter().map(|v| v.clamp(low, high) as Int);
                    from_integers(element, x.dims(), values.collect::<Vec<Int>>())
                },
                else Tensor::from_lanes(element, x.dims(), vec![0u8; values.len()])
            )
        }
    }
}

fn from_integer(x: &Tensor, element: ElementType) -> Tensor {
    let bits = integer_bits(x);
    let unsigned = x.element() == ElementType::UI64;
    match element.kind() {
        NumberKind::Float | NumberKind::Complex => {
            let exact_in = match element {
                ElementType::F64 | ElementType::C128 => 64,
                _ => 53,
            };
            let value = |bits: &i64| match (exact_in, unsigned) {
                (64, true) => *bits as u64 as f64,
                (64, false) => *bits as f64,
                (_, true) => sticky(*bits as u64),
                (_, false) if *bits < 0 => -sticky(bits.unsigned_abs()),
                (_, false) => sticky(bits.unsigned_abs()),
            };
            if element.kind() == NumberKind::Float {
                Tensor::from_floats(element, x.dims(), bits.iter().map(value).collect())
            } else {
                let complex = |bits: &i64| Complex::new(value(bits), 0.0);
                from_complexes(element, x.dims(), bits.iter().map(complex).collect())
            }
        }
        NumberKind::Bool | NumberKind::Signed | NumberKind::Unsigned | NumberKind::Quantized => {
            from_integer_bits(element, x.dims(), &bits)
        }
    }
}

/// An integer as a float that is rounded once more, to fewer digits: the last digit that is kept
/// tells whether others were lost, so that both roundings together are one.
fn sticky(value: u64) -> f64 {
    const LOST: u64 = (1 << 11) - 1;
    if value < 1 << 53 {
        return value as f64;
    }
    ((value & !LOST) | u64::from(value & LOST != 0) << 11) as f64
}
