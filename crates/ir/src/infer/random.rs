//! Random numbers.

use crate::ops::{Distribution, Random};

use super::InferredType;
use super::context::kinds::{BOOL, FLOAT, INT};
use super::context::{Cx, Found};

pub(super) fn infer(cx: &mut Cx, kind: &Random) -> Found {
    match kind {
        Random::Rng(op) => {
            let kinds = match op.distribution {
                Distribution::Uniform => BOOL | INT | FLOAT,
                Distribution::Normal => FLOAT,
            };
            let (a, b) = (cx.scalar(0, "a", kinds)?, cx.scalar(1, "b", kinds)?);
            cx.same_element(("a", a), ("b", b));
            let result = cx.declared_tensor(0);
            let shape = cx.shape_operand(2, "shape", result.map(|ty| ty.rank()))?;
            if let Some(result) = result {
                cx.same_element(("a", a), ("result", result));
                if let Some(shape) = shape {
                    cx.constant_shape("shape", &shape, result);
                }
            }
            Some(vec![InferredType::Given])
        }
        Random::RngBitGenerator(_) => {
            let state = cx.tensor(0, "initial_state")?;
            cx.kind(state, "initial_state", INT | FLOAT);
            if let Some(output) = cx.declared_tensor(1) {
                cx.kind(output, "output", INT | FLOAT);
                check!(cx, output.is_static(), "output has a dynamic shape");
            }
            Some(vec![InferredType::Tensor(state.clone()), InferredType::Given])
        }
    }
}
