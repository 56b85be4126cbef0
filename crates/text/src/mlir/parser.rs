//! The state of a reading, errors, names of values, and ops in generic form.

use std::iter;
use std::num::NonZeroU32;
use std::ops::Range;
use std::sync::Arc;

use cranelift_entity::packed_option::PackedOption;
use memchr::memchr_iter;
use rustc_hash::FxHashMap;
use shard_ir::ops::{Op, Opaque};
use shard_ir::{
    Attr, AttrsId, BlockId, Diagnostic, Item, LocId, MeshId, Module, OpId, ShardingId, Symbol,
    TypeId, ValueId,
};
use smallvec::SmallVec;

use super::cursor::Cursor;
pub(crate) use super::generic::Parts;
use super::generic::{add_op, check_sharding, sorted, sorted_id, table_op};
use super::{ParseOptions, Parsed};

/// Reading failed; the diagnostic is already recorded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fail;

pub(crate) type Read<T> = Result<T, Fail>;
pub(crate) type Values = SmallVec<[ValueId; 4]>;
pub(crate) type Types = SmallVec<[TypeId; 4]>;
pub(crate) type AttrList = Vec<(Symbol, Attr)>;

/// What a name of the text stands for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Def {
    /// The first value; `None` if the op that defines it couldn't be read.
    first: PackedOption<ValueId>,
    /// How many there are.
    count: NonZeroU32,
}

/// A name that results get: `%name` or `%name:count`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResultName<'a> {
    name: &'a str,
    count: u32,
    at: usize,
}

/// An op that is being read: where it is, its name, and the names of its results.
#[derive(Clone, Debug)]
pub(crate) struct OpStart<'a> {
    pub(crate) start: usize,
    pub(crate) name: &'a str,
    pub(crate) block: BlockId,
    pub(crate) names: SmallVec<[ResultName<'a>; 2]>,
}

pub(crate) enum Alias {
    /// Where the definition's value begins; not read yet.
    At(usize),
    /// It is being read: a use of it is a cycle.
    Open,
    Attr(Attr),
    Loc(LocId),
    Type(TypeId),
}

pub(crate) struct Parser<'a> {
    pub(crate) c: Cursor<'a>,
    pub(crate) m: Module,
    pub(crate) options: ParseOptions,
    /// What the text is a part of and where it begins there, if the module may share that.
    pub(crate) shared: Option<(Arc<Vec<u8>>, usize)>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Reading can't go on: too many errors, or nesting too deep.
    pub(crate) fatal: bool,
    pub(crate) depth: u32,
    names: Names<'a>,
    /// Where each mesh of the pre-scan is declared.
    pub(crate) mesh_at: FxHashMap<usize, MeshId>,
    /// Definitions `#name = ...` and `!name = ...`, with their first character.
    pub(crate) aliases: FxHashMap<&'a str, Alias>,
    /// Where definitions of aliases that were read before their place in the text end.
    pub(crate) alias_ends: FxHashMap<usize, usize>,
    pub(crate) type_cache: FxHashMap<&'a str, TypeId>,
    pub(crate) sharding_cache: FxHashMap<&'a str, ShardingId>,
    /// Lists of axes without a mesh, read once the mesh is known: where they are.
    pub(crate) deferred_axes: FxHashMap<Symbol, usize>,
    pub(crate) loc_cache: FxHashMap<&'a str, LocId>,
    /// Labels of the blocks of the innermost region, and uses of them before.
    pub(crate) labels: Vec<&'a str>,
    pub(crate) label_uses: Vec<(OpId, usize, &'a str, usize)>,
}

impl<'a> Parser<'a> {
    /// A reading of a whole program; `shared` is who owns the text, and where it begins there.
    pub(crate) fn new(
        text: &'a str,
        shared: Option<(Arc<Vec<u8>>, usize)>,
        options: &ParseOptions,
    ) -> Self {
        Parser { shared, ..Parser::on(Module::new(), text, options) }
    }

