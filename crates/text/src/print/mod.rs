//! Writing MLIR text, as MLIR's own printer does.

mod attrs;
mod dense;
pub(crate) mod generic;
mod locs;
pub mod names;
mod ops;
mod types;

use std::fmt::Write as _;

use cranelift_entity::SecondaryMap;
use rustc_hash::FxHashMap;
use shard_ir::{
    Attr, AttrsId, BlockId, FuncId, Item, LocId, MeshId, Module, OpId, RegionId, ShardingId,
    Symbol, TypeId, ValueId,
};

use names::Names;

/// How to print.
#[derive(Clone, Debug)]
pub struct PrintOptions {
    /// With source locations.
    pub debug_info: bool,
    /// Every op in generic form.
    pub generic: bool,
    /// Constants of more elements are printed as hexadecimal bytes.
    pub hex_above: usize,
    /// Constants of more elements are left out, so that the text can't be read back.
    pub elide_above: Option<usize>,
}

impl Default for PrintOptions {
    fn default() -> Self {
        PrintOptions { debug_info: false, generic: false, hex_above: 100, elide_above: None }
    }
}

/// The text of a module.
pub fn print(module: &Module, options: &PrintOptions) -> String {
    let mut printer = Printer::new(module, options.clone());
    printer.module();
    printer.out
}

/// The text of a type.
pub(crate) fn type_text(module: &Module, ty: TypeId) -> String {
    let mut out = String::new();
    types::push_type(module, ty, &mut out);
    out
}

/// The text of an attribute.
pub(crate) fn attr_text(module: &Module, attr: &Attr) -> String {
    let mut printer = Printer::without_names(module);
    printer.attr(attr, false);
    printer.out
}

/// The text of a field.
pub(crate) fn field_text<'m>(module: &'m Module, field: shard_ir::ops::FieldRef<'m>) -> String {
    let mut printer = Printer::without_names(module);
    printer.field(field);
    printer.out
}

/// The text of a location, `loc(...)`, without aliases.
pub(crate) fn loc_text(module: &Module, loc: LocId) -> String {
    let mut printer = Printer::without_names(module);
    printer.out.push_str("loc(");
    printer.loc_body(loc, 0);
    printer.out.push(')');
    printer.out
}

/// Appends a decimal number.
#[inline]
pub(crate) fn push_number(mut number: u64, out: &mut String) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.push_str(std::str::from_utf8(&digits[at..]).unwrap_or_default());
}

pub(crate) fn push_signed(number: i64, out: &mut String) {
    if number < 0 {
        out.push('-');
    }
    push_number(number.unsigned_abs(), out);
}

/// Appends a string literal, escaped as MLIR does.
pub(crate) fn push_string(text: &str, out: &mut String) {
    out.push('"');
    push_escaped(text.as_bytes(), out);
    out.push('"');
}

fn push_escaped(bytes: &[u8], out: &mut String) {
    let plain = |byte: &u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\');
    if bytes.iter().all(plain)
        && let Ok(text) = std::str::from_utf8(bytes)
    {
        out.push_str(text);
        return;
    }
    for &byte in bytes {
        match byte {
            b'\\' => out.push_str("\\\\"),
            b'"' => out.push_str("\\22"),
            b' '..=b'~' => out.push(char::from(byte)),
            _ => {
                let _ = write!(out, "\\{byte:02X}");
            }
        }
    }
}

/// Appends `@name`, quoted where that isn't an identifier.
pub(crate) fn push_symbol(name: &str, out: &mut String) {
    out.push('@');
    let plain = |at: usize, byte: u8| {
        byte.is_ascii_alphabetic()
            || byte == b'_'
            || at > 0 && (byte.is_ascii_digit() || matches!(byte, b'$' | b'.' | b'-'))
    };
    if !name.is_empty() && name.bytes().enumerate().all(|(at, byte)| plain(at, byte)) {
        out.push_str(name);
    } else {
        push_string(name, out);
    }
}

