//! Batch normalisations.

use super::*;

op_family! {
    /// Batch normalisations.
    family Normalization {
        plain {}
        fields {
            /// Gradient of a batch normalisation.
            BatchNormGrad = "stablehlo.batch_norm_grad" "batch-norm-grad" (Exactly(5), THREE, ZERO) NONE, {
                /// Added to the variance.
                epsilon: FloatBits = "epsilon",
                /// Feature dimension.
                feature: i64 = "feature_index",
            }
            /// Batch normalisation with given statistics.
            BatchNormInference = "stablehlo.batch_norm_inference" "batch-norm-inference" (Exactly(5), ONE, ZERO) NONE, {
                /// Added to the variance.
                epsilon: FloatBits = "epsilon",
                /// Feature dimension.
                feature: i64 = "feature_index",
            }
            /// Batch normalisation that computes the statistics.
            BatchNormTraining = "stablehlo.batch_norm_training" "batch-norm-training" (THREE, THREE, ZERO) NONE, {
                /// Added to the variance.
                epsilon: FloatBits = "epsilon",
                /// Feature dimension.
                feature: i64 = "feature_index",
            }
        }
    }
}
