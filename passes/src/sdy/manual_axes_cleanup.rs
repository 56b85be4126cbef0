//! `sdy-manual-axes-cleanup`: manual axes in the order of the mesh, and those that a sharding at
//! the border doesn't use as axes that it is replicated along.

use shard_ir::ops::{Op, Sdy};
use shard_ir::sharding::{AxisList, Mesh, TensorSharding, axes};
use shard_ir::{Diagnostic, MeshId, Module, OpId, ShardingId, Type, ValueId};

use crate::shardings::walk_module;

/// Runs the pass.
///
/// # Errors
/// If a computation has manual axes, but no operand or result to tell their mesh.
pub(super) fn run(module: &mut Module) -> Result<(), Diagnostic> {
    let mut ops = Vec::new();
    walk_module(module, |op| ops.push(op));
    ops.into_iter().try_for_each(|op| clean(module, op))
}

fn clean(module: &mut Module, op: OpId) -> Result<(), Diagnostic> {
    let Op::Sdy(Sdy::ManualComputation(manual)) = module.kind(op) else { return Ok(()) };
    let mut manual = (**manual).clone();
    let all = || manual.in_shardings.0.iter().chain(&manual.out_shardings.0);
    if all().next().is_none() {
        let entry = module.entry(module.regions(op)[0]);
        if manual.manual_axes.0.is_empty() || module.block_ops(entry).len() == 1 {
            return Ok(());
        }
        return Err(Diagnostic::error(
            "op has manual_axes when there are no in/out shardings and the body is not empty",
        )
        .at_op(module, op)
        .help("give the computation an operand or a result, whose sharding names the mesh"));
    }
    let mut meshes = all().map(|&sharding| module.sharding(sharding).mesh);
    let first = meshes.clone().next();
    let Some(mesh) = meshes.find(|&mesh| !module.meshes[mesh].mesh.is_empty()).or(first) else {
        return Ok(());
    };
    let of: Mesh = module.meshes[mesh].mesh.clone();
    let mut names: Vec<_> = manual.manual_axes.0.to_vec();
    names.sort_by_key(|&name| of.axis_index(module.str(name)));
    let axes: AxisList = names.iter().filter_map(|&name| of.axis(module.str(name))).collect();
    manual.manual_axes.0 = names.into();
    let operands = module.operands(op).to_vec();
    let results = module.results(op).to_vec();
    for (list, values) in
        [(&mut manual.in_shardings.0, operands), (&mut manual.out_shardings.0, results)]
    {
        for (sharding, value) in list.iter_mut().zip(values) {
            *sharding = complete(module, *sharding, value, mesh, &axes);
        }
    }
    module.op_mut(op).op = manual.into();
    Ok(())
}

/// A sharding that says of each manual axis what it does.
fn complete(
    module: &mut Module,
    id: ShardingId,
    value: ValueId,
    mesh: MeshId,
    manual: &[shard_ir::sharding::AxisRef],
) -> ShardingId {
    if !matches!(module.ty(module.value_type(value)), Type::Tensor(_)) {
        return id;
    }
    let old = module.sharding(id);
    let used: AxisList = old.mentioned_axes().collect();
    let unused = axes::subtract(manual, &used);
    if unused.is_empty() {
        return id;
    }
    let replicated: AxisList = old.replicated.iter().chain(&unused).copied().collect();
    let new = TensorSharding { mesh, replicated: axes::sorted(&replicated), ..old.clone() };
    module.sharding_id(new)
}
