//! Elements of tensors as numbers, of every type that programs have.

use shard_ir::{ElementType, NumberKind, float as bits};

fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut out = [0; N];
    let count = bytes.len().min(N);
    out[..count].copy_from_slice(&bytes[..count]);
    out
}

/// The value of one element of a float type.
pub fn float(element: ElementType, bytes: &[u8]) -> f64 {
    bits::to_f64(u64::from_le_bytes(array(bytes)), element)
}

/// The real and imaginary part of one element of a float or complex type.
pub fn parts(element: ElementType, bytes: &[u8]) -> [f64; 2] {
    if element.kind() != NumberKind::Complex {
        return [float(element, bytes), 0.0];
    }
    let (real, imaginary) = bytes.split_at(bytes.len() / 2);
    [float(part_of(element), real), float(part_of(element), imaginary)]
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
    let bits = bits::from_f64(value, element);
    out.extend(&bits.to_le_bytes()[..element.storage_bytes()]);
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
    let mut bytes = Vec::new();
    match element.kind() {
        NumberKind::Float => push_float(element, f64::NAN, &mut bytes),
        NumberKind::Complex => {
            for part in [f64::NAN; 2] {
                push_float(part_of(element), part, &mut bytes);
            }
        }
        NumberKind::Bool => bytes.push(1),
        NumberKind::Signed => {
            push_integer(element, (1i128 << (element.bits().min(64) - 1)) - 1, &mut bytes);
        }
        NumberKind::Unsigned | NumberKind::Quantized => {
            push_integer(element, (1i128 << element.bits().min(64)) - 1, &mut bytes);
        }
    }
    bytes
}

/// The type of the real and the imaginary part of a complex type.
pub fn part_of(element: ElementType) -> ElementType {
    if element == ElementType::C128 { ElementType::F64 } else { ElementType::F32 }
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
