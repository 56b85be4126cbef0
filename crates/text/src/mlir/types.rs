//! Types. A type is looked up by its spelling first; most have been seen before.

use memchr::memchr2;
use shard_ir::quant::QuantType;
use shard_ir::{Attr, DYNAMIC, Diagnostic, Dims, ElementType, Symbol, TensorType, Type, TypeId};

use super::parser::{Alias, Parser, Read, Types};

impl<'a> Parser<'a> {
    /// A type.
    pub(crate) fn ty(&mut self) -> Read<TypeId> {
        let first = self.c.peek();
        let start = self.c.pos();
        // `tensor<4x8xf32>`: the spelling ends at the first '>' unless another '<' comes before.
        if first == b't' {
            let bytes = self.c.rest_bytes();
            if let Some(open) = bytes.strip_prefix(b"tensor<")
                && let Some(at) = memchr2(b'>', b'<', open)
                && open[at] == b'>'
            {
                let end = start + 7 + at + 1;
                if let Some(spelling) = self.c.text().get(start..end) {
                    if let Some(&ty) = self.type_cache.get(spelling) {
                        self.c.set_pos(end);
                        return Ok(ty);
                    }
                    let ty = self.fresh_type()?;
                    if self.c.pos() == end {
                        self.type_cache.insert(spelling, ty);
                    }
                    return Ok(ty);
                }
            }
        }
        self.fresh_type()
    }

    fn fresh_type(&mut self) -> Read<TypeId> {
        self.nested(|p| match p.c.peek() {
            b'(' => {
                let (inputs, results) = p.function_type()?;
                let (inputs, results) = (inputs.as_slice().into(), results.as_slice().into());
                Ok(p.m.type_id(Type::Function { inputs, results }))
            }
            b'!' => p.dialect_type(),
            _ => p.builtin_type(),
        })
    }

    /// `(types) -> types`, or `(types) -> type`.
    pub(crate) fn function_type(&mut self) -> Read<(Types, Types)> {
        let mut inputs = Types::new();
        let mut results = Types::new();
        self.list(b'(', b')', |p| {
            inputs.push(p.ty()?);
            Ok(())
        })?;
        self.expect_str("->")?;
        self.result_types(&mut results)?;
        Ok((inputs, results))
    }

    /// `type`, or `(types)`.
    pub(crate) fn result_types(&mut self, results: &mut Types) -> Read<()> {
        if self.c.peek() != b'(' {
            results.push(self.ty()?);
            return Ok(());
        }
        self.list(b'(', b')', |p| {
            results.push(p.ty()?);
            Ok(())
        })
    }

    /// Types while commas follow.
    pub(crate) fn type_list(&mut self, types: &mut Types) -> Read<()> {
        loop {
            types.push(self.ty()?);
            if !self.c.eat(b',') {
                return Ok(());
            }
        }
    }

    fn builtin_type(&mut self) -> Read<TypeId> {
        let start = self.c.pos();
        let word = self.c.ident();
        match word {
            "tensor" => return self.tensor_type(start),
            "tuple" => {
                let mut parts = Types::new();
                self.list(b'<', b'>', |p| {
                    parts.push(p.ty()?);
                    Ok(())
                })?;
                return Ok(self.m.type_id(Type::Tuple(parts.as_slice().into())));
            }
            "none" => return Ok(self.m.type_id(Type::None)),
            "" => return self.expected("a type"),
            _ => {}
        }
        if self.c.here() == b'<' {
            self.balanced("type")?;
        }
        let spelling = self.c.slice_from(start);
        if let Some(element) = self.element_of(spelling) {
            return Ok(self.m.scalar(element));
        }
        // Types of dialects begin with '!'.
        let known = matches!(word, "vector" | "memref" | "complex") && spelling.contains('<')
            || word
                .strip_prefix("si")
                .or(word.strip_prefix("ui"))
                .or(word.strip_prefix('i'))
                .is_some_and(|width| width.parse::<u32>().is_ok())
            || matches!(word, "f80" | "f128");
        if !known {
            self.c.set_pos(start);
            return self.expected("a type");
        }
        let text = self.m.symbol(spelling);
        Ok(self.m.type_id(Type::Opaque(text)))
    }

