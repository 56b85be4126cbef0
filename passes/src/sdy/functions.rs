//! Functions and their calls.

use rustc_hash::{FxHashMap, FxHashSet};
use shard_ir::clone::{ValueMap, clone_region};
use shard_ir::ops::{Call, Callee, Control, FieldRef, Op};
use shard_ir::{
    Attr, AttrsId, Diagnostic, FuncId, Interner, Item, Module, OpId, ShardingId, Symbol,
};

use super::values::{open, rank};
use crate::shardings::walk_module;

/// The name that a copy of a function has in the program.
pub(super) const ORIGINAL_NAME: &str = "sdy.original_func_name";
/// The manual axes of the computation that a function was the body of.
pub(super) const MANUAL_AXES: &str = "sdy.func_manual_axes";
/// Where a function runs.
pub(super) const EXECUTION_THREAD: &str = "execution_thread";

/// The function that runs: `@main`, or the only one there is.
pub(super) fn main(module: &Module) -> Option<FuncId> {
    let named = module.find_symbol("main").and_then(|name| module.find_func(name));
    let mut all = module.func_ids();
    match (all.next(), all.next()) {
        (Some(only), None) => Some(only),
        _ => named,
    }
}

/// The function that a call calls, if the op is one.
pub(super) fn callee(module: &Module, op: OpId) -> Option<Symbol> {
    match module.kind(op) {
        Op::Control(Control::Call(call)) => Some(call.callee.0),
        _ => None,
    }
}

/// The function that an op calls.
///
/// # Errors
/// If there is no function of that name.
pub(super) fn called(module: &Module, op: OpId, name: Symbol) -> Result<FuncId, Diagnostic> {
    module.find_func(name).ok_or_else(|| {
        Diagnostic::error(format!("calls @{}, which isn't defined", module.str(name)))
            .at_op(module, op)
            .help("define the function, or remove the call")
    })
}

/// Makes a call call another function.
pub(super) fn set_callee(module: &mut Module, op: OpId, name: Symbol) {
    module.op_mut(op).op = Call { callee: Callee(name) }.into();
}

/// The calls in a function.
pub(super) fn calls(module: &Module, func: FuncId) -> Vec<OpId> {
    let mut calls = Vec::new();
    module.walk(module.funcs[func].body, |op| {
        if callee(module, op).is_some() {
            calls.push(op);
        }
    });
    calls
}

/// The functions with bodies that the program's public functions reach, callees before their
/// callers.
pub(super) fn post_order(module: &Module) -> Vec<FuncId> {
    let private = module.find_symbol("private");
    let named: FxHashMap<Symbol, FuncId> =
        module.func_ids().map(|func| (module.funcs[func].name, func)).collect();
    let callees = |func: FuncId| -> Vec<FuncId> {
        let names = calls(module, func).into_iter().filter_map(|op| callee(module, op));
        names.filter_map(|name| named.get(&name).copied()).collect()
    };
    let mut order = Vec::new();
    let mut seen: FxHashSet<FuncId> = FxHashSet::default();
    for root in module.func_ids() {
        let is_private = private.is_some() && module.funcs[root].visibility == private;
        if is_private || !seen.insert(root) {
            continue;
        }
        let mut stack = vec![(root, callees(root).into_iter())];
        while let Some((func, open)) = stack.last_mut() {
            match open.next() {
                Some(next) if seen.insert(next) => stack.push((next, callees(next).into_iter())),
                Some(_) => {}
                None => {
                    order.push(*func);
                    stack.pop();
                }
            }
        }
    }
    order.retain(|&func| !module.funcs[func].is_declaration);
    order
}

/// The name that a function had before it was copied.
pub(super) fn original_name(module: &Module, func: FuncId) -> Symbol {
    match module.attr(module.funcs[func].attrs, ORIGINAL_NAME) {
        Some(Attr::String(name)) => *name,
        _ => module.funcs[func].name,
    }
}

/// Gives functions names that no other has.
#[derive(Default)]
pub(super) struct Names {
    count: usize,
}

impl Names {
    /// The name itself, or the name with a number that has not been given yet.
    pub fn unique(&mut self, module: &mut Module, base: Symbol) -> Symbol {
        let taken: FxHashSet<Symbol> = module
            .items
            .iter()
            .filter_map(|item| match item {
                Item::Func(func) => Some(module.funcs[*func].name),
                Item::Mesh(mesh) => module.meshes[*mesh].name,
                Item::Op(_) => None,
            })
            .collect();
        let mut name = base;
        while taken.contains(&name) {
            let text = format!("{}_{}", module.str(base), self.count);
            self.count += 1;
            name = module.symbol(&text);
        }
        name
    }

    /// Copies a function and every function that it calls, once for each call. Returns the name of
    /// the copy, which stands behind all functions.
    ///
    /// # Errors
    /// If a function that is called isn't there, or calls itself.
    pub fn copy(&mut self, module: &mut Module, func: FuncId) -> Result<Symbol, Diagnostic> {
        self.copy_inside(module, func, &mut Vec::new())
    }

