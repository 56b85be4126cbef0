//! Floats of every kind: between bits and values.

use half::{bf16, f16};

use crate::ElementType;

/// The layout of a float of at most 8 bits.
#[derive(Clone, Copy)]
struct Layout {
    bits: u32,
    mantissa: u32,
    bias: i32,
    specials: Specials,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Specials {
    /// Infinities and NaNs as in IEEE 754.
    Ieee,
    /// NaN where all bits but the sign are ones; no infinities.
    NanAllOnes,
    /// NaN in the place of negative zero; no infinities.
    NanNegativeZero,
    /// Neither.
    Finite,
    /// An unsigned exponent alone; all ones is NaN.
    Exponent,
}

fn layout(element: ElementType) -> Option<Layout> {
    use ElementType::*;
    let (bits, mantissa, bias, specials) = match element {
        F4E2M1FN => (4, 1, 1, Specials::Finite),
        F6E2M3FN => (6, 3, 1, Specials::Finite),
        F6E3M2FN => (6, 2, 3, Specials::Finite),
        F8E3M4 => (8, 4, 3, Specials::Ieee),
        F8E4M3 => (8, 3, 7, Specials::Ieee),
        F8E4M3FN => (8, 3, 7, Specials::NanAllOnes),
        F8E4M3FNUZ => (8, 3, 8, Specials::NanNegativeZero),
        F8E4M3B11FNUZ => (8, 3, 11, Specials::NanNegativeZero),
        F8E5M2 => (8, 2, 15, Specials::Ieee),
        F8E5M2FNUZ => (8, 2, 16, Specials::NanNegativeZero),
        F8E8M0FNU => (8, 0, 127, Specials::Exponent),
        _ => return None,
    };
    Some(Layout { bits, mantissa, bias, specials })
}

impl Layout {
    fn value(self, code: u64) -> f64 {
        let code = code & ((1 << self.bits) - 1);
        if self.specials == Specials::Exponent {
            return if code == 0xff { f64::NAN } else { exp2(code as i32 - self.bias) };
        }
        let sign_bit = 1 << (self.bits - 1);
        let negative = code & sign_bit != 0;
        let magnitude = code & (sign_bit - 1);
        let exponent = magnitude >> self.mantissa;
        let mantissa = magnitude & ((1 << self.mantissa) - 1);
        let top = (sign_bit - 1) >> self.mantissa;
        let value = match self.specials {
            Specials::Ieee if exponent == top => {
                if mantissa == 0 {
                    f64::INFINITY
                } else {
                    f64::NAN
                }
            }
            Specials::NanAllOnes if magnitude == sign_bit - 1 => f64::NAN,
            Specials::NanNegativeZero if negative && magnitude == 0 => f64::NAN,
            _ if exponent == 0 => mantissa as f64 * exp2(1 - self.bias - self.mantissa as i32),
            _ => {
                (mantissa + (1 << self.mantissa)) as f64
                    * exp2(exponent as i32 - self.bias - self.mantissa as i32)
            }
        };
        if negative { -value } else { value }
    }

