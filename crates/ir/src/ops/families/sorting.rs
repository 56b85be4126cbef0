//! Sorts and selections by order.

use super::*;

op_family! {
    /// Sorts and selections by order.
    family Sorting {
        plain {}
        fields {
            /// Sorts along a dimension by the comparator region.
            Sort = "stablehlo.sort" "sort" (SOME, SOME, ONE) NONE, {
                /// That dimension; may be negative, from the end.
                dimension: i64 = "dimension",
                /// Equal elements keep their order.
                stable: Option<bool> = "is_stable",
            }
            /// The k largest elements of the last dimension, and their indices.
            TopK = "chlo.top_k" "topk" (ONE, TWO, ZERO) NONE, {
                /// How many.
                k: i64 = "k",
            }
        }
    }
}
