//! `hlo-to-stablehlo`: a program in HLO's form becomes one in StableHLO's.
//!
//! Tuples become several values, fusions and asynchronous pairs the ops that they stand for,
//! branches use what they need from outside, and layouts, schedules and configurations of the
//! compiler are left behind: they are no part of what the program means. Annotations of Shardy
//! become its attributes and ops; those of GSPMD stay as `mhlo.sharding`, for the import to read.

mod aliases;
mod layout;
mod ops;
mod transfers;

use std::str::FromStr as _;

use cranelift_entity::SecondaryMap;
use rustc_hash::FxHashMap;
use shard_ir::ops::{Control, Op};
use shard_ir::sharding::{HloSharding, HloShardingKind};
use shard_ir::{
    Attr, AttrsId, BlockId, Builder, Diagnostic, FuncId, FuncResult, Language, LocId, Module, OpId,
    RegionId, Symbol, Type, TypeId, ValueId,
};

use crate::annotations::{FRONTEND, TILES};

/// How deep computations may be nested.
const MAX_DEPTH: u32 = 500;

/// Runs the pass; a program in StableHLO's form is left as it is.
///
/// # Errors
/// A located diagnostic for each instruction that StableHLO has no op for.
pub fn run(module: &mut Module) -> Result<(), Diagnostic> {
    if module.language == Language::StableHlo {
        return Ok(());
    }
    let Some(entry) = module.main_func() else { return Ok(()) };
    let mut pass = Convert {
        block: BlockId::from_const(0),
        leaves: SecondaryMap::new(),
        results: FxHashMap::default(),
        depth: 0,
    };
    name_entry(module, entry);
    let funcs: Vec<FuncId> = module.func_ids().collect();
    for &func in &funcs {
        let ty = module.funcs[func].results.first().map(|result| result.ty);
        let types = ty.map(|ty| flat_types(module, ty)).unwrap_or_default();
        pass.results.insert(module.funcs[func].name, types);
    }
    for func in funcs {
        pass.function(module, func)?;
    }
    aliases::convert(module, entry);
    let kept: Vec<_> = module
        .attrs(module.attrs)
        .iter()
        .filter(|(key, _)| !module.str(*key).starts_with("hlo."))
        .cloned()
        .collect();
    module.attrs = module.attrs_id(kept);
    module.language = Language::StableHlo;
    crate::sdy_round_trip::import(module)
}

/// XLA and others run the function that is named `main`.
fn name_entry(module: &mut Module, entry: FuncId) {
    let main = module.symbol("main");
    if module.funcs[entry].name == main {
        return;
    }
    if let Some(other) = module.find_func(main) {
        let mut name = "main_".to_owned();
        while module.find_symbol(&name).is_some_and(|name| module.find_func(name).is_some()) {
            name.push('_');
        }
        module.funcs[other].name = module.symbol(&name);
    }
    module.funcs[entry].name = main;
}

/// The values that a value consists of: itself, or the parts of a tuple, depth first.
type Leaves = Vec<ValueId>;

struct Convert {
    /// The block that grows.
    block: BlockId,
    /// What each value of the program became.
    leaves: SecondaryMap<ValueId, Option<Box<Leaves>>>,
    /// Types of the results of each function.
    results: FxHashMap<Symbol, Vec<TypeId>>,
    depth: u32,
}

/// The types of a type's leaves.
fn flat_types(module: &Module, ty: TypeId) -> Vec<TypeId> {
    let mut found = Vec::new();
    let mut stack = vec![ty];
    while let Some(ty) = stack.pop() {
        match module.ty(ty) {
            Type::Tuple(parts) => stack.extend(parts.iter().rev()),
            _ => found.push(ty),
        }
    }
    found
}

/// The shardings of a value's leaves, from the text of its own.
fn flat_shardings(module: &mut Module, attrs: AttrsId, count: usize) -> Vec<Option<Attr>> {
    let Some(Attr::String(text)) = module.attr(attrs, TILES) else {
        return vec![None; count];
    };
    let own = Attr::String(*text);
    match HloSharding::from_str(module.str(*text)).map(|sharding| sharding.kind) {
        Ok(HloShardingKind::Tuple(parts)) if parts.len() == count => {
            parts.iter().map(|part| Some(Attr::String(module.symbol(&part.to_string())))).collect()
        }
        _ => vec![Some(own); count],
    }
}

