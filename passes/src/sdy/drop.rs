//! Passes that take annotations out: `sdy-drop-sharding-and-mesh`,
//! `sdy-remove-propagation-debug-info` and `sdy-sharding-constraint-to-reshard`.

use shard_ir::ops::{Op, Reshard, Sdy};
use shard_ir::{AttrsId, Item, Module, OpId, ValueId};

use crate::shardings::walk_module;

/// Removes the shardings of values and the meshes. Ops that state shardings of their own stay, so
/// the program must have none.
pub(super) fn shardings_and_meshes(module: &mut Module) {
    for index in 0..module.value_count() {
        module.shardings[ValueId::from_u32(index as u32)] = None.into();
    }
    for func in module.func_ids().collect::<Vec<_>>() {
        for result in &mut module.funcs[func].results {
            result.sharding = None.into();
        }
    }
    module.items.retain(|item| !matches!(item, Item::Mesh(_)));
}

/// The attributes that say where shardings come from.
const DEBUG: [&str; 6] = [
    "sdy.propagation_edges",
    "sdy.block_arg_propagation_edges",
    "sdy.result_propagation_edges",
    "sdy.sharding_origins",
    "sdy.block_arg_sharding_origins",
    "sdy.result_sharding_origins",
];

/// Removes what says where shardings come from.
pub(super) fn debug_info(module: &mut Module) {
    let without = |module: &mut Module, id: AttrsId| {
        DEBUG.iter().fold(id, |id, name| module.with_attr(id, name, None))
    };
    for op in ops(module) {
        let attrs = without(module, module.op(op).attrs);
        module.op_mut(op).attrs = attrs;
    }
    for func in module.func_ids().collect::<Vec<_>>() {
        for index in 0..module.funcs[func].arg_attrs.len() {
            let attrs = without(module, module.funcs[func].arg_attrs[index]);
            module.funcs[func].arg_attrs[index] = attrs;
        }
        for index in 0..module.funcs[func].results.len() {
            let attrs = without(module, module.funcs[func].results[index].attrs);
            module.funcs[func].results[index].attrs = attrs;
        }
    }
}

/// Makes constraints reshards: what was wanted is carried out.
pub(super) fn constraints(module: &mut Module) {
    for op in ops(module) {
        if let Op::Sdy(Sdy::ShardingConstraint(constraint)) = module.kind(op) {
            let sharding = constraint.sharding;
            module.op_mut(op).op = Reshard { sharding }.into();
        }
    }
}

fn ops(module: &Module) -> Vec<OpId> {
    let mut ops = Vec::new();
    walk_module(module, |op| ops.push(op));
    ops
}
