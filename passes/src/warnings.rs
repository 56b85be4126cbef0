//! What is worth a warning in any partitioned program.

use shard_ir::ops::{Custom, Op, Traits};
use shard_ir::{Diagnostic, Module, OpId, ValueId};

/// Custom calls of compilers' own, which do nothing that can be seen outside.
const HARMLESS: &[&str] = &[
    "Sharding",
    "SPMDFullToShardShape",
    "SPMDShardToFullShape",
    "annotate_device_placement",
    "LayoutConstraint",
    "MoveToHost",
    "MoveToDevice",
];

/// Warnings about a program whose values have the shardings that propagation found.
pub fn warnings(module: &Module, devices: u64) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let Some(main) = module.main_func() else { return found };
    if devices < 2 {
        return found;
    }
    let mut effects: Vec<OpId> = Vec::new();
    let mut works = false;
    module.walk(module.funcs[main].body, |op| {
        works |= !module.operands(op).is_empty() && !module.kind(op).is_terminator();
        if has_effect(module, op) {
            effects.push(op);
        }
    });
    for op in effects {
        let what = match module.kind(op) {
            Op::Custom(Custom::CustomCall(call)) => format!("calls @{}", module.str(call.target)),
            _ => "exchanges data with the host".to_owned(),
        };
        let message = format!("{what} on each of the {devices} devices, with whole operands");
        let warning = Diagnostic::warning(message)
            .at_op(module, op)
            .help("what it does outside of the program, such as printing, happens on each device");
        if !found.contains(&warning) {
            found.push(warning);
        }
    }
    if works && !is_anything_sharded(module) {
        found.push(
            Diagnostic::warning(format!(
                "each of the {devices} devices does all of the work: no value is sharded"
            ))
            .help("shard an argument: --arg='0=[{\"AXIS\"}, {}]', or in_shardings in JAX"),
        );
    }
    found
}

fn has_effect(module: &Module, op: OpId) -> bool {
    match module.kind(op) {
        Op::Custom(Custom::CustomCall(call)) => {
            let effect = call.has_side_effect == Some(true) || module.results(op).is_empty();
            effect && !HARMLESS.contains(&module.str(call.target))
        }
        Op::Effects(kind) => Op::from(kind.clone()).info().traits.has(Traits::EFFECT),
        _ => false,
    }
}

fn is_anything_sharded(module: &Module) -> bool {
    (0..module.value_count() as u32).any(|index| {
        let sharding = module.value_sharding(ValueId::from_u32(index));
        sharding.is_some_and(|sharding| sharding.tile_count() > 1 || sharding.is_unreduced())
    }) || module.main_func().is_some_and(|main| {
        let results = module.funcs[main].results.iter();
        let mut shardings = results.filter_map(|result| result.sharding.expand());
        shardings.any(|id| module.sharding(id).tile_count() > 1)
    })
}
