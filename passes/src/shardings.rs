//! Changing every sharding of a module in one go.

use rustc_hash::FxHashMap;
use shard_ir::ops::{Op, Sdy, ShardingList};
use shard_ir::sharding::TensorSharding;
use shard_ir::{Module, OpId, RegionId, ShardingId, ValueId};

/// Replaces each sharding of values, function results and ops by what `change` makes of it.
pub fn map_shardings(
    module: &mut Module,
    mut change: impl FnMut(&Module, &TensorSharding) -> TensorSharding,
) {
    let mut seen: FxHashMap<ShardingId, ShardingId> = FxHashMap::default();
    let mut map = |module: &mut Module, id: ShardingId| -> ShardingId {
        if let Some(&new) = seen.get(&id) {
            return new;
        }
        let changed = change(module, &module.sharding(id).clone());
        let new = module.sharding_id(changed);
        seen.insert(id, new);
        new
    };
    for index in 0..module.value_count() {
        let value = ValueId::from_u32(index as u32);
        if let Some(id) = module.shardings[value].expand() {
            let new = map(module, id);
            module.shardings[value] = new.into();
        }
    }
    let funcs: Vec<_> = module.func_ids().collect();
    let mut ops: Vec<OpId> = Vec::new();
    for func in funcs {
        for index in 0..module.funcs[func].results.len() {
            if let Some(id) = module.funcs[func].results[index].sharding.expand() {
                let new = map(module, id);
                module.funcs[func].results[index].sharding = new.into();
            }
        }
        let body: RegionId = module.funcs[func].body;
        module.walk(body, |op| ops.push(op));
    }
    for op in ops {
        let Op::Sdy(kind) = module.kind(op) else { continue };
        let mut kind = kind.clone();
        let list = |module: &mut Module,
                    list: &mut ShardingList,
                    map: &mut dyn FnMut(&mut Module, ShardingId) -> ShardingId| {
            for id in &mut list.0 {
                *id = map(module, *id);
            }
        };
        match &mut kind {
            Sdy::ShardingConstraint(op) => op.sharding = map(module, op.sharding),
            Sdy::Reshard(op) => op.sharding = map(module, op.sharding),
            Sdy::ManualComputation(op) => {
                list(module, &mut op.in_shardings, &mut map);
                list(module, &mut op.out_shardings, &mut map);
            }
            Sdy::NamedComputation(op) => {
                for side in [&mut op.in_shardings, &mut op.out_shardings].into_iter().flatten() {
                    list(module, side, &mut map);
                }
            }
            Sdy::DataFlowEdge(op) => {
                if let Some(id) = &mut op.sharding {
                    *id = map(module, *id);
                }
            }
            Sdy::SdyAllGather(op) => op.out = map(module, op.out),
            Sdy::SdyAllSlice(op) => op.out = map(module, op.out),
            Sdy::SdyAllToAll(op) => op.out = map(module, op.out),
            Sdy::SdyCollectivePermute(op) => op.out = map(module, op.out),
            Sdy::SdyAllReduce(op) => op.out = map(module, op.out),
            Sdy::SdyReduceScatter(op) => op.out = map(module, op.out),
            Sdy::ShardedToUnreduced(op) => op.out = map(module, op.out),
            Sdy::ReplicatedToUnreduced(op) => op.out = map(module, op.out),
            Sdy::ShardingGroup(_)
            | Sdy::SdyConstant(_)
            | Sdy::PropagationBarrier(_)
            | Sdy::FuncDataFlowEdge => continue,
        }
        module.op_mut(op).op = kind.into();
    }
}

/// Calls `visit` for every op of every function.
pub fn walk_module(module: &Module, mut visit: impl FnMut(OpId)) {
    for func in module.func_ids() {
        module.walk(module.funcs[func].body, &mut visit);
    }
}
