//! `stablehlo-to-hlo`: a program in StableHLO's form becomes one in HLO's.
//!
//! Several results become a tuple and its elements, values that regions use from outside become
//! part of what they are given, and what HLO states in another way (broadcasts that expand,
//! exchanges between two dimensions, scalar predicates, constants that repeat one element, functions
//! of CHLO) is made of ops that it has. Shardings become frontend attributes and tiles, as XLA has them.

mod control;
mod header;
mod names;
mod ops;
mod transfers;

use cranelift_entity::SecondaryMap;
use rustc_hash::FxHashSet;
use shard_ir::ops::{Control, Effects, GetTupleElement, Op};
use shard_ir::{
    Attr, AttrsId, BlockId, Builder, Diagnostic, FuncId, FuncResult, Item, Language, LocId, Module,
    OpId, RegionId, Type, TypeId, ValueId,
};

/// How deep regions may be nested.
const MAX_DEPTH: u32 = 500;

/// Runs the pass; a program in HLO's form is left as it is.
///
/// # Errors
/// A located diagnostic for the first op that HLO has nothing for, or if there is no function.
pub fn run(module: &mut Module) -> Result<(), Diagnostic> {
    if module.language == Language::Hlo {
        return Ok(());
    }
    let Some(entry) = module.main_func() else {
        return Err(Diagnostic::error("the program has no function, and HLO text needs an entry"));
    };
    let beside = module.items.iter().find_map(|item| match item {
        Item::Op(op) => Some(*op),
        Item::Func(_) | Item::Mesh(_) => None,
    });
    if let Some(op) = beside {
        return Err(Diagnostic::error("stands beside the functions, where HLO has nothing")
            .at_op(module, op)
            .help("write the program as StableHLO: --format=stablehlo"));
    }
    crate::chlo_legalize::run_for_hlo(module)?;
    crate::sdy_round_trip::export(module)?;
    let mut pass = Convert { block: BlockId::from_const(0), map: SecondaryMap::new(), depth: 0 };
    let funcs: Vec<FuncId> = module.func_ids().collect();
    header::convert(module, entry);
    names::convert(module);
    for func in funcs {
        pass.function(module, func)?;
    }
    module.language = Language::Hlo;
    Ok(())
}

struct Convert {
    /// The block that grows.
    block: BlockId,
    /// What each value became.
    map: SecondaryMap<ValueId, Option<ValueId>>,
    depth: u32,
}

impl Convert {
    fn function(&mut self, module: &mut Module, func: FuncId) -> Result<(), Diagnostic> {
        let old = module.funcs[func].body;
        let region = module.new_region();
        self.block = module.new_block(region);
        for param in module.args(func).to_vec() {
            let value = module.new_param(self.block, module.value_type(param));
            module.param_locs[value] = module.param_locs[param];
            module.value_names[value] = module.value_names[param];
            self.map[param] = Some(value);
        }
        let arg_attrs = module.funcs[func].arg_attrs.clone();
        let arg_attrs = arg_attrs.into_iter().map(|attrs| header::kept(module, attrs)).collect();
        let returned = self.body(module, old)?;
        let (root, attrs) = match &returned[..] {
            &[only] => (only, module.funcs[func].results[0].attrs),
            _ => {
                let loc = module.funcs[func].loc;
                (self.tuple(module, &returned, loc), AttrsId::EMPTY)
            }
        };
        header::root_sharding(module, func, root, returned.len());
        self.at(module, LocId::UNKNOWN).op_typed(Control::FuncReturn, &[root], &[], &[]);
        let ty = module.value_type(root);
        let data = &mut module.funcs[func];
        data.results = vec![FuncResult { ty, sharding: None.into(), attrs }];
        data.body = region;
        data.arg_attrs = arg_attrs;
        data.attrs = AttrsId::EMPTY;
        module.region_mut(region).owner = shard_ir::RegionOwner::Func(func);
        Ok(())
    }

