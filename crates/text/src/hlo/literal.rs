//! Constants: `5`, `{1, 2}`, `{ { true }, { false } }`, `(1, -2)`.

use std::fmt::Write as _;

use shard_ir::{DenseData, ElementType, Interner, NumberKind, TensorType};

use crate::float;

/// Name of the data that a text leaves out.
pub(super) const ELIDED: &str = "__elided__";

/// Reads the elements of a tensor's constant; the error is what is wrong, and where.
pub(super) fn read(
    text: &str,
    ty: &TensorType,
    interner: &mut Interner,
) -> Result<DenseData, (usize, String)> {
    let width = ty.element.storage_bytes();
    let count = ty.elements();
    let mut bytes = Vec::with_capacity(usize::try_from(count).unwrap_or(0).min(text.len()) * width);
    let mut seen = 0u64;
    let mut zero = false;
    let mut depth = 0usize;
    let mut at = 0;
    while let Some(&byte) = text.as_bytes().get(at) {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' | b',' => at += 1,
            b'{' => {
                depth += 1;
                at += 1;
            }
            b'}' => {
                depth = depth.checked_sub(1).ok_or((at, "'}' closes nothing".to_owned()))?;
                at += 1;
            }
            b'/' => {
                let end = text[at..].find("*/").map_or(text.len(), |n| at + n + 2);
                at = end;
            }
            b'.' if text[at..].starts_with("...") => {
                return Ok(DenseData::Resource(interner.symbol(ELIDED)));
            }
            _ => {
                // XLA takes a number without braces as the first element, and zero for the others.
                let alone = depth == 0 && seen == 0 && count > 0;
                if depth != ty.rank() && !alone {
                    let message =
                        format!("an element of {depth} nested braces; rank is {}", ty.rank());
                    return Err((at, message));
                }
                let end = at + value_len(&text[at..]);
                push(&text[at..end], ty.element, &mut bytes)
                    .ok_or_else(|| (at, format!("'{}' is no {}", &text[at..end], ty.element)))?;
                seen += 1;
                at = end;
                if alone && ty.rank() > 0 {
                    // A zero is a splat, of any size; others take memory.
                    zero = bytes.iter().all(|byte| *byte == 0);
                    const MOST: usize = 1 << 16;
                    let total = usize::try_from(count).ok().and_then(|n| n.checked_mul(width));
                    match total.filter(|total| *total <= MOST) {
                        _ if zero => {}
                        Some(total) => bytes.resize(total, 0),
                        None => return Err((at, format!("one number for {count} elements"))),
                    }
                    seen = count;
                }
            }
        }
    }
    if seen != count || depth != 0 {
        return Err((0, format!("has {seen} elements, the shape has {count}")));
    }
    Ok(if zero { DenseData::splat(&bytes) } else { DenseData::from_bytes(bytes, width) })
}

/// Length of the value that a text begins with, at least 1.
fn value_len(text: &str) -> usize {
    let pair = text.starts_with('(');
    let ends = |(at, c): (usize, char)| match c {
        ')' if pair => Some(at + 1),
        ',' | '}' | ' ' | '\n' | '\t' | '\r' if !pair => Some(at),
        _ => None,
    };
    text.char_indices().find_map(ends).unwrap_or(text.len()).max(1)
}

fn push(text: &str, element: ElementType, bytes: &mut Vec<u8>) -> Option<()> {
    let width = element.storage_bytes();
    let push = |bits: u64, width: usize, bytes: &mut Vec<u8>| {
        bytes.extend_from_slice(&bits.to_le_bytes()[..width.min(8)]);
    };
    let bits = match element.kind() {
        NumberKind::Bool => match text {
            "true" => 1,
            "false" => 0,
            number => u64::from(number.parse::<i64>().ok()? != 0),
        },
        NumberKind::Signed | NumberKind::Unsigned => match text {
            "true" => 1,
            "false" => 0,
            number => {
                let value: i128 = number.parse().ok()?;
                let bits = element.bits();
                let fits = value >= -(1 << (bits - 1)) && value < 1 << bits;
                if !fits {
                    return None;
                }
                let mask = if bits < 8 { (1u64 << bits) - 1 } else { u64::MAX };
                value as u64 & mask
            }
        },
        NumberKind::Float => float_bits(text, element)?,
        NumberKind::Complex => {
            let half =
                if element == ElementType::C64 { ElementType::F32 } else { ElementType::F64 };
            let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
            let (re, im) = match inner {
                Some(inner) => inner.split_once(',')?,
                None => (text, "0"),
            };
            push(float_bits(re.trim(), half)?, width / 2, bytes);
            push(float_bits(im.trim(), half)?, width / 2, bytes);
            return Some(());
        }
        NumberKind::Quantized => return None,
    };
    push(bits, width, bytes);
    Some(())
}

/// Bits of the mantissa, of formats whose NaNs have payloads.
fn mantissa(element: ElementType) -> Option<u32> {
    use ElementType::*;
    match element {
        F64 => Some(52),
        F32 => Some(23),
        F16 => Some(10),
        BF16 => Some(7),
        F8E5M2 => Some(2),
        F8E4M3 => Some(3),
        F8E3M4 => Some(4),
        _ => None,
    }
}

