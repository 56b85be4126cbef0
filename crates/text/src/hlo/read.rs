//! From the syntax of HLO text to a module.

use rustc_hash::{FxHashMap, FxHashSet};
use shard_ir::clone::{ValueMap, clone_region};
use shard_ir::ops::{Control, GetTupleElement, Hlo, Op, Other};
use shard_ir::{
    Attr, AttrsId, BlockId, Diagnostic, Dims, Func, FuncResult, Language, LocId, Module, OpId,
    Place, RegionId, Symbol, Type, TypeId, ValueId,
};

use super::locs::{self, Frames};
use super::ops::read::{Instr, called, read_op};
use super::shape::{self, Shape};
use super::syntax::{
    self, Attribute, Computation, Instruction, Operand, Operands, Read, Text, range,
};
use super::{ASYNC, FRONTEND, KEPT, PLACE, SHAPE, SHARDING, TABLES, attrs};
use crate::{ParseOptions, Parsed};

/// How many ops copies of computations may make: several instructions may use one computation.
const MAX_COPIES: usize = 1 << 20;

/// Reads a program in HLO text.
pub fn parse_hlo(text: &str, options: &ParseOptions) -> Parsed {
    let (syntax, mut diagnostics) = syntax::read(text, options.max_errors);
    let mut reader = Reader {
        module: Module::new(),
        syntax: &syntax,
        options,
        frames: Frames::read(syntax.tables),
        shapes: FxHashMap::default(),
        names: FxHashMap::default(),
        symbols: Vec::new(),
        built: Vec::new(),
        copied: 0,
        diagnostics: Vec::new(),
    };
    reader.module.language = Language::Hlo;
    match reader.run() {
        // What is missing may stand where reading the text didn't come to.
        Err(diagnostic) if !syntax.stopped => reader.diagnostics.push(diagnostic),
        _ => {}
    }
    diagnostics.append(&mut reader.diagnostics);
    diagnostics.sort_by_key(|diagnostic| match &diagnostic.place {
        Place::Text(range) => range.start,
        Place::Nowhere | Place::Source { .. } => 0,
    });
    diagnostics.truncate(options.max_errors);
    Parsed { module: reader.module, diagnostics }
}

/// A computation that was built.
#[derive(Clone, Copy, Debug)]
struct Built {
    region: RegionId,
    /// An op or a function has the region already: who needs it too gets a copy.
    placed: bool,
    ops: usize,
}

pub(super) struct Reader<'a, 't> {
    pub(super) module: Module,
    syntax: &'t Text<'a>,
    options: &'t ParseOptions,
    frames: Frames,
    shapes: FxHashMap<&'a str, Shape>,
    /// Computations by name.
    names: FxHashMap<&'a str, usize>,
    /// The name of each computation: those written in place get one.
    symbols: Vec<Symbol>,
    built: Vec<Option<Built>>,
    copied: usize,
    diagnostics: Vec<Diagnostic>,
}

/// The instructions of a computation that were read so far.
struct Scope<'a> {
    values: FxHashMap<&'a str, ValueId>,
    /// Elements of tuples that operands named.
    elements: FxHashMap<(ValueId, i64), ValueId>,
    /// Instructions that couldn't be read, which was reported.
    broken: FxHashSet<&'a str>,
    block: BlockId,
}

