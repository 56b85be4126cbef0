//! Batch normalisations.

use crate::ops::Normalization;

use super::InferredType;
use super::context::kinds::{FLOAT, QUANTIZED};
use super::context::{Cx, Found, like, tensor};

pub(super) fn infer(cx: &mut Cx, kind: &Normalization) -> Found {
    let (names, feature): (&[&str], i64) = match kind {
        Normalization::BatchNormGrad(op) => (&["scale", "mean", "variance"], op.feature),
        Normalization::BatchNormInference(op) => {
            (&["scale", "offset", "mean", "variance"], op.feature)
        }
        Normalization::BatchNormTraining(op) => (&["scale", "offset"], op.feature),
    };
    let x = cx.tensor(0, "operand")?;
    cx.kind(x, "operand", FLOAT | QUANTIZED);
    let at = cx.dim("feature_index", feature, x.rank())?;
    let features = x.dims[at];
    for (index, name) in names.iter().enumerate() {
        let ty = cx.tensor(index + 1, name)?;
        cx.same_element(("operand", x), (name, ty));
        cx.same_shape((name, &ty.dims), ("the feature dimension", &[features]))?;
    }
    let vector = || tensor(x.element, [features]);
    match kind {
        Normalization::BatchNormGrad(_) => {
            let grad = cx.tensor(4, "grad_output")?;
            cx.same_element(("operand", x), ("grad_output", grad));
            cx.same_shape(("operand", &x.dims), ("grad_output", &grad.dims))?;
            Some(vec![InferredType::Tensor(x.clone()), vector(), vector()])
        }
        Normalization::BatchNormInference(_) => like(x),
        Normalization::BatchNormTraining(_) => {
            Some(vec![InferredType::Tensor(x.clone()), vector(), vector()])
        }
    }
}
