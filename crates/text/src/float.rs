//! Floats: between bits, values and the decimal text that MLIR prints.
//!
//! MLIR prints a float with six digits after the point where that reads back as the same value,
//! else with the digits that `APFloat::toString` finds (which cuts off digits before it rounds), and
//! infinities and NaNs as their bits. Constants must survive the trip through text bit for bit and
//! text must be the same as MLIR's, so that algorithm is followed here.

pub(crate) use shard_ir::float::{from_f64, to_f64};
use shard_ir::{ElementType, float};

/// The bits of a literal: decimal, or hexadecimal bits.
pub(crate) fn parse_bits(literal: &str, element: ElementType) -> Option<u64> {
    if let Some(hex) = literal.strip_prefix("0x") {
        let bits = u64::from_str_radix(hex, 16).ok()?;
        let width = element.bits();
        return (width >= 64 || bits >> width == 0).then_some(bits);
    }
    if !literal.bytes().any(|b| b.is_ascii_digit()) {
        return None;
    }
    Some(match element {
        ElementType::F32 | ElementType::TF32 => literal.parse::<f32>().ok()?.to_bits().into(),
        _ => from_f64(literal.parse::<f64>().ok()?, element),
    })
}

/// The value of a literal.
pub(crate) fn parse(literal: &str, element: ElementType) -> Option<f64> {
    parse_bits(literal, element).map(|bits| to_f64(bits, element))
}

/// Number of bits of the significand, the hidden one included.
fn precision(element: ElementType) -> u32 {
    match element {
        ElementType::F64 => 53,
        ElementType::F32 => 24,
        ElementType::TF32 | ElementType::F16 => 11,
        ElementType::BF16 => 8,
        _ => float::mantissa_bits(element).map_or(53, |bits| bits + 1),
    }
}

/// Appends the float as MLIR prints it. Returns whether that is hexadecimal.
pub(crate) fn print(bits: u64, element: ElementType, out: &mut String) -> bool {
    let value = to_f64(bits, element);
    if value.is_finite() {
        if value == 0.0 {
            out.push_str(if value.is_sign_negative() { "-0.000000e+00" } else { "0.000000e+00" });
            return false;
        }
        let start = out.len();
        print_decimal(value, 6, 0, false, out);
        if parse_bits(&out[start..], element) == Some(bits) {
            return false;
        }
        out.truncate(start);
        // Enough digits for any value of that precision.
        print_decimal(value, 2 + precision(element) * 59 / 196, 3, true, out);
        if out[start..].contains('.') {
            return false;
        }
        out.truncate(start);
    }
    push_hex(bits, element.bits(), out);
    true
}

fn push_hex(bits: u64, width: u32, out: &mut String) {
    use std::fmt::Write as _;
    let _ = width;
    let _ = write!(out, "0x{bits:X}");
}

/// `APFloat::toString`, for a finite value other than zero.
fn print_decimal(value: f64, digits: u32, max_padding: u32, truncate_zero: bool, out: &mut String) {
    if value.is_sign_negative() {
        out.push('-');
    }
    let bits = value.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32;
    let mantissa = bits & ((1 << 52) - 1);
    let (significand, exponent) =
        if exponent == 0 { (mantissa, -1074) } else { (mantissa | 1 << 52, exponent - 1075) };
    let zeros = significand.trailing_zeros();
    let (buffer, mut exp) = decimal(significand >> zeros, exponent + zeros as i32, digits);
    let count = buffer.len() as i32;
    let scientific = if max_padding == 0 {
        true
    } else if exp >= 0 {
        exp as u32 > max_padding || (count + exp) as u32 > digits
    } else {
        let top = exp + count - 1;
        top < 0 && -top as u32 > max_padding
    };
    let push = |out: &mut String, digits: &[u8]| {
        out.extend(digits.iter().map(|digit| char::from(b'0' + digit)));
    };
    let zeros =
        |out: &mut String, count: i32| out.extend(std::iter::repeat_n('0', count.max(0) as usize));
    if scientific {
        exp += count - 1;
        push(out, &buffer[..1]);
        out.push('.');
        if count == 1 && truncate_zero {
            out.push('0');
        } else {
            push(out, &buffer[1..]);
        }
        if !truncate_zero {
            zeros(out, digits as i32 - count + 1);
        }
        out.push(if truncate_zero { 'E' } else { 'e' });
        out.push(if exp >= 0 { '+' } else { '-' });
        let exp = exp.unsigned_abs();
        if !truncate_zero && exp < 10 {
            out.push('0');
        }
        out.push_str(&exp.to_string());
    } else if exp >= 0 {
        push(out, &buffer);
        zeros(out, exp);
    } else {
        let whole = exp + count;
        if whole > 0 {
            push(out, &buffer[..whole as usize]);
            out.push('.');
            push(out, &buffer[whole as usize..]);
        } else {
            out.push_str("0.");
            zeros(out, -whole);
            push(out, &buffer);
        }
    }
}

