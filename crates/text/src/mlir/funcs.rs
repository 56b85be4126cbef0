//! The top of a program: the module, its functions, meshes and aliases.

use shard_ir::{Attr, AttrsId, BlockId, LocId, OpId, Symbol, Type, TypeId};

use super::generic::{FuncParts, Signed, add_func, finish_func, signed, take_attr};
use super::parser::{Alias, AttrList, Fail, OpStart, Parser, Parts, Read};
use super::regions::RegionArg;

/// What a function says before its body.
struct FuncHead {
    visibility: Option<Symbol>,
    name: Symbol,
    args: Vec<Signed>,
    results: Vec<Signed>,
    attrs: AttrList,
}

impl<'a> Parser<'a> {
    /// The whole text: a module, or the items of one without its brackets.
    pub(crate) fn top_level(&mut self) -> Read<()> {
        let region = self.m.new_region();
        let top = self.m.new_block(region);
        self.items(top, false)
    }

    /// Items up to the closing bracket of the module, or the end of the text.
    fn items(&mut self, top: BlockId, inside: bool) -> Read<()> {
        loop {
            if self.c.at_end() {
                return if inside { self.expected("'}' at the end of the module") } else { Ok(()) };
            }
            let start = self.c.pos();
            if inside && self.c.here() == b'}' {
                return Ok(());
            }
            if self.item(top, inside).is_err() {
                if self.fatal {
                    return Err(Fail);
                }
                self.c.recover(start);
                if !inside && self.c.peek() == b'}' {
                    // A bracket that closes nothing; it was reported, or follows such an error.
                    self.c.eat(b'}');
                }
            }
        }
    }

    fn item(&mut self, top: BlockId, inside: bool) -> Read<()> {
        let start = self.c.pos();
        match self.c.here() {
            b'#' | b'!' => return self.alias_definition(),
            b'{' if self.c.rest().starts_with("{-#") => return self.file_metadata(),
            b'"' => {
                let rest = self.c.rest();
                if rest.starts_with("\"sdy.mesh\"") {
                    return self.mesh_op(start, true);
                }
                if rest.starts_with("\"func.func\"") {
                    return self.generic_func();
                }
                if rest.starts_with("\"builtin.module\"") && !inside {
                    return self.generic_module(top);
                }
            }
            _ => {
                let mut ahead = self.c.clone();
                match ahead.ident() {
                    "module" | "builtin.module" if !inside => return self.module(top),
                    "func.func" | "func" => return self.func(),
                    "sdy.mesh" => return self.mesh_op(start, false),
                    _ => {}
                }
            }
        }
        let before = self.m.block_ops(top).len();
        let result = self.op(top);
        for at in before..self.m.block_ops(top).len() {
            let op = self.m.block_ops(top)[at];
            self.top_item(op);
        }
        result
    }

    /// `#name = attribute` or `!name = type`.
    fn alias_definition(&mut self) -> Read<()> {
        let start = self.c.pos();
        self.c.set_pos(start + 1);
        self.c.suffix();
        let name = self.c.slice_from(start);
        self.expect(b'=')?;
        let at = self.c.pos();
        if let Some(&end) = self.alias_ends.get(&at) {
            self.c.set_pos(end);
            return Ok(());
        }
        let alias = if name.starts_with('!') {
            Alias::Type(self.ty()?)
        } else if self.c.is_word("loc") {
            Alias::Loc(self.loc()?)
        } else {
            Alias::Attr(self.attr()?)
        };
        self.aliases.insert(name, alias);
        Ok(())
    }

    /// `{-# ... #-}`: blobs beside the program, kept as they are.
    fn file_metadata(&mut self) -> Read<()> {
        let at = self.c.pos();
        match memchr::memmem::find(self.c.rest_bytes(), b"#-}") {
            Some(len) => {
                self.c.set_pos(at + len + 3);
                let text = self.c.slice_from(at);
                self.m.resources = Some(self.m.symbol(text));
                Ok(())
            }
            None => self.error(at..at + 3, "'{-#' is never closed by '#-}'"),
        }
    }

    /// `module @name attributes {...} {...}`.
    fn module(&mut self, top: BlockId) -> Read<()> {
        self.c.ident();
        if self.c.peek() == b'@' {
            self.m.name = Some(self.symbol_name()?);
        }
        let mut attrs = AttrList::new();
        if self.c.eat_word("attributes") {
            self.attr_dict(&mut attrs)?;
        }
        self.m.attrs = self.sorted_id(attrs);
        self.expect(b'{')?;
        self.items(top, true)?;
        self.expect(b'}')?;
        let loc = self.trailing_loc()?;
        self.m.loc = loc.into();
        Ok(())
    }

