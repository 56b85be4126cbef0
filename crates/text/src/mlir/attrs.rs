//! Attributes of the builtin dialect, and lists of named attributes.

use shard_ir::{Attr, Dims, ElementType, Symbol, Type, TypeId};

use super::cursor::unescape;
use super::parser::{Alias, AttrList, Parser, Read};
use crate::float;

impl<'a> Parser<'a> {
    /// `{name = attribute, name, ...}`.
    pub(crate) fn attr_dict(&mut self, attrs: &mut AttrList) -> Read<()> {
        let from = attrs.len();
        self.list(b'{', b'}', |p| {
            p.c.skip_space();
            let at = p.c.pos();
            let name = p.attr_name()?;
            let attr = if p.c.eat(b'=') { p.attr()? } else { Attr::Unit };
            if attrs[from..].iter().any(|(known, _)| *known == name) {
                let text = p.m.str(name).to_owned();
                let end = p.c.pos();
                return p.error(at..end, format!("attribute '{text}' is given twice"));
            }
            attrs.push((name, attr));
            Ok(())
        })
    }

    /// `{...}` if it comes next.
    #[inline]
    pub(crate) fn optional_attr_dict(&mut self, attrs: &mut AttrList) -> Read<()> {
        if self.c.peek() == b'{' { self.attr_dict(attrs) } else { Ok(()) }
    }

    fn attr_name(&mut self) -> Read<Symbol> {
        if self.c.peek() == b'"' {
            let raw = self.string()?;
            return Ok(self.m.symbol(&unescape(raw).unwrap_or_else(|| raw.to_owned())));
        }
        let start = self.c.pos();
        let name = self.c.ident();
        if name.is_empty() {
            return self.expected("the name of an attribute");
        }
        // `mhlo.frontend-x` isn't an identifier, but names with digits first are keywords too.
        let name = self.c.text().get(start..self.c.pos()).unwrap_or(name);
        Ok(self.m.symbol(name))
    }

