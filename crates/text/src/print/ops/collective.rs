//! Collectives.

use shard_ir::OpId;
use shard_ir::ops::Collective;

use super::super::Printer;

impl Printer<'_> {
    pub(super) fn collective(&mut self, op: OpId, kind: &Collective) {
        match kind {
            Collective::PartitionId | Collective::ReplicaId => self.nullary(op),
            Collective::AllGather(_)
            | Collective::AllReduce(_)
            | Collective::ReduceScatter(_)
            | Collective::AllToAll(_)
            | Collective::CollectivePermute(_)
            | Collective::CollectiveBroadcast(_) => self.generic_op(op),
        }
    }

    /// `name {...} : type`.
    pub(super) fn nullary(&mut self, op: OpId) {
        self.op_name(op);
        self.attr_dict(op);
        self.str(" : ");
        self.types_of(self.m.results(op));
    }
}
