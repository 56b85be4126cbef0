//! Data flow: which values an op makes one, and the `sdy.data_flow_edge` behind each.

use rustc_hash::FxHashMap;
use shard_ir::ops::{Control, DataFlowEdge, ManualComputation, Op, Sdy, ShardingList};
use shard_ir::sharding::{AxisIndex, TensorSharding};
use shard_ir::{Module, OpId, ShardingId, ValueId};
use smallvec::SmallVec;

use super::values::{is_static, open, sharding};
use crate::shardings::walk_module;

/// The values that stand for what flows into an op's regions, and out of the op.
#[derive(Default)]
pub(super) struct Owners {
    /// Parameters of the body of a manual or named computation.
    pub params: Vec<ValueId>,
    /// Results.
    pub results: Vec<ValueId>,
}

/// The owners of the edges of a data-flow op; `None` for any other op.
pub(super) fn owners(module: &Module, op: OpId) -> Option<Owners> {
    let results = module.results(op).to_vec();
    match module.kind(op) {
        Op::Control(kind) => match kind {
            Control::While | Control::If | Control::Case | Control::OptimizationBarrier => {
                Some(Owners { params: Vec::new(), results })
            }
            Control::Return | Control::FuncReturn | Control::SdyReturn | Control::Call(_) => None,
        },
        Op::Sdy(Sdy::ManualComputation(_) | Sdy::NamedComputation(_)) => {
            let entry = module.entry(module.regions(op)[0]);
            Some(Owners { params: module.params(entry).to_vec(), results })
        }
        _ => None,
    }
}

/// The edge op behind each value that has one.
pub(super) fn edge_ops(module: &Module) -> FxHashMap<ValueId, OpId> {
    let mut edges = FxHashMap::default();
    walk_module(module, |op| {
        if let Op::Sdy(Sdy::DataFlowEdge(_) | Sdy::FuncDataFlowEdge) = module.kind(op) {
            edges.insert(module.operand(op, 0), op);
        }
    });
    edges
}

/// The edge op of each value that an edge makes one with others: its owner, and the parameters of a
/// loop's regions beside the loop's result.
pub(super) fn edge_of_targets(module: &Module) -> FxHashMap<ValueId, OpId> {
    let mut edges = edge_ops(module);
    walk_module(module, |op| {
        if !matches!(module.kind(op), Op::Control(Control::While)) {
            return;
        }
        for (index, result) in module.results(op).iter().enumerate() {
            let Some(&edge) = edges.get(result) else { continue };
            for &region in module.regions(op) {
                edges.extend(module.params(module.entry(region)).get(index).map(|&p| (p, edge)));
            }
        }
    });
    edges
}

/// Makes an edge behind each owner that has a static type, before everything else. Returns the edge
/// ops, for the caller to place, with their owners.
pub(super) fn make_edges(
    module: &mut Module,
    op: OpId,
    owners: &[ValueId],
) -> Vec<(ValueId, OpId)> {
    let shardings = owner_shardings(module, op, owners);
    let mut made = Vec::new();
    for (&owner, sharding) in owners.iter().zip(shardings) {
        if !is_static(module, owner) {
            continue;
        }
        let (ty, loc) = (module.value_type(owner), module.op(op).loc);
        let edge = module.new_op(DataFlowEdge { sharding }, &[owner], &[ty], &[], loc);
        made.push((owner, edge));
    }
    made
}

/// The shardings that a data-flow op states for owners of its edges: parameters as the body sees
/// them.
pub(super) fn owner_shardings(
    module: &mut Module,
    op: OpId,
    owners: &[ValueId],
) -> Vec<Option<ShardingId>> {
    let of_params = owners.first().is_some_and(|&owner| module.defining_op(owner).is_none());
    let none = vec![None; owners.len()];
    match module.kind(op).clone() {
        Op::Sdy(Sdy::ManualComputation(manual)) if of_params => {
            let axes = manual_axes(module, &manual);
            let shardings = manual.in_shardings.0.iter();
            shardings
                .map(|&outer| {
                    let inside = without_axes(module.sharding(outer), &axes);
                    Some(module.sharding_id(inside))
                })
                .collect()
        }
        Op::Sdy(Sdy::ManualComputation(manual)) => {
            manual.out_shardings.0.into_iter().map(Some).collect()
        }
        Op::Sdy(Sdy::NamedComputation(named)) => {
            let list = if of_params { named.in_shardings } else { named.out_shardings };
            list.map_or(none, |list| list.0.into_iter().map(Some).collect())
        }
        _ => owners.iter().map(|&owner| sharding(module, owner)).collect(),
    }
}