    /// The contents of a string literal, still escaped.
    pub(crate) fn string(&mut self) -> Read<&'a str> {
        if self.c.peek() != b'"' {
            return self.expected("a string");
        }
        let at = self.c.pos();
        match self.c.raw_string() {
            Some(raw) => Ok(raw),
            None => self.error(at..at + 1, "the string has no closing quote on its line"),
        }
    }

    /// A string, interned.
    pub(crate) fn string_symbol(&mut self) -> Read<Symbol> {
        let raw = self.string()?;
        if !raw.contains('\\') {
            return Ok(self.m.symbol(raw));
        }
        match unescape(raw) {
            Some(text) => Ok(self.m.symbol(&text)),
            None => {
                let end = self.c.pos();
                self.error(end - raw.len()..end, "the string isn't UTF-8")
            }
        }
    }

    /// `@name` or `@"name"`.
    pub(crate) fn symbol_name(&mut self) -> Read<Symbol> {
        self.expect(b'@')?;
        if self.c.here() == b'"' {
            return self.string_symbol();
        }
        let name = self.c.suffix();
        if name.is_empty() {
            return self.expected("a name after '@'");
        }
        Ok(self.m.symbol(name))
    }

    /// An attribute.
    pub(crate) fn attr(&mut self) -> Read<Attr> {
        self.nested(|p| match p.c.peek() {
            b'"' => p.string_attr(),
            b'[' => {
                let mut items = Vec::new();
                p.list(b'[', b']', |p| {
                    items.push(p.attr()?);
                    Ok(())
                })?;
                Ok(Attr::Array(items.into()))
            }
            b'{' => {
                let mut attrs = AttrList::new();
                p.attr_dict(&mut attrs)?;
                Ok(Attr::Dict(p.sorted_id(attrs)))
            }
            b'@' => {
                let mut path = vec![p.symbol_name()?];
                while p.c.eat_str("::") {
                    path.push(p.symbol_name()?);
                }
                Ok(Attr::SymbolRef(path.into()))
            }
            b'#' => p.hash_attr(),
            b'-' | b'0'..=b'9' => p.number_attr(),
            b'!' | b'(' => Ok(Attr::Type(p.ty()?)),
            _ => p.word_attr(),
        })
    }

    fn string_attr(&mut self) -> Read<Attr> {
        let start = self.c.pos();
        let raw = self.string()?;
        if self.c.peek() == b':' {
            // A string with a type of its own.
            self.c.eat(b':');
            self.ty()?;
            let text = self.c.slice_from(start);
            return Ok(Attr::Text(self.m.symbol(text)));
        }
        if !raw.contains('\\') {
            return Ok(Attr::String(self.m.symbol(raw)));
        }
        Ok(match unescape(raw) {
            Some(text) => Attr::String(self.m.symbol(&text)),
            // Bytes that aren't text, such as a serialised configuration: kept as they are written.
            None => {
                let literal = format!("\"{raw}\"");
                Attr::Text(self.m.symbol(&literal))
            }
        })
    }

    fn word_attr(&mut self) -> Read<Attr> {
        let start = self.c.pos();
        let word = self.c.ident();
        match word {
            "true" => Ok(Attr::Bool(true)),
            "false" => Ok(Attr::Bool(false)),
            "unit" => Ok(Attr::Unit),
            "dense" => Ok(Attr::Dense(self.dense(None)?)),
            "dense_resource" => Ok(Attr::Dense(self.dense_resource()?)),
            "array" => self.array_attr(),
            "loc" | "affine_map" | "affine_set" | "sparse" | "strided" | "distinct" => {
                if self.c.here() == b'[' {
                    self.balanced("attribute")?;
                }
                if matches!(self.c.peek(), b'<' | b'(') {
                    self.balanced("attribute")?;
                }
                if word == "sparse" && self.c.eat(b':') {
                    self.ty()?;
                }
                let text = self.c.slice_from(start);
                Ok(Attr::Text(self.without_aliases(text)))
            }
            "" => self.expected("an attribute"),
            _ => {
                self.c.set_pos(start);
                Ok(Attr::Type(self.ty()?))
            }
        }
    }

    /// `array<i64: 1, 2>`, the cursor being behind `array`.
    fn array_attr(&mut self) -> Read<Attr> {
        self.expect(b'<')?;
        let at = self.c.pos();
        let ty = self.ty()?;
        let Type::Scalar(element) = *self.m.ty(ty) else {
            let end = self.c.pos();
            return self.error(at..end, "the elements of an array must be numbers");
        };
        let mut values = Dims::new();
        if self.c.eat(b':') {
            loop {
                values.push(self.array_element(element)?);
                if !self.c.eat(b',') {
                    break;
                }
            }
        }
        self.expect(b'>')?;
        Ok(Attr::DenseArray(element, values))
    }

    fn array_element(&mut self, element: ElementType) -> Read<i64> {
        match self.c.peek() {
            b't' if self.c.eat_word("true") => Ok(1),
            b'f' if self.c.eat_word("false") => Ok(0),
            _ if element.is_float() => {
                let at = self.c.pos();
                let literal = self.number();
                match float::parse(literal, element) {
                    Some(value) => Ok(value.to_bits() as i64),
                    None => self.error(at..at + literal.len().max(1), "expected a float"),
                }
            }
            _ => self.integer(),
        }
    }

    /// The literal of a number: a sign, digits, a fraction and an exponent, or hexadecimal digits.
    pub(crate) fn number(&mut self) -> &'a str {
        self.c.skip_space();
        let start = self.c.pos();
        let bytes = self.c.rest_bytes();
        let at = |i: usize| bytes.get(i).copied().unwrap_or(0);
        let mut len = usize::from(at(0) == b'-' || at(0) == b'+');
        if at(len) == b'0' && at(len + 1) == b'x' && at(len + 2).is_ascii_hexdigit() {
            len += 2;
            while at(len).is_ascii_hexdigit() {
                len += 1;
            }
        } else {
            while at(len).is_ascii_digit() {
                len += 1;
            }
            if at(len) == b'.' {
                len += 1;
                while at(len).is_ascii_digit() {
                    len += 1;
                }
            }
            if matches!(at(len), b'e' | b'E') {
                let sign = usize::from(matches!(at(len + 1), b'-' | b'+'));
                if at(len + 1 + sign).is_ascii_digit() {
                    len += 2 + sign;
                    while at(len).is_ascii_digit() {
                        len += 1;
                    }
                }
            }
        }
        self.c.set_pos(start + len);
        self.c.slice_from(start)
    }

    /// An integer of 64 bits.
    pub(crate) fn integer(&mut self) -> Read<i64> {
        self.c.skip_space();
        let at = self.c.pos();
        let literal = self.number();
        let value = parse_i128(literal).and_then(|value| {
            i64::try_from(value).ok().or_else(|| u64::try_from(value).ok().map(|v| v as i64))
        });
        match value {
            Some(value) => Ok(value),
            None if literal.is_empty() || literal == "-" => self.expected("an integer"),
            None => {
                let message = if literal.contains('.') {
                    format!("expected an integer, found {literal}")
                } else {
                    format!("{literal} doesn't fit into 64 bits")
                };
                self.error(at..at + literal.len(), message)
            }
        }
    }

    fn number_attr(&mut self) -> Read<Attr> {
        let at = self.c.pos();
        let literal = self.number();
        let typed = self.c.eat(b':');
        let ty: Option<TypeId> = if typed { Some(self.ty()?) } else { None };
        let end = at + literal.len().max(1);
        let is_hex = literal.contains('x');
        let is_float = !is_hex && literal.bytes().any(|b| matches!(b, b'.' | b'e' | b'E'));
        let element = match ty.map(|ty| self.m.ty(ty).clone()) {
            None if is_float => ElementType::F64,
            None => ElementType::I64,
            Some(Type::Scalar(element)) => element,
            Some(_) => {
                // An integer of a width that isn't modelled.
                let text = self.c.slice_from(at);
                return Ok(Attr::Text(self.m.symbol(text)));
            }
        };
        let ty = match ty {
            Some(ty) => ty,
            None => self.m.scalar(element),
        };
        if element.is_float() {
            return match float::parse(literal, element) {
                Some(value) => Ok(Attr::Float(value.to_bits(), ty)),
                None => self.error(at..end, format!("expected a float, found '{literal}'")),
            };
        }
        match parse_i128(literal) {
            Some(value) if element == ElementType::I1 => Ok(Attr::Bool(value != 0)),
            Some(value) => Ok(Attr::Int(value, ty)),
            None => self.error(at..end, format!("expected an integer, found '{literal}'")),
        }
    }

    /// `[1, 2, ?]`; `?` is [`shard_ir::DYNAMIC`].
    pub(crate) fn dims(&mut self) -> Read<Dims> {
        let mut dims = Dims::new();
        self.list(b'[', b']', |p| {
            if p.c.eat(b'?') {
                dims.push(shard_ir::DYNAMIC);
            } else {
                dims.push(p.integer()?);
            }
            Ok(())
        })?;
        Ok(dims)
    }

    /// An alias `#name`, the cursor being behind it.
    pub(crate) fn attr_alias(&mut self, start: usize) -> Read<Attr> {
        let name = self.c.slice_from(start);
        let at = match self.aliases.get(name) {
            Some(Alias::Attr(attr)) => return Ok(attr.clone()),
            Some(Alias::At(at)) => *at,
            Some(Alias::Loc(loc)) => {
                let text = crate::print::loc_text(&self.m, *loc);
                return Ok(Attr::Text(self.m.symbol(&text)));
            }
            Some(_) => {
                let end = self.c.pos();
                return self.error(start..end, format!("alias '{name}' is defined by itself"));
            }
            None => {
                let end = self.c.pos();
                return self.error(start..end, format!("alias '{name}' isn't defined"));
            }
        };
        let back = self.c.pos();
        self.aliases.insert(name, Alias::Open);
        self.c.set_pos(at);
        let attr = self.attr()?;
        self.alias_ends.insert(at, self.c.pos());
        self.c.set_pos(back);
        self.aliases.insert(name, Alias::Attr(attr.clone()));
        Ok(attr)
    }
}

/// An integer literal, decimal or hexadecimal.
pub(crate) fn parse_i128(literal: &str) -> Option<i128> {
    let (negative, digits) = match literal.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, literal),
    };
    let value = match digits.strip_prefix("0x") {
        Some(hex) => i128::from_str_radix(hex, 16).ok()?,
        None => digits.parse::<i128>().ok()?,
    };
    Some(if negative { -value } else { value })
}
