//! Elements of constants, which go between the two forms as bytes.
//!
//! MLIR holds an element in as many whole bytes as it needs, but booleans as bits (a splat of
//! `true` as a byte of ones), and of elements narrower than a byte it fills the rest with zeros.

use std::borrow::Cow;

use melior::ir::Type;
use melior::ir::attribute::DenseElementsAttribute;
use shard_ir::{DenseData, ElementType, NumberKind, TensorType};

use crate::ffi;

/// Bytes that MLIR takes for an element, where they are what we take; `None` for booleans, for
/// `tf32` (19 bits, of which it takes three bytes) and for what has no elements of its own.
fn width(element: ElementType) -> Option<usize> {
    match element {
        ElementType::I1 | ElementType::TF32 | ElementType::Quantized(_) => None,
        _ => Some(element.storage_bytes()),
    }
}

/// Bits of an element that is narrower than a byte and has a sign to extend.
fn narrow(element: ElementType) -> Option<u32> {
    let bits = element.bits();
    (element.kind() == NumberKind::Signed && bits < 8).then_some(bits)
}

/// The elements of MLIR's constant; `None` where its text must be read.
pub(crate) fn read(dense: &DenseElementsAttribute<'_>, tensor: &TensorType) -> Option<DenseData> {
    let element = tensor.element;
    let count = if tensor.is_static() { usize::try_from(tensor.elements()).ok()? } else { 0 };
    if count == 0 {
        return None;
    }
    let splat = dense.is_splat();
    let count = if splat { 1 } else { count };
    if element == ElementType::I1 {
        let bits = ffi::raw_data(dense, count.div_ceil(8));
        let bytes: Vec<u8> = (0..count).map(|at| bits[at / 8] >> (at % 8) & 1).collect();
        return Some(if splat {
            DenseData::splat(&bytes)
        } else {
            DenseData::from_bytes(bytes, 1)
        });
    }
    let width = width(element)?;
    let mut bytes = ffi::raw_data(dense, count.checked_mul(width)?).to_vec();
    if let Some(bits) = narrow(element) {
        let shift = 8 - bits;
        bytes.iter_mut().for_each(|byte| *byte = (((*byte << shift) as i8) >> shift) as u8);
    }
    Some(if splat { DenseData::splat(&bytes) } else { DenseData::from_bytes(bytes, width) })
}

/// MLIR's constant of the type; `None` where it must be made from its text.
pub(crate) fn write<'c>(
    ty: Type<'c>,
    tensor: &TensorType,
    data: &DenseData,
) -> Option<DenseElementsAttribute<'c>> {
    let element = tensor.element;
    let count = if tensor.is_static() { usize::try_from(tensor.elements()).ok()? } else { 0 };
    if count == 0 {
        return None;
    }
    let bytes: Cow<'_, [u8]> = match data {
        DenseData::Splat(bytes) => Cow::Borrowed(bytes),
        DenseData::Bytes(bytes) => bytes.bytes(),
        DenseData::Resource(_) | DenseData::Text(_) => return None,
    };
    let splat = matches!(data, DenseData::Splat(_));
    if element == ElementType::I1 {
        let value = |byte: &u8| u8::from(*byte != 0);
        let mut packed: Vec<u8> = vec![0; count.div_ceil(8)];
        if splat {
            packed = vec![0xff * value(bytes.first()?)];
        } else {
            for (at, byte) in bytes.iter().enumerate().take(count) {
                packed[at / 8] |= value(byte) << (at % 8);
            }
        }
        return Some(DenseElementsAttribute::raw_buffer(ty, &packed));
    }
    let width = width(element)?;
    if bytes.len() != if splat { width } else { count.checked_mul(width)? } {
        return None;
    }
    match narrow(element) {
        Some(bits) => {
            let mask = (1u8 << bits) - 1;
            let masked: Vec<u8> = bytes.iter().map(|byte| byte & mask).collect();
            Some(DenseElementsAttribute::raw_buffer(ty, &masked))
        }
        None => Some(DenseElementsAttribute::raw_buffer(ty, &bytes)),
    }
}