/// Whether a name can stand for an attribute without quotes.
fn is_bare_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.'))
}

pub(crate) struct Printer<'m> {
    pub(crate) m: &'m Module,
    pub(crate) out: String,
    options: PrintOptions,
    names: Names,
    indent: usize,
    /// The op being printed lies directly in a function's body, where `func.` is left out.
    in_func: bool,
    /// Printed types and shardings, each once, and where they lie.
    cache: String,
    types: SecondaryMap<TypeId, (u32, u32)>,
    shardings: SecondaryMap<ShardingId, (u32, u32)>,
    loc_names: FxHashMap<LocId, u32>,
    has_shardings: bool,
}

impl<'m> Printer<'m> {
    fn new(m: &'m Module, options: PrintOptions) -> Self {
        let names = Names::new(m, options.generic);
        Printer {
            out: String::with_capacity(m.op_count() * 96),
            names,
            options,
            has_shardings: m.shardings.values().any(|sharding| sharding.is_some()),
            ..Printer::without_names(m)
        }
    }

    fn without_names(m: &'m Module) -> Self {
        Printer {
            m,
            out: String::new(),
            options: PrintOptions::default(),
            names: Names::new(&Module::new(), false),
            indent: 0,
            in_func: false,
            cache: String::new(),
            types: SecondaryMap::new(),
            shardings: SecondaryMap::new(),
            loc_names: FxHashMap::default(),
            has_shardings: false,
        }
    }

    // --- pieces ---

    #[inline]
    pub(crate) fn str(&mut self, text: &str) {
        self.out.push_str(text);
    }

    pub(crate) fn newline(&mut self) {
        self.out.push('\n');
        const SPACES: &str = "                                                                ";
        let mut left = self.indent * 2;
        while left > 0 {
            let now = left.min(SPACES.len());
            self.out.push_str(&SPACES[..now]);
            left -= now;
        }
    }

    pub(crate) fn value(&mut self, value: ValueId) {
        self.names.push(value, &mut self.out);
    }

    pub(crate) fn values(&mut self, values: &[ValueId]) {
        for (at, &value) in values.iter().enumerate() {
            if at > 0 {
                self.out.push_str(", ");
            }
            self.value(value);
        }
    }

    pub(crate) fn ty(&mut self, ty: TypeId) {
        let (start, end) = self.types[ty];
        if end > start {
            self.out.push_str(&self.cache[start as usize..end as usize]);
            return;
        }
        let start = self.cache.len();
        types::push_type(self.m, ty, &mut self.cache);
        let end = self.cache.len();
        if let (Ok(start), Ok(end)) = (u32::try_from(start), u32::try_from(end)) {
            self.types[ty] = (start, end);
        }
        self.out.push_str(&self.cache[start..end]);
    }

    pub(crate) fn type_of(&mut self, value: ValueId) {
        self.ty(self.m.value_type(value));
    }

    pub(crate) fn types_of(&mut self, values: &[ValueId]) {
        for (at, &value) in values.iter().enumerate() {
            if at > 0 {
                self.out.push_str(", ");
            }
            self.type_of(value);
        }
    }

    /// `(types) -> types`.
    pub(crate) fn function_type(&mut self, op: OpId) {
        let m = self.m;
        self.out.push('(');
        self.types_of(m.operands(op));
        self.out.push_str(") -> ");
        let results = m.results(op);
        let single = match results {
            [result] => !matches!(m.ty(m.value_type(*result)), shard_ir::Type::Function { .. }),
            _ => false,
        };
        if single {
            self.type_of(results[0]);
        } else {
            self.out.push('(');
            self.types_of(results);
            self.out.push(')');
        }
    }

    pub(crate) fn numbers(&mut self, numbers: &[i64]) {
        for (at, &number) in numbers.iter().enumerate() {
            if at > 0 {
                self.out.push_str(", ");
            }
            if number == shard_ir::DYNAMIC {
                self.out.push('?');
            } else {
                push_signed(number, &mut self.out);
            }
        }
    }

