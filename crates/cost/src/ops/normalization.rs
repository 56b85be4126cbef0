//! Batch normalisations, as they are when written with elementwise ops and reductions.

use shard_ir::ops::Normalization;

use super::{Cx, Work};

pub(super) fn work(cx: Cx, kind: &Normalization) -> Work {
    let (elements, features) = (cx.operand_elements(0), cx.operand_elements(1));
    let per_element = match kind {
        // Two sums for the statistics with a square, and subtract, two products, an addition.
        Normalization::BatchNormTraining(_) => 7.0,
        Normalization::BatchNormInference(_) => 4.0,
        // Two sums with a product and a subtraction each way, and the combination.
        Normalization::BatchNormGrad(_) => 11.0,
    };
    Work { flops: per_element * elements, transcendentals: features, bytes: 0.0 }
}