    /// A reading that adds to a module.
    pub(crate) fn on(m: Module, text: &'a str, options: &ParseOptions) -> Self {
        Parser {
            c: Cursor::new(text),
            m,
            options: options.clone(),
            shared: None,
            diagnostics: Vec::new(),
            fatal: false,
            depth: 0,
            names: Names::default(),
            mesh_at: FxHashMap::default(),
            aliases: FxHashMap::default(),
            alias_ends: FxHashMap::default(),
            type_cache: FxHashMap::default(),
            sharding_cache: FxHashMap::default(),
            deferred_axes: FxHashMap::default(),
            loc_cache: FxHashMap::default(),
            labels: Vec::new(),
            label_uses: Vec::new(),
        }
    }

    pub(crate) fn run(mut self) -> Parsed {
        self.look_ahead();
        self.find_meshes();
        let _ = self.top_level();
        Parsed { module: self.m, diagnostics: self.diagnostics }
    }

    /// Looks at the beginning of each line. Notes where each alias is defined, since they are used
    /// before: MLIR prints those of locations at the end. Makes room for as many ops as there are
    /// lines that look like one.
    fn look_ahead(&mut self) {
        let text = self.c.text();
        let bytes = text.as_bytes();
        let mut ops = 0;
        let lines = memchr_iter(b'\n', bytes).map(|at| at + 1);
        for start in iter::once(0).chain(lines) {
            let indent = bytes[start..].iter().take_while(|byte| **byte == b' ').count();
            match bytes.get(start + indent) {
                Some(b'%' | b'"' | b'a'..=b'z') => ops += 1,
                Some(b'#' | b'!') if indent == 0 => {
                    self.c.set_pos(start + 1);
                    let name_len = self.c.suffix().len();
                    if name_len > 0
                        && self.c.peek() == b'='
                        && let Some(name) = text.get(start..start + 1 + name_len)
                    {
                        self.aliases.entry(name).or_insert(Alias::At(self.c.pos() + 1));
                    }
                }
                _ => {}
            }
        }
        // Some lines have several, and room that isn't used takes no memory. No op takes less text.
        self.m.reserve((ops + ops / 4).min(text.len() / 32));
        self.c.set_pos(0);
    }

    #[cold]
    pub(crate) fn error<T>(&mut self, range: Range<usize>, message: impl Into<String>) -> Read<T> {
        self.report(Diagnostic::error(message).at(range))
    }

    pub(crate) fn report<T>(&mut self, diagnostic: Diagnostic) -> Read<T> {
        if self.fatal {
            return Err(Fail);
        }
        self.diagnostics.push(diagnostic);
        if self.diagnostics.len() >= self.options.max_errors {
            self.fatal = true;
        }
        Err(Fail)
    }

    /// An error at what comes next.
    #[cold]
    pub(crate) fn expected<T>(&mut self, what: &str) -> Read<T> {
        if self.c.at_end() {
            let end = self.c.text().len();
            return self.error(end..end, format!("the text ends where {what} was expected"));
        }
        let start = self.c.pos();
        let found = match self.c.clone().ident() {
            "" => {
                let first = self.c.rest().chars().next().unwrap_or(' ');
                format!("'{first}'")
            }
            word => format!("'{word}'"),
        };
        let len = found.len().saturating_sub(2).max(1);
        let end = (start + len).min(self.c.text().len());
        self.error(start..end, format!("expected {what}, found {found}"))
    }

    #[inline]
    pub(crate) fn expect(&mut self, byte: u8) -> Read<()> {
        if self.c.eat(byte) { Ok(()) } else { self.expected_byte(byte) }
    }

    #[cold]
    fn expected_byte(&mut self, byte: u8) -> Read<()> {
        self.expected(&format!("'{}'", char::from(byte)))
    }

