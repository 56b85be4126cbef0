//! Elements of tensors as numbers, of every type that programs have.

use half::{bf16, f16};
use shard_ir::{ElementType, NumberKind};

/// The layout of a float of at most a byte.
struct Small {
    exponent: u32,
    mantissa: u32,
    bias: i32,
    /// What the largest exponent means.
    top: Top,
    signed: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Top {
    /// Infinities and NaN, as IEEE has them.
    Ieee,
    /// Numbers; all bits set is NaN.
    OneNan,
    /// Numbers; the negative zero is NaN.
    NanIsNegativeZero,
    /// Numbers only.
    Numbers,
}

fn small(element: ElementType) -> Option<Small> {
    use ElementType::*;
    let (exponent, mantissa, bias, top) = match element {
        F4E2M1FN => (2, 1, 1, Top::Numbers),
        F6E2M3FN => (2, 3, 1, Top::Numbers),
        F6E3M2FN => (3, 2, 3, Top::Numbers),
        F8E3M4 => (3, 4, 3, Top::Ieee),
        F8E4M3 => (4, 3, 7, Top::Ieee),
        F8E4M3FN => (4, 3, 7, Top::OneNan),
        F8E4M3FNUZ => (4, 3, 8, Top::NanIsNegativeZero),
        F8E4M3B11FNUZ => (4, 3, 11, Top::NanIsNegativeZero),
        F8E5M2 => (5, 2, 15, Top::Ieee),
        F8E5M2FNUZ => (5, 2, 16, Top::NanIsNegativeZero),
        F8E8M0FNU => (8, 0, 127, Top::OneNan),
        _ => return None,
    };
    Some(Small { exponent, mantissa, bias, top, signed: element != F8E8M0FNU })
}

impl Small {
    fn decode(&self, bits: u8) -> f64 {
        let bits = u32::from(bits);
        let (e_mask, m_mask) = ((1 << self.exponent) - 1, (1 << self.mantissa) - 1);
        let mantissa = bits & m_mask;
        let exponent = bits >> self.mantissa & e_mask;
        let sign_bit = bits >> (self.mantissa + self.exponent) & 1;
        let negative = self.signed && sign_bit == 1;
        match self.top {
            Top::Ieee if exponent == e_mask => {
                let size = if mantissa == 0 { f64::INFINITY } else { f64::NAN };
                return if negative { -size } else { size };
            }
            Top::OneNan if exponent == e_mask && mantissa == m_mask => return f64::NAN,
            Top::NanIsNegativeZero if negative && exponent == 0 && mantissa == 0 => {
                return f64::NAN;
            }
            _ => {}
        }
        let scale = f64::from(1u32 << self.mantissa);
        let fraction = f64::from(mantissa) / scale;
        let size = if exponent == 0 && self.signed {
            fraction * 2f64.powi(1 - self.bias)
        } else {
            (1.0 + fraction) * 2f64.powi(exponent as i32 - self.bias)
        };
        if negative { -size } else { size }
    }

    /// The bits of the nearest number that is finite.
    fn encode(&self, value: f64) -> u8 {
        let bits = u32::from(self.signed) + self.exponent + self.mantissa;
        let all = 0..=((1u32 << bits) - 1) as u8;
        let distance = |bits: &u8| {
            let distance = (self.decode(*bits) - value).abs();
            if distance.is_finite() { distance } else { f64::MAX }
        };
        all.min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(0)
    }

    fn nan(&self) -> u8 {
        (0..=u8::MAX).find(|bits| self.decode(*bits).is_nan()).unwrap_or(0)
    }
}

fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut out = [0; N];
    let count = bytes.len().min(N);
    out[..count].copy_from_slice(&bytes[..count]);
    out
}

/// The value of one element of a float type.
pub fn float(element: ElementType, bytes: &[u8]) -> f64 {
    match element {
        ElementType::F64 => f64::from_le_bytes(array(bytes)),
        ElementType::F32 | ElementType::TF32 => f32::from_le_bytes(array(bytes)).into(),
        ElementType::BF16 => bf16::from_le_bytes(array(bytes)).into(),
        ElementType::F16 => f16::from_le_bytes(array(bytes)).into(),
        _ => match (small(element), bytes.first()) {
            (Some(small), Some(&bits)) => small.decode(bits),
            _ => f64::NAN,
        },
    }
}

/// The real and imaginary part of one element of a float or complex type.
pub fn parts(element: ElementType, bytes: &[u8]) -> [f64; 2] {
    match element {
        ElementType::C64 => {
            let (real, imaginary) = bytes.split_at(bytes.len() / 2);
            [float(ElementType::F32, real), float(ElementType::F32, imaginary)]
        }
        ElementType::C128 => {
            let (real, imaginary) = bytes.split_at(bytes.len() / 2);
            [float(ElementType::F64, real), float(ElementType::F64, imaginary)]
        }
        _ => [float(element, bytes), 0.0],
    }
}

/// The value of one element of an integer or boolean type.
pub fn integer(element: ElementType, bytes: &[u8]) -> i128 {
    let raw = u64::from_le_bytes(array(bytes));
    let width = element.bits().clamp(1, 64);
    let shift = 64 - width;
    match element.kind() {
        NumberKind::Signed => i128::from((raw << shift) as i64 >> shift),
        _ => i128::from(raw << shift >> shift),
    }
}

