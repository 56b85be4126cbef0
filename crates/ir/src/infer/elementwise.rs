//! Elementwise ops.

use crate::ops::{ConstantLike, Elementwise, Map, ReducePrecision};
use crate::{Attr, ElementType, TensorType, Type};

use super::InferredType;
use super::context::kinds::{ANY, BOOL, COMPLEX, FLOAT, INT, QUANTIZED, SIGNED};
use super::context::{Cx, Found, compatible_dims, like, merge_dims, real_part};

const FC: u8 = FLOAT | COMPLEX;
const FCQ: u8 = FLOAT | COMPLEX | QUANTIZED;
const FQ: u8 = FLOAT | QUANTIZED;
const IFCQ: u8 = INT | FCQ;

pub(super) fn infer(cx: &mut Cx, kind: &Elementwise) -> Found {
    use Elementwise as E;
    match kind {
        E::Abs => {
            let x = unary(cx, SIGNED | FCQ)?;
            element(x, real_part(x.element))
        }
        E::Cbrt
        | E::Cosine
        | E::Exponential
        | E::ExponentialMinusOne
        | E::Log
        | E::LogPlusOne
        | E::Logistic
        | E::Rsqrt
        | E::Sine
        | E::Sqrt
        | E::Tan
        | E::Tanh => like(unary(cx, FCQ)?),
        E::Acos
        | E::Acosh
        | E::Asin
        | E::Asinh
        | E::Atan
        | E::Atanh
        | E::BesselI1e
        | E::Cosh
        | E::Digamma
        | E::Erf
        | E::ErfInv
        | E::Erfc
        | E::Lgamma
        | E::Sinh
        | E::ChloTan => like(unary(cx, FC)?),
        E::Ceil | E::Floor | E::RoundNearestAfz | E::RoundNearestEven => like(unary(cx, FQ)?),
        E::Conj | E::Square => like(unary(cx, ANY)?),
        E::CountLeadingZeros | E::Popcnt => like(unary(cx, INT)?),
        E::Negate => like(unary(cx, IFCQ)?),
        E::Not => like(unary(cx, BOOL | INT)?),
        E::Sign => like(unary(cx, SIGNED | FCQ)?),
        E::Convert => Some(vec![InferredType::Shape(unary(cx, ANY & !QUANTIZED)?.dims.clone())]),
        E::Imag | E::Real => {
            let x = unary(cx, FC)?;
            element(x, real_part(x.element))
        }
        E::IsFinite => element(unary(cx, FQ)?, ElementType::I1),
        E::IsInf | E::IsNegInf | E::IsPosInf => element(unary(cx, FC)?, ElementType::I1),
        E::UniformDequantize => {
            let x = unary(cx, QUANTIZED)?;
            if let Some(result) = cx.declared_tensor(0) {
                cx.kind(result, "result", FLOAT);
            }
            Some(vec![InferredType::Shape(x.dims.clone())])
        }
        E::UniformQuantize => {
            let x = unary(cx, FQ)?;
            if let Some(result) = cx.declared_tensor(0) {
                cx.kind(result, "result", QUANTIZED);
            }
            Some(vec![InferredType::Shape(x.dims.clone())])
        }
        E::Add | E::Maximum | E::Minimum | E::Multiply => binary(cx, ANY),
        E::And | E::Or | E::Xor => binary(cx, BOOL | INT),
        E::Atan2 => binary(cx, FCQ),
        E::Divide | E::Power | E::Remainder | E::Subtract => binary(cx, IFCQ),
        E::ShiftLeft | E::ShiftRightArithmetic | E::ShiftRightLogical => binary(cx, INT),
        E::Mulhi => binary(cx, INT),
        E::NextAfter | E::Polygamma | E::Zeta => binary(cx, FC),
        E::Complex => complex(cx),
        E::Clamp => clamp(cx),
        E::Select => select(cx),
        E::Compare(_) => compare(cx),
        E::ReducePrecision(op) => reduce_precision(cx, op),
        E::Map(op) => map(cx, op),
        E::ConstantLike(op) => constant_like(cx, op),
    }
}

fn element(like: &TensorType, element: ElementType) -> Found {
    Some(vec![InferredType::Tensor(TensorType { element, ..like.clone() })])
}

fn unary<'a>(cx: &mut Cx<'a>, kinds: u8) -> Option<&'a TensorType> {
    let x = cx.tensor(0, "operand")?;
    cx.kind(x, "operand", kinds);
    Some(x)
}

/// Both operands, of one of the kinds and of compatible types.
fn pair<'a>(cx: &mut Cx<'a>, kinds: u8) -> Option<(&'a TensorType, &'a TensorType)> {
    let (a, b) = (cx.tensor(0, "lhs")?, cx.tensor(1, "rhs")?);
    cx.kind(a, "lhs", kinds);
    cx.same_element(("lhs", a), ("rhs", b));
    cx.same_shape(("lhs", &a.dims), ("rhs", &b.dims))?;
    Some((a, b))
}

