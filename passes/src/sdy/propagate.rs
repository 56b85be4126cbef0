//! `sdy-basic-propagate` and the passes that build on it: what the engine finds, written as it is.
//!
//! Unlike `propagate`, these leave dimensions open and values without shardings that nothing was
//! found for; the analyses that stand before that pass are passes of their own here.

use rustc_hash::FxHashSet;
use shard_ir::ops::{Op, Sdy};
use shard_ir::sharding::TensorSharding;
use shard_ir::{Diagnostic, FuncId, Module, ShardingId, ValueId};
use shard_propagate::engine::{Options, Propagation, Strategy, propagate};

use super::functions::{self, all_calls, callee};
use super::values::{declared, first_equal, set_sharding, sharding};
use super::{options, sharding_groups};
use crate::registry::PassContext;
use crate::shardings::walk_module;

/// What one pass does beyond the one that it builds on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    Basic,
    Aggressive,
    OpPriority,
    UserPriority,
}

/// Runs a propagation pass.
pub(super) fn run(
    module: &mut Module,
    context: &mut PassContext,
    level: Level,
) -> Result<(), Diagnostic> {
    let options = &context.options.clone();
    let conservative = options::flag(options, "conservative-propagation", false)?;
    let strategy = match options.get("propagation-strategy") {
        _ if level == Level::Basic => Strategy::Basic,
        None | Some("aggressive") => Strategy::Aggressive,
        Some("basic") => Strategy::Basic,
        Some("basic-then-aggressive") => Strategy::BasicThenAggressive,
        Some(other) => {
            return Err(Diagnostic::error(format!(
                "option 'propagation-strategy' is '{other}'; it can be 'aggressive', 'basic' or \
                 'basic-then-aggressive'"
            )));
        }
    };
    let op_priorities = options::flag(options, "run-op-priority-propagation", true)?;
    if options::flag(options, "keep-sharding-rules", false)? {
        super::sharding_rules::populate(module, conservative);
    }
    context.warnings.extend(sharding_groups::open_conflicts(module)?);
    let found = propagate(
        module,
        &Options {
            strategy,
            op_priorities: level >= Level::OpPriority && op_priorities,
            user_priorities: level == Level::UserPriority,
            conservative,
            add_edges: false,
            apply_constraints: false,
            keep_unit_axes: true,
        },
    );
    write(module, &found);
    if !options::flag(options, "keep-sharding-rules", false)? {
        super::sharding_rules::drop(module);
    }
    Ok(())
}

/// Writes what propagation found: of values that data flow makes one, into their edge alone.
fn write(module: &mut Module, found: &Propagation) {
    let mut values: Vec<ValueId> = Vec::new();
    for func in module.func_ids() {
        values.extend(module.args(func));
    }
    let mut owners: FxHashSet<ValueId> = FxHashSet::default();
    walk_module(module, |op| {
        if let Op::Sdy(Sdy::DataFlowEdge(_) | Sdy::FuncDataFlowEdge) = module.kind(op) {
            owners.insert(module.operand(op, 0));
        }
        values.extend(module.results(op));
    });
    for value in values.into_iter().filter(|value| !owners.contains(value)) {
        let Some(new) = found.sharding(value) else { continue };
        if let Some(new) = changed(module, sharding(module, value), new) {
            set_sharding(module, value, new);
        }
    }
    for func in entries(module) {
        for index in 0..module.funcs[func].results.len() {
            let Some(new) = found.func_result(func, index) else { continue };
            let old = module.funcs[func].results[index].sharding.expand();
            if let Some(new) = changed(module, old, new) {
                module.funcs[func].results[index].sharding = new.into();
            }
        }
    }
}

/// The functions whose results get the shardings of what they return: the main one, or, where there
/// is none, those that nothing calls.
fn entries(module: &Module) -> Vec<FuncId> {
    if let Some(main) = functions::main(module) {
        return vec![main];
    }
    let called: FxHashSet<_> =
        all_calls(module).into_iter().filter_map(|op| callee(module, op)).collect();
    module.func_ids().filter(|&func| !called.contains(&module.funcs[func].name)).collect()
}

/// A new sharding where it says something else than the old one, which may name an equal mesh.
fn changed(
    module: &mut Module,
    old: Option<ShardingId>,
    new: &TensorSharding,
) -> Option<ShardingId> {
    if let Some(old) = old {
        let old = module.sharding(old);
        let same = old.dims == new.dims
            && old.replicated == new.replicated
            && old.unreduced == new.unreduced
            && first_equal(module, old.mesh) == first_equal(module, new.mesh);
        if same {
            return None;
        }
    }
    // Of equal meshes the engine names the first, which may be one that isn't declared.
    let named = old.map(|old| module.sharding(old).mesh);
    let named = named.filter(|&mesh| module.meshes[mesh].mesh == module.meshes[new.mesh].mesh);
    let mesh = named.unwrap_or_else(|| declared(module, new.mesh));
    Some(module.sharding_id(TensorSharding { mesh, ..new.clone() }))
}
