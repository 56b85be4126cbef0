//! `inline-calls`: the bodies of called functions take the place of their calls, and those of
//! composites of the composites, whose name says no more than their decomposition does.
//!
//! A program is partitioned as one function: a callee that is called with two shardings is in
//! effect two functions. Locations are kept as call sites. Functions that a custom call passes on
//! (the comparator of an approximate top-k) stay.

use rustc_hash::FxHashMap;
use shard_ir::ops::{Control, Custom, Op};
use shard_ir::{Attr, Diagnostic, FuncId, Item, Loc, LocId, Module, OpId, Symbol};

use crate::rewrite::{Rewrite, Rewriter, rewrite};
use shard_ir::clone::{ValueMap, clone_op};

/// Runs the pass: inlines everything into the main function and drops the functions that nothing
/// refers to then.
///
/// # Errors
/// If a function calls itself, or one that isn't there.
pub fn run(module: &mut Module) -> Result<(), Diagnostic> {
    let Some(main) = module.main_func() else {
        return Ok(());
    };
    let funcs: FxHashMap<Symbol, FuncId> =
        module.func_ids().map(|func| (module.funcs[func].name, func)).collect();
    let mut pass = Inline { funcs, active: vec![main] };
    let body = module.funcs[main].body;
    rewrite(module, body, &mut pass)?;
    let passed = passed_on(module, main);
    module.items.retain(|item| match item {
        Item::Func(func) => *func == main || passed.contains(func),
        Item::Mesh(_) | Item::Op(_) => true,
    });
    Ok(())
}

/// The functions that custom calls name, and those that are called from there.
fn passed_on(module: &Module, main: FuncId) -> Vec<FuncId> {
    let mut found: Vec<FuncId> = Vec::new();
    let mut open = vec![main];
    while let Some(func) = open.pop() {
        let mut names: Vec<Symbol> = Vec::new();
        module.walk(module.funcs[func].body, |op| match module.kind(op) {
            Op::Custom(Custom::CustomCall(call)) => {
                let called = match &call.called_computations {
                    Some(Attr::Array(called)) => called.iter().collect(),
                    Some(one) => vec![one],
                    None => Vec::new(),
                };
                names.extend(called.into_iter().filter_map(|name| match name {
                    Attr::SymbolRef(path) => path.first().copied(),
                    _ => None,
                }));
            }
            Op::Control(Control::Call(call)) => names.push(call.callee.0),
            _ => {}
        });
        for callee in names.into_iter().filter_map(|name| module.find_func(name)) {
            if callee != main && !found.contains(&callee) {
                found.push(callee);
                open.push(callee);
            }
        }
    }
    found
}

struct Inline {
    funcs: FxHashMap<Symbol, FuncId>,
    /// The functions that are being inlined into each other.
    active: Vec<FuncId>,
}

impl Rewrite for Inline {
    fn op(&mut self, rw: &mut Rewriter<'_>, op: OpId) -> Result<(), Diagnostic> {
        let name = match rw.module.kind(op) {
            Op::Control(Control::Call(call)) => call.callee.0,
            Op::Custom(Custom::Composite(composite)) => composite.decomposition.0,
            _ => {
                rw.keep(op);
                return Ok(());
            }
        };
        let Some(&callee) = self.funcs.get(&name) else {
            return Err(Diagnostic::error(format!(
                "calls @{}, which the module doesn't define",
                rw.module.str(name)
            ))
            .at_op(rw.module, op));
        };
        if self.active.contains(&callee) || rw.module.funcs[callee].is_declaration {
            return Err(Diagnostic::error(format!(
                "calls @{}, which {}",
                rw.module.str(name),
                if rw.module.funcs[callee].is_declaration { "has no body" } else { "calls itself" }
            ))
            .at_op(rw.module, op)
            .help("only calls of functions that end can be partitioned"));
        }
        self.active.push(callee);
        let caller = rw.loc;
        let entry = rw.module.func_entry(callee);
        let mut map: ValueMap = rw
            .module
            .params(entry)
            .iter()
            .copied()
            .zip(rw.module.operands(op).iter().copied())
            .collect();
        let mut at =
            |module: &mut Module, callee: LocId| module.loc_id(Loc::CallSite { callee, caller });
        for inner in rw.module.block_ops(entry).to_vec() {
            if rw.module.kind(inner).is_terminator() {
                let results = rw.module.results(op).to_vec();
                let returned = rw.module.operands(inner).to_vec();
                for (result, value) in results.into_iter().zip(returned) {
                    let value = map.get(&value).copied().unwrap_or(value);
                    rw.replace(result, rw.current(value));
                }
                break;
            }
            let copy = clone_op(rw.module, inner, &mut map, &mut at);
            rw.update_operands(copy);
            rw.one(copy, self)?;
        }
        self.active.pop();
        Ok(())
    }
}