    /// `"builtin.module"() <{...}> ({...}) {...} : () -> ()`.
    fn generic_module(&mut self, top: BlockId) -> Read<()> {
        self.string()?;
        self.expect(b'(')?;
        self.expect(b')')?;
        let mut attrs = AttrList::new();
        if self.c.eat(b'<') {
            self.attr_dict(&mut attrs)?;
            self.expect(b'>')?;
        }
        self.expect(b'(')?;
        self.expect(b'{')?;
        if self.c.peek() == b'^' {
            self.c.eat(b'^');
            self.c.suffix();
            self.expect(b':')?;
        }
        self.items(top, true)?;
        self.expect(b'}')?;
        self.expect(b')')?;
        self.optional_attr_dict(&mut attrs)?;
        self.expect(b':')?;
        self.function_type()?;
        if let Some(Attr::String(name)) = self.take_attr(&mut attrs, "sym_name") {
            self.m.name = Some(name);
        }
        self.m.attrs = self.sorted_id(attrs);
        let loc = self.trailing_loc()?;
        self.m.loc = loc.into();
        Ok(())
    }

    pub(crate) fn take_attr(&self, attrs: &mut AttrList, name: &str) -> Option<Attr> {
        take_attr(&self.m, attrs, name)
    }

    /// Splits the attributes of an argument or a result from its sharding.
    fn signed(&mut self, ty: TypeId, attrs: AttrList, at: usize) -> Read<Signed> {
        let made = signed(&mut self.m, ty, attrs);
        self.made(at, made)
    }

    /// `func.func public @name(args) -> results attributes {...} {body}`.
    fn func(&mut self) -> Read<()> {
        let start = self.c.pos();
        self.c.ident();
        let (names, head) = self.func_head()?;
        let FuncHead { visibility, name, args, results, attrs } = head;
        let body = if self.c.peek() == b'{' { Some(self.region(&names, true)?) } else { None };
        let loc = self.trailing_loc()?.unwrap_or(LocId::input(start));
        let func = FuncParts { name, visibility, args, results, attrs, body, loc };
        let made = finish_func(&mut self.m, func);
        self.made(start, made)?;
        Ok(())
    }

    /// What stands before the body, the keyword being read.
    fn func_head(&mut self) -> Read<(Vec<RegionArg<'a>>, FuncHead)> {
        let visibility = ["public", "private", "nested"]
            .into_iter()
            .find(|word| self.c.eat_word(word))
            .map(|word| self.m.symbol(word));
        let name = self.symbol_name()?;
        let mut names: Vec<RegionArg<'a>> = Vec::new();
        let mut args: Vec<Signed> = Vec::new();
        self.list(b'(', b')', |p| {
            p.c.skip_space();
            let at = p.c.pos();
            if p.c.here() == b'%' {
                let (name, at) = p.value_name()?;
                p.expect(b':')?;
                let ty = p.ty()?;
                names.push(RegionArg { name, at, ty, loc: None });
            } else if names.is_empty() {
                let ty = p.ty()?;
                args.push(Signed { ty, attrs: AttrsId::EMPTY, sharding: None });
            } else {
                return p.expected("an argument such as '%arg0: tensor<f32>'");
            }
            let mut attrs = AttrList::new();
            p.optional_attr_dict(&mut attrs)?;
            let ty = match names.last() {
                Some(arg) => arg.ty,
                None => args.pop().map_or_else(|| p.m.type_id(Type::None), |arg| arg.ty),
            };
            let signed = p.signed(ty, attrs, at)?;
            args.push(signed);
            let loc = p.trailing_loc()?;
            if let Some(arg) = names.last_mut() {
                arg.loc = loc;
            }
            Ok(())
        })?;
        let mut results: Vec<Signed> = Vec::new();
        if self.c.eat_str("->") {
            if self.c.peek() == b'(' {
                self.list(b'(', b')', |p| {
                    p.c.skip_space();
                    let at = p.c.pos();
                    let ty = p.ty()?;
                    let mut attrs = AttrList::new();
                    p.optional_attr_dict(&mut attrs)?;
                    let signed = p.signed(ty, attrs, at)?;
                    results.push(signed);
                    Ok(())
                })?;
            } else {
                let ty = self.ty()?;
                results.push(Signed { ty, attrs: AttrsId::EMPTY, sharding: None });
            }
        }
        let mut attrs = AttrList::new();
        if self.c.eat_word("attributes") {
            self.attr_dict(&mut attrs)?;
        }
        Ok((names, FuncHead { visibility, name, args, results, attrs }))
    }