impl Convert {
    fn function(&mut self, module: &mut Module, func: FuncId) -> Result<(), Diagnostic> {
        let old = module.funcs[func].body;
        let entry = module.entry(old);
        let attrs = module.funcs[func].arg_attrs.clone();
        let mut arg_attrs = Vec::new();
        for (param, attrs) in module.params(entry).to_vec().into_iter().zip(attrs) {
            let count = flat_types(module, module.value_type(param)).len();
            // What is said of a tuple holds for none of its parts.
            let frontend = match count {
                1 => module.attr(attrs, FRONTEND).cloned(),
                _ => None,
            };
            for sharding in flat_shardings(module, attrs, count) {
                let attrs = module.with_attr(AttrsId::EMPTY, TILES, sharding);
                let frontend = frontend.clone();
                arg_attrs.push(module.with_attr(attrs, FRONTEND, frontend));
            }
        }
        let root = module.terminator(entry).map(|end| module.operand(end, 0));
        let body = self.region(module, old, None, Control::FuncReturn)?;
        let types = self.results.get(&module.funcs[func].name).cloned().unwrap_or_default();
        let shardings = match root.and_then(|root| module.defining_op(root)) {
            Some(op) => flat_shardings(module, module.op(op).attrs, types.len()),
            None => vec![None; types.len()],
        };
        let mut results = Vec::new();
        for (ty, sharding) in types.into_iter().zip(shardings) {
            let attrs = module.with_attr(AttrsId::EMPTY, TILES, sharding);
            results.push(FuncResult { ty, sharding: None.into(), attrs });
        }
        let data = &mut module.funcs[func];
        data.body = body;
        data.results = results;
        data.arg_attrs = arg_attrs;
        data.attrs = AttrsId::EMPTY;
        module.region_mut(body).owner = shard_ir::RegionOwner::Func(func);
        Ok(())
    }

    /// Converts a region. Its parameters become parameters, or `given` values take their place.
    fn region(
        &mut self,
        module: &mut Module,
        region: RegionId,
        given: Option<&[Leaves]>,
        end: Control,
    ) -> Result<RegionId, Diagnostic> {
        let new = module.new_region();
        let block = module.new_block(new);
        let outer = std::mem::replace(&mut self.block, block);
        for (index, param) in module.params(module.entry(region)).to_vec().into_iter().enumerate() {
            let leaves = match given.and_then(|given| given.get(index)) {
                Some(leaves) => leaves.clone(),
                None => {
                    let types = flat_types(module, module.value_type(param));
                    let loc = module.param_locs[param];
                    let name = module.value_names[param];
                    let new = |ty: &TypeId| {
                        let value = module.new_param(block, *ty);
                        module.param_locs[value] = loc;
                        value
                    };
                    let leaves: Leaves = types.iter().map(new).collect();
                    if let &[only] = &leaves[..] {
                        module.value_names[only] = name;
                    }
                    leaves
                }
            };
            self.leaves[param] = Some(Box::new(leaves));
        }
        let returned = self.body(module, region)?;
        self.at(module, LocId::UNKNOWN).op_typed(end, &returned, &[], &[]);
        self.block = outer;
        Ok(new)
    }

    /// Converts the ops of a region whose parameters have their leaves, at the end of the block;
    /// returns what it returns.
    fn body(&mut self, module: &mut Module, region: RegionId) -> Result<Leaves, Diagnostic> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Diagnostic::error(format!(
                "computations are nested deeper than {MAX_DEPTH} levels"
            )));
        }
        let mut returned = Leaves::new();
        for op in module.block_ops(module.entry(region)).to_vec() {
            if matches!(module.kind(op), Op::Control(Control::Return | Control::FuncReturn)) {
                returned = self.of(module.operand(op, 0));
            } else {
                let leaves = self.op(module, op)?;
                if let &[result] = module.results(op) {
                    if let &[only] = &leaves[..]
                        && module.value_names[only].is_none()
                    {
                        module.value_names[only] = module.value_names[result];
                    }
                    self.leaves[result] = Some(Box::new(leaves));
                }
            }
        }
        self.depth -= 1;
        Ok(returned)
    }

    /// What a value became.
    fn of(&self, value: ValueId) -> Leaves {
        self.leaves[value].as_deref().cloned().unwrap_or_default()
    }

    /// What the operands of an op became, one after another.
    fn operands(&self, module: &Module, op: OpId) -> Leaves {
        module.operands(op).iter().flat_map(|&operand| self.of(operand)).collect()
    }

    /// What appends to the block.
    fn at<'m>(&self, module: &'m mut Module, loc: LocId) -> Builder<'m> {
        Builder { module, block: self.block, loc }
    }
}
