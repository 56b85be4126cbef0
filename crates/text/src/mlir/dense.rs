//! Constants: `dense<...>` in every spelling.

use memchr::memchr2;
use shard_ir::{
    Blob, Dense, DenseData, Diagnostic, ElementType, NumberKind, TensorType, Type, TypeId,
};

use super::attrs::parse_i128;
use super::parser::{Parser, Read};
use crate::float;

impl<'a> Parser<'a> {
    /// `<...> : type`, the cursor being behind `dense`. The elements are read once their type is
    /// known, which stands after them.
    pub(crate) fn dense(&mut self, known: Option<TypeId>) -> Read<Dense> {
        self.expect(b'<')?;
        let start = self.c.pos();
        let bytes = self.c.rest_bytes();
        let mut len = 0;
        let body_end = loop {
            match memchr2(b'>', b'"', &bytes[len..]) {
                Some(at) if bytes[len + at] == b'>' => break start + len + at,
                Some(at) => {
                    // A quote inside a string of strings is escaped.
                    let quote = start + len + at;
                    self.c.set_pos(quote);
                    if self.c.raw_string().is_none() {
                        return self.error(quote..quote + 1, "the string has no closing quote");
                    }
                    len = self.c.pos() - start;
                }
                None => return self.error(start - 1..start, "this '<' is never closed"),
            }
        };
        self.c.set_pos(body_end + 1);
        let ty = match known {
            Some(ty) => ty,
            None => {
                self.expect(b':')?;
                self.ty()?
            }
        };
        let end = self.c.pos();
        let data = match self.m.ty(ty) {
            Type::Tensor(tensor) if !matches!(tensor.element, ElementType::Quantized(_)) => {
                let tensor = tensor.clone();
                self.c.set_pos(start);
                let data = self.elements(&tensor, body_end)?;
                self.c.set_pos(end);
                data
            }
            _ => {
                let text = self.c.text().get(start..body_end).unwrap_or("");
                DenseData::Text(self.m.symbol(text))
            }
        };
        Ok(Dense { ty, data })
    }

    /// `<name> : type`, the cursor being behind `dense_resource`.
    pub(crate) fn dense_resource(&mut self) -> Read<Dense> {
        self.expect(b'<')?;
        let name = if self.c.peek() == b'"' {
            self.string_symbol()?
        } else {
            let name = self.c.suffix();
            if name.is_empty() {
                return self.expected("the name of a resource");
            }
            self.m.symbol(name)
        };
        self.expect(b'>')?;
        self.expect(b':')?;
        let ty = self.ty()?;
        Ok(Dense { ty, data: DenseData::Resource(name) })
    }

    fn elements(&mut self, tensor: &TensorType, end: usize) -> Read<DenseData> {
        let element = tensor.element;
        let width = element.storage_bytes();
        let start = self.c.pos();
        if !tensor.is_static() {
            return self.error(start..end, "a constant needs a static shape");
        }
        let count = tensor.elements();
        self.c.skip_space();
        if self.c.pos() >= end {
            if count == 0 {
                return Ok(DenseData::Bytes(Vec::new().into()));
            }
            return self.error(start..end.max(start), format!("{count} elements are missing"));
        }
        match self.c.here() {
            b'"' => self.hex_elements(element, count),
            b'[' => {
                let mut bytes = Vec::new();
                let fits = usize::try_from(count).ok().and_then(|n| n.checked_mul(width));
                // Every element takes at least two bytes of text.
                if let Some(total) = fits
                    && count <= (end - start) as u64
                {
                    bytes.reserve_exact(total);
                }
                self.nested_list(tensor, &mut bytes)?;
                self.c.skip_space();
                if self.c.pos() != end {
                    return self.expected("'>' after the elements");
                }
                Ok(DenseData::from_bytes(bytes, width))
            }
            _ => {
                let mut bytes = Vec::with_capacity(width);
                self.element_literal(element, &mut bytes)?;
                self.c.skip_space();
                if self.c.pos() != end {
                    return self.expected("'>' after the element");
                }
                Ok(DenseData::splat(&bytes))
            }
        }
    }

    /// Lists in lists, one level a dimension. Needs no recursion.
    fn nested_list(&mut self, tensor: &TensorType, bytes: &mut Vec<u8>) -> Read<()> {
        let rank = tensor.rank();
        let mut counts: Vec<i64> = Vec::new();
        loop {
            self.c.skip_space();
            let at = self.c.pos();
            match self.c.here() {
                b'[' => {
                    if counts.len() == rank {
                        return self.error(
                            at..at + 1,
                            format!("the lists are deeper than the rank of the tensor, {rank}"),
                        );
                    }
                    self.c.set_pos(at + 1);
                    counts.push(0);
                    // An empty list, or its first item.
                    if self.c.peek() != b']' {
                        continue;
                    }
                }
                b']' => {}
                _ => {
                    if counts.len() != rank {
                        let depth = counts.len();
                        return self.error(
                            at..at + 1,
                            format!(
                                "the lists are {depth} deep, but the rank of the tensor is {rank}"
                            ),
                        );
                    }
                    self.element_literal(tensor.element, bytes)?;
                    if let Some(count) = counts.last_mut() {
                        *count += 1;
                    }
                }
            }
            // Behind an item, or before a closing bracket.
            loop {
                match self.c.peek() {
                    b',' => {
                        self.c.eat(b',');
                        break;
                    }
                    b']' => {
                        let at = self.c.pos();
                        self.c.eat(b']');
                        let Some(count) = counts.pop() else {
                            return self.expected("an element");
                        };
                        let wanted = tensor.dims[counts.len()];
                        let empty_inside = tensor.dims[..counts.len()].contains(&0);
                        if count != wanted && !empty_inside {
                            return self.error(
                                at..at + 1,
                                format!(
                                    "this list has {count} items, but the shape asks for {wanted}"
                                ),
                            );
                        }
                        match counts.last_mut() {
                            Some(outer) => *outer += 1,
                            None => return Ok(()),
                        }
                    }
                    _ => return self.expected("',' or ']'"),
                }
            }
        }
    }

