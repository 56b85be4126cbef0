//! Constants and iotas.

use crate::ops::Creation;
use crate::quant::QuantType;
use crate::{Dense, DenseData, ElementType, TensorType, Type};

use super::InferredType;
use super::context::kinds::{COMPLEX, FLOAT, INT, QUANTIZED};
use super::context::{Cx, Found};

pub(super) fn infer(cx: &mut Cx, kind: &Creation) -> Found {
    match kind {
        Creation::Constant(op) => constant(cx, &op.value),
        Creation::Iota(op) => {
            if let Some(result) = iota(cx, op.dimension)? {
                cx.static_result(result);
            }
            Some(vec![InferredType::Given])
        }
        Creation::DynamicIota(op) => {
            let result = iota(cx, op.dimension)?;
            let shape = cx.shape_operand(0, "output_shape", result.map(|ty| ty.rank()))?;
            if let (Some(result), Some(shape)) = (result, shape) {
                cx.constant_shape("output_shape", &shape, result);
            }
            Some(vec![InferredType::Given])
        }
    }
}

/// A constant has the type of its elements, and the right number of them.
pub(super) fn constant(cx: &mut Cx, value: &Dense) -> Found {
    if let Type::Tensor(ty) = cx.module.ty(value.ty) {
        check!(cx, ty.is_static(), "the value has type {}, not static", cx.show(value.ty));
        let width = ty.element.storage_bytes() as u64;
        match &value.data {
            DenseData::Splat(bytes) => check!(
                cx,
                bytes.len() as u64 == width,
                "the value's element has {} bytes, {} takes {width}",
                bytes.len(),
                cx.show_element(ty.element)
            ),
            DenseData::Bytes(bytes) => check!(
                cx,
                ty.elements().checked_mul(width) == Some(bytes.len() as u64),
                "the value has {} bytes, not those of {} elements of {width}",
                bytes.len(),
                ty.elements()
            ),
            DenseData::Resource(_) | DenseData::Text(_) => {}
        }
    }
    // A quantized constant is given by the integers that are stored.
    if let (Some(declared), Type::Tensor(stored)) = (cx.declared, cx.module.ty(value.ty))
        && let Some(Type::Tensor(given)) = declared.first().map(|&id| cx.module.ty(id))
        && let ElementType::Quantized(text) = given.element
        && let Some(Ok(quant)) = QuantType::parse(cx.module.str(text))
        && stored.element.is_integer()
        && stored.element.bits() == quant.width
        && stored.dims == given.dims
    {
        return Some(vec![InferredType::Given]);
    }
    Some(vec![InferredType::Known(value.ty)])
}

fn iota<'a>(cx: &mut Cx<'a>, dimension: i64) -> Option<Option<&'a TensorType>> {
    require!(cx, dimension >= 0, "iota_dimension is {dimension}, negative");
    let Some(result) = cx.declared_tensor(0) else { return Some(None) };
    cx.kind(result, "result", INT | FLOAT | COMPLEX | QUANTIZED);
    cx.dim("iota_dimension", dimension, result.rank())?;
    Some(Some(result))
}
