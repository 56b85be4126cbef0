//! Random numbers.

use super::*;

op_family! {
    /// Random numbers.
    family Random {
        plain {}
        fields {
            /// Numbers of a distribution between two parameters.
            Rng = "stablehlo.rng" "rng" (THREE, ONE, ZERO) EFFECT, {
                /// Distribution.
                distribution: Distribution = "rng_distribution",
            }
            /// Random bits from a state; returns the next state too.
            RngBitGenerator = "stablehlo.rng_bit_generator" "rng-bit-generator" (ONE, TWO, ZERO) POS, {
                /// Algorithm.
                algorithm: RngAlgorithm = "rng_algorithm",
            }
        }
    }
}
