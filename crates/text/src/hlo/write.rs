//! HLO text of a module in HLO's form.

use std::fmt::Write as _;

use rustc_hash::{FxHashMap, FxHashSet};
use shard_ir::ops::{Constant, Control, Creation, Custom, Op};
use shard_ir::{
    Attr, AttrsId, Diagnostic, FuncId, LocId, Module, OpId, RegionId, RegionOwner, Type, ValueId,
};

use super::ops::write::{Attrs, opcode, write as write_fields};
use super::{ASYNC, FRONTEND, KEPT, PLACE, SHAPE, SHARDING, TABLES, attrs, literal, locs, shape};
use crate::print::type_text;

/// Prints a program in HLO text, as XLA does.
///
/// # Errors
/// A located diagnostic for the first op that HLO doesn't have.
pub fn print_hlo(module: &Module) -> Result<String, Diagnostic> {
    let mut writer = Writer {
        module,
        names: FxHashMap::default(),
        texts: FxHashMap::default(),
        taken: FxHashSet::default(),
        done: String::new(),
    };
    writer.run()
}

struct Writer<'m> {
    module: &'m Module,
    /// Names of the computations that regions are.
    names: FxHashMap<RegionId, String>,
    /// Computations by their text without the name: equal ones are printed once.
    texts: FxHashMap<String, String>,
    taken: FxHashSet<String>,
    /// Computations in order.
    done: String,
}

/// What a computation's body is printed from.
struct Body {
    region: RegionId,
    params: Vec<AttrsId>,
    attrs: AttrsId,
    names: FxHashMap<ValueId, String>,
}

