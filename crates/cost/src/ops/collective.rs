//! Collectives: the combining of values, and their own memory. What goes over the wires is priced
//! by [`crate::wire_bytes`].

use shard_ir::ops::Collective;

use super::{Cx, Work};

pub(super) fn work(cx: Cx, kind: &Collective) -> Work {
    match kind {
        Collective::AllReduce(_) | Collective::ReduceScatter(_) => {
            let count = cx.module.operands(cx.op).len();
            let elements: f64 = (0..count).map(|at| cx.operand_elements(at)).sum();
            cx.body(0).times(elements)
        }
        Collective::PartitionId
        | Collective::ReplicaId
        | Collective::AllGather(_)
        | Collective::AllToAll(_)
        | Collective::CollectivePermute(_)
        | Collective::CollectiveBroadcast(_) => Work::default(),
    }
}

pub(super) fn bytes(cx: Cx, kind: &Collective) -> f64 {
    match kind {
        Collective::PartitionId | Collective::ReplicaId => 0.0,
        Collective::AllGather(_)
        | Collective::AllReduce(_)
        | Collective::ReduceScatter(_)
        | Collective::AllToAll(_)
        | Collective::CollectivePermute(_)
        | Collective::CollectiveBroadcast(_) => cx.all_bytes(),
    }
}
