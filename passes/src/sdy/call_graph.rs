//! `sdy-flatten-call-graph` gives each call a function of its own, `sdy-unflatten-call-graph` joins
//! those that turned out alike, and `sdy-pre-order-funcs` puts callers before what they call.

use rustc_hash::{FxHashMap, FxHashSet};
use shard_ir::{Attr, Diagnostic, FuncId, Item, Module, ShardingId, Symbol};

use super::functions::{
    self, MANUAL_AXES, Names, ORIGINAL_NAME, all_calls, arg_shardings, called, callee, calls,
    post_order, result_shardings, set_callee,
};

/// Gives each call a function of its own.
pub(super) fn flatten(module: &mut Module) -> Result<(), Diagnostic> {
    let mut taken: FxHashSet<Symbol> = FxHashSet::default();
    let mut names = Names::default();
    for func in post_order(module) {
        for op in calls(module, func) {
            let Some(name) = callee(module, op) else { continue };
            if !taken.insert(name) {
                let callee = called(module, op, name)?;
                let copy = names.copy(module, callee)?;
                set_callee(module, op, copy);
            }
        }
    }
    Ok(())
}

/// What makes two functions one: origin, manual axes, and the shardings of arguments and results.
type Key = (Symbol, Option<Attr>, Option<Vec<ShardingId>>, Option<Vec<ShardingId>>);

fn key(module: &mut Module, func: FuncId, with_shardings: bool) -> Key {
    let original = functions::original_name(module, func);
    let axes = module.attr(module.funcs[func].attrs, MANUAL_AXES).cloned();
    if !with_shardings {
        return (original, axes, None, None);
    }
    (original, axes, arg_shardings(module, func), result_shardings(module, func))
}

/// Makes calls of copies of one function with the same shardings call one of them. Where `fully`,
/// shardings make no difference: the copy that most calls want is taken.
pub(super) fn unflatten(module: &mut Module, fully: bool) -> Result<(), Diagnostic> {
    let mut found = Vec::new();
    for op in all_calls(module) {
        if let Some(name) = callee(module, op) {
            let func = called(module, op, name)?;
            found.push((op, func, key(module, func, !fully), key(module, func, true)));
        }
    }
    let mut chosen: FxHashMap<Key, (FuncId, Key)> = FxHashMap::default();
    for (_, func, key, full) in &found {
        chosen.entry(key.clone()).or_insert_with(|| (*func, full.clone()));
    }
    if fully {
        let mut counts: FxHashMap<&Key, usize> = FxHashMap::default();
        for (_, func, key, full) in &found {
            *counts.entry(full).or_default() += 1;
            let best = counts.get(&chosen[key].1).copied().unwrap_or(0);
            if counts[full] > best {
                chosen.insert(key.clone(), (*func, full.clone()));
            }
        }
    }
    for (op, _, key, _) in &found {
        let name = module.funcs[chosen[key].0].name;
        set_callee(module, *op, name);
    }
    for func in module.func_ids().collect::<Vec<_>>() {
        for name in [ORIGINAL_NAME, MANUAL_AXES] {
            let attrs = module.funcs[func].attrs;
            module.funcs[func].attrs = module.with_attr(attrs, name, None);
        }
    }
    Ok(())
}

/// Puts functions in an order in which each comes before what it calls, behind everything else.
pub(super) fn pre_order(module: &mut Module) {
    let order = post_order(module);
    let (placed, mut items): (Vec<Item>, Vec<Item>) = module
        .items
        .iter()
        .partition(|item| matches!(item, Item::Func(func) if order.contains(func)));
    debug_assert_eq!(placed.len(), order.len());
    items.extend(order.into_iter().rev().map(Item::Func));
    module.items = items;
}
