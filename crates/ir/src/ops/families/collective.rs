//! Communication between devices, in the per-device program.

use super::*;

op_family! {
    /// Communication between devices, in the per-device program.
    family Collective {
        plain {
            /// Number of the partition.
            PartitionId = "stablehlo.partition_id" "partition-id" (ZERO, ONE, ZERO) POS;
            /// Number of the replica.
            ReplicaId = "stablehlo.replica_id" "replica-id" (ZERO, ONE, ZERO) POS;
        }
        fields {
            /// Joins the shards of a group along a dimension.
            AllGather = "stablehlo.all_gather" "all-gather" (SOME, SOME, ZERO) COLL, {
                /// That dimension.
                dimension: i64 = "all_gather_dim",
                /// Groups.
                groups: Groups = "replica_groups",
                /// Channel.
                channel: Option<Channel> = "channel_handle",
                /// Groups number devices over replicas and partitions.
                global_ids: Flag = "use_global_device_ids",
            }
            /// Reduces over a group; every device gets the result.
            AllReduce = "stablehlo.all_reduce" "all-reduce" (SOME, SOME, ONE) COLL, {
                /// Groups.
                groups: Groups = "replica_groups",
                /// Channel.
                channel: Option<Channel> = "channel_handle",
                /// Groups number devices over replicas and partitions.
                global_ids: Flag = "use_global_device_ids",
            }
            /// Reduces over a group and scatters the result along a dimension.
            ReduceScatter = "stablehlo.reduce_scatter" "reduce-scatter" (ONE, ONE, ONE) COLL, {
                /// That dimension.
                dimension: i64 = "scatter_dimension",
                /// Groups.
                groups: Groups = "replica_groups",
                /// Channel.
                channel: Option<Channel> = "channel_handle",
                /// Groups number devices over replicas and partitions.
                global_ids: Flag = "use_global_device_ids",
            }
            /// Exchanges blocks: splits one dimension, joins along another.
            AllToAll = "stablehlo.all_to_all" "all-to-all" (SOME, SOME, ZERO) COLL, {
                /// Dimension that is split.
                split: i64 = "split_dimension",
                /// Dimension along which is joined.
                concat: i64 = "concat_dimension",
                /// Number of blocks.
                count: i64 = "split_count",
                /// Groups.
                groups: Groups = "replica_groups",
                /// Channel.
                channel: Option<Channel> = "channel_handle",
            }
            /// Each device sends to at most one other.
            CollectivePermute = "stablehlo.collective_permute" "collective-permute" (ONE, ONE, ZERO) COLL, {
                /// Source and target of each transfer.
                pairs: Pairs = "source_target_pairs",
                /// Channel.
                channel: Option<Channel> = "channel_handle",
            }
            /// The first device of each group sends to the others.
            CollectiveBroadcast = "stablehlo.collective_broadcast" "collective-broadcast" (SOME, SOME, ZERO) COLL, {
                /// Groups.
                groups: Groups = "replica_groups",
                /// Channel.
                channel: Option<Channel> = "channel_handle",
            }
        }
    }
}
