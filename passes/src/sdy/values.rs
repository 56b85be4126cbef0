//! Shardings of values, wherever the program keeps them: beside the value, or in the `sdy` op that
//! states it.

use shard_ir::ops::{Op, Sdy};
use shard_ir::sharding::{Mesh, TensorSharding};
use shard_ir::{Item, MeshId, Module, ShardingId, ValueDef, ValueId};

/// The sharding of a value.
pub(super) fn sharding(module: &Module, value: ValueId) -> Option<ShardingId> {
    let stated = module.defining_op(value).and_then(|op| match module.kind(op) {
        Op::Sdy(kind) => kind.result_sharding(),
        _ => None,
    });
    stated.or(module.shardings[value].expand())
}

/// Gives a value a sharding. Results that lie beside one with a sharding have one too: they are
/// open where they had none.
pub(super) fn set_sharding(module: &mut Module, value: ValueId, new: ShardingId) {
    let ValueDef::Result(op, _) = module.value_def(value) else {
        module.shardings[value] = new.into();
        return;
    };
    if let Op::Sdy(kind) = &mut module.op_mut(op).op
        && let Some(stated) = stated_mut(kind)
    {
        *stated = new;
        return;
    }
    if let Op::Sdy(Sdy::DataFlowEdge(edge)) = &mut module.op_mut(op).op {
        edge.sharding = Some(new);
        return;
    }
    module.shardings[value] = new.into();
    let mesh = module.sharding(new).mesh;
    for other in module.results(op).to_vec() {
        if module.shardings[other].is_none() {
            let open = open(module, mesh, other);
            module.shardings[other] = open.into();
        }
    }
}

/// The sharding that an op always states.
fn stated_mut(kind: &mut Sdy) -> Option<&mut ShardingId> {
    match kind {
        Sdy::ShardingConstraint(op) => Some(&mut op.sharding),
        Sdy::Reshard(op) => Some(&mut op.sharding),
        Sdy::SdyAllGather(op) => Some(&mut op.out),
        Sdy::SdyAllSlice(op) => Some(&mut op.out),
        Sdy::SdyAllToAll(op) => Some(&mut op.out),
        Sdy::SdyCollectivePermute(op) => Some(&mut op.out),
        Sdy::SdyAllReduce(op) => Some(&mut op.out),
        Sdy::SdyReduceScatter(op) => Some(&mut op.out),
        Sdy::ShardedToUnreduced(op) => Some(&mut op.out),
        Sdy::ReplicatedToUnreduced(op) => Some(&mut op.out),
        Sdy::ManualComputation(_)
        | Sdy::NamedComputation(_)
        | Sdy::ShardingGroup(_)
        | Sdy::SdyConstant(_)
        | Sdy::DataFlowEdge(_)
        | Sdy::FuncDataFlowEdge
        | Sdy::PropagationBarrier(_) => None,
    }
}

/// The number of dimensions that a sharding of the value has.
pub(super) fn rank(module: &Module, value: ValueId) -> usize {
    module.tensor_type(value).map_or(0, |ty| ty.rank())
}

/// A sharding that says nothing, for a value.
pub(super) fn open(module: &mut Module, mesh: MeshId, value: ValueId) -> ShardingId {
    let rank = rank(module, value);
    module.sharding_id(TensorSharding::fully_open(mesh, rank))
}

/// A sharding by which every device has the whole, of as many dimensions as another.
pub(super) fn replicated_like(module: &mut Module, like: ShardingId) -> ShardingId {
    let like = module.sharding(like);
    let replicated = TensorSharding::fully_replicated(like.mesh, like.rank());
    module.sharding_id(replicated)
}

/// Whether a value's type is a tensor whose sizes are all known: others have no data flow.
pub(super) fn is_static(module: &Module, value: ValueId) -> bool {
    module.tensor_type(value).is_some_and(|ty| ty.is_static())
}

/// The first declared mesh that equals this one; the mesh itself where there is none.
pub(super) fn declared(module: &Module, mesh: MeshId) -> MeshId {
    let wanted: &Mesh = &module.meshes[mesh].mesh;
    let mut meshes = module.items.iter().filter_map(|item| match item {
        Item::Mesh(id) => Some(*id),
        Item::Func(_) | Item::Op(_) => None,
    });
    meshes.find(|&id| module.meshes[id].mesh == *wanted).unwrap_or(mesh)
}

/// The first of the meshes that equal this one.
pub(super) fn first_equal(module: &Module, mesh: MeshId) -> MeshId {
    let wanted: &Mesh = &module.meshes[mesh].mesh;
    module.meshes.iter().find(|(_, def)| def.mesh == *wanted).map_or(mesh, |(id, _)| id)
}
