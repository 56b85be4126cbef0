//! The sdy dialect.

use shard_ir::ops::Sdy;
use shard_ir::sharding::Combiner;
use shard_ir::{Attr, OpId, ShardingId};

use super::super::Printer;

impl Printer<'_> {
    pub(super) fn sdy(&mut self, op: OpId, kind: &Sdy) {
        match kind {
            Sdy::ShardingConstraint(constraint) => self.resharding(op, constraint.sharding),
            Sdy::Reshard(reshard) => self.resharding(op, reshard.sharding),
            Sdy::ManualComputation(manual) => {
                self.op_name(op);
                self.str("(");
                self.values(self.m.operands(op));
                self.str(") in_shardings=");
                self.sharding_list(&manual.in_shardings.0);
                self.str(" out_shardings=");
                self.sharding_list(&manual.out_shardings.0);
                self.str(" manual_axes=");
                self.manual_axes(&manual.manual_axes);
                self.str(" ");
                self.region_with_args(op);
                self.functional(op);
            }
            Sdy::NamedComputation(named) => {
                self.op_name(op);
                self.str("<");
                self.string(named.name);
                self.str(">(");
                self.values(self.m.operands(op));
                self.str(")");
                if let Some(list) = &named.in_shardings {
                    self.str(" in_shardings=");
                    self.sharding_list(&list.0);
                }
                if let Some(list) = &named.out_shardings {
                    self.str(" out_shardings=");
                    self.sharding_list(&list.0);
                }
                self.str(" ");
                self.region_with_args(op);
                self.functional(op);
            }
            Sdy::ShardingGroup(group) => {
                self.op_name(op);
                self.operands(op);
                self.str(" group_id=");
                self.integer(group.group);
                self.attr_dict(op);
                self.str(" : ");
                self.types_of(self.m.operands(op));
            }
            Sdy::SdyConstant(constant) => self.constant(op, &constant.value),
            Sdy::DataFlowEdge(edge) => {
                self.op_name(op);
                self.operands(op);
                if let Some(sharding) = edge.sharding {
                    self.str(" sharding=");
                    self.sharding(sharding);
                }
                self.same_types(op);
            }
            Sdy::FuncDataFlowEdge => {
                self.op_name(op);
                self.operands(op);
                self.same_types(op);
            }
            Sdy::PropagationBarrier(barrier) => {
                let direction = match &barrier.allowed {
                    Attr::Int(0, _) => "NONE",
                    Attr::Int(1, _) => "FORWARD",
                    Attr::Int(2, _) => "BACKWARD",
                    Attr::Int(3, _) => "BOTH",
                    _ => return self.generic_op(op),
                };
                self.op_name(op);
                self.operands(op);
                self.str(" allowed_direction=");
                self.str(direction);
                self.same_types(op);
            }
            Sdy::SdyAllGather(gather) => {
                self.op_name(op);
                self.str(" ");
                self.axis_lists(&gather.axes);
                self.with_out_sharding(op, gather.out);
            }
            Sdy::SdyAllSlice(slice) => {
                self.op_name(op);
                self.str(" ");
                self.axis_lists(&slice.axes);
                self.with_out_sharding(op, slice.out);
            }
            Sdy::SdyAllToAll(exchange) => {
                self.op_name(op);
                self.str(" ");
                self.all_to_all(&exchange.params);
                self.with_out_sharding(op, exchange.out);
            }
            Sdy::SdyCollectivePermute(permute) => {
                self.op_name(op);
                self.with_out_sharding(op, permute.out);
            }
            Sdy::SdyAllReduce(reduce) => {
                self.op_name(op);
                self.combiner(reduce.combiner);
                self.str(" ");
                self.axes(reduce.axes.mesh, &reduce.axes.axes);
                self.with_out_sharding(op, reduce.out);
            }
            Sdy::SdyReduceScatter(scatter) => {
                self.op_name(op);
                self.combiner(scatter.combiner);
                self.str(" ");
                self.axis_lists(&scatter.axes);
                self.with_out_sharding(op, scatter.out);
            }
            Sdy::ShardedToUnreduced(unreduced) => {
                self.op_name(op);
                self.str(" ");
                self.axis_lists(&unreduced.axes);
                self.with_out_sharding(op, unreduced.out);
            }
            Sdy::ReplicatedToUnreduced(unreduced) => {
                self.op_name(op);
                self.str(" ");
                self.axes(unreduced.axes.mesh, &unreduced.axes.axes);
                self.with_out_sharding(op, unreduced.out);
            }
        }
    }

    fn resharding(&mut self, op: OpId, sharding: ShardingId) {
        self.op_name(op);
        self.operands(op);
        self.str(" ");
        self.sharding(sharding);
        self.same_types(op);
    }

    fn with_out_sharding(&mut self, op: OpId, out: ShardingId) {
        self.operands(op);
        self.str(" out_sharding=");
        self.sharding(out);
        self.same_types(op);
    }

    fn combiner(&mut self, combiner: Combiner) {
        self.str(match combiner {
            Combiner::Sum => "",
            Combiner::Max => " max",
            Combiner::Min => " min",
        });
    }

    /// `(%arg0: type) {...}`.
    fn region_with_args(&mut self, op: OpId) {
        let region = self.m.regions(op)[0];
        self.str("(");
        for (at, &param) in self.m.params(self.m.entry(region)).iter().enumerate() {
            if at > 0 {
                self.str(", ");
            }
            self.region_arg(param);
        }
        self.str(") ");
        self.region(region, false, false);
    }
}