    /// Converts the ops of a region at the end of the block; returns what it returns.
    fn body(&mut self, module: &mut Module, region: RegionId) -> Result<Vec<ValueId>, Diagnostic> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let message = format!("regions are nested deeper than {MAX_DEPTH} levels");
            return Err(Diagnostic::error(message));
        }
        let mut returned = Vec::new();
        for op in module.block_ops(module.entry(region)).to_vec() {
            if module.kind(op).is_terminator() {
                returned = self.operands(module, op);
                continue;
            }
            let values = self.op(module, op)?;
            for (&old, new) in module.results(op).to_vec().iter().zip(values) {
                self.map[old] = Some(new);
            }
        }
        self.depth -= 1;
        Ok(returned)
    }

    /// A region that takes what it did and returns one value.
    fn region(&mut self, module: &mut Module, old: RegionId) -> Result<RegionId, Diagnostic> {
        let region = module.new_region();
        let outer = std::mem::replace(&mut self.block, module.new_block(region));
        // Nothing can be passed to it: what it uses from outside is made again inside.
        for value in captured(module, old) {
            match module.defining_op(value) {
                Some(op) if module.operands(op).is_empty() && module.regions(op).is_empty() => {
                    self.again(module, value)?;
                }
                _ => return Err(captures(module, old)),
            }
        }
        for param in module.params(module.entry(old)).to_vec() {
            let value = module.new_param(self.block, module.value_type(param));
            module.value_names[value] = module.value_names[param];
            self.map[param] = Some(value);
        }
        let returned = self.body(module, old)?;
        self.end(module, &returned);
        self.block = outer;
        Ok(region)
    }

    /// Makes a value of an op without operands again, at the end of the block.
    fn again(&mut self, module: &mut Module, value: ValueId) -> Result<(), Diagnostic> {
        if let Some(op) = module.defining_op(value) {
            let again = self.op(module, op)?;
            self.map[value] = again.first().copied();
        }
        Ok(())
    }

    /// Ends the block with what it returns: a tuple, if that isn't one value.
    fn end(&mut self, module: &mut Module, returned: &[ValueId]) {
        let root = match *returned {
            [only] => only,
            _ => self.tuple(module, returned, LocId::UNKNOWN),
        };
        self.at(module, LocId::UNKNOWN).op_typed(Control::Return, &[root], &[], &[]);
    }

    /// What the operands of an op became.
    fn operands(&self, module: &Module, op: OpId) -> Vec<ValueId> {
        module.operands(op).iter().map(|&value| self.map[value].unwrap_or(value)).collect()
    }

    /// What appends to the block.
    fn at<'m>(&self, module: &'m mut Module, loc: LocId) -> Builder<'m> {
        Builder { module, block: self.block, loc }
    }

    fn tuple(&self, module: &mut Module, values: &[ValueId], loc: LocId) -> ValueId {
        let types = values.iter().map(|&value| module.value_type(value)).collect();
        let ty = module.type_id(Type::Tuple(types));
        self.at(module, loc).typed(Effects::Tuple, values, ty)
    }

    /// The elements of a tuple.
    fn elements(&self, module: &mut Module, tuple: ValueId, loc: LocId) -> Vec<ValueId> {
        let Type::Tuple(types) = module.ty(module.value_type(tuple)).clone() else {
            return vec![tuple];
        };
        let element = |(index, ty): (i32, &TypeId)| {
            self.at(module, loc).typed(GetTupleElement { index }, &[tuple], *ty)
        };
        (0..).zip(types.iter()).map(element).collect()
    }

    /// Emits an op of several results as one of a tuple; the elements of that.
    fn multiple(
        &self,
        module: &mut Module,
        old: OpId,
        kind: Op,
        operands: &[ValueId],
        regions: &[RegionId],
    ) -> Vec<ValueId> {
        let types: Vec<TypeId> =
            module.results(old).iter().map(|&value| module.value_type(value)).collect();
        let (loc, attrs) = (module.op(old).loc, module.op(old).attrs);
        let attrs = header::kept(module, attrs);
        let ty = match types[..] {
            [only] => only,
            _ => module.type_id(Type::Tuple(types.into())),
        };
        let new = self.at(module, loc).op_typed(kind, operands, &[ty], regions);
        module.op_mut(new).attrs = attrs;
        let result = module.result(new, 0);
        if module.results(old).len() == 1 {
            return vec![result];
        }
        self.elements(module, result, loc)
    }
}

/// The values from outside that a region uses, in the order of the uses.
fn captured(module: &Module, region: RegionId) -> Vec<ValueId> {
    let mut inside: FxHashSet<ValueId> = FxHashSet::default();
    let mut regions = vec![region];
    while let Some(region) = regions.pop() {
        for &block in &module.region(region).blocks {
            inside.extend(module.params(block));
            for &op in module.block_ops(block) {
                inside.extend(module.results(op));
                regions.extend(module.regions(op));
            }
        }
    }
    let mut found = Vec::new();
    let mut seen = FxHashSet::default();
    module.walk(region, |op| {
        for &value in module.operands(op) {
            if !inside.contains(&value) && seen.insert(value) {
                found.push(value);
            }
        }
    });
    found
}

fn captures(module: &Module, region: RegionId) -> Diagnostic {
    let error = Diagnostic::error("its region uses a value from outside, which HLO's may not");
    match module.region(region).owner {
        shard_ir::RegionOwner::Op(op) => error.at_op(module, op),
        shard_ir::RegionOwner::Func(_) | shard_ir::RegionOwner::None => error,
    }
}

/// A string attribute.
fn text(module: &mut Module, text: &str) -> Attr {
    Attr::String(module.symbol(text))
}
