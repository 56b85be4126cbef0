//! Data movement that depends on shapes alone, or on start indices.

use super::*;

op_family! {
    /// Data movement that depends on shapes alone, or on start indices.
    family Movement {
        plain {
            /// The same elements in another shape.
            Reshape = "stablehlo.reshape" "reshape" (ONE, ONE, ZERO) NONE;
            /// The same bits as another element type.
            BitcastConvert = "stablehlo.bitcast_convert" "bitcast-convert" (ONE, ONE, ZERO) NONE;
            /// Writes a block at start indices.
            DynamicUpdateSlice = "stablehlo.dynamic_update_slice" "dynamic-update-slice" (AtLeast(2), ONE, ZERO) POS;
            /// A reshape whose shape is an operand.
            DynamicReshape = "stablehlo.dynamic_reshape" "dynamic-reshape" (TWO, ONE, ZERO) NONE;
            /// A slice whose bounds are operands.
            RealDynamicSlice = "stablehlo.real_dynamic_slice" "" (Exactly(4), ONE, ZERO) POS;
            /// A pad whose amounts are operands.
            DynamicPad = "stablehlo.dynamic_pad" "" (Exactly(5), ONE, ZERO) POS;
        }
        fields {
            /// Adds dimensions and repeats along them.
            BroadcastInDim = "stablehlo.broadcast_in_dim" "broadcast" (ONE, ONE, ZERO) NONE, {
                /// Result dimension of each operand dimension.
                dimensions: Dims = "broadcast_dimensions",
            }
            /// A broadcast whose shape is an operand.
            DynamicBroadcastInDim = "stablehlo.dynamic_broadcast_in_dim" "" (TWO, ONE, ZERO) NONE, {
                /// Result dimension of each operand dimension.
                dimensions: Dims = "broadcast_dimensions",
                /// Dimensions known to be repeated.
                expanding: Option<Dims> = "known_expanding_dimensions",
                /// Dimensions known to be kept.
                nonexpanding: Option<Dims> = "known_nonexpanding_dimensions",
            }
            /// Adds leading dimensions (deprecated form).
            Broadcast = "stablehlo.broadcast" "" (ONE, ONE, ZERO) NONE, {
                /// Sizes of the new dimensions.
                sizes: Dims = "broadcast_sizes",
            }
            /// Permutes dimensions.
            Transpose = "stablehlo.transpose" "transpose" (ONE, ONE, ZERO) NONE, {
                /// Operand dimension of each result dimension.
                permutation: Dims = "permutation",
            }
            /// A block with strides.
            Slice = "stablehlo.slice" "slice" (ONE, ONE, ZERO) POS, {
                /// First index.
                start: Dims = "start_indices",
                /// End, exclusive.
                limit: Dims = "limit_indices",
                /// Step.
                strides: Dims = "strides",
            }
            /// A block at start indices.
            DynamicSlice = "stablehlo.dynamic_slice" "dynamic-slice" (SOME, ONE, ZERO) POS, {
                /// Sizes of the block.
                sizes: Dims = "slice_sizes",
            }
            /// Adds (or with negative amounts removes) elements at the edges and between.
            Pad = "stablehlo.pad" "pad" (TWO, ONE, ZERO) POS, {
                /// Amount before the first element.
                low: Dims = "edge_padding_low",
                /// Amount after the last element.
                high: Dims = "edge_padding_high",
                /// Amount between elements.
                interior: Dims = "interior_padding",
            }
            /// Joins tensors along a dimension.
            Concatenate = "stablehlo.concatenate" "concatenate" (SOME, ONE, ZERO) POS, {
                /// That dimension.
                dimension: i64 = "dimension",
            }
            /// Reverses dimensions.
            Reverse = "stablehlo.reverse" "reverse" (ONE, ONE, ZERO) POS, {
                /// Those dimensions.
                dimensions: Dims = "dimensions",
            }
            /// The size of a dimension.
            GetDimensionSize = "stablehlo.get_dimension_size" "get-dimension-size" (ONE, ONE, ZERO) NONE, {
                /// That dimension.
                dimension: i64 = "dimension",
            }
            /// Sets the size of a dimension.
            SetDimensionSize = "stablehlo.set_dimension_size" "set-dimension-size" (TWO, ONE, ZERO) NONE, {
                /// That dimension.
                dimension: i64 = "dimension",
            }
        }
    }
}