    /// `"0x..."`: the bytes of all elements, or of one that all are.
    fn hex_elements(&mut self, element: ElementType, count: u64) -> Read<DenseData> {
        let at = self.c.pos();
        let width = element.storage_bytes();
        let raw = self.string()?;
        let end = self.c.pos();
        let Some(blob) = raw.strip_prefix("0x").and_then(|digits| self.blob(digits)) else {
            return self.error(at..end, "expected hexadecimal bytes such as \"0x0000803F\"");
        };
        let len = blob.len() as u64;
        let packed = element == ElementType::I1 && len != count && len == count.div_ceil(8);
        let alone = len == width as u64 && count > 0;
        if !packed && !alone && Some(len) != count.checked_mul(width as u64) {
            return self.report(
                Diagnostic::error(format!(
                    "there are {len} bytes, but {count} elements take {width} bytes each"
                ))
                .at(at..end),
            );
        }
        if element != ElementType::I1 {
            return Ok(DenseData::from_blob(blob, width));
        }
        // MLIR before 2026 packs booleans.
        let bytes = blob.bytes();
        let flag = |index: usize| match packed {
            true => bytes[index / 8] >> (index % 8) & 1,
            false => u8::from(bytes[index] != 0),
        };
        let count = if packed { count as usize } else { bytes.len() };
        Ok(DenseData::from_bytes((0..count).map(flag).collect(), 1))
    }

    /// The bytes that hexadecimal digits, a part of the text, stand for.
    fn blob(&self, digits: &'a str) -> Option<Blob> {
        // So few aren't worth keeping the text for.
        const FEW: usize = 1024;
        match &self.shared {
            Some((text, offset)) if digits.len() > FEW => {
                let start = digits.as_ptr() as usize - self.c.text().as_ptr() as usize + offset;
                Blob::of_digits(text, start..start + digits.len())
            }
            _ => decode_hex(digits).map(Blob::from),
        }
    }

    /// Appends the bytes of one element.
    fn element_literal(&mut self, element: ElementType, bytes: &mut Vec<u8>) -> Read<()> {
        let part = match element {
            ElementType::C64 => ElementType::F32,
            ElementType::C128 => ElementType::F64,
            _ => return self.real_literal(element, bytes),
        };
        if self.c.eat(b'(') {
            self.real_literal(part, bytes)?;
            self.expect(b',')?;
            self.real_literal(part, bytes)?;
            return self.expect(b')');
        }
        self.expected("a complex number such as '(1.0, 2.0)'")
    }

    fn real_literal(&mut self, element: ElementType, bytes: &mut Vec<u8>) -> Read<()> {
        let width = element.storage_bytes();
        self.c.skip_space();
        let at = self.c.pos();
        let first = self.c.here();
        if element == ElementType::I1 && first.is_ascii_alphabetic() {
            let value = if self.c.eat_word("true") {
                1
            } else if self.c.eat_word("false") {
                0
            } else {
                return self.expected("'true' or 'false'");
            };
            bytes.push(value);
            return Ok(());
        }
        let literal = self.number();
        if literal.is_empty() {
            return self.expected("an element");
        }
        let range = at..at + literal.len();
        if element.is_float() {
            let Some(bits) = float::parse_bits(literal, element) else {
                return self.error(range, format!("{literal} isn't a float of type {element}"));
            };
            bytes.extend_from_slice(&bits.to_le_bytes()[..width]);
            return Ok(());
        }
        let Some(value) = parse_i128(literal) else {
            return self.error(range, format!("{literal} isn't an integer of type {element}"));
        };
        let bits = if element == ElementType::I1 { 1 } else { element.bits() };
        let low = if element.kind() == NumberKind::Unsigned { 0 } else { -(1i128 << (bits - 1)) };
        if value < low || value >= 1i128 << bits {
            return self.error(range, format!("{literal} is out of the range of {element}"));
        }
        if bits < 8 && element != ElementType::I1 && element.kind() == NumberKind::Signed {
            // Sign-extended within its byte.
            let shift = 8 - bits;
            bytes.push((((value as u8) << shift) as i8 >> shift) as u8);
            return Ok(());
        }
        bytes.extend_from_slice(&value.to_le_bytes()[..width]);
        Ok(())
    }
}

fn decode_hex(text: &str) -> Option<Vec<u8>> {
    const BAD: u8 = 0xff;
    static VALUE: [u8; 256] = {
        let mut table = [BAD; 256];
        let mut byte = 0;
        while byte < 256 {
            let b = byte as u8;
            table[byte] = match b {
                b'0'..=b'9' => b - b'0',
                b'a'..=b'f' => b - b'a' + 10,
                b'A'..=b'F' => b - b'A' + 10,
                _ => BAD,
            };
            byte += 1;
        }
        table
    };
    let text = text.as_bytes();
    if !text.len().is_multiple_of(2) {
        return None;
    }
    let mut bytes = Vec::with_capacity(text.len() / 2);
    let mut bad = 0u8;
    for pair in text.chunks_exact(2) {
        let (high, low) = (VALUE[usize::from(pair[0])], VALUE[usize::from(pair[1])]);
        bad |= high | low;
        bytes.push(high << 4 | low & 0xf);
    }
    (bad < 16).then_some(bytes)
}
