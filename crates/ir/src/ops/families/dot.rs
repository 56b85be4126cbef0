//! Contractions.

use super::*;

op_family! {
    /// Contractions.
    family Dot {
        plain {}
        fields {
            /// A contraction with any batch and contracting dimensions.
            DotGeneral = "stablehlo.dot_general" "dot" (TWO, ONE, ZERO) NONE, {
                /// Dimension numbers.
                dims: DotDims = "dot_dimension_numbers",
                /// Precision of each operand.
                precision: Precisions = "precision_config",
                /// Algorithm, kept as it is.
                algorithm: Option<Attr> = "algorithm",
            }
            /// A plain matrix product (deprecated form).
            DotPlain = "stablehlo.dot" "" (TWO, ONE, ZERO) NONE, {
                /// Precision of each operand.
                precision: Precisions = "precision_config",
            }
        }
    }
}
