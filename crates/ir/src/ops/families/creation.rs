//! Values out of nothing.

use super::*;

op_family! {
    /// Values out of nothing.
    family Creation {
        plain {}
        fields {
            /// A constant.
            Constant = "stablehlo.constant" "constant" (ZERO, ONE, ZERO) NONE, {
                /// Its elements.
                value: Dense = "value",
            }
            /// The index along a dimension.
            Iota = "stablehlo.iota" "iota" (ZERO, ONE, ZERO) POS, {
                /// That dimension.
                dimension: i64 = "iota_dimension",
            }
            /// An iota whose shape is an operand.
            DynamicIota = "stablehlo.dynamic_iota" "" (ONE, ONE, ZERO) POS, {
                /// That dimension.
                dimension: i64 = "iota_dimension",
            }
        }
    }
}