/// Decimal digits (most significant first, no zeros at the end) and the power of ten of the last,
/// for `significand * 2^exponent`, at most `precision` of them.
fn decimal(significand: u64, exponent: i32, precision: u32) -> (Vec<u8>, i32) {
    let power = exponent.unsigned_abs();
    let needed = 64 - significand.leading_zeros()
        + if exponent >= 0 { power } else { power.saturating_mul(7).div_ceil(3) };
    // The precision as bits, by a slight overestimate of log2(10); what is beyond is cut off.
    let wanted = (precision * 196).div_ceil(59);
    let mut exp = if exponent >= 0 { 0 } else { exponent };
    let mut digits: Vec<u8>;
    if needed <= 127 {
        let mut number = u128::from(significand);
        if exponent >= 0 {
            number <<= power
        } else {
            number *= 5u128.pow(power)
        }
        let bits = 128 - number.leading_zeros();
        if bits > wanted {
            let tens = (bits - wanted) * 59 / 196;
            exp += tens as i32;
            number /= 10u128.pow(tens);
        }
        digits = Vec::with_capacity(24);
        while number != 0 {
            digits.push((number % 10) as u8);
            number /= 10;
        }
    } else {
        let mut number = Big::from(significand);
        if exponent >= 0 {
            number.shift_left(power)
        } else {
            number.times_power_of_5(power)
        }
        let bits = number.bits();
        if bits > wanted {
            let tens = (bits - wanted) * 59 / 196;
            exp += tens as i32;
            number.divide_by_power_of_10(tens);
        }
        digits = number.into_digits();
    }
    // From here on the least significant digit is first.
    let zeros = digits.iter().take_while(|digit| **digit == 0).count();
    digits.drain(..zeros);
    exp += zeros as i32;
    let precision = precision as usize;
    if digits.len() > precision {
        let mut first = digits.len() - precision;
        if digits[first - 1] < 5 {
            while first < digits.len() && digits[first] == 0 {
                first += 1;
            }
        } else {
            while first < digits.len() && digits[first] == 9 {
                first += 1;
            }
            match digits.get_mut(first) {
                Some(digit) => *digit += 1,
                None => {
                    exp += first as i32;
                    return (vec![1], exp);
                }
            }
        }
        exp += first as i32;
        digits.drain(..first);
    }
    digits.reverse();
    (digits, exp)
}

/// An unsigned integer of any size, little endian.
struct Big(Vec<u32>);

impl Big {
    fn from(value: u64) -> Big {
        Big(vec![value as u32, (value >> 32) as u32])
    }

    fn trim(&mut self) {
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
    }

    fn bits(&mut self) -> u32 {
        self.trim();
        self.0.last().map_or(0, |top| self.0.len() as u32 * 32 - top.leading_zeros())
    }

    fn times(&mut self, factor: u32) {
        let mut carry = 0u64;
        for limb in &mut self.0 {
            carry += u64::from(*limb) * u64::from(factor);
            *limb = carry as u32;
            carry >>= 32;
        }
        if carry != 0 {
            self.0.push(carry as u32);
        }
    }