    pub(crate) fn expect_str(&mut self, text: &str) -> Read<()> {
        if self.c.eat_str(text) {
            return Ok(());
        }
        self.expected(&format!("'{text}'"))
    }

    pub(crate) fn expect_word(&mut self, word: &str) -> Read<()> {
        if self.c.eat_word(word) {
            return Ok(());
        }
        self.expected(&format!("'{word}'"))
    }

    /// `word =`.
    pub(crate) fn key(&mut self, word: &str) -> Read<()> {
        self.expect_word(word)?;
        self.expect(b'=')
    }

    /// Runs `read` one level deeper.
    pub(crate) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth >= self.options.max_depth {
            let at = self.c.pos();
            let limit = self.options.max_depth;
            let result = self.report(
                Diagnostic::error(format!("nesting is deeper than {limit} levels"))
                    .at(at..(at + 1).min(self.c.text().len()))
                    .help("no program needs this; is the text damaged?"),
            );
            self.fatal = true;
            return result;
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// `open item, item, ... close`.
    pub(crate) fn list(
        &mut self,
        open: u8,
        close: u8,
        mut item: impl FnMut(&mut Self) -> Read<()>,
    ) -> Read<()> {
        self.expect(open)?;
        if self.c.eat(close) {
            return Ok(());
        }
        loop {
            item(self)?;
            if self.c.eat(close) {
                return Ok(());
            }
            if !self.c.eat(b',') {
                return self.expected(&format!("',' or '{}'", char::from(close)));
            }
        }
    }

    // --- names of values ---

    /// Begins a scope; names of outer ones stay visible.
    pub(crate) fn enter_scope(&mut self) -> usize {
        self.names.scopes += 1;
        self.names.undo.len()
    }

    pub(crate) fn leave_scope(&mut self, mark: usize) {
        self.names.scopes -= 1;
        self.names.forget(mark);
    }

    /// Begins a scope that sees no names from outside; returns those.
    pub(crate) fn isolate(&mut self) -> Names<'a> {
        std::mem::take(&mut self.names)
    }

    pub(crate) fn end_isolation(&mut self, outside: Names<'a>) {
        self.names = outside;
    }

    pub(crate) fn define(
        &mut self,
        name: &'a str,
        at: usize,
        first: Option<ValueId>,
        count: u32,
    ) -> Read<()> {
        // A group of no values has nothing that could be used.
        let Some(some) = NonZeroU32::new(count) else { return Ok(()) };
        let before = self.names.define(name, Def { first: first.into(), count: some });
        if let Some(value) = first
            && (self.options.all_names || !says_nothing(name))
        {
            let symbol = self.m.symbol(name);
            for value in (value.as_u32()..).take(count as usize).map(ValueId::from_u32) {
                self.m.value_names[value] = symbol.into();
            }
        }
        if before.is_some_and(|def| def.first.is_some()) && first.is_some() {
            return self.report(
                Diagnostic::error(format!("'%{name}' is defined twice"))
                    .at(at..at + name.len() + 1)
                    .help("give the second value another name"),
            );
        }
        Ok(())
    }

    /// `%name`; only the name.
    pub(crate) fn value_name(&mut self) -> Read<(&'a str, usize)> {
        let at = {
            self.c.skip_space();
            self.c.pos()
        };
        if !self.c.eat(b'%') {
            return self.expected("a value such as '%0'");
        }
        let name = self.c.suffix();
        if name.is_empty() {
            return self.expected("the name of a value after '%'");
        }
        Ok((name, at))
    }