impl Writer<'_> {
    fn run(&mut self) -> Result<String, Diagnostic> {
        let module = self.module;
        let Some(entry) = module.main_func() else {
            return Err(Diagnostic::error("the program has no function that could be its entry"));
        };
        for func in module.func_ids() {
            self.taken.insert(module.str(module.funcs[func].name).to_owned());
        }
        for region in self.order() {
            match module.region(region).owner {
                RegionOwner::Func(func) => self.function(func, func == entry)?,
                RegionOwner::Op(_) | RegionOwner::None => self.region(region)?,
            }
        }
        let mut out = self.header();
        out.push_str(&self.done);
        Ok(out)
    }

    fn header(&self) -> String {
        let module = self.module;
        let mut out = String::from("HloModule ");
        out.push_str(module.name.map_or("module", |name| module.str(name)));
        let mut tables = "";
        for (key, attr) in module.attrs(module.attrs) {
            match (module.str(*key), attr) {
                ("mhlo.num_partitions", Attr::Int(n, _)) if *n != 1 => {
                    let _ = write!(out, ", num_partitions={n}");
                }
                ("mhlo.num_replicas", Attr::Int(n, _)) if *n != 1 => {
                    let _ = write!(out, ", replica_count={n}");
                }
                (TABLES, Attr::String(text)) => tables = module.str(*text),
                _ => write_kept(module, *key, attr, &mut out),
            }
        }
        out.push('\n');
        if !tables.is_empty() {
            let _ = write!(out, "\n{tables}\n");
        }
        out
    }

    /// All computations, each after those that it uses, else in the order in which they were made:
    /// that of the text.
    fn order(&self) -> Vec<RegionId> {
        let module = self.module;
        let bodies: FxHashMap<_, _> = module
            .func_ids()
            .map(|func| (module.funcs[func].name, module.funcs[func].body))
            .collect();
        let mut uses: FxHashMap<RegionId, Vec<RegionId>> = FxHashMap::default();
        let mut all: Vec<RegionId> =
            module.func_ids().map(|func| module.funcs[func].body).collect();
        let mut next = 0;
        while let Some(&region) = all.get(next) {
            next += 1;
            let mut used = Vec::new();
            for &op in module.block_ops(module.entry(region)) {
                used.extend(module.regions(op));
                all.extend(module.regions(op));
                used.extend(callees(module.kind(op)).iter().filter_map(|name| bodies.get(name)));
            }
            uses.insert(region, used);
        }
        all.sort_unstable();
        let mut seen = FxHashSet::default();
        let mut order = Vec::new();
        let mut stack = Vec::new();
        for start in all {
            stack.push((start, false));
            while let Some((region, done)) = stack.pop() {
                if done {
                    order.push(region);
                } else if seen.insert(region) {
                    stack.push((region, true));
                    stack.extend(uses[&region].iter().rev().map(|used| (*used, false)));
                }
            }
        }
        order
    }

    fn function(&mut self, func: FuncId, entry: bool) -> Result<(), Diagnostic> {
        let data = &self.module.funcs[func];
        let name = self.module.str(data.name).to_owned();
        let body = self.body(data.body, data.arg_attrs.clone(), data.attrs);
        let text = self.text(&body)?;
        let keyword = if entry { "ENTRY " } else { "" };
        let _ = write!(self.done, "\n{keyword}%{name} {text}");
        self.texts.insert(text, name);
        Ok(())
    }

    fn region(&mut self, region: RegionId) -> Result<(), Diagnostic> {
        let module = self.module;
        let params = module.params(module.entry(region));
        let params = params.iter().map(|param| module.param_attrs[*param]).collect();
        let body = self.body(region, params, module.region(region).attrs);
        let text = self.text(&body)?;
        let wanted = module.region(region).name.expand().map_or("region", |n| module.str(n));
        let name = match self.texts.get(&text) {
            Some(name) if name == wanted => name.clone(),
            _ => {
                let name = fresh(wanted, &mut self.taken);
                let _ = write!(self.done, "\n%{name} {text}");
                self.texts.insert(text, name.clone());
                name
            }
        };
        self.names.insert(region, name);
        Ok(())
    }

    fn body(&self, region: RegionId, params: Vec<AttrsId>, attrs: AttrsId) -> Body {
        let module = self.module;
        let block = module.entry(region);
        let mut taken = FxHashSet::default();
        let mut names = FxHashMap::default();
        let results = module.block_ops(block).iter().flat_map(|op| module.results(*op));
        let values: Vec<ValueId> = module.params(block).iter().chain(results).copied().collect();
        // Names of the text come first, so that made ones don't take them.
        for &value in &values {
            if let Some(name) = module.value_names[value].expand().map(|name| module.str(name))
                && is_name(name)
                && taken.insert(name.to_owned())
            {
                names.insert(value, name.to_owned());
            }
        }
        for &value in &values {
            names.entry(value).or_insert_with(|| {
                let base = match module.defining_op(value) {
                    Some(op) => opcode(module, module.kind(op)).unwrap_or("value"),
                    None => "param",
                };
                fresh(base, &mut taken)
            });
        }
        Body { region, params, attrs, names }
    }

    /// The text of a computation behind its name.
    fn text(&self, body: &Body) -> Result<String, Diagnostic> {
        let module = self.module;
        let block = module.entry(body.region);
        let params = module.params(block);
        if let Some(param) = params.iter().find(|param| !self.has_type(**param)) {
            let ty = type_text(module, module.value_type(*param));
            let loc = module.param_locs[*param].expand().unwrap_or(LocId::UNKNOWN);
            return Err(Diagnostic::error(format!("HLO has no type {ty}")).at_loc(module, loc));
        }
        let root = module.terminator(block).and_then(|end| module.operands(end).first().copied());
        let mut out = String::from("(");
        for (index, param) in params.iter().enumerate() {
            let _ = write!(out, "{}{}: ", if index > 0 { ", " } else { "" }, body.names[param]);
            shape::write(module, module.value_type(*param), false, &mut out);
        }
        out.push_str(") -> ");
        if let Some(root) = root {
            shape::write(module, module.value_type(root), false, &mut out);
        }
        out.push_str(" {\n");
        let mut ops = module.block_ops(block).iter().copied().filter(|op| {
            !matches!(module.kind(*op), Op::Control(Control::Return | Control::FuncReturn))
        });
        // Parameters stand where they stood, or in front.
        let mut places: Vec<(usize, usize)> = (0..params.len())
            .map(|index| {
                let attrs = body.params.get(index).copied().unwrap_or_default();
                let place = match module.attr(attrs, PLACE) {
                    Some(Attr::String(text)) => module.str(*text).parse().ok(),
                    _ => None,
                };
                (place.unwrap_or(index), index)
            })
            .collect();
        places.sort_unstable();
        let mut places = places.into_iter().peekable();
        let mut line = 0;
        loop {
            let param = places.next_if(|(place, _)| *place <= line);
            match param {
                Some((_, index)) => self.parameter(body, index, root, &mut out),
                None => match ops.next() {
                    Some(op) => self.instruction(body, op, root, &mut out)?,
                    None => match places.next() {
                        Some((_, index)) => self.parameter(body, index, root, &mut out),
                        None => break,
                    },
                },
            }
            line += 1;
        }
        out.push('}');
        for (key, attr) in module.attrs(body.attrs) {
            write_kept(module, *key, attr, &mut out);
        }
        out.push('\n');
        Ok(out)
    }

    fn has_type(&self, value: ValueId) -> bool {
        shape::exists(self.module, self.module.value_type(value))
    }

    fn parameter(&self, body: &Body, index: usize, root: Option<ValueId>, out: &mut String) {
        let module = self.module;
        let value = module.params(module.entry(body.region))[index];
        let attrs = body.params.get(index).copied().unwrap_or_default();
        out.push_str(if root == Some(value) { "  ROOT %" } else { "  %" });
        let _ = write!(out, "{} = ", body.names[&value]);
        self.shape(value, attrs, out);
        let _ = write!(out, " parameter({index})");
        self.rest(attrs, module.param_locs[value].expand().unwrap_or(LocId::UNKNOWN), out);
    }

    fn instruction(
        &self,
        body: &Body,
        op: OpId,
        root: Option<ValueId>,
        out: &mut String,
    ) -> Result<(), Diagnostic> {
        let module = self.module;
        let kind = module.kind(op);
        let data = module.op(op);
        let (Some(opcode), &[value]) = (opcode(module, kind), module.results(op)) else {
            return Err(Diagnostic::error("HLO has no such op")
                .at_op(module, op)
                .help("convert the program to HLO's form first"));
        };
        if !self.has_type(value) {
            let ty = type_text(module, module.value_type(value));
            return Err(Diagnostic::error(format!("HLO has no type {ty}")).at_op(module, op));
        }
        out.push_str(if root == Some(value) { "  ROOT %" } else { "  %" });
        let _ = write!(out, "{} = ", body.names[&value]);
        self.shape(value, data.attrs, out);
        let begins = if module.attr(data.attrs, ASYNC).is_some() { "-start" } else { "" };
        let _ = write!(out, " {opcode}{begins}(");
        if let Op::Creation(Creation::Constant(constant)) = kind {
            self.constant(constant, out);
        }
        for (index, operand) in module.operands(op).iter().enumerate() {
            let Some(name) = body.names.get(operand) else {
                return Err(Diagnostic::error(
                    "uses a value from outside of its computation, which HLO doesn't have",
                )
                .at_op(module, op)
                .help("convert the program to HLO's form first"));
            };
            let comma = if index > 0 { ", " } else { "" };
            let _ = match index {
                0 => write!(out, "%{name}"),
                _ if index % 5 == 0 => write!(out, "{comma}/*index={index}*/%{name}"),
                _ => write!(out, "{comma}%{name}"),
            };
        }
        out.push(')');
        let computations: Vec<String> =
            module.regions(op).iter().map(|region| self.names[region].clone()).collect();
        write_fields(&mut Attrs { module, op, computations: &computations, out });
        self.rest(data.attrs, data.loc, out);
        Ok(())
    }

    fn constant(&self, constant: &Constant, out: &mut String) {
        match (self.module.ty(constant.value.ty), &constant.value.data) {
            (Type::Tensor(ty), data) => literal::write(data, ty, out),
            (_, shard_ir::DenseData::Text(text)) => out.push_str(self.module.str(*text)),
            _ => out.push_str("{...}"),
        }
    }

    /// The shape as it was written, if the value still has it.
    fn shape(&self, value: ValueId, attrs: AttrsId, out: &mut String) {
        let start = out.len();
        shape::write(self.module, self.module.value_type(value), true, out);
        if let Some(Attr::String(text)) = self.module.attr(attrs, SHAPE) {
            let text = self.module.str(*text);
            if without_layouts(text) == without_layouts(&out[start..]) {
                out.truncate(start);
                out.push_str(text);
            }
        }
    }

    /// Attributes that are no fields, and the metadata.
    fn rest(&self, attrs: AttrsId, loc: LocId, out: &mut String) {
        for (key, attr) in self.module.attrs(attrs) {
            if !matches!(self.module.str(*key), SHAPE | ASYNC | PLACE) {
                write_kept(self.module, *key, attr, out);
            }
        }
        let start = out.len();
        out.push_str(", metadata=");
        if !locs::write(loc, self.module, out) {
            out.truncate(start);
        }
        out.push('\n');
    }
}