fn float_bits(text: &str, element: ElementType) -> Option<u64> {
    let (negative, magnitude) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let Some(payload) = magnitude.strip_prefix("nan") else {
        return match magnitude {
            "inf" if negative => Some(float::from_f64(f64::NEG_INFINITY, element)),
            "inf" => Some(float::from_f64(f64::INFINITY, element)),
            "true" => Some(float::from_f64(1.0, element)),
            "false" => Some(float::from_f64(0.0, element)),
            _ if magnitude.starts_with(|c: char| c.is_ascii_digit() || c == '.') => {
                Some(float::from_f64(text.parse().ok()?, element))
            }
            _ => None,
        };
    };
    let Some(width) = mantissa(element) else {
        let nan = float::from_f64(f64::NAN, element);
        return Some(if negative { nan | 1 << (element.bits() - 1) } else { nan });
    };
    let payload = match payload {
        "" => 1 << (width - 1),
        text => {
            let hex = text.strip_prefix("(0x")?.strip_suffix(')')?;
            u64::from_str_radix(hex, 16).ok()? & ((1 << width) - 1)
        }
    };
    let bits = element.bits();
    let exponent = ((1u64 << (bits - 1 - width)) - 1) << width;
    Some(u64::from(negative) << (bits - 1) | exponent | payload)
}

/// Appends a constant's elements. Strings and resources that are gone become `{...}`.
pub(super) fn write(data: &DenseData, ty: &TensorType, out: &mut String) {
    let width = ty.element.storage_bytes();
    if matches!(data, DenseData::Resource(_) | DenseData::Text(_)) {
        out.push_str("{...}");
        return;
    }
    /// Zeros beyond this many are written as one, which XLA fills up; so are lists of nothing.
    const MOST: i64 = 1 << 16;
    let lists =
        ty.dims.iter().filter(|size| **size > 0).fold(1i64, |n, size| n.saturating_mul(*size));
    if lists > MOST {
        match data {
            _ if ty.elements() == 0 => return out.push_str("{}"),
            DenseData::Splat(bytes) if bytes.iter().all(|byte| *byte == 0) => {
                return write_element(bytes, ty.element, out);
            }
            _ => {}
        }
    }
    let mut index = 0usize;
    nested(
        &ty.dims,
        &mut |out| {
            match data.element(index, width) {
                Some(element) => write_element(&element, ty.element, out),
                None => out.push('0'),
            }
            index += 1;
        },
        out,
    );
}

fn nested(dims: &[i64], element: &mut impl FnMut(&mut String), out: &mut String) {
    let Some((&size, inner)) = dims.split_first() else { return element(out) };
    let space = if inner.is_empty() { "" } else { " " };
    out.push('{');
    out.push_str(space);
    for index in 0..size {
        if index > 0 {
            out.push_str(", ");
        }
        nested(inner, element, out);
    }
    out.push_str(space);
    out.push('}');
}

fn write_element(bytes: &[u8], element: ElementType, out: &mut String) {
    let bits = |bytes: &[u8]| {
        let mut all = [0; 8];
        all[..bytes.len().min(8)].copy_from_slice(&bytes[..bytes.len().min(8)]);
        u64::from_le_bytes(all)
    };
    let _ = match element.kind() {
        NumberKind::Bool => {
            out.push_str(if bytes.first() == Some(&0) { "false" } else { "true" });
            Ok(())
        }
        NumberKind::Signed => {
            let unused = 64 - element.bits().min(64);
            write!(out, "{}", (bits(bytes) << unused) as i64 >> unused)
        }
        NumberKind::Unsigned => write!(out, "{}", bits(bytes)),
        NumberKind::Float => {
            write_float(bits(bytes), element, out);
            Ok(())
        }
        NumberKind::Complex => {
            let half =
                if element == ElementType::C64 { ElementType::F32 } else { ElementType::F64 };
            let (re, im) = bytes.split_at(bytes.len() / 2);
            out.push('(');
            write_float(bits(re), half, out);
            out.push_str(", ");
            write_float(bits(im), half, out);
            out.push(')');
            Ok(())
        }
        NumberKind::Quantized => Ok(()),
    };
}

/// The shortest decimal that reads back as the same bits.
pub(super) fn write_float(bits: u64, element: ElementType, out: &mut String) {
    let value = float::to_f64(bits, element);
    if value.is_nan() {
        let negative = bits >> (element.bits() - 1) & 1 == 1;
        out.push_str(if negative { "-nan" } else { "nan" });
        if let Some(width) = mantissa(element) {
            let payload = bits & ((1 << width) - 1);
            if payload != 1 << (width - 1) {
                let _ = write!(out, "(0x{payload:x})");
            }
        }
        return;
    }
    let _ = match element {
        _ if value.is_infinite() => {
            out.push_str(if value < 0.0 { "-inf" } else { "inf" });
            Ok(())
        }
        // XLA reads `-0` as an integer, which has no such thing.
        _ if value == 0.0 && value.is_sign_negative() => {
            out.push_str("-0.0");
            Ok(())
        }
        _ if value == value.trunc() && value.abs() < 1e15 => write!(out, "{}", value as i64),
        ElementType::F64 => write!(out, "{value:?}"),
        _ => write!(out, "{:?}", value as f32),
    };
}
