//! Constants.

use shard_ir::{Dense, DenseData, ElementType, NumberKind, Type};

use super::Printer;
use crate::float;

/// Appends bytes as hexadecimal digits.
fn push_hex(bytes: &[u8], out: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    out.reserve(2 * bytes.len() + 64);
    let mut digits = [0u8; 512];
    for chunk in bytes.chunks(256) {
        for (pair, byte) in digits.chunks_exact_mut(2).zip(chunk) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 15)];
        }
        out.push_str(std::str::from_utf8(&digits[..2 * chunk.len()]).unwrap_or_default());
    }
}

impl Printer<'_> {
    /// `dense<...> : type`.
    pub(crate) fn dense(&mut self, dense: &Dense) {
        let m = self.m;
        if let DenseData::Resource(name) = &dense.data {
            self.str("dense_resource<");
            let name = m.str(*name);
            if super::is_bare_name(name) {
                self.str(name);
            } else {
                super::push_string(name, &mut self.out);
            }
        } else {
            self.str("dense<");
            match (&dense.data, m.ty(dense.ty)) {
                (DenseData::Text(text), _) => self.str(m.str(*text)),
                (data, Type::Tensor(tensor)) => {
                    let element = tensor.element;
                    match data {
                        DenseData::Splat(bytes) => self.element(element, bytes),
                        DenseData::Bytes(bytes) => {
                            self.elements(element, &tensor.dims, &bytes.bytes())
                        }
                        DenseData::Resource(_) | DenseData::Text(_) => {}
                    }
                }
                // Bytes belong to tensors only.
                (_, _) => {}
            }
        }
        self.str("> : ");
        self.ty(dense.ty);
    }

    fn elements(&mut self, element: ElementType, dims: &[i64], bytes: &[u8]) {
        let width = element.storage_bytes();
        let count = bytes.len() / width.max(1);
        if count == 0 {
            return;
        }
        // Booleans are bytes for newer MLIR and bits for older, so they are always listed.
        if count > self.options.hex_above && element != ElementType::I1 {
            self.str("\"0x");
            push_hex(bytes, &mut self.out);
            self.str("\"");
            return;
        }
        // How many elements the lists of each level hold.
        let mut spans: Vec<usize> = Vec::with_capacity(dims.len());
        let mut span = 1usize;
        for &size in dims.iter().rev() {
            span = span.saturating_mul(size.max(0) as usize);
            spans.push(span);
        }
        let starting = |at: usize| spans.iter().filter(|span| at.is_multiple_of(**span)).count();
        for (at, chunk) in bytes.chunks_exact(width).enumerate() {
            let open = starting(at);
            if at > 0 {
                self.out.extend(std::iter::repeat_n(']', open));
                self.str(", ");
            }
            self.out.extend(std::iter::repeat_n('[', open));
            self.element(element, chunk);
        }
        self.out.extend(std::iter::repeat_n(']', spans.len()));
    }

    /// One element.
    fn element(&mut self, element: ElementType, bytes: &[u8]) {
        let part = match element {
            ElementType::C64 => Some(ElementType::F32),
            ElementType::C128 => Some(ElementType::F64),
            _ => None,
        };
        if let Some(part) = part {
            let (real, imaginary) = bytes.split_at(bytes.len() / 2);
            self.str("(");
            self.element(part, real);
            self.str(",");
            self.element(part, imaginary);
            self.str(")");
            return;
        }
        let mut wide = [0u8; 8];
        let len = bytes.len().min(8);
        wide[..len].copy_from_slice(&bytes[..len]);
        let bits = u64::from_le_bytes(wide);
        match element.kind() {
            NumberKind::Bool => self.str(if bits == 0 { "false" } else { "true" }),
            NumberKind::Signed => {
                let shift = 64 - 8 * len as u32;
                let shift = shift.min(63);
                self.integer((bits << shift) as i64 >> shift);
            }
            NumberKind::Unsigned => super::push_number(bits, &mut self.out),
            NumberKind::Float => {
                float::print(bits, element, &mut self.out);
            }
            NumberKind::Complex | NumberKind::Quantized => {}
        }
    }
}
