//! Convolutions.

use super::*;

op_family! {
    /// Convolutions.
    family Convolution {
        plain {}
        fields {
            /// A convolution with strides, dilations, padding and groups.
            Conv = "stablehlo.convolution" "convolution" (TWO, ONE, ZERO) NONE, {
                /// Strides; 1 where absent.
                strides: Option<Dims> = "window_strides",
                /// Padding; 0 where absent.
                padding: Option<Padding> = "padding",
                /// Dilation of the input; 1 where absent.
                lhs_dilation: Option<Dims> = "lhs_dilation",
                /// Dilation of the kernel; 1 where absent.
                rhs_dilation: Option<Dims> = "rhs_dilation",
                /// Which spatial dimensions of the kernel are reversed.
                reversal: Option<Flags> = "window_reversal",
                /// Dimension numbers.
                dims: ConvDims = "dimension_numbers",
                /// Number of feature groups.
                feature_groups: i64 = "feature_group_count",
                /// Number of batch groups.
                batch_groups: i64 = "batch_group_count",
                /// Precision of each operand.
                precision: Precisions = "precision_config",
            }
            /// A convolution whose padding is an operand.
            DynamicConv = "stablehlo.dynamic_conv" "" (THREE, ONE, ZERO) NONE, {
                /// Strides; 1 where absent.
                strides: Option<Dims> = "window_strides",
                /// Dilation of the input; 1 where absent.
                lhs_dilation: Option<Dims> = "lhs_dilation",
                /// Dilation of the kernel; 1 where absent.
                rhs_dilation: Option<Dims> = "rhs_dilation",
                /// Which spatial dimensions of the kernel are reversed.
                reversal: Option<Flags> = "window_reversal",
                /// Dimension numbers.
                dims: ConvDims = "dimension_numbers",
                /// Number of feature groups.
                feature_groups: i64 = "feature_group_count",
                /// Number of batch groups.
                batch_groups: i64 = "batch_group_count",
                /// Precision of each operand.
                precision: Precisions = "precision_config",
            }
        }
    }
}