fn merged(a: &TensorType, b: &TensorType) -> TensorType {
    TensorType {
        element: a.element,
        dims: merge_dims(&a.dims, &b.dims),
        encoding: a.encoding.or(b.encoding),
    }
}

fn binary(cx: &mut Cx, kinds: u8) -> Found {
    let (a, b) = pair(cx, kinds)?;
    like(&merged(a, b))
}

fn complex(cx: &mut Cx) -> Found {
    let (a, b) = pair(cx, FLOAT)?;
    let ty = match a.element {
        ElementType::F32 => ElementType::C64,
        ElementType::F64 => ElementType::C128,
        other => {
            complain!(cx, "lhs has element type {other}, not f32 or f64");
            return None;
        }
    };
    element(&merged(a, b), ty)
}

fn clamp(cx: &mut Cx) -> Found {
    let (min, x, max) = (cx.tensor(0, "min")?, cx.tensor(1, "operand")?, cx.tensor(2, "max")?);
    for (name, bound) in [("min", min), ("max", max)] {
        cx.same_element((name, bound), ("operand", x));
        if bound.rank() != 0 {
            cx.same_shape((name, &bound.dims), ("operand", &x.dims))?;
        }
    }
    like(x)
}

fn select(cx: &mut Cx) -> Found {
    let pred = cx.tensor(0, "pred")?;
    cx.kind(pred, "pred", BOOL);
    let (a, b) = (cx.tensor(1, "on_true")?, cx.tensor(2, "on_false")?);
    cx.same_element(("on_true", a), ("on_false", b));
    cx.same_shape(("on_true", &a.dims), ("on_false", &b.dims))?;
    if pred.rank() != 0 {
        cx.same_shape(("pred", &pred.dims), ("on_true", &a.dims))?;
    }
    like(&merged(a, b))
}

/// What the elements are compared as isn't checked: programs from before the types had signs say
/// `UNSIGNED` of any.
fn compare(cx: &mut Cx) -> Found {
    let (a, b) = pair(cx, ANY)?;
    element(&merged(a, b), ElementType::I1)
}

fn constant_like(cx: &mut Cx, op: &ConstantLike) -> Found {
    // The operand may have no rank.
    let Type::Tensor(x) = cx.module.ty(cx.operand_type(0)) else { return cx.all_given() };
    let (Attr::Int(_, ty) | Attr::Float(_, ty)) = op.value else { return None };
    let Type::Scalar(value) = *cx.module.ty(ty) else { return None };
    if let Some(result) = cx.declared_tensor(0) {
        check!(
            cx,
            value == result.element,
            "the value has type {value}, the result elements of {}",
            cx.show_element(result.element)
        );
    }
    element(x, value)
}

fn reduce_precision(cx: &mut Cx, op: &ReducePrecision) -> Found {
    let x = unary(cx, FQ)?;
    check!(cx, op.exponent_bits >= 1, "exponent_bits is {}, less than 1", op.exponent_bits);
    check!(cx, op.mantissa_bits >= 0, "mantissa_bits is {}, negative", op.mantissa_bits);
    like(x)
}

fn map(cx: &mut Cx, op: &Map) -> Found {
    let inputs = cx.tensors(0..cx.operands.len(), "operand")?;
    let (params, returns) = (cx.region_params(0)?, cx.region_returns(0)?);
    for (at, input) in inputs.iter().enumerate().skip(1) {
        let name = format!("operand {at}");
        cx.same_shape(("operand 0", &inputs[0].dims), (&name, &input.dims))?;
    }
    require!(
        cx,
        params.len() == inputs.len(),
        "the region has {} parameters for {} operands",
        params.len(),
        inputs.len()
    );
    for (at, (&param, input)) in params.iter().zip(&inputs).enumerate() {
        let scalar = cx.module.ty(param).as_tensor();
        let fits = scalar.is_some_and(|ty| {
            ty.rank() == 0 && super::compatible_element(ty.element, input.element)
        });
        check!(
            cx,
            fits,
            "parameter {at} of the region has type {}, not a scalar {}",
            cx.show(param),
            cx.show_element(input.element)
        );
    }
    require!(cx, returns.len() == 1, "the region returns {} values, not 1", returns.len());
    let result = cx.module.ty(returns[0]).as_tensor().filter(|ty| ty.rank() == 0);
    require!(cx, result.is_some(), "the region returns {}, not a scalar", cx.show(returns[0]));
    let rank = inputs[0].rank();
    let all: Vec<i64> = (0..rank as i64).collect();
    check!(
        cx,
        compatible_dims(&op.dimensions, &all),
        "dimensions are {}, not all {rank} in order",
        super::context::dims_text(&op.dimensions)
    );
    let dims = inputs[1..].iter().fold(inputs[0].dims.clone(), |a, b| merge_dims(&a, &b.dims));
    Some(vec![super::context::tensor(result?.element, dims)])
}
