//! Control flow, calls and terminators.

use super::*;

op_family! {
    /// Control flow, calls and terminators.
    family Control {
        plain {
            /// Repeats a body while a condition holds; regions: condition, body.
            While = "stablehlo.while" "while" (ANY, ANY, TWO) NONE;
            /// One of two regions by a predicate.
            If = "stablehlo.if" "conditional" (ONE, ANY, TWO) NONE;
            /// One of several regions by an index.
            Case = "stablehlo.case" "" (ONE, ANY, SOME) NONE;
            /// Keeps the compiler from moving ops across.
            OptimizationBarrier = "stablehlo.optimization_barrier" "opt-barrier" (ANY, ANY, ZERO) NONE;
            /// Ends a region of a StableHLO op.
            Return = "stablehlo.return" "" (ANY, ZERO, ZERO) TERM;
            /// Ends a function.
            FuncReturn = "func.return" "" (ANY, ZERO, ZERO) TERM;
            /// Ends a region of an sdy op.
            SdyReturn = "sdy.return" "" (ANY, ZERO, ZERO) TERM;
        }
        fields {
            /// Calls a function.
            Call = "func.call" "call" (ANY, ANY, ZERO) NONE, {
                /// Its name.
                callee: Callee = "callee",
            }
        }
    }
}
