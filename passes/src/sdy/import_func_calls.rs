//! `sdy-import-func-calls`: calls become named computations with the body of what they call.

use rustc_hash::FxHashMap;
use shard_ir::clone::{ValueMap, clone_region};
use shard_ir::ops::{Control, NamedComputation, Op, ShardingList};
use shard_ir::{Diagnostic, FuncId, Item, Module, OpId, RegionId, Symbol};

use super::functions::{
    EXECUTION_THREAD, arg_shardings, called, callee, op_shardings, original_name, post_order,
};
use crate::rewrite::{Rewrite, Rewriter, rewrite};

/// Runs the pass; `add_edges` puts data-flow edges into and behind the computations. Returns what
/// the user should know.
///
/// # Errors
/// If a function that is called isn't there, or has no body.
pub(super) fn run(module: &mut Module, add_edges: bool) -> Result<Vec<Diagnostic>, Diagnostic> {
    let mut pass = Import { bodies: FxHashMap::default(), warnings: Vec::new() };
    for func in post_order(module) {
        let body = module.funcs[func].body;
        rewrite(module, body, &mut pass)?;
    }
    let gone: Vec<FuncId> = pass.bodies.keys().filter_map(|&name| module.find_func(name)).collect();
    module.items.retain(|item| !matches!(item, Item::Func(func) if gone.contains(func)));
    if add_edges {
        super::add_data_flow_edges::run(module, true)?;
    }
    Ok(pass.warnings)
}

struct Import {
    /// The body of each function that was called, and the shardings of its arguments.
    bodies: FxHashMap<Symbol, (RegionId, Option<ShardingList>)>,
    /// The first function that was called more than once.
    warnings: Vec<Diagnostic>,
}

impl Import {
    /// Says, once, that bodies are copied.
    fn warn(&mut self, module: &Module, op: OpId, name: Symbol) {
        if self.warnings.is_empty() {
            let name = module.str(name);
            let message = format!(
                "function @{name} has multiple call ops, we need to clone the function body for \
                 each call"
            );
            self.warnings.push(Diagnostic::warning(message).at_loc(module, module.op(op).loc));
        }
    }
}

impl Rewrite for Import {
    fn op(&mut self, rw: &mut Rewriter<'_>, op: OpId) -> Result<(), Diagnostic> {
        let Some(name) = callee(rw.module, op) else {
            rw.keep(op);
            return Ok(());
        };
        let func = called(rw.module, op, name)?;
        if rw.module.funcs[func].is_declaration {
            let text = format!("calls @{}, which has no body", rw.module.str(name));
            return Err(Diagnostic::error(text)
                .at_op(rw.module, op)
                .help("give the function a body"));
        }
        let (body, in_shardings) = match self.bodies.get(&name) {
            Some((body, shardings)) => {
                let (body, shardings) = (*body, shardings.clone());
                self.warn(rw.module, op, name);
                let map = &mut ValueMap::default();
                (clone_region(rw.module, body, map, &mut |_, loc| loc), shardings)
            }
            None => {
                let body = rw.module.funcs[func].body;
                as_computation(rw.module, body);
                let shardings = arg_shardings(rw.module, func).map(ShardingList);
                self.bodies.insert(name, (body, shardings.clone()));
                (body, shardings)
            }
        };
        let named = NamedComputation {
            name: original_name(rw.module, func),
            in_shardings,
            out_shardings: op_shardings(rw.module, op).map(ShardingList),
        };
        let entry = rw.module.entry(body);
        for param in rw.module.params(entry).to_vec() {
            rw.module.shardings[param] = None.into();
        }
        let operands = rw.module.operands(op).to_vec();
        let results = rw.module.results(op).to_vec();
        let types: Vec<_> = results.iter().map(|&result| rw.module.value_type(result)).collect();
        let new = rw.module.new_op(named, &operands, &types, &[body], rw.loc);
        let mut attrs = rw.module.op(op).attrs;
        let thread = rw.module.attr(rw.module.funcs[func].attrs, EXECUTION_THREAD).cloned();
        if thread.is_some() {
            attrs = rw.module.with_attr(attrs, EXECUTION_THREAD, thread);
        }
        rw.module.op_mut(new).attrs = attrs;
        for (old, new) in results.into_iter().zip(rw.module.results(new).to_vec()) {
            rw.module.value_names[new] = rw.module.value_names[old];
            rw.replace(old, new);
        }
        rw.place(new);
        Ok(())
    }
}

/// Ends a function's body as that of a computation ends.
fn as_computation(module: &mut Module, body: RegionId) {
    let entry = module.entry(body);
    if let Some(last) = module.terminator(entry)
        && let Op::Control(Control::FuncReturn) = module.kind(last)
    {
        module.op_mut(last).op = Control::SdyReturn.into();
    }
}