    /// The nearest code, ties to even. What is too large, rounded as if exponents had no end,
    /// becomes an infinity, where there is none a NaN, where there is neither the largest number.
    fn code(self, value: f64) -> u64 {
        if self.specials == Specials::Exponent {
            return self.exponent_code(value);
        }
        let sign_bit = 1u64 << (self.bits - 1);
        let sign = if value.is_sign_negative() { sign_bit } else { 0 };
        let nan = match self.specials {
            Specials::Ieee => {
                sign | ((sign_bit - 1) & !((1 << self.mantissa) - 1)) | 1 << (self.mantissa - 1)
            }
            Specials::NanAllOnes => sign | (sign_bit - 1),
            // The types without a NaN take negative zero for it, too.
            Specials::NanNegativeZero | Specials::Finite | Specials::Exponent => sign_bit,
        };
        if value.is_nan() {
            return nan;
        }
        let (largest, beyond) = match self.specials {
            Specials::Ieee => {
                let infinity = (sign_bit - 1) & !((1 << self.mantissa) - 1);
                (infinity - 1, sign | infinity)
            }
            Specials::NanAllOnes => (sign_bit - 2, nan),
            Specials::NanNegativeZero => (sign_bit - 1, nan),
            Specials::Finite | Specials::Exponent => (sign_bit - 1, sign | (sign_bit - 1)),
        };
        let magnitude = value.abs();
        if magnitude.is_infinite() {
            return beyond;
        }
        // The exponent of the last place; an `f64` below its own normal numbers is zero here.
        let exponent = ((magnitude.to_bits() >> 52) as i32 - 1023).max(1 - self.bias);
        let places = (magnitude * exp2(self.mantissa as i32 - exponent)).round_ties_even() as u64;
        // One place too many carries into the exponent by itself.
        let magnitude = (((exponent + self.bias - 1) as u64) << self.mantissa) + places;
        if magnitude > largest {
            return beyond;
        }
        if magnitude == 0 && self.specials == Specials::NanNegativeZero {
            0
        } else {
            sign | magnitude
        }
    }

    /// The code of a type that has an exponent alone: what no power of two is near is NaN.
    fn exponent_code(self, value: f64) -> u64 {
        if value.is_nan() || value < 0.0 || value.is_infinite() {
            return 0xff;
        }
        let bits = value.to_bits();
        let (exponent, rest) = ((bits >> 52) as i32 - 1023, bits & ((1 << 52) - 1));
        let up = rest > 1 << 51 || rest == 1 << 51 && exponent & 1 != 0;
        let code = exponent + self.bias + i32::from(up);
        if code > 0xfe { 0xff } else { code.max(0) as u64 }
    }
}

fn exp2(exponent: i32) -> f64 {
    2f64.powi(exponent)
}

/// Bits of the mantissa, without the hidden one, of a float of at most 8 bits.
pub fn mantissa_bits(element: ElementType) -> Option<u32> {
    layout(element).map(|layout| layout.mantissa)
}

/// The value of the bits of a float; every kind's values are exact in `f64`.
pub fn to_f64(bits: u64, element: ElementType) -> f64 {
    match element {
        ElementType::F64 => f64::from_bits(bits),
        ElementType::F32 | ElementType::TF32 => widen(f32::from_bits(bits as u32)),
        ElementType::F16 => f16::from_bits(bits as u16).to_f64(),
        ElementType::BF16 => widen(f32::from_bits((bits as u32) << 16)),
        _ => layout(element).map_or(f64::NAN, |layout| layout.value(bits)),
    }
}

/// Widens without changing the payload of a NaN (a conversion makes signalling ones quiet).
fn widen(value: f32) -> f64 {
    if !value.is_nan() {
        return value.into();
    }
    let bits = u64::from(value.to_bits());
    let sign = (bits & 0x8000_0000) << 32;
    f64::from_bits(sign | 0x7ff0_0000_0000_0000 | (bits & 0x7f_ffff) << 29)
}

fn narrow(value: f64) -> f32 {
    if !value.is_nan() {
        return value as f32;
    }
    let bits = value.to_bits();
    let payload = (bits >> 29 & 0x7f_ffff) as u32;
    let payload = if payload == 0 { 0x40_0000 } else { payload };
    f32::from_bits((bits >> 32) as u32 & 0x8000_0000 | 0x7f80_0000 | payload)
}

/// The bits of the float nearest to a value.
pub fn from_f64(value: f64, element: ElementType) -> u64 {
    match element {
        ElementType::F64 => value.to_bits(),
        ElementType::F32 | ElementType::TF32 => narrow(value).to_bits().into(),
        ElementType::F16 => f16::from_f64(value).to_bits().into(),
        ElementType::BF16 if value.is_nan() => u64::from(narrow(value).to_bits() >> 16),
        ElementType::BF16 => bf16::from_f64(value).to_bits().into(),
        _ => layout(element).map_or(0, |layout| layout.code(value)),
    }
}
