//! Floats with fewer bits in the same type.

use half::{bf16, f16};
use shard_ir::ElementType;

use super::super::numeric::{from_singles, no_meaning, singles};
use crate::{Fault, Tensor};

/// Bits of a format: of the whole, and of the mantissa.
#[derive(Clone, Copy)]
struct Format {
    bits: u32,
    mantissa: u32,
}

/// Rounds to so many bits of exponent and mantissa: what is too large becomes infinite, what is
/// smaller than the normal numbers becomes zero.
pub(super) fn reduce_precision(x: &Tensor, exponent: i32, mantissa: i32) -> Result<Tensor, Fault> {
    let (Ok(exponent), Ok(mantissa)) = (u32::try_from(exponent), u32::try_from(mantissa)) else {
        return Err(Fault::invalid("reduce_precision to a negative number of bits"));
    };
    if exponent == 0 {
        return Err(Fault::invalid("reduce_precision to no bits of exponent"));
    }
    let round = |bits: u64, format: Format| reduced(bits, format, exponent, mantissa);
    let element = x.element();
    Ok(match element {
        ElementType::F64 => {
            let format = Format { bits: 64, mantissa: 52 };
            let values = x.lanes::<u64>().iter().map(|v| round(*v, format)).collect::<Vec<u64>>();
            Tensor::from_lanes(element, x.dims(), values)
        }
        ElementType::F16 => {
            let format = Format { bits: 16, mantissa: 10 };
            let round = |v: &f16| f16::from_bits(round(v.to_bits().into(), format) as u16);
            let values = x.lanes::<f16>().iter().map(round).collect::<Vec<_>>();
            Tensor::from_lanes(element, x.dims(), values)
        }
        ElementType::BF16 => {
            let format = Format { bits: 16, mantissa: 7 };
            let round = |v: &bf16| bf16::from_bits(round(v.to_bits().into(), format) as u16);
            let values = x.lanes::<bf16>().iter().map(round).collect::<Vec<_>>();
            Tensor::from_lanes(element, x.dims(), values)
        }
        _ if element.is_float() => {
            let format = Format { bits: 32, mantissa: 23 };
            let round = |v: &f32| f32::from_bits(round(v.to_bits().into(), format) as u32);
            from_singles(element, x.dims(), singles(x).iter().map(round).collect())
        }
        _ => return Err(no_meaning(element)),
    })
}

fn reduced(bits: u64, format: Format, exponent: u32, mantissa: u32) -> u64 {
    let sign_bit = 1u64 << (format.bits - 1);
    let infinity = (sign_bit - 1) & !((1 << format.mantissa) - 1);
    if bits & (sign_bit - 1) > infinity {
        // Without a mantissa there is no NaN.
        return if mantissa > 0 { bits } else { bits & sign_bit | infinity };
    }
    let sign = bits & sign_bit;
    let mut size = bits & (sign_bit - 1);
    if mantissa < format.mantissa {
        let lost = format.mantissa - mantissa;
        let last = size >> lost & 1;
        // To the nearest, ties to even; a carry goes to the exponent by itself.
        size = (size + last + (1 << (lost - 1)) - 1) & !((1 << lost) - 1);
    }
    let own_exponent = format.bits - 1 - format.mantissa;
    if exponent < own_exponent {
        let bias = (1u64 << (own_exponent - 1)) - 1;
        let reduced_bias = (1u64 << (exponent - 1)) - 1;
        let found = size >> format.mantissa;
        if found > bias + reduced_bias {
            size = infinity;
        } else if found <= bias - reduced_bias {
            size = 0;
        }
    }
    sign | size
}