    /// A use of a value: `%name` or `%name#2`.
    pub(crate) fn operand(&mut self) -> Read<ValueId> {
        let (name, at) = self.value_name()?;
        let index = if self.c.here() == b'#' {
            self.c.set_pos(self.c.pos() + 1);
            let digits = self.c.digits();
            match digits.parse::<u32>() {
                Ok(index) => Some(index),
                Err(_) => return self.expected("the number of a result after '#'"),
            }
        } else {
            None
        };
        let Some(def) = self.names.get(name) else {
            return self.report(
                Diagnostic::error(format!("'%{name}' isn't defined here"))
                    .at(at..at + name.len() + 1)
                    .help("a value is visible after its op, in that block and the regions inside"),
            );
        };
        // Of an op that couldn't be read: that was reported.
        let Some(first) = def.first.expand() else { return Err(Fail) };
        match index {
            None => Ok(first),
            Some(index) if index < def.count.get() => Ok(ValueId::from_u32(first.as_u32() + index)),
            Some(index) => {
                let end = self.c.pos();
                let count = def.count;
                self.error(
                    at..end,
                    format!("'%{name}' has {count} values, so there is no number {index}"),
                )
            }
        }
    }

    /// Operands while commas follow; none if no `%` comes next.
    pub(crate) fn operands(&mut self, values: &mut Values) -> Read<()> {
        if self.c.peek() != b'%' {
            return Ok(());
        }
        loop {
            values.push(self.operand()?);
            if !self.c.eat(b',') {
                return Ok(());
            }
        }
    }

    /// Checks that operands have the types that the text states.
    pub(crate) fn check_types(
        &mut self,
        at: usize,
        values: &[ValueId],
        types: &[TypeId],
    ) -> Read<()> {
        if values.len() != types.len() {
            let (operands, stated) = (values.len(), types.len());
            let end = self.c.pos();
            return self.error(
                at..end,
                format!("there are {operands} operands, but {stated} types of operands"),
            );
        }
        for (index, (&value, &ty)) in values.iter().zip(types).enumerate() {
            let actual = self.m.value_type(value);
            if actual != ty {
                let actual = crate::print::type_text(&self.m, actual);
                let stated = crate::print::type_text(&self.m, ty);
                let end = self.c.pos();
                return self.error(
                    at..end,
                    format!("operand {index} has type {actual}, but the op states {stated}"),
                );
            }
        }
        Ok(())
    }

    // --- ops ---

    /// An op with its results and location, added to the block. On failure its results are known
    /// as unreadable, so that uses of them aren't reported as well.
    pub(crate) fn op(&mut self, block: BlockId) -> Read<()> {
        self.c.skip_space();
        let mut start = OpStart { start: self.c.pos(), name: "", block, names: SmallVec::new() };
        let result = self.op_inner(&mut start);
        if result.is_err() {
            for name in &start.names {
                let _ = self.define(name.name, name.at, None, u32::MAX);
            }
        }
        result
    }

    fn op_inner(&mut self, start: &mut OpStart<'a>) -> Read<()> {
        if self.c.peek() == b'%' {
            loop {
                let (name, at) = self.value_name()?;
                let mut count = 1;
                if self.c.eat(b':') {
                    self.c.skip_space();
                    count = match self.c.digits().parse::<u32>() {
                        Ok(count) if count > 0 => count,
                        _ => return self.expected("the number of results"),
                    };
                }
                start.names.push(ResultName { name, count, at });
                if !self.c.eat(b',') {
                    break;
                }
            }
            self.expect(b'=')?;
        }
        let op = match self.c.peek() {
            b'"' => self.generic_op(start)?,
            _ => {
                let at = self.c.pos();
                let name = self.c.ident();
                if name.is_empty() {
                    return self.expected("an operation");
                }
                start.name = name;
                self.pretty_op(start, at)?
            }
        };
        let location = self.trailing_loc()?;
        if let Some(loc) = location {
            self.m.op_mut(op).loc = loc;
        }
        Ok(())
    }

