//! Reductions over whole dimensions and over windows.

use super::*;

op_family! {
    /// Reductions over whole dimensions and over windows.
    family Reduction {
        plain {}
        fields {
            /// Reduces dimensions with the op of a region.
            Reduce = "stablehlo.reduce" "reduce" (AtLeast(2), SOME, ONE) NONE, {
                /// Dimensions that go.
                dimensions: Dims = "dimensions",
            }
            /// Reduces each window.
            ReduceWindow = "stablehlo.reduce_window" "reduce-window" (AtLeast(2), SOME, ONE) NONE, {
                /// Sizes.
                window: Dims = "window_dimensions",
                /// Strides; 1 where absent.
                strides: Option<Dims> = "window_strides",
                /// Dilation of the input; 1 where absent.
                base_dilations: Option<Dims> = "base_dilations",
                /// Dilation of the window; 1 where absent.
                window_dilations: Option<Dims> = "window_dilations",
                /// Padding; 0 where absent.
                padding: Option<Padding> = "padding",
            }
            /// Scatters each source element to the place its window selects.
            SelectAndScatter = "stablehlo.select_and_scatter" "select-and-scatter" (THREE, ONE, TWO) NONE, {
                /// Sizes.
                window: Option<Dims> = "window_dimensions",
                /// Strides; 1 where absent.
                strides: Option<Dims> = "window_strides",
                /// Padding; 0 where absent.
                padding: Option<Padding> = "padding",
            }
        }
    }
}
