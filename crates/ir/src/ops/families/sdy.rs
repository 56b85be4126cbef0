//! The sdy dialect: annotations, and collectives on global shapes.

use super::*;

op_family! {
    /// The sdy dialect: annotations, and collectives on global shapes.
    family Sdy {
        plain {
            /// The one sharding of a function's parameter, or of a call's result, for all calls.
            FuncDataFlowEdge = "sdy.func_data_flow_edge" "" (ONE, ONE, ZERO) NONE;
        }
        fields {
            /// States how a value, or its uses, should be sharded.
            ShardingConstraint = "sdy.sharding_constraint" "" (ONE, ONE, ZERO) NONE, {
                /// The sharding.
                sharding: ShardingId = "sharding",
            }
            /// Changes the sharding of a value.
            Reshard = "sdy.reshard" "" (ONE, ONE, ZERO) NONE, {
                /// The new sharding.
                sharding: ShardingId = "sharding",
            }
            /// A region written for one device along some axes.
            ManualComputation = "sdy.manual_computation" "" (ANY, ANY, ONE) Traits::ISOLATED, {
                /// Shardings of the operands.
                in_shardings: ShardingList = "in_shardings",
                /// Shardings of the results.
                out_shardings: ShardingList = "out_shardings",
                /// The axes along which the body is local.
                manual_axes: ManualAxes = "manual_axes",
            }
            /// Values of one group have one sharding.
            ShardingGroup = "sdy.sharding_group" "" (ONE, ZERO, ZERO) EFFECT, {
                /// Number of the group.
                group: i64 = "group_id",
            }
            /// A constant that folding leaves alone.
            SdyConstant = "sdy.constant" "" (ZERO, ONE, ZERO) NONE, {
                /// Its elements.
                value: Dense = "value",
            }
            /// The one sharding of values that data flow makes equal.
            DataFlowEdge = "sdy.data_flow_edge" "" (ONE, ONE, ZERO) NONE, {
                /// The sharding.
                sharding: Option<ShardingId> = "sharding",
            }
            /// Stops propagation in one or both directions.
            PropagationBarrier = "sdy.propagation_barrier" "" (ONE, ONE, ZERO) NONE, {
                /// The direction that is still allowed.
                allowed: Attr = "allowed_direction",
            }
            /// A region with a name, as a call.
            NamedComputation = "sdy.named_computation" "" (ANY, ANY, ONE) Traits::ISOLATED, {
                /// The name.
                name: Symbol = "name",
                /// Shardings of the operands.
                in_shardings: Option<ShardingList> = "in_shardings",
                /// Shardings of the results.
                out_shardings: Option<ShardingList> = "out_shardings",
            }
            /// Gathers axes of each dimension.
            SdyAllGather = "sdy.all_gather" "" (ONE, ONE, ZERO) Traits::COLLECTIVE, {
                /// The axes that go.
                axes: AxisLists = "gathering_axes",
                /// Sharding of the result.
                out: ShardingId = "out_sharding",
            }
            /// Splits dimensions over further axes; nothing is sent.
            SdyAllSlice = "sdy.all_slice" "" (ONE, ONE, ZERO) NONE, {
                /// The axes that come.
                axes: AxisLists = "slicing_axes",
                /// Sharding of the result.
                out: ShardingId = "out_sharding",
            }
            /// Moves axes from dimensions to others.
            SdyAllToAll = "sdy.all_to_all" "" (ONE, ONE, ZERO) Traits::COLLECTIVE, {
                /// What moves.
                params: AllToAllParams = "params",
                /// Sharding of the result.
                out: ShardingId = "out_sharding",
            }
            /// Renames axes: each device sends its whole shard to one other.
            SdyCollectivePermute = "sdy.collective_permute" "" (ONE, ONE, ZERO) Traits::COLLECTIVE, {
                /// Sharding of the result.
                out: ShardingId = "out_sharding",
            }
            /// Completes a value that is unreduced along axes.
            SdyAllReduce = "sdy.all_reduce" "" (ONE, ONE, ZERO) Traits::COLLECTIVE, {
                /// The axes.
                axes: MeshAxes = "reduction_axes",
                /// How parts are combined.
                combiner: Combiner = "reduction_op",
                /// Sharding of the result.
                out: ShardingId = "out_sharding",
            }
            /// Completes a value and splits its dimensions along the same axes.
            SdyReduceScatter = "sdy.reduce_scatter" "" (ONE, ONE, ZERO) Traits::COLLECTIVE, {
                /// The axes of each dimension.
                axes: AxisLists = "reduce_scatter_axes",
                /// How parts are combined.
                combiner: Combiner = "reduction_op",
                /// Sharding of the result.
                out: ShardingId = "out_sharding",
            }
            /// Makes sharded axes unreduced: each device holds its part and neutral elements.
            ShardedToUnreduced = "sdy.sharded_to_unreduced" "" (ONE, ONE, ZERO) NONE, {
                /// The axes of each dimension.
                axes: AxisLists = "axes",
                /// Sharding of the result.
                out: ShardingId = "out_sharding",
            }
            /// Makes replicated axes unreduced: one device keeps the value.
            ReplicatedToUnreduced = "sdy.replicated_to_unreduced" "" (ONE, ONE, ZERO) NONE, {
                /// The axes.
                axes: MeshAxes = "axes",
                /// Sharding of the result.
                out: ShardingId = "out_sharding",
            }
        }
    }
}
