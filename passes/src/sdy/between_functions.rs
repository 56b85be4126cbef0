//! Shardings between functions and their calls: `sdy-propagate-sharding-from-func-to-call`,
//! `sdy-propagate-to-func-results` and `sdy-insert-func-call-reshards`.

use shard_ir::ops::{Op, Reshard};
use shard_ir::{Diagnostic, Module, OpId};

use super::functions::{self, all_calls, called, callee, op_shardings, result_shardings};
use super::values::{replicated_like, sharding};
use crate::rewrite::{Rewrite, Rewriter, rewrite_module};

/// Gives calls without shardings those of the results of the function.
pub(super) fn to_calls(module: &mut Module) -> Result<(), Diagnostic> {
    for op in all_calls(module) {
        let results = module.results(op).to_vec();
        let Some(name) = callee(module, op) else { continue };
        if results.iter().any(|&result| module.shardings[result].is_some()) {
            continue;
        }
        let func = called(module, op, name)?;
        for (result, sharding) in
            results.into_iter().zip(result_shardings(module, func).unwrap_or_default())
        {
            module.shardings[result] = sharding.into();
        }
    }
    Ok(())
}

/// Gives the results of functions, but the main one, the shardings of what they return.
pub(super) fn to_results(module: &mut Module) {
    let main = functions::main(module);
    for func in module.func_ids().collect::<Vec<_>>() {
        let last = module.terminator(module.func_entry(func));
        let (Some(last), true) = (last, main != Some(func)) else { continue };
        for (index, value) in module.operands(last).to_vec().into_iter().enumerate() {
            let sharding = sharding(module, value);
            if let Some(result) = module.funcs[func].results.get_mut(index) {
                result.sharding = sharding.into();
            }
        }
    }
}

/// Where a call's result is sharded in another way than the function's, the call gets what the
/// function has, and a reshard behind it.
pub(super) fn insert_reshards(module: &mut Module) -> Result<(), Diagnostic> {
    rewrite_module(module, &mut Insert)
}

struct Insert;

impl Rewrite for Insert {
    fn op(&mut self, rw: &mut Rewriter<'_>, op: OpId) -> Result<(), Diagnostic> {
        rw.keep(op);
        let Some(name) = callee(rw.module, op) else { return Ok(()) };
        let func = called(rw.module, op, name)?;
        let module = &mut *rw.module;
        let of_call = op_shardings(module, op);
        let wanted = match (result_shardings(module, func), &of_call) {
            (Some(of_func), _) => of_func,
            (None, Some(of_call)) => {
                of_call.iter().map(|&sharding| replicated_like(module, sharding)).collect()
            }
            (None, None) => return Ok(()),
        };
        // Each goes directly behind its value, so that the last comes first.
        for (index, new) in wanted.into_iter().enumerate().rev() {
            let result = rw.module.result(op, index);
            let old = rw.module.shardings[result].expand();
            let equal = match old {
                Some(old) => rw.module.sharding(new).is_equivalent(rw.module.sharding(old)),
                None => rw.module.sharding(new).is_replicated(),
            };
            rw.module.shardings[result] = new.into();
            if !equal {
                let sharding = old.unwrap_or_else(|| replicated_like(rw.module, new));
                let ty = rw.module.value_type(result);
                let op: Op = Reshard { sharding }.into();
                let value = rw.emit(op, &[result], ty);
                rw.replace(result, value);
            }
        }
        Ok(())
    }
}