/// Makes a data-flow op state shardings for owners of its edges.
pub(super) fn set_owner_shardings(
    module: &mut Module,
    op: OpId,
    owners: &[ValueId],
    shardings: &[ShardingId],
) {
    let of_params = owners.first().is_some_and(|&owner| module.defining_op(owner).is_none());
    match module.kind(op).clone() {
        Op::Sdy(Sdy::ManualComputation(manual)) => {
            let mut manual = *manual;
            if of_params {
                let axes = manual_axes(module, &manual);
                for (outer, &inner) in manual.in_shardings.0.iter_mut().zip(shardings) {
                    let joined = with_axes(module.sharding(*outer), module.sharding(inner), &axes);
                    *outer = module.sharding_id(joined);
                }
            } else {
                manual.out_shardings = ShardingList(shardings.to_vec());
            }
            module.op_mut(op).op = manual.into();
        }
        Op::Sdy(Sdy::NamedComputation(named)) => {
            let mut named = *named;
            let list = Some(ShardingList(shardings.to_vec()));
            if of_params {
                named.in_shardings = list;
            } else {
                named.out_shardings = list;
            }
            module.op_mut(op).op = named.into();
        }
        _ => {
            for (&owner, &sharding) in owners.iter().zip(shardings) {
                module.shardings[owner] = sharding.into();
            }
        }
    }
}

/// The shardings of the edges behind owners, open where an edge has none; `None` where no edge has
/// one.
pub(super) fn edge_shardings(
    module: &mut Module,
    edges: &FxHashMap<ValueId, OpId>,
    owners: &[ValueId],
) -> Option<Vec<ShardingId>> {
    let stated: Vec<Option<ShardingId>> =
        owners.iter().map(|owner| sharding(module, module.result(*edges.get(owner)?, 0))).collect();
    let mesh = module.sharding(stated.iter().copied().flatten().next()?).mesh;
    let all = stated.into_iter().zip(owners);
    Some(all.map(|(stated, &owner)| stated.unwrap_or_else(|| open(module, mesh, owner))).collect())
}

/// The axes along which the body of a manual computation is local, in its mesh.
pub(super) fn manual_axes(module: &Module, manual: &ManualComputation) -> SmallVec<[AxisIndex; 4]> {
    let all = manual.in_shardings.0.iter().chain(&manual.out_shardings.0);
    let mut meshes = all.map(|&id| &module.meshes[module.sharding(id).mesh].mesh);
    let Some(mesh) = meshes.find(|mesh| !mesh.is_empty()) else { return SmallVec::new() };
    manual.manual_axes.0.iter().filter_map(|&name| mesh.axis_index(module.str(name))).collect()
}

/// A sharding as the body of a manual computation sees it: without the manual axes.
fn without_axes(outer: &TensorSharding, manual: &[AxisIndex]) -> TensorSharding {
    let mut inside = outer.clone();
    for dim in &mut inside.dims {
        dim.axes.retain(|axis| !manual.contains(&axis.axis));
    }
    inside.replicated.retain(|axis| !manual.contains(&axis.axis));
    inside.unreduced.retain(|axis| !manual.contains(&axis.axis));
    inside
}

/// A sharding as it is outside of a manual computation: the manual axes of `outer`, and behind them
/// what the body says.
fn with_axes(
    outer: &TensorSharding,
    inner: &TensorSharding,
    manual: &[AxisIndex],
) -> TensorSharding {
    let mut joined = outer.clone();
    joined.mesh = inner.mesh;
    for (dim, inside) in joined.dims.iter_mut().zip(&inner.dims) {
        dim.axes.retain(|axis| manual.contains(&axis.axis));
        dim.axes.extend(inside.axes.iter().copied());
        (dim.open, dim.priority) = (inside.open, inside.priority);
    }
    joined
}