    fn copy_inside(
        &mut self,
        module: &mut Module,
        func: FuncId,
        active: &mut Vec<FuncId>,
    ) -> Result<Symbol, Diagnostic> {
        if active.contains(&func) {
            let name = module.str(module.funcs[func].name);
            return Err(Diagnostic::error(format!("function @{name} calls itself"))
                .at_loc(module, module.funcs[func].loc)
                .help("only calls of functions that end can be copied for each call"));
        }
        active.push(func);
        let mut data = module.funcs[func].clone();
        let mut map = ValueMap::default();
        data.body = clone_region(module, data.body, &mut map, &mut |_, loc| loc);
        let original = original_name(module, func);
        data.attrs = module.with_attr(data.attrs, ORIGINAL_NAME, Some(Attr::String(original)));
        let mut inner = Vec::new();
        module.walk(data.body, |op| inner.extend(callee(module, op).map(|name| (op, name))));
        for (op, name) in inner {
            let callee = called(module, op, name)?;
            let copy = self.copy_inside(module, callee, active)?;
            set_callee(module, op, copy);
        }
        active.pop();
        let name = module.funcs[func].name;
        data.name = self.unique(module, name);
        let name = data.name;
        module.new_func(data);
        Ok(name)
    }
}

/// The shardings of a function's arguments, open where one has none; `None` where none has one.
pub(super) fn arg_shardings(module: &mut Module, func: FuncId) -> Option<Vec<ShardingId>> {
    let args = module.args(func).to_vec();
    let stated: Vec<_> = args.iter().map(|&arg| module.shardings[arg].expand()).collect();
    let ranks = args.iter().map(|&arg| rank(module, arg)).collect();
    with_open(module, stated, ranks)
}

/// The shardings of a function's results, open where one has none; `None` where none has one.
pub(super) fn result_shardings(module: &mut Module, func: FuncId) -> Option<Vec<ShardingId>> {
    let results = &module.funcs[func].results;
    let stated: Vec<_> = results.iter().map(|result| result.sharding.expand()).collect();
    let rank = |ty| module.ty(ty).as_tensor().map_or(0, |ty| ty.rank());
    let ranks = results.iter().map(|result| rank(result.ty)).collect();
    with_open(module, stated, ranks)
}

fn with_open(
    module: &mut Module,
    stated: Vec<Option<ShardingId>>,
    ranks: Vec<usize>,
) -> Option<Vec<ShardingId>> {
    let mut meshes = stated.iter().flatten().map(|&id| module.sharding(id).mesh);
    let mesh = meshes.find(|&mesh| !module.meshes[mesh].mesh.is_maximal())?;
    let all = stated.into_iter().zip(ranks);
    let open = |module: &mut Module, rank| {
        module.sharding_id(shard_ir::sharding::TensorSharding::fully_open(mesh, rank))
    };
    Some(all.map(|(stated, rank)| stated.unwrap_or_else(|| open(module, rank))).collect())
}

/// The shardings of an op's results, open where one has none; `None` where none has one.
pub(super) fn op_shardings(module: &mut Module, op: OpId) -> Option<Vec<ShardingId>> {
    let results = module.results(op).to_vec();
    let first = results.iter().find_map(|&result| module.shardings[result].expand())?;
    let mesh = module.sharding(first).mesh;
    let one = |module: &mut Module, result| match module.shardings[result].expand() {
        Some(sharding) => sharding,
        None => open(module, mesh, result),
    };
    Some(results.into_iter().map(|result| one(module, result)).collect())
}

/// `symbol-dce`: removes private functions that nothing refers to.
pub(super) fn remove_unused(module: &mut Module) {
    let Some(private) = module.find_symbol("private") else { return };
    let mut used: FxHashSet<Symbol> = FxHashSet::default();
    let mut open: Vec<FuncId> =
        module.func_ids().filter(|&func| module.funcs[func].visibility != Some(private)).collect();
    while let Some(func) = open.pop() {
        let mut names = Vec::new();
        module.walk(module.funcs[func].body, |op| {
            module.kind(op).visit_fields(&mut |_, field| match field {
                FieldRef::SymbolRef(name) => names.push(name),
                FieldRef::Attr(attr) => symbols(module, attr, &mut names),
                _ => {}
            });
            attrs(module, module.op(op).attrs, &mut names);
        });
        for name in names {
            if used.insert(name) {
                open.extend(module.find_func(name));
            }
        }
    }
    let funcs = &module.funcs;
    module.items.retain(|item| match item {
        Item::Func(func) => {
            funcs[*func].visibility != Some(private) || used.contains(&funcs[*func].name)
        }
        Item::Mesh(_) | Item::Op(_) => true,
    });
}

fn attrs(interner: &Interner, id: AttrsId, names: &mut Vec<Symbol>) {
    interner.attrs(id).iter().for_each(|(_, attr)| symbols(interner, attr, names));
}

/// The symbols that an attribute refers to.
fn symbols(interner: &Interner, attr: &Attr, names: &mut Vec<Symbol>) {
    match attr {
        Attr::SymbolRef(path) => names.extend(path.first()),
        Attr::Array(list) => list.iter().for_each(|attr| symbols(interner, attr, names)),
        Attr::Dict(id) => attrs(interner, *id, names),
        _ => {}
    }
}

/// Every call of the module.
pub(super) fn all_calls(module: &Module) -> Vec<OpId> {
    let mut calls = Vec::new();
    walk_module(module, |op| calls.extend(callee(module, op).map(|_| op)));
    calls
}