    /// `[1, 2]`.
    pub(crate) fn number_list(&mut self, numbers: &[i64]) {
        self.out.push('[');
        self.numbers(numbers);
        self.out.push(']');
    }

    pub(crate) fn integer(&mut self, number: i64) {
        push_signed(number, &mut self.out);
    }

    pub(crate) fn symbol(&mut self, name: Symbol) {
        push_symbol(self.m.str(name), &mut self.out);
    }

    pub(crate) fn string(&mut self, text: Symbol) {
        push_string(self.m.str(text), &mut self.out);
    }

    // --- the module ---

    fn module(&mut self) {
        let m = self.m;
        let aliases = if self.options.debug_info { Some(self.find_loc_aliases()) } else { None };
        if let Some(aliases) = &aliases {
            self.loc_definitions(aliases, false);
        }
        if self.options.generic {
            self.str("\"builtin.module\"()");
            if let Some(name) = m.name {
                self.str(" <{sym_name = ");
                self.string(name);
                self.str("}>");
            }
            self.str(" ({");
            if m.items.is_empty() {
                self.newline();
                self.str("^bb0:");
            }
        } else {
            self.str("module");
            if let Some(name) = m.name {
                self.str(" ");
                self.symbol(name);
            }
            if m.attrs != AttrsId::EMPTY {
                self.str(" attributes ");
                self.attrs(m.attrs);
            }
            self.str(" {");
        }
        self.indent += 1;
        for item in &m.items {
            self.newline();
            match item {
                Item::Mesh(mesh) => self.mesh_op(*mesh),
                Item::Func(func) => self.func(*func),
                Item::Op(op) => self.op(*op),
            }
        }
        self.indent -= 1;
        self.newline();
        if self.options.generic {
            self.str("})");
            if m.attrs != AttrsId::EMPTY {
                self.str(" ");
                self.attrs(m.attrs);
            }
            self.str(" : () -> ()");
        } else {
            self.str("}");
        }
        self.trailing_loc(m.loc.expand().unwrap_or(LocId::UNKNOWN));
        self.str("\n");
        if let Some(aliases) = &aliases {
            self.loc_definitions(aliases, true);
        }
        if let Some(resources) = m.resources {
            self.str("\n");
            self.str(m.str(resources));
            self.str("\n");
        }
    }

    fn mesh_op(&mut self, id: MeshId) {
        let def = &self.m.meshes[id];
        let name = def.name.map_or("", |name| self.m.str(name));
        if self.options.generic {
            self.str("\"sdy.mesh\"() <");
            let properties = self.mesh_properties(id);
            self.text_entries(&properties);
            self.str(">");
        } else {
            self.str("sdy.mesh ");
            push_symbol(name, &mut self.out);
            self.str(" = ");
            self.mesh(&def.mesh);
        }
        if def.attrs != AttrsId::EMPTY {
            self.str(" ");
            self.attrs(def.attrs);
        }
        if self.options.generic {
            self.str(" : () -> ()");
        }
        self.trailing_loc(def.loc);
    }

