//! Linear algebra and transforms that work on the last dimensions.

use super::*;

op_family! {
    /// Linear algebra and transforms that work on the last dimensions.
    family Linalg {
        plain {}
        fields {
            /// Cholesky factor of the last two dimensions.
            Cholesky = "stablehlo.cholesky" "cholesky" (ONE, ONE, ZERO) NONE, {
                /// The lower factor.
                lower: Option<bool> = "lower",
            }
            /// Solves with a triangular matrix.
            TriangularSolve = "stablehlo.triangular_solve" "triangular-solve" (TWO, ONE, ZERO) NONE, {
                /// The matrix stands at the left.
                left_side: bool = "left_side",
                /// It is lower triangular.
                lower: bool = "lower",
                /// Its diagonal is one.
                unit_diagonal: bool = "unit_diagonal",
                /// How it is taken.
                transpose_a: TransposeKind = "transpose_a",
            }
            /// Fourier transform of the last dimensions.
            Fft = "stablehlo.fft" "fft" (ONE, ONE, ZERO) NONE, {
                /// Kind.
                kind: FftType = "fft_type",
                /// Length of each transformed dimension.
                length: Dims = "fft_length",
            }
        }
    }
}
