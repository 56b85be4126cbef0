//! Gathers and scatters.

use super::*;

op_family! {
    /// Gathers and scatters.
    family Indexing {
        plain {}
        fields {
            /// Gathers slices at indices.
            Gather = "stablehlo.gather" "gather" (TWO, ONE, ZERO) POS, {
                /// Dimension numbers.
                dims: GatherDims = "dimension_numbers",
                /// Sizes of a slice.
                slice_sizes: Dims = "slice_sizes",
                /// The indices are sorted.
                sorted: Option<bool> = "indices_are_sorted",
            }
            /// A gather whose slice sizes are an operand.
            DynamicGather = "stablehlo.dynamic_gather" "" (THREE, ONE, ZERO) POS, {
                /// Dimension numbers.
                dims: GatherDims = "dimension_numbers",
                /// The indices are sorted.
                sorted: Option<bool> = "indices_are_sorted",
            }
            /// Combines updates into a tensor at indices.
            Scatter = "stablehlo.scatter" "scatter" (AtLeast(3), SOME, ONE) POS, {
                /// Dimension numbers.
                dims: ScatterDims = "scatter_dimension_numbers",
                /// The indices are sorted.
                sorted: Option<bool> = "indices_are_sorted",
                /// No two indices are equal.
                unique: Option<bool> = "unique_indices",
            }
            /// Gathers along one dimension (deprecated form).
            TorchIndexSelect = "stablehlo.torch_index_select" "" (TWO, ONE, ZERO) POS, {
                /// That dimension.
                dim: i64 = "dim",
                /// Number of batch dimensions.
                batch_dims: i64 = "batch_dims",
            }
        }
    }
}
