//! The sdy dialect: a constraint is pointwise; everything else is connected by data flow, states a
//! sharding that propagation leaves alone, or has a treatment of its own in the engine.

use shard_ir::ops::Sdy;
use shard_ir::{Module, OpId};

use super::{OpRule, builder};

pub(super) fn rule(module: &Module, op: OpId, kind: &Sdy) -> Option<OpRule> {
    match kind {
        Sdy::ShardingConstraint(_) | Sdy::SdyConstant(_) => builder::pointwise(module, op),
        Sdy::Reshard(_)
        | Sdy::ManualComputation(_)
        | Sdy::ShardingGroup(_)
        | Sdy::DataFlowEdge(_)
        | Sdy::FuncDataFlowEdge
        | Sdy::PropagationBarrier(_)
        | Sdy::NamedComputation(_)
        | Sdy::SdyAllGather(_)
        | Sdy::SdyAllSlice(_)
        | Sdy::SdyAllToAll(_)
        | Sdy::SdyCollectivePermute(_)
        | Sdy::SdyAllReduce(_)
        | Sdy::SdyReduceScatter(_)
        | Sdy::ShardedToUnreduced(_)
        | Sdy::ReplicatedToUnreduced(_) => None,
    }
}