    /// `"func.func"() <{function_type = ..., sym_name = "f"}> ({...}) : () -> ()`.
    fn generic_func(&mut self) -> Read<()> {
        let start = self.c.pos();
        self.string()?;
        self.expect(b'(')?;
        self.expect(b')')?;
        let mut attrs = AttrList::new();
        if self.c.eat(b'<') {
            self.attr_dict(&mut attrs)?;
            self.expect(b'>')?;
        }
        self.expect(b'(')?;
        let body = self.region(&[], true)?;
        self.expect(b')')?;
        self.optional_attr_dict(&mut attrs)?;
        self.expect(b':')?;
        self.function_type()?;
        let loc = self.trailing_loc()?.unwrap_or(LocId::input(start));
        let made = add_func(&mut self.m, attrs, body, loc);
        self.made(start, made)?;
        Ok(())
    }
}

/// What stands in a module that isn't the outermost: ops that are kept whole.
impl<'a> Parser<'a> {
    /// `func.func @name(args) -> results {...}`, the keyword being read.
    pub(crate) fn nested_func(&mut self, start: &OpStart<'a>) -> Read<OpId> {
        let (names, head) = self.func_head()?;
        let mut parts = Parts::default();
        let types = |list: &[Signed]| list.iter().map(|signed| signed.ty).collect();
        let (inputs, results) = (types(&head.args), types(&head.results));
        let ty = self.m.type_id(Type::Function { inputs, results });
        let mut properties: AttrList = vec![
            (self.m.symbol("function_type"), Attr::Type(ty)),
            (self.m.symbol("sym_name"), Attr::String(head.name)),
        ];
        if let Some(visibility) = head.visibility {
            properties.push((self.m.symbol("sym_visibility"), Attr::String(visibility)));
        }
        for (key, list) in [("arg_attrs", &head.args), ("res_attrs", &head.results)] {
            let plain =
                |signed: &Signed| signed.attrs == AttrsId::EMPTY && signed.sharding.is_none();
            if !list.iter().all(plain) {
                let dicts = list.iter().map(|signed| self.dict_of(signed)).collect();
                properties.push((self.m.symbol(key), Attr::Array(dicts)));
            }
        }
        parts.attrs = head.attrs;
        // A declaration has a region with an empty block, as at the top.
        let region = match self.c.peek() {
            b'{' => self.region(&names, true)?,
            _ => {
                let region = self.m.new_region();
                self.m.new_block(region);
                region
            }
        };
        parts.regions.push(region);
        self.finish_foreign(start, properties, parts)
    }

    /// The attributes of an argument with its sharding among them.
    fn dict_of(&mut self, signed: &Signed) -> Attr {
        let mut list: AttrList = self.m.attrs(signed.attrs).to_vec();
        if let Some(id) = signed.sharding {
            list.push((self.m.symbol("sdy.sharding"), Attr::Sharding(id)));
        }
        Attr::Dict(self.sorted_id(list))
    }

    /// `module @name attributes {...} {...}`, the keyword being read.
    pub(crate) fn nested_module(&mut self, start: &OpStart<'a>) -> Read<OpId> {
        let mut parts = Parts::default();
        let mut properties = AttrList::new();
        if self.c.peek() == b'@' {
            let name = self.symbol_name()?;
            properties.push((self.m.symbol("sym_name"), Attr::String(name)));
        }
        if self.c.eat_word("attributes") {
            self.attr_dict(&mut parts.attrs)?;
        }
        parts.regions.push(self.region(&[], true)?);
        self.finish_foreign(start, properties, parts)
    }

    /// `sdy.mesh @name = <...>`, the keyword being read.
    pub(crate) fn nested_mesh(&mut self, start: &OpStart<'a>) -> Read<OpId> {
        let mut parts = Parts::default();
        let name = self.symbol_name()?;
        self.expect(b'=')?;
        self.c.eat_str("#sdy.mesh");
        self.c.skip_space();
        let at = self.c.pos();
        self.mesh_body()?;
        let text = format!("#sdy.mesh{}", self.c.slice_from(at));
        let mesh = Attr::Text(self.m.symbol(&text));
        let properties =
            vec![(self.m.symbol("mesh"), mesh), (self.m.symbol("sym_name"), Attr::String(name))];
        self.optional_attr_dict(&mut parts.attrs)?;
        self.finish_foreign(start, properties, parts)
    }
}