    /// `"name"(operands)[successors] <{properties}> (regions) {attributes} : type`.
    fn generic_op(&mut self, start: &mut OpStart<'a>) -> Read<OpId> {
        let name_at = self.c.pos();
        let Some(name) = self.c.raw_string() else {
            return self.error(name_at..name_at + 1, "the name of the op has no closing quote");
        };
        start.name = name;
        let mut parts = Parts::default();
        self.expect(b'(')?;
        self.operands(&mut parts.operands)?;
        self.expect(b')')?;
        let mut successors: SmallVec<[(&'a str, usize); 2]> = SmallVec::new();
        if self.c.peek() == b'[' {
            self.list(b'[', b']', |p| {
                p.c.skip_space();
                let at = p.c.pos();
                p.expect(b'^')?;
                successors.push((p.c.suffix(), at));
                Ok(())
            })?;
        }
        let mut properties = AttrList::new();
        if self.c.eat(b'<') {
            self.attr_dict(&mut properties)?;
            self.expect(b'>')?;
        }
        let info = super::ops::find(name);
        if self.c.peek() == b'(' {
            let isolated = info
                .is_some_and(|entry| entry.info.traits.has(shard_ir::ops::Traits::ISOLATED))
                || matches!(name, "func.func" | "builtin.module");
            self.list(b'(', b')', |p| {
                let region = p.region(&[], isolated)?;
                parts.regions.push(region);
                Ok(())
            })?;
        }
        if self.c.peek() == b'{' {
            self.attr_dict(&mut parts.attrs)?;
        }
        self.expect(b':')?;
        let type_at = self.c.pos();
        let (inputs, results) = self.function_type()?;
        self.check_types(type_at, &parts.operands, &inputs)?;
        parts.results = results;
        let Some(entry) = info else {
            let op = Opaque {
                name: self.m.symbol(name),
                properties: self.sorted(properties),
                successors: vec![0; successors.len()],
            };
            let op = self.finish(start, Op::Opaque(Box::new(op)), parts)?;
            for (index, (label, at)) in successors.into_iter().enumerate() {
                self.label_uses.push((op, index, label, at));
            }
            return Ok(op);
        };
        properties.append(&mut parts.attrs);
        if name.starts_with("sdy.") {
            self.resolve_axes(&mut properties, name_at)?;
        }
        let op = self.op_from_attrs(start, entry, &mut properties)?;
        parts.attrs = properties;
        self.finish(start, op, parts)
    }

    /// Makes an op of the table from its attributes.
    pub(crate) fn op_from_attrs(
        &mut self,
        start: &OpStart<'a>,
        entry: &super::ops::Entry,
        attrs: &mut AttrList,
    ) -> Read<Op> {
        let op = table_op(&mut self.m, entry, attrs);
        self.made(start.start, op)
    }

    /// What was made of parts read since `start`, or the error placed there.
    pub(crate) fn made<T>(&mut self, start: usize, made: Result<T, Diagnostic>) -> Read<T> {
        match made {
            Ok(made) => Ok(made),
            Err(diagnostic) => {
                let range = start..self.c.pos().max(start);
                self.report(diagnostic.at(range))
            }
        }
    }

    pub(crate) fn sorted(&self, attrs: AttrList) -> AttrList {
        sorted(&self.m, attrs)
    }

    pub(crate) fn sorted_id(&mut self, attrs: AttrList) -> AttrsId {
        sorted_id(&mut self.m, attrs)
    }

    /// Makes the op, adds it to its block and names its results.
    pub(crate) fn finish(&mut self, start: &OpStart<'a>, op: Op, parts: Parts) -> Read<OpId> {
        let named: usize = start.names.iter().map(|name| name.count as usize).sum();
        let results = parts.results.len();
        if named != results && !start.names.is_empty() && op.info().results.fits(results) {
            return self.error(
                start.start..self.c.pos(),
                format!("{named} results are named, but '{}' has {results}", start.name),
            );
        }
        let id = add_op(&mut self.m, start.block, op, parts, LocId::input(start.start));
        let id = self.made(start.start, id)?;
        let mut next = 0;
        for name in &start.names {
            let first = self.m.result(id, next);
            next += name.count as usize;
            self.define(name.name, name.at, Some(first), name.count)?;
        }
        Ok(id)
    }

    /// Reports a sharding that doesn't fit a value of the type.
    pub(crate) fn check_sharding(&mut self, id: ShardingId, ty: TypeId, at: usize) -> Read<()> {
        let fits = check_sharding(&self.m, id, ty);
        self.made(at, fits)
    }

    /// Adds a top-level item for the op of a block that stands at the top.
    pub(crate) fn top_item(&mut self, op: OpId) {
        self.m.items.push(Item::Op(op));
    }
}

/// The names of values that are visible. Most are of a series, whose numbers are an index.
#[derive(Default)]
pub(crate) struct Names<'a> {
    numbered: [Vec<Option<Def>>; 2],
    /// Other names, and numbers that are far ahead of the sequence.
    named: FxHashMap<&'a str, Def>,
    /// Open scopes, the outermost not counted: its names are never taken back one by one.
    scopes: usize,
    /// What each name stood for before each definition of the open scopes, and whether that is in
    /// `numbered`.
    undo: Vec<(&'a str, Option<Def>, bool)>,
}

/// Which series a name belongs to, and its number there: `7` to the first, `cst_7` to the second.
#[inline]
fn in_series(name: &str) -> Option<(usize, usize)> {
    match name.strip_prefix("cst_") {
        Some(number) => plain_number(number).map(|number| (1, number)),
        None => plain_number(name).map(|number| (0, number)),
    }
}

/// Whether a name is one that MLIR gives a value without a name: `12`, `cst_12`, `c`. A train step
/// has thousands of them.
fn says_nothing(name: &str) -> bool {
    let rest = name.strip_prefix("cst").or_else(|| name.strip_prefix('c'));
    let number = |rest: &str| rest.strip_prefix('_').is_some_and(|n| plain_number(n).is_some());
    name.as_bytes().first().is_some_and(u8::is_ascii_digit)
        || rest.is_some_and(|rest| rest.is_empty() || number(rest))
}

/// The number that a name is, in its shortest form.
#[inline]
fn plain_number(name: &str) -> Option<usize> {
    let bytes = name.as_bytes();
    if bytes.is_empty() || bytes.len() > 8 || bytes.len() > 1 && bytes[0] == b'0' {
        return None;
    }
    bytes.iter().try_fold(0usize, |number, byte| {
        let digit = byte.wrapping_sub(b'0');
        (digit < 10).then_some(number * 10 + usize::from(digit))
    })
}

impl<'a> Names<'a> {
    #[inline]
    fn get(&self, name: &str) -> Option<Def> {
        let numbered =
            in_series(name).and_then(|(series, number)| *self.numbered[series].get(number)?);
        numbered.or_else(|| self.named.get(name).copied())
    }

    /// Returns what the name stood for before.
    fn define(&mut self, name: &'a str, def: Def) -> Option<Def> {
        match in_series(name) {
            // The index grows with the number of definitions, whatever the numbers are.
            Some((series, number)) if number <= self.numbered[series].len() + 64 => {
                let index = &mut self.numbered[series];
                if number >= index.len() {
                    index.resize(number + 1, None);
                }
                let before = index[number].replace(def);
                if self.scopes > 0 {
                    self.undo.push((name, before, true));
                }
                before.or_else(|| self.named.get(name).copied())
            }
            _ => {
                let before = self.named.insert(name, def);
                if self.scopes > 0 {
                    self.undo.push((name, before, false));
                }
                before
            }
        }
    }

    /// Takes back the definitions since `mark`.
    fn forget(&mut self, mark: usize) {
        while self.undo.len() > mark
            && let Some((name, before, numbered)) = self.undo.pop()
        {
            if numbered {
                if let Some((series, number)) = in_series(name)
                    && let Some(slot) = self.numbered[series].get_mut(number)
                {
                    *slot = before;
                }
            } else if let Some(def) = before {
                self.named.insert(name, def);
            } else {
                self.named.remove(name);
            }
        }
    }
}
