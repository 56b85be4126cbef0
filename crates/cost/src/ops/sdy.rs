//! The sdy dialect: annotations cost nothing; collectives are counted on the global shapes that
//! they have.

use shard_ir::ops::Sdy;

use super::{Cx, Work, flops_only};

pub(super) fn work(cx: Cx, kind: &Sdy) -> Work {
    match kind {
        Sdy::SdyAllReduce(_) | Sdy::SdyReduceScatter(_) => flops_only(cx.operand_elements(0)),
        Sdy::ShardingConstraint(_)
        | Sdy::Reshard(_)
        | Sdy::ManualComputation(_)
        | Sdy::ShardingGroup(_)
        | Sdy::SdyConstant(_)
        | Sdy::DataFlowEdge(_)
        | Sdy::FuncDataFlowEdge
        | Sdy::PropagationBarrier(_)
        | Sdy::NamedComputation(_)
        | Sdy::SdyAllGather(_)
        | Sdy::SdyAllSlice(_)
        | Sdy::SdyAllToAll(_)
        | Sdy::SdyCollectivePermute(_)
        | Sdy::ShardedToUnreduced(_)
        | Sdy::ReplicatedToUnreduced(_) => Work::default(),
    }
}

pub(super) fn bytes(cx: Cx, kind: &Sdy) -> f64 {
    match kind {
        Sdy::ShardingConstraint(_)
        | Sdy::ManualComputation(_)
        | Sdy::ShardingGroup(_)
        | Sdy::SdyConstant(_)
        | Sdy::DataFlowEdge(_)
        | Sdy::FuncDataFlowEdge
        | Sdy::PropagationBarrier(_)
        | Sdy::NamedComputation(_) => 0.0,
        Sdy::Reshard(_)
        | Sdy::SdyAllGather(_)
        | Sdy::SdyAllSlice(_)
        | Sdy::SdyAllToAll(_)
        | Sdy::SdyCollectivePermute(_)
        | Sdy::SdyAllReduce(_)
        | Sdy::SdyReduceScatter(_)
        | Sdy::ShardedToUnreduced(_)
        | Sdy::ReplicatedToUnreduced(_) => cx.all_bytes(),
    }
}