    fn element_of(&mut self, spelling: &str) -> Option<ElementType> {
        if spelling.starts_with("complex") {
            let bare: String = spelling.split_whitespace().collect();
            return ElementType::from_mlir(&bare);
        }
        ElementType::from_mlir(spelling)
    }

    /// Skips brackets that begin here.
    pub(crate) fn balanced(&mut self, what: &str) -> Read<()> {
        let at = self.c.pos();
        match self.c.skip_balanced() {
            Some(()) => Ok(()),
            None => self.error(at..at + 1, format!("the brackets of this {what} don't match")),
        }
    }

    /// `!dialect.name`, `!dialect.name<...>`, `!dialect<...>`, or an alias.
    fn dialect_type(&mut self) -> Read<TypeId> {
        let start = self.c.pos();
        self.c.eat(b'!');
        let name = self.c.suffix();
        if !name.contains('.')
            && self.c.here() != b'<'
            && let Some(ty) = self.type_alias(start)?
        {
            return Ok(ty);
        }
        if self.c.here() == b'<' {
            self.balanced("type")?;
        }
        let spelling = self.c.slice_from(start);
        if spelling == "!stablehlo.token" || spelling == "!stablehlo<token>" {
            return Ok(self.m.type_id(Type::Token));
        }
        if name.is_empty() {
            return self.expected("the name of a type after '!'");
        }
        if let Some(kind) = name.strip_prefix("stablehlo.") {
            if kind != "future" {
                let end = self.c.pos();
                let message = format!("there is no type '{kind}' in StableHLO");
                return self.report(
                    Diagnostic::error(message)
                        .at(start..end)
                        .help("its types are !stablehlo.token and !stablehlo.future<...>"),
                );
            }
            return self.future_type(start);
        }
        let mut text = self.without_aliases(spelling);
        if spelling.starts_with("!quant") {
            text = self.quantized(text, start)?;
        }
        Ok(self.m.type_id(Type::Opaque(text)))
    }

    /// `!stablehlo.future<tensor<f32>, ...>`, at `start`: what a collective that runs beside others
    /// will give.
    fn future_type(&mut self, start: usize) -> Read<TypeId> {
        self.c.set_pos(start + "!stablehlo.future".len());
        let mut types = Vec::new();
        self.list(b'<', b'>', |p| {
            p.c.skip_space();
            let at = p.c.pos();
            let ty = p.ty()?;
            let text = crate::print::type_text(&p.m, ty);
            if !matches!(p.m.ty(ty), Type::Tensor(_)) {
                let end = p.c.pos();
                return p.error(at..end, format!("a future holds tensors, not {text}"));
            }
            types.push(text);
            Ok(())
        })?;
        let text = self.m.symbol(&format!("!stablehlo.future<{}>", types.join(", ")));
        Ok(self.m.type_id(Type::Opaque(text)))
    }