/// One element as text.
pub fn text(element: ElementType, bytes: &[u8]) -> String {
    match element.kind() {
        NumberKind::Bool => (bytes.first() != Some(&0)).to_string(),
        NumberKind::Float => shortest(element, float(element, bytes)),
        NumberKind::Complex => {
            let [real, imaginary] = parts(element, bytes);
            format!("({real}, {imaginary})")
        }
        NumberKind::Signed | NumberKind::Unsigned | NumberKind::Quantized => {
            integer(element, bytes).to_string()
        }
    }
}

fn shortest(element: ElementType, value: f64) -> String {
    match element {
        ElementType::F64 => format!("{value:e}"),
        _ => format!("{:e}", value as f32),
    }
}

/// Appends the bytes of a number, as near as the type has it.
pub fn push_float(element: ElementType, value: f64, out: &mut Vec<u8>) {
    match element {
        ElementType::F64 => out.extend(value.to_le_bytes()),
        ElementType::F32 | ElementType::TF32 => out.extend((value as f32).to_le_bytes()),
        ElementType::BF16 => out.extend(bf16::from_f64(value).to_le_bytes()),
        ElementType::F16 => out.extend(f16::from_f64(value).to_le_bytes()),
        _ => out.push(small(element).map_or(0, |small| small.encode(value))),
    }
}

/// Appends the low bytes of an integer.
pub fn push_integer(element: ElementType, value: i128, out: &mut Vec<u8>) {
    let width = element.storage_bytes().min(16);
    let mask = if element.bits() < 8 { (1i128 << element.bits()) - 1 } else { -1 };
    out.extend(&(value & mask).to_le_bytes()[..width]);
}

/// The bytes of an element that spoils whatever is computed from it: NaN, the largest integer,
/// `true`.
pub fn poison(element: ElementType) -> Vec<u8> {
    match element {
        ElementType::F64 => f64::NAN.to_le_bytes().to_vec(),
        ElementType::F32 | ElementType::TF32 => f32::NAN.to_le_bytes().to_vec(),
        ElementType::BF16 => bf16::NAN.to_le_bytes().to_vec(),
        ElementType::F16 => f16::NAN.to_le_bytes().to_vec(),
        ElementType::C64 => [f32::NAN.to_le_bytes(); 2].concat(),
        ElementType::C128 => [f64::NAN.to_le_bytes(); 2].concat(),
        _ => match element.kind() {
            NumberKind::Float => vec![small(element).map_or(0, |small| small.nan())],
            NumberKind::Bool => vec![1],
            _ => {
                let bits = element.bits().min(64);
                let most = match element.kind() {
                    NumberKind::Signed => (1i128 << (bits - 1)) - 1,
                    _ => (1i128 << bits) - 1,
                };
                let mut bytes = Vec::new();
                push_integer(element, most, &mut bytes);
                bytes
            }
        },
    }
}

/// How far two computations of one number may be apart, as a part of its size, where sums are
/// taken in another order; `None` where arithmetic is exact.
pub fn tolerance(element: ElementType) -> Option<f64> {
    match element {
        ElementType::F64 | ElementType::C128 => Some(1e-10),
        ElementType::F32 | ElementType::C64 => Some(1e-4),
        ElementType::TF32 | ElementType::F16 => Some(1e-2),
        ElementType::BF16 => Some(2e-2),
        _ => match element.kind() {
            NumberKind::Float => Some(0.25),
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_floats() {
        for (element, bits, value) in [
            (ElementType::F8E4M3FN, 0x38, 1.0),
            (ElementType::F8E4M3FN, 0x7e, 448.0),
            (ElementType::F8E5M2, 0x3c, 1.0),
            (ElementType::F8E5M2, 0x7c, f64::INFINITY),
            (ElementType::F8E4M3FNUZ, 0x40, 1.0),
            (ElementType::F4E2M1FN, 0x7, 6.0),
            (ElementType::F8E8M0FNU, 0x7f, 1.0),
        ] {
            assert_eq!(float(element, &[bits]), value, "{element}");
            if value.is_finite() {
                let mut bytes = Vec::new();
                push_float(element, value, &mut bytes);
                assert_eq!(bytes, [bits], "{element}");
            }
        }
        for element in [ElementType::F8E4M3FN, ElementType::F8E5M2, ElementType::F8E5M2FNUZ] {
            assert!(float(element, &poison(element)).is_nan(), "{element}");
        }
    }

    #[test]
    fn integers() {
        for (element, value) in [
            (ElementType::I4, -3),
            (ElementType::UI4, 13),
            (ElementType::I8, -128),
            (ElementType::UI64, u64::MAX.into()),
            (ElementType::I64, i64::MIN.into()),
        ] {
            let mut bytes = Vec::new();
            push_integer(element, value, &mut bytes);
            assert_eq!(bytes.len(), element.storage_bytes());
            assert_eq!(integer(element, &bytes), value);
        }
        assert_eq!(integer(ElementType::I32, &poison(ElementType::I32)), i32::MAX.into());
    }
}