/// The functions that an op calls.
fn callees(op: &Op) -> Vec<shard_ir::Symbol> {
    match op {
        Op::Control(Control::Call(call)) => vec![call.callee.0],
        Op::Custom(Custom::Composite(composite)) => vec![composite.decomposition.0],
        Op::Custom(Custom::CustomCall(call)) => match &call.called_computations {
            Some(Attr::Array(names)) => names
                .iter()
                .filter_map(|name| match name {
                    Attr::SymbolRef(path) => path.last().copied(),
                    _ => None,
                })
                .collect(),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// Appends an attribute that is kept as text; others aren't HLO's.
fn write_kept(module: &Module, key: shard_ir::Symbol, attr: &Attr, out: &mut String) {
    match (module.str(key), attr) {
        (SHARDING, Attr::String(text)) => {
            let _ = write!(out, ", sharding={}", module.str(*text));
        }
        (FRONTEND, Attr::Dict(dict)) => {
            out.push_str(", frontend_attributes={");
            for (index, (key, value)) in module.attrs(*dict).iter().enumerate() {
                let Attr::String(text) = value else { continue };
                let _ = write!(out, "{}{}=", if index > 0 { "," } else { "" }, module.str(*key));
                attrs::quote(module.str(*text), out);
            }
            out.push('}');
        }
        (key, Attr::String(text)) => {
            if let Some(key) = key.strip_prefix(KEPT) {
                let _ = write!(out, ", {key}={}", module.str(*text));
            }
        }
        _ => {}
    }
}

/// Whether HLO takes a name as it is: words for types are none, and two underscores begin those of
/// compilers.
fn is_name(name: &str) -> bool {
    let is_type = shape::element_type(name).is_some() || matches!(name, "token" | "opaque");
    if is_type || name.starts_with("__") && !name.starts_with("__xla_") {
        return false;
    }
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'))
}

/// A name like `base` that isn't taken; it is from now on.
fn fresh(base: &str, taken: &mut FxHashSet<String>) -> String {
    if taken.insert(base.to_owned()) {
        return base.to_owned();
    }
    let mut number = taken.len();
    loop {
        let name = format!("{base}.{number}");
        if taken.insert(name.clone()) {
            return name;
        }
        number += 1;
    }
}

/// A shape's or a signature's text without layouts, comments and white space.
fn without_layouts(text: &str) -> String {
    let inner = attrs::inside(text, '{', '}').unwrap_or(text);
    let mut out = String::new();
    let mut depth = 0;
    let mut rest = inner;
    while let Some(c) = rest.chars().next() {
        if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.split_once("*/").map_or("", |(_, after)| after);
            continue;
        }
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            c if depth == 0 && !c.is_whitespace() => out.push(c),
            _ => {}
        }
        rest = &rest[c.len_utf8()..];
    }
    out
}