    /// The type that an alias `!name` stands for, the cursor being behind it.
    fn type_alias(&mut self, start: usize) -> Read<Option<TypeId>> {
        let name = self.c.slice_from(start);
        let at = match self.aliases.get(name) {
            Some(Alias::Type(ty)) => return Ok(Some(*ty)),
            Some(Alias::At(at)) => *at,
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
        let ty = self.ty()?;
        self.alias_ends.insert(at, self.c.pos());
        self.c.set_pos(back);
        self.aliases.insert(name, Alias::Type(ty));
        Ok(Some(ty))
    }

    fn tensor_type(&mut self, start: usize) -> Read<TypeId> {
        self.expect(b'<')?;
        let mut dims = Dims::new();
        if self.c.eat(b'*') {
            self.expect_word("x").or_else(|_| self.unranked_x())?;
            let ty = match self.element()? {
                Some(element) => Type::Unranked(element),
                None => return self.opaque_tensor(start),
            };
            self.expect(b'>')?;
            return Ok(self.m.type_id(ty));
        }
        loop {
            match self.c.peek() {
                b'?' => {
                    self.c.eat(b'?');
                    dims.push(DYNAMIC);
                }
                b'0'..=b'9' => dims.push(self.dimension()?),
                _ => break,
            }
            if self.c.peek() != b'x' {
                return self.expected("'x' after the size of a dimension");
            }
            self.c.set_pos(self.c.pos() + 1);
        }
        let Some(element) = self.element()? else { return self.opaque_tensor(start) };
        let encoding = if self.c.eat(b',') { Some(self.encoding(dims.len())?) } else { None };
        self.expect(b'>')?;
        let tensor = TensorType { element, dims, encoding };
        if !tensor.is_countable() {
            let end = self.c.pos();
            return self.report(
                Diagnostic::error("the tensor has more bytes than 64 bits can count")
                    .at(start..end)
                    .help("check the sizes of its dimensions"),
            );
        }
        Ok(self.m.type_id(Type::Tensor(tensor)))
    }

    /// The attribute behind the comma. Bounds have two spellings: `#stablehlo.bounds<3, ?>` and
    /// `#stablehlo.type_extensions<bounds = [3, ?]>`, of which the first is kept.
    fn encoding(&mut self, rank: usize) -> Read<Symbol> {
        self.c.skip_space();
        let at = self.c.pos();
        let attr = self.attr()?;
        let text = match attr {
            Attr::Text(text) => text,
            _ => {
                let spelling = self.c.slice_from(at);
                self.without_aliases(spelling)
            }
        };
        let mut spelling = self.m.str(text).to_owned();
        if let Some(list) = spelling
            .strip_prefix("#stablehlo.type_extensions<")
            .and_then(|rest| rest.trim_start().strip_prefix("bounds"))
            .and_then(|rest| rest.trim_start().strip_prefix('='))
            .and_then(|rest| rest.trim_start().strip_prefix('['))
            .and_then(|rest| rest.strip_suffix(">"))
            .and_then(|rest| rest.trim_end().strip_suffix(']'))
        {
            spelling = format!("#stablehlo.bounds<{}>", list.trim());
        }
        if let Some(list) =
            spelling.strip_prefix("#stablehlo.bounds<").and_then(|rest| rest.strip_suffix('>'))
        {
            let bounds: Vec<&str> = list.split(',').map(str::trim).collect();
            let count = if list.trim().is_empty() { 0 } else { bounds.len() };
            if count != rank {
                let end = self.c.pos();
                return self.report(
                    Diagnostic::error(format!("there are {count} bounds for {rank} dimensions"))
                        .at(at..end)
                        .help("write a bound or '?' for each dimension"),
                );
            }
            spelling = format!("#stablehlo.bounds<{}>", bounds.join(", "));
        }
        Ok(self.m.symbol(&spelling))
    }

    /// `x` that is glued to the element type, as in `*xf32`.
    fn unranked_x(&mut self) -> Read<()> {
        self.diagnostics.pop();
        if self.c.peek() == b'x' {
            self.c.set_pos(self.c.pos() + 1);
            return Ok(());
        }
        self.expected("'x'")
    }

    fn dimension(&mut self) -> Read<i64> {
        let at = self.c.pos();
        let digits = self.c.digits();
        match digits.parse::<i64>() {
            Ok(size) => Ok(size),
            Err(_) => self.report(
                Diagnostic::error(format!("the size {digits} doesn't fit into 64 bits"))
                    .at(at..at + digits.len())
                    .help("sizes of dimensions are at most 9223372036854775807"),
            ),
        }
    }

    /// The element type of a tensor; `None` if it is one that isn't modelled.
    fn element(&mut self) -> Read<Option<ElementType>> {
        self.c.skip_space();
        let start = self.c.pos();
        if self.c.eat(b'!') {
            let name = self.c.suffix();
            if self.c.here() != b'<' && !name.contains('.') {
                let Some(ty) = self.type_alias(start)? else { return Ok(None) };
                return Ok(match self.m.ty(ty) {
                    Type::Scalar(element) => Some(*element),
                    Type::Opaque(text) if self.m.str(*text).starts_with("!quant.") => {
                        Some(ElementType::Quantized(*text))
                    }
                    _ => None,
                });
            }
            if self.c.here() == b'<' {
                self.balanced("type")?;
            }
            let spelling = self.c.slice_from(start);
            if !spelling.starts_with("!quant.") {
                return Ok(None);
            }
            let text = self.without_aliases(spelling);
            let text = self.quantized(text, start)?;
            return Ok(Some(ElementType::Quantized(text)));
        }
        let word = self.c.ident();
        if word.is_empty() {
            return self.expected("the element type of a tensor");
        }
        if self.c.here() == b'<' {
            self.balanced("type")?;
        }
        let spelling = self.c.slice_from(start);
        let element = self.element_of(spelling);
        if element.is_none() {
            // Check that it is a type at all.
            self.c.set_pos(start);
            self.ty()?;
        }
        Ok(element)
    }

    /// The one spelling of a quantized type.
    fn quantized(&mut self, text: Symbol, start: usize) -> Read<Symbol> {
        match QuantType::parse(self.m.str(text)) {
            None => Ok(text),
            Some(Ok(ty)) => {
                let text = ty.text(|scale, out| {
                    crate::float::print(scale.to_bits(), ElementType::F64, out);
                });
                Ok(self.m.symbol(&text))
            }
            Some(Err(message)) => {
                let end = self.c.pos();
                self.error(start..end, message)
            }
        }
    }

    /// A tensor of elements that aren't modelled, kept as its text.
    fn opaque_tensor(&mut self, start: usize) -> Read<TypeId> {
        let open = start + "tensor".len();
        self.c.set_pos(open);
        self.c.skip_space();
        self.balanced("type")?;
        let spelling = self.c.slice_from(start);
        let text = self.without_aliases(spelling);
        Ok(self.m.type_id(Type::Opaque(text)))
    }

    /// Interns a text that is kept, with the aliases in it replaced by what they stand for.
    pub(crate) fn without_aliases(&mut self, text: &'a str) -> Symbol {
        if self.aliases.is_empty() || !text.bytes().any(|b| b == b'#' || b == b'!') {
            return self.m.symbol(text);
        }
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        let mut steps = 0;
        while let Some(at) = rest.find(['#', '!', '"']) {
            out.push_str(&rest[..at]);
            rest = &rest[at..];
            if rest.starts_with('"') {
                let mut cursor = super::cursor::Cursor::new(rest);
                let len = cursor.raw_string().map_or(1, |_| cursor.pos());
                out.push_str(&rest[..len]);
                rest = &rest[len..];
                continue;
            }
            let mut cursor = super::cursor::Cursor::new(rest);
            cursor.set_pos(1);
            cursor.suffix();
            let len = cursor.pos();
            let name = &rest[..len];
            let replaced = match self.aliases.get(name) {
                Some(Alias::Attr(attr)) => Some(crate::print::attr_text(&self.m, attr)),
                Some(Alias::Type(ty)) => Some(crate::print::type_text(&self.m, *ty)),
                Some(Alias::At(at)) if steps < 64 => self.alias_text(name, *at),
                _ => None,
            };
            steps += 1;
            match replaced {
                Some(replaced) => out.push_str(&replaced),
                None => out.push_str(name),
            }
            rest = &rest[len..];
        }
        out.push_str(rest);
        self.m.symbol(&out)
    }

    /// The text of an alias that hasn't been read yet.
    fn alias_text(&mut self, name: &'a str, at: usize) -> Option<String> {
        let back = self.c.pos();
        self.c.set_pos(at);
        let known = self.diagnostics.len();
        let text = self
            .nested(|p| {
                p.aliases.insert(name, Alias::Open);
                if name.starts_with('!') {
                    let ty = p.ty()?;
                    p.aliases.insert(name, Alias::Type(ty));
                    return Ok(crate::print::type_text(&p.m, ty));
                }
                let attr = p.attr()?;
                let text = crate::print::attr_text(&p.m, &attr);
                p.aliases.insert(name, Alias::Attr(attr));
                Ok(text)
            })
            .ok();
        if text.is_none() && !self.fatal {
            self.diagnostics.truncate(known);
            self.aliases.insert(name, Alias::At(at));
        }
        self.c.set_pos(back);
        text
    }
}