    fn times_power_of_5(&mut self, mut power: u32) {
        while power >= 13 {
            self.times(5u32.pow(13));
            power -= 13;
        }
        self.times(5u32.pow(power));
    }

    fn shift_left(&mut self, mut count: u32) {
        while count >= 31 {
            self.times(1 << 31);
            count -= 31;
        }
        self.times(1 << count);
    }

    /// Divides and returns the remainder.
    fn divide(&mut self, divisor: u32) -> u32 {
        let mut rest = 0u64;
        for limb in self.0.iter_mut().rev() {
            rest = rest << 32 | u64::from(*limb);
            *limb = (rest / u64::from(divisor)) as u32;
            rest %= u64::from(divisor);
        }
        self.trim();
        rest as u32
    }

    fn divide_by_power_of_10(&mut self, mut power: u32) {
        while power >= 9 {
            self.divide(1_000_000_000);
            power -= 9;
        }
        self.divide(10u32.pow(power));
    }

    /// Decimal digits, the least significant first.
    fn into_digits(mut self) -> Vec<u8> {
        let mut digits = Vec::new();
        self.trim();
        while !self.0.is_empty() {
            let mut chunk = self.divide(1_000_000_000);
            for _ in 0..9 {
                digits.push((chunk % 10) as u8);
                chunk /= 10;
            }
        }
        while digits.last() == Some(&0) {
            digits.pop();
        }
        digits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn f32_text(value: f32) -> String {
        let mut out = String::new();
        print(value.to_bits().into(), ElementType::F32, &mut out);
        out
    }

    #[test]
    fn prints_as_mlir_does() {
        assert_eq!(f32_text(0.9), "0.899999976");
        assert_eq!(f32_text(0.1), "1.000000e-01");
        assert_eq!(f32_text(1.220_703_1e-4), "1.22070313E-4");
        assert_eq!(f32_text(std::f32::consts::PI), "3.14159274");
        assert_eq!(f32_text(1e10), "1.000000e+10");
        assert_eq!(f32_text(1.5e-8), "1.500000e-08");
        assert_eq!(f32_text(123_456.79), "123456.789");
        assert_eq!(f32_text(-0.0), "-0.000000e+00");
        assert_eq!(f32_text(f32::INFINITY), "0x7F800000");
        assert_eq!(f32_text(f32::NEG_INFINITY), "0xFF800000");
    }

    #[test]
    fn every_small_float_survives() {
        use ElementType::*;
        for element in [
            F4E2M1FN,
            F6E2M3FN,
            F6E3M2FN,
            F8E3M4,
            F8E4M3,
            F8E4M3FN,
            F8E4M3FNUZ,
            F8E4M3B11FNUZ,
            F8E5M2,
            F8E5M2FNUZ,
            F8E8M0FNU,
        ] {
            for bits in 0..1u64 << element.bits() {
                let mut out = String::new();
                print(bits, element, &mut out);
                assert_eq!(parse_bits(&out, element), Some(bits), "{element} {bits:#x} {out}");
            }
        }
    }

    #[test]
    fn floats_of_two_bytes_survive() {
        for element in [ElementType::F16, ElementType::BF16] {
            for bits in 0..=0xffffu64 {
                let mut out = String::new();
                print(bits, element, &mut out);
                assert_eq!(parse_bits(&out, element), Some(bits), "{element} {bits:#x} {out}");
            }
        }
    }

    #[test]
    fn extreme_doubles_survive() {
        for value in [f64::MAX, f64::MIN_POSITIVE, 5e-324, 1.0 / 3.0, 1e300, 123_456_789.125] {
            let mut out = String::new();
            print(value.to_bits(), ElementType::F64, &mut out);
            assert_eq!(parse_bits(&out, ElementType::F64), Some(value.to_bits()), "{out}");
        }
    }

    #[test]
    fn payloads_of_nans_survive_widening() {
        for bits in [0x7fc0_0001u64, 0xffc0_0000, 0x7f80_0001] {
            let wide = to_f64(bits, ElementType::F32);
            assert_eq!(from_f64(wide, ElementType::F32), bits);
        }
    }
}