impl<'a> Reader<'a, '_> {
    fn run(&mut self) -> Read<()> {
        self.header()?;
        let syntax = self.syntax;
        self.built = vec![None; syntax.computations.len()];
        for (index, computation) in syntax.computations.iter().enumerate() {
            let unnamed = computation.name.is_empty();
            if !unnamed && self.names.insert(computation.name, index).is_some() {
                let message = format!("there are two computations '{}'", computation.name);
                return Err(Diagnostic::error(message)
                    .at(range(computation.at, computation.name))
                    .help("rename one of them"));
            }
        }
        for (index, computation) in syntax.computations.iter().enumerate() {
            let mut name = computation.name.to_owned();
            if name.is_empty() {
                name.push('_');
                while self.names.contains_key(name.as_str())
                    || self.symbols.contains(&self.module.symbol(&name))
                {
                    name = format!("_{index}{name}");
                }
            }
            self.symbols.push(self.module.symbol(&name));
        }
        let (order, functions) = self.order()?;
        for index in order {
            self.computation(index)?;
        }
        self.functions(&functions)
    }

    fn header(&mut self) -> Read<()> {
        let syntax = self.syntax;
        let entry = syntax.computations.iter().find(|c| c.entry).or(syntax.computations.last());
        let made = entry.map(|entry| format!("module_{}", entry.name)).unwrap_or_default();
        self.module.name = Some(self.module.symbol(syntax.name.unwrap_or(&made)));
        let mut list = Vec::new();
        for attr in &syntax.attrs {
            match attr.key {
                "num_partitions" | "replica_count" => {
                    let name = if attr.key == "num_partitions" {
                        "mhlo.num_partitions"
                    } else {
                        "mhlo.num_replicas"
                    };
                    let count: i32 = attr.value.parse().map_err(|_| wrong(attr, "a number"))?;
                    // One is what absence means.
                    if count != 1 {
                        let ty = self.module.scalar(shard_ir::ElementType::I32);
                        list.push((self.module.symbol(name), Attr::Int(count.into(), ty)));
                    }
                }
                _ => list.push(self.kept(attr)?),
            }
        }
        if !syntax.tables.is_empty() {
            let text = Attr::String(self.module.symbol(syntax.tables));
            list.push((self.module.symbol(TABLES), text));
        }
        self.module.attrs = self.module.attrs_id(list);
        Ok(())
    }

    /// An attribute that is kept as it is.
    fn kept(&mut self, attr: &Attribute<'a>) -> Read<(Symbol, Attr)> {
        let text = |this: &mut Self| Attr::String(this.module.symbol(attr.value));
        Ok(match attr.key {
            "sharding" => (self.module.symbol(SHARDING), text(self)),
            "frontend_attributes" => {
                // Names as XLA's lexer takes them: others would be printed as something else.
                let is_name = |(key, _): &(&str, &str)| {
                    let plain = |b: u8| b.is_ascii_alphanumeric() || b"_.-/$".contains(&b);
                    !key.is_empty() && key.bytes().all(plain)
                };
                let fields = attrs::fields(attr.value)
                    .filter(|fields| fields.iter().all(is_name))
                    .ok_or_else(|| wrong(attr, "{name=\"value\", ...}"))?;
                let mut list = Vec::new();
                for (key, value) in fields {
                    let value = attrs::unquote(value).unwrap_or_else(|| value.to_owned());
                    list.push((self.module.symbol(key), Attr::String(self.module.symbol(&value))));
                }
                let dict = Attr::Dict(self.module.attrs_id(list));
                (self.module.symbol(FRONTEND), dict)
            }
            key => (self.module.symbol(&format!("{KEPT}{key}")), text(self)),
        })
    }

    /// Computations in an order in which each comes after those it uses, and those that become
    /// functions.
    fn order(&self) -> Read<(Vec<usize>, FxHashSet<usize>)> {
        let all = &self.syntax.computations;
        let mut uses: Vec<Vec<usize>> = vec![Vec::new(); all.len()];
        let mut functions = FxHashSet::default();
        let mut used = vec![false; all.len()];
        for (index, computation) in all.iter().enumerate() {
            for instruction in &computation.instructions {
                self.uses(instruction, &mut |callee, function| {
                    uses[index].push(callee);
                    used[callee] = true;
                    if function {
                        functions.insert(callee);
                    }
                })?;
            }
        }
        let entry = all.iter().position(|c| c.entry).or(all.len().checked_sub(1));
        let unused = (0..all.len()).filter(|index| !used[*index] || Some(*index) == entry);
        functions.extend(unused);
        let mut state = vec![0u8; all.len()];
        let mut order = Vec::new();
        for start in 0..all.len() {
            let mut stack = vec![(start, 0)];
            while let Some((index, next)) = stack.pop() {
                if next == 0 {
                    if state[index] != 0 {
                        continue;
                    }
                    state[index] = 1;
                }
                match uses[index].get(next) {
                    None => {
                        state[index] = 2;
                        order.push(index);
                    }
                    Some(&callee) => {
                        stack.push((index, next + 1));
                        if state[callee] == 1 {
                            let name = all[callee].name;
                            let message = format!("the computation '{name}' uses itself");
                            return Err(Diagnostic::error(message).at(range(all[callee].at, name)));
                        }
                        stack.push((callee, 0));
                    }
                }
            }
        }
        Ok((order, functions))
    }

    /// Calls `visit` for each computation that an instruction uses, and whether it calls it.
    fn uses(&self, instruction: &Instruction<'a>, visit: &mut impl FnMut(usize, bool)) -> Read<()> {
        let opcode = instruction.opcode;
        let opcode = opcode.strip_suffix("-start").unwrap_or(opcode);
        let function = matches!(opcode, "call" | "custom-call");
        for attr in &instruction.attrs {
            for (name, at) in called(attr) {
                visit(self.find(attr, name, at)?, function);
            }
        }
        if let Operands::Values(operands) = &instruction.operands {
            for operand in operands {
                if let Operand::Nested(inner) = operand {
                    self.uses(inner, visit)?;
                }
            }
        }
        Ok(())
    }

    fn find(&self, attr: &Attribute<'a>, name: &str, at: usize) -> Read<usize> {
        if let Some(index) = attr.computation {
            return Ok(index);
        }
        self.names.get(name).copied().ok_or_else(|| {
            Diagnostic::error(format!("there is no computation '{name}'")).at(range(at, name))
        })
    }

    /// The region of a computation that an attribute names, for one op.
    pub(super) fn region(&mut self, attr: &Attribute<'a>, name: &str, at: usize) -> Read<RegionId> {
        let index = self.find(attr, name, at)?;
        self.place(index, at)
    }

    fn place(&mut self, index: usize, at: usize) -> Read<RegionId> {
        let Some(built) = self.built[index].as_mut() else {
            return Err(Diagnostic::error("the computation couldn't be read").at(at..at));
        };
        if !built.placed {
            built.placed = true;
            return Ok(built.region);
        }
        let Built { region, ops, .. } = *built;
        self.copied += ops;
        if self.copied > MAX_COPIES {
            let message = format!(
                "the program is too large: copies of computations that several \
                                   instructions share have more than {MAX_COPIES} instructions"
            );
            return Err(Diagnostic::error(message).at(at..at));
        }
        Ok(clone_region(&mut self.module, region, &mut ValueMap::default(), &mut |_, loc| loc))
    }

    /// The name of a computation that becomes a function.
    pub(super) fn function(&mut self, attr: &Attribute<'a>, name: &str, at: usize) -> Read<Symbol> {
        Ok(self.symbols[self.find(attr, name, at)?])
    }

    pub(super) fn shape(&mut self, text: &'a str, at: usize) -> Read<Shape> {
        if let Some(&shape) = self.shapes.get(text) {
            return Ok(shape);
        }
        let shape = shape::read(text, &mut self.module).map_err(|expected| {
            Diagnostic::error(format!("expected {expected}, found '{text}'")).at(range(at, text))
        })?;
        self.shapes.insert(text, shape);
        Ok(shape)
    }

    fn computation(&mut self, index: usize) -> Read<()> {
        let computation: &Computation<'a> = &self.syntax.computations[index];
        let region = self.module.new_region();
        let block = self.module.new_block(region);
        self.module.region_mut(region).name = Some(self.symbols[index]).into();
        let mut scope = Scope {
            values: FxHashMap::default(),
            elements: FxHashMap::default(),
            broken: computation.broken.iter().copied().collect(),
            block,
        };
        let mut list = Vec::new();
        for attr in &computation.attrs {
            let kept = self.kept(attr)?;
            list.push(kept);
        }
        self.module.region_mut(region).attrs = self.module.attrs_id(list);
        self.parameters(computation, &mut scope)?;
        let before = self.module.op_count();
        let (mut root, mut last) = (None, None);
        for instruction in &computation.instructions {
            let value = if instruction.opcode == "parameter" {
                scope.values.get(instruction.name).copied()
            } else {
                let blocked = self.is_blocked(instruction, &scope);
                let result = match blocked {
                    true => None,
                    false => Some(self.instruction(instruction, &mut scope)),
                };
                match result {
                    Some(Ok(value)) => Some(value),
                    failed => {
                        self.diagnostics.extend(failed.and_then(Result::err));
                        if self.diagnostics.len() >= self.options.max_errors {
                            return Ok(());
                        }
                        let value = self.placeholder(instruction, &mut scope);
                        if value.is_none() {
                            scope.broken.insert(instruction.name);
                        }
                        value
                    }
                }
            };
            last = value.or(last);
            if instruction.root {
                if root.is_some() {
                    return Err(Diagnostic::error("one computation has one ROOT instruction")
                        .at(range(instruction.at, instruction.name)));
                }
                root = value;
            }
        }
        let Some(root) = root.or(last) else {
            if !scope.broken.is_empty() {
                return Ok(());
            }
            return Err(Diagnostic::error("a computation needs an instruction")
                .at(range(computation.at, computation.name)));
        };
        let end = self.module.new_op(Control::Return, &[root], &[], &[], LocId::UNKNOWN);
        self.module.block_mut(block).ops.push(end);
        let ops = self.module.op_count() - before;
        self.built[index] = Some(Built { region, placed: false, ops });
        Ok(())
    }

    /// Whether an instruction uses something that couldn't be read, so that it can't be either.
    fn is_blocked(&self, instruction: &Instruction<'a>, scope: &Scope<'a>) -> bool {
        let unread = |attr: &Attribute<'a>| {
            let indices = called(attr).into_iter().map(|(name, at)| self.find(attr, name, at));
            indices.flatten().any(|index| self.built[index].is_none())
        };
        let Operands::Values(operands) = &instruction.operands else { return false };
        instruction.attrs.iter().any(unread)
            || operands.iter().any(|operand| match operand {
                Operand::Name(name, ..) => scope.broken.contains(name),
                Operand::Nested(inner) => self.is_blocked(inner, scope),
            })
    }

    /// Makes the block's parameters, which the text may have in any order and anywhere.
    fn parameters(&mut self, computation: &Computation<'a>, scope: &mut Scope<'a>) -> Read<()> {
        let mut params: Vec<(usize, usize, &Instruction<'a>)> = Vec::new();
        let mut found = Vec::new();
        for (place, instruction) in computation.instructions.iter().enumerate() {
            collect_parameters(instruction, place, &mut found);
        }
        for (place, instruction) in found {
            let Operands::Raw(number, at) = instruction.operands else { continue };
            let number: usize = number.parse().map_err(|_| {
                Diagnostic::error(format!("expected the number of a parameter, found '{number}'"))
                    .at(range(at, number))
            })?;
            params.push((number, place, instruction));
        }
        params.sort_by_key(|(number, ..)| *number);
        for (index, (number, place, instruction)) in params.into_iter().enumerate() {
            if number != index && computation.broken.is_empty() {
                let message =
                    format!("parameter {index} is missing, or parameter {number} is twice");
                return Err(Diagnostic::error(message).at(range(instruction.at, instruction.name)));
            }
            let Some(text) = instruction.shape else {
                return Err(Diagnostic::error("a parameter needs a shape")
                    .at(range(instruction.opcode_at, instruction.opcode)));
            };
            let shape = self.shape(text, instruction.shape_at)?;
            let value = self.module.new_param(scope.block, shape.ty);
            self.define(instruction, value, scope)?;
            let (mut list, loc) = self.kept_attrs(instruction, &[])?;
            if !shape.plain {
                let text = Attr::String(self.module.symbol(text));
                list.push((self.module.symbol(SHAPE), text));
            }
            if place != index {
                let text = Attr::String(self.module.symbol(&place.to_string()));
                list.push((self.module.symbol(PLACE), text));
            }
            self.module.param_attrs[value] = self.module.attrs_id(list);
            if loc != LocId::UNKNOWN {
                self.module.param_locs[value] = loc.into();
            }
        }
        Ok(())
    }

    fn define(
        &mut self,
        instruction: &Instruction<'a>,
        value: ValueId,
        scope: &mut Scope<'a>,
    ) -> Read<()> {
        if instruction.name.is_empty() {
            return Ok(());
        }
        self.module.value_names[value] = Some(self.module.symbol(instruction.name)).into();
        if scope.values.insert(instruction.name, value).is_some() {
            return Err(Diagnostic::error(format!(
                "there are two instructions '{}' in the computation",
                instruction.name
            ))
            .at(range(instruction.at, instruction.name)));
        }
        Ok(())
    }

    /// The attributes of an instruction but those in `taken`, and its location.
    fn kept_attrs(
        &mut self,
        instruction: &Instruction<'a>,
        taken: &[&str],
    ) -> Read<(Vec<(Symbol, Attr)>, LocId)> {
        let mut list = Vec::new();
        let mut loc = LocId::UNKNOWN;
        if self.options.locations {
            loc = LocId::input(instruction.at);
        }
        for attr in &instruction.attrs {
            if taken.contains(&attr.key) {
                continue;
            }
            if attr.key == "metadata" {
                loc = locs::read(attr.value, &mut self.frames, &mut self.module);
                continue;
            }
            let kept = self.kept(attr)?;
            list.push(kept);
        }
        Ok((list, loc))
    }

    fn instruction(
        &mut self,
        instruction: &Instruction<'a>,
        scope: &mut Scope<'a>,
    ) -> Read<ValueId> {
        let operands = self.operands(instruction, scope)?;
        let shape = match instruction.shape {
            Some(text) => Some(self.shape(text, instruction.shape_at)?),
            None => None,
        };
        let (opcode, begins) = match instruction.opcode.strip_suffix("-start") {
            Some(base) if !matches!(base, "async" | "copy") => (base, true),
            _ => (instruction.opcode, false),
        };
        let mut instr = Instr::new(instruction, opcode, &operands, shape.map(|shape| shape.ty));
        let op = read_op(self, &mut instr)?;
        let (regions, taken) = (instr.regions, instr.taken);
        let (mut list, loc) = self.kept_attrs(instruction, &taken)?;
        let (ty, plain) = match shape {
            Some(shape) => (shape.ty, shape.plain),
            None => (self.infer(instruction, &op, &operands, &regions)?, true),
        };
        if !plain && let Some(text) = instruction.shape {
            let text = Attr::String(self.module.symbol(text));
            list.push((self.module.symbol(SHAPE), text));
        }
        if begins {
            list.push((self.module.symbol(ASYNC), Attr::Unit));
        }
        let op = self.module.new_op(op, &operands, &[ty], &regions, loc);
        self.finish(instruction, op, list, scope)
    }

    fn finish(
        &mut self,
        instruction: &Instruction<'a>,
        op: OpId,
        list: Vec<(Symbol, Attr)>,
        scope: &mut Scope<'a>,
    ) -> Read<ValueId> {
        self.module.op_mut(op).attrs = self.module.attrs_id(list);
        self.module.block_mut(scope.block).ops.push(op);
        let value = self.module.result(op, 0);
        self.define(instruction, value, scope)?;
        Ok(value)
    }

    /// Something that stands for an instruction with an error, so that its uses have none.
    fn placeholder(
        &mut self,
        instruction: &Instruction<'a>,
        scope: &mut Scope<'a>,
    ) -> Option<ValueId> {
        let shape = self.shape(instruction.shape?, instruction.shape_at).ok()?;
        let opcode = self.module.symbol(instruction.opcode);
        let op = self.module.new_op(Other { opcode }, &[], &[shape.ty], &[], LocId::UNKNOWN);
        self.finish(instruction, op, Vec::new(), scope).ok()
    }

    fn operands(
        &mut self,
        instruction: &Instruction<'a>,
        scope: &mut Scope<'a>,
    ) -> Read<Vec<ValueId>> {
        let Operands::Values(operands) = &instruction.operands else { return Ok(Vec::new()) };
        let mut values = Vec::with_capacity(operands.len());
        for operand in operands {
            values.push(match operand {
                Operand::Nested(inner) if inner.opcode == "parameter" => {
                    let number = match inner.operands {
                        Operands::Raw(number, _) => number.parse().unwrap_or(0),
                        Operands::Values(_) => 0usize,
                    };
                    let Some(&param) = self.module.params(scope.block).get(number) else {
                        let message = format!("there is no parameter {number}");
                        return Err(
                            Diagnostic::error(message).at(range(inner.opcode_at, inner.opcode))
                        );
                    };
                    param
                }
                Operand::Nested(inner) => self.instruction(inner, scope)?,
                Operand::Name(name, at, path) => {
                    let Some(&value) = scope.values.get(name) else {
                        let message = format!("there is no instruction '{name}' before this one");
                        return Err(Diagnostic::error(message).at(range(*at, name)));
                    };
                    let elements = path.iter();
                    elements.copied().try_fold(value, |value, index| {
                        self.element(value, index, range(*at, name).end, scope)
                    })?
                }
            });
        }
        Ok(values)
    }

    /// `%tuple#1`
    fn element(
        &mut self,
        tuple: ValueId,
        index: i64,
        at: usize,
        scope: &mut Scope<'a>,
    ) -> Read<ValueId> {
        if let Some(&value) = scope.elements.get(&(tuple, index)) {
            return Ok(value);
        }
        let ty = match self.module.ty(self.module.value_type(tuple)) {
            Type::Tuple(parts) => usize::try_from(index).ok().and_then(|i| parts.get(i).copied()),
            _ => None,
        };
        let Some(ty) = ty else {
            return Err(Diagnostic::error(format!("the operand has no element {index}")).at(at..at));
        };
        let get = GetTupleElement { index: index as i32 };
        let op = self.module.new_op(get, &[tuple], &[ty], &[], LocId::UNKNOWN);
        self.module.block_mut(scope.block).ops.push(op);
        let value = self.module.result(op, 0);
        if let Some(name) = self.module.value_names[tuple].expand() {
            let name = format!("{}_{index}", self.module.str(name));
            self.module.value_names[value] = Some(self.module.symbol(&name)).into();
        }
        scope.elements.insert((tuple, index), value);
        Ok(value)
    }

    /// The shape of an instruction that states none.
    fn infer(
        &mut self,
        instruction: &Instruction<'a>,
        op: &Op,
        operands: &[ValueId],
        regions: &[RegionId],
    ) -> Read<TypeId> {
        let at = range(instruction.opcode_at, instruction.opcode);
        match op {
            Op::Hlo(Hlo::Copy) | Op::Control(Control::While) if operands.len() == 1 => {
                return Ok(self.module.value_type(operands[0]));
            }
            Op::Hlo(Hlo::Conditional | Hlo::Fusion(_)) => {
                let block = regions.first().map(|region| self.module.entry(*region));
                let end = block.and_then(|block| self.module.terminator(block));
                if let Some(end) = end {
                    return Ok(self.module.value_type(self.module.operand(end, 0)));
                }
            }
            _ => {}
        }
        let types = shard_ir::infer::result_types(&mut self.module, op, operands, regions);
        match types.as_deref() {
            Ok([ty]) => Ok(*ty),
            Ok(types) => Ok(self.module.type_id(Type::Tuple(types.into()))),
            Err(error) => Err(Diagnostic::error(format!("the shape can't be inferred: {error}"))
                .at(at)
                .help("write the shape before the opcode")),
        }
    }

    fn functions(&mut self, functions: &FxHashSet<usize>) -> Read<()> {
        let syntax = self.syntax;
        let entry = syntax.computations.iter().position(|c| c.entry);
        let entry = entry.or(syntax.computations.len().checked_sub(1));
        for (index, computation) in syntax.computations.iter().enumerate() {
            let Some(built) = self.built[index] else { continue };
            // What no op took as a region may be named in an attribute that is kept as text.
            if built.placed && !functions.contains(&index) {
                continue;
            }
            let body = self.place(index, computation.at)?;
            let block = self.module.entry(body);
            let params = self.module.params(block).to_vec();
            let arg_attrs = params
                .iter()
                .map(|&param| std::mem::take(&mut self.module.param_attrs[param]))
                .collect();
            let mut results = Vec::new();
            if let Some(end) = self.module.terminator(block) {
                self.module.op_mut(end).op = Control::FuncReturn.into();
                for &value in self.module.operands(end) {
                    let ty = self.module.value_type(value);
                    results.push(FuncResult { ty, sharding: None.into(), attrs: AttrsId::EMPTY });
                }
            }
            let attrs = std::mem::take(&mut self.module.region_mut(body).attrs);
            let visibility = if Some(index) == entry { "public" } else { "private" };
            let func = Func {
                name: self.symbols[index],
                visibility: Some(self.module.symbol(visibility)),
                body,
                is_declaration: false,
                arg_attrs,
                results,
                attrs,
                loc: LocId::UNKNOWN,
            };
            self.module.new_func(func);
        }
        Ok(())
    }
}

/// The parameters that an instruction or its operands are.
fn collect_parameters<'a, 't>(
    instruction: &'t Instruction<'a>,
    place: usize,
    found: &mut Vec<(usize, &'t Instruction<'a>)>,
) {
    if instruction.opcode == "parameter" {
        found.push((place, instruction));
    }
    if let Operands::Values(operands) = &instruction.operands {
        for operand in operands {
            if let Operand::Nested(inner) = operand {
                collect_parameters(inner, place, found);
            }
        }
    }
}

/// An attribute has another form than it must have.
pub(super) fn wrong(attr: &Attribute<'_>, expected: &str) -> Diagnostic {
    let shown: String = attr.value.chars().take(60).collect();
    Diagnostic::error(format!("'{}' must be {expected}, found '{shown}'", attr.key))
        .at(range(attr.at, attr.value))
}

/// All dimensions in order.
pub(super) fn all_dims(rank: usize) -> Dims {
    (0..rank as i64).collect()
}