    fn func(&mut self, id: FuncId) {
        if self.options.generic {
            self.generic_func(id);
            return;
        }
        let m = self.m;
        let func = &m.funcs[id];
        self.str("func.func ");
        if let Some(visibility) = func.visibility {
            self.str(m.str(visibility));
            self.str(" ");
        }
        self.symbol(func.name);
        self.str("(");
        for (index, &arg) in m.args(id).iter().enumerate() {
            if index > 0 {
                self.str(", ");
            }
            if !func.is_declaration {
                self.value(arg);
                self.str(": ");
            }
            self.type_of(arg);
            let attrs = func.arg_attrs.get(index).copied().unwrap_or(AttrsId::EMPTY);
            self.signed_attrs(attrs, m.shardings[arg].expand(), true);
            if self.options.debug_info && !func.is_declaration {
                self.inline_loc(m.param_locs[arg].expand().unwrap_or(LocId::UNKNOWN));
            }
        }
        self.str(")");
        if !func.results.is_empty() {
            self.str(" -> ");
            let bare = match &func.results[..] {
                [result] => {
                    result.attrs == AttrsId::EMPTY
                        && result.sharding.is_none()
                        && !matches!(m.ty(result.ty), shard_ir::Type::Function { .. })
                }
                _ => false,
            };
            if !bare {
                self.str("(");
            }
            for (index, result) in func.results.iter().enumerate() {
                if index > 0 {
                    self.str(", ");
                }
                self.ty(result.ty);
                self.signed_attrs(result.attrs, result.sharding.expand(), true);
            }
            if !bare {
                self.str(")");
            }
        }
        if func.attrs != AttrsId::EMPTY {
            self.str(" attributes ");
            self.attrs(func.attrs);
        }
        if !func.is_declaration {
            self.str(" ");
            self.region(func.body, false, true);
        }
        self.trailing_loc(func.loc);
    }

    /// Attributes of an argument or result, with its sharding.
    fn signed_attrs(&mut self, attrs: AttrsId, sharding: Option<ShardingId>, space: bool) -> bool {
        let m = self.m;
        if attrs == AttrsId::EMPTY && sharding.is_none() {
            return false;
        }
        let sharding = sharding.map(Attr::Sharding);
        let mut list: Vec<(&str, &Attr)> =
            m.attrs(attrs).iter().map(|(name, attr)| (m.str(*name), attr)).collect();
        list.extend(sharding.as_ref().map(|attr| ("sdy.sharding", attr)));
        list.sort_by(|a, b| a.0.cmp(b.0));
        if space {
            self.str(" ");
        }
        self.str("{");
        for (at, (name, attr)) in list.into_iter().enumerate() {
            if at > 0 {
                self.str(", ");
            }
            self.named_attr(name, attr);
        }
        self.str("}");
        true
    }

    // --- regions ---

    /// `{ ... }`, with the arguments of the entry block as a label if asked for.
    pub(crate) fn region(&mut self, region: RegionId, entry_args: bool, in_func: bool) {
        let m = self.m;
        let outer = std::mem::replace(&mut self.in_func, in_func);
        self.str("{");
        let blocks = &m.region(region).blocks;
        for (number, &block) in blocks.iter().enumerate() {
            if number > 0 || entry_args && !m.params(block).is_empty() {
                self.newline();
                self.block_label(number, block);
            }
            self.indent += 1;
            for &op in m.block_ops(block) {
                self.newline();
                self.op(op);
            }
            self.indent -= 1;
        }
        self.newline();
        self.str("}");
        self.in_func = outer;
    }

    fn block_label(&mut self, number: usize, block: BlockId) {
        self.str("^bb");
        push_number(number as u64, &mut self.out);
        let params = self.m.params(block);
        if !params.is_empty() {
            self.str("(");
            for (at, &param) in params.iter().enumerate() {
                if at > 0 {
                    self.str(", ");
                }
                self.region_arg(param);
            }
            self.str(")");
        }
        self.str(":");
    }

    /// `%arg0: type loc(...)`.
    pub(crate) fn region_arg(&mut self, param: ValueId) {
        self.value(param);
        self.str(": ");
        self.type_of(param);
        if self.options.debug_info {
            self.inline_loc(self.m.param_locs[param].expand().unwrap_or(LocId::UNKNOWN));
        }
    }

    // --- ops ---

    fn op(&mut self, op: OpId) {
        let m = self.m;
        let results = m.results(op);
        if !results.is_empty() {
            self.names.push_results(results, &mut self.out);
        }
        if self.options.generic {
            self.generic_op(op);
        } else {
            self.pretty_op(op);
        }
        self.trailing_loc(m.op(op).loc);
    }
}
