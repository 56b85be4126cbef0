//! Ops that treat each element by itself.
//!
//! An operand of one element stands beside operands of many, for each of them.

mod binary;
mod compare;
mod complex;
mod convert;
mod lanes;
mod precision;
mod special;
mod unary;

use shard_ir::ops::{ConstantLike, Elementwise};
use shard_ir::{Attr, Dims, ElementType, NumberKind};

pub(crate) use convert::convert;
pub(super) use lanes::{maximum, minimum};

use super::numeric::{each_integer, from_integers, no_meaning, single};
use super::operands::exactly as expect;
use crate::site::{Results, Site};
use crate::{Buffer, Fault, Tensor};

pub(crate) fn eval(
    op: &Elementwise,
    site: &Site<'_>,
    operands: &[Tensor],
) -> Result<Results, Fault> {
    compute(op, Some(site), operands).map(single)
}

/// An op of two operands that needs to know nothing but them.
pub(crate) fn binary(op: &Elementwise, a: &Tensor, b: &Tensor) -> Result<Tensor, Fault> {
    compute(op, None, &[a.clone(), b.clone()])
}

/// `site` is left out where the operands and the op alone tell the result.
fn compute(
    op: &Elementwise,
    site: Option<&Site<'_>>,
    operands: &[Tensor],
) -> Result<Tensor, Fault> {
    let site =
        || site.ok_or_else(|| Fault::invalid("this op stands where one of two operands must"));
    use Elementwise as E;
    let one = || expect::<1>(operands).map(|[x]| x);
    let two = || expect::<2>(operands).map(|[a, b]| (a, b));
    let unary = |f: fn(&Tensor) -> Result<Tensor, Fault>| f(one()?);
    let binary = |f: fn(&Tensor, &Tensor) -> Result<Tensor, Fault>| {
        let (a, b) = two()?;
        f(a, b)
    };
    match op {
        E::Abs => unary(unary::abs),
        E::Cbrt => unary(unary::cbrt),
        E::Ceil => unary(unary::ceil),
        E::CountLeadingZeros => unary(unary::count_leading_zeros),
        E::Cosine => unary(unary::cos),
        E::Exponential => unary(unary::exp),
        E::ExponentialMinusOne => unary(unary::exp_m1),
        E::Floor => unary(unary::floor),
        E::Imag => unary(unary::imag),
        E::IsFinite => unary(unary::is_finite),
        E::Log => unary(unary::ln),
        E::LogPlusOne => unary(unary::ln_1p),
        E::Logistic => unary(unary::logistic),
        E::Negate => unary(unary::negate),
        E::Not => unary(unary::not),
        E::Popcnt => unary(unary::popcnt),
        E::Real => unary(unary::real),
        E::RoundNearestAfz => unary(unary::round_afz),
        E::RoundNearestEven => unary(unary::round_even),
        E::Rsqrt => unary(unary::rsqrt),
        E::Sign => unary(unary::sign),
        E::Sine => unary(unary::sin),
        E::Sqrt => unary(unary::sqrt),
        E::Tan | E::ChloTan => unary(unary::tan),
        E::Tanh => unary(unary::tanh),
        E::Acos => unary(unary::acos),
        E::Acosh => unary(unary::acosh),
        E::Asin => unary(unary::asin),
        E::Asinh => unary(unary::asinh),
        E::Atan => unary(unary::atan),
        E::Atanh => unary(unary::atanh),
        E::BesselI1e => unary(unary::bessel_i1e),
        E::Conj => unary(unary::conj),
        E::Cosh => unary(unary::cosh),
        E::Digamma => unary(unary::digamma),
        E::Erf => unary(unary::erf),
        E::ErfInv => unary(unary::erf_inv),
        E::Erfc => unary(unary::erfc),
        E::IsInf => unary(unary::is_inf),
        E::IsNegInf => unary(unary::is_neg_inf),
        E::IsPosInf => unary(unary::is_pos_inf),
        E::Lgamma => unary(unary::lgamma),
        E::Sinh => unary(unary::sinh),
        E::Square => unary(unary::square),
        // Between floats, as quantized types are taken for those that they stand for.
        E::Convert | E::UniformDequantize | E::UniformQuantize => {
            convert(one()?, site()?.result_element(0)?)
        }
        E::Add => binary(binary::add),
        E::And => binary(binary::and),
        E::Atan2 => binary(binary::atan2),
        E::Complex => binary(binary::complex),
        E::Divide => binary(binary::divide),
        E::Maximum => binary(binary::maximum),
        E::Minimum => binary(binary::minimum),
        E::Multiply => binary(binary::multiply),
        E::Or => binary(binary::or),
        E::Power => binary(binary::power),
        E::Remainder => binary(binary::remainder),
        E::ShiftLeft => binary(binary::shift_left),
        E::ShiftRightArithmetic => binary(binary::shift_right_arithmetic),
        E::ShiftRightLogical => binary(binary::shift_right_logical),
        E::Subtract => binary(binary::subtract),
        E::Xor => binary(binary::xor),
        E::Mulhi => binary(binary::mulhi),
        E::NextAfter => binary(binary::next_after),
        E::Polygamma => binary(binary::polygamma),
        E::Zeta => binary(binary::zeta),
        E::Clamp => {
            let [low, x, high] = expect::<3>(operands)?;
            lanes::clamp(low, x, high)
        }
        E::Select => {
            let [predicate, yes, no] = expect::<3>(operands)?;
            lanes::select(predicate, yes, no)
        }
        E::Compare(op) => {
            let (a, b) = two()?;
            compare::compare(op.direction, op.compare_type, a, b)
        }
        E::ReducePrecision(op) => {
            precision::reduce_precision(one()?, op.exponent_bits, op.mantissa_bits)
        }
        E::ConstantLike(op) => constant_like(op, one()?, site()?.result_element(0)?),
        E::Map(_) => map(site()?, operands),
    }
}

fn constant_like(op: &ConstantLike, x: &Tensor, element: ElementType) -> Result<Tensor, Fault> {
    let scalar = match (&op.value, element.kind()) {
        (Attr::Float(bits, _), _) => {
            Tensor::from_lanes(ElementType::F64, Dims::new(), vec![f64::from_bits(*bits)])
        }
        // All bits count, whatever the sign of the type.
        (Attr::Int(value, _), NumberKind::Unsigned) => {
            Tensor::from_lanes(ElementType::UI64, Dims::new(), vec![*value as u64])
        }
        (Attr::Int(value, _), _) => {
            Tensor::from_lanes(ElementType::I64, Dims::new(), vec![*value as i64])
        }
        (Attr::Bool(value), _) => Tensor::boolean(*value),
        _ => return Err(Fault::unsupported("a constant that is no number")),
    };
    if element.kind() == NumberKind::Quantized {
        return Err(no_meaning(element));
    }
    let scalar = convert(&scalar, element)?;
    let all = Buffer::splat(scalar.buffer().bytes(), x.len());
    Ok(Tensor::new(element, x.dims(), all))
}

/// All elements at once.
fn map(site: &Site<'_>, operands: &[Tensor]) -> Result<Tensor, Fault> {
    let Some(first) = operands.first() else {
        return Err(Fault::invalid("a map of no operands"));
    };
    if operands.iter().any(|operand| operand.len() != first.len()) {
        return Err(Fault::invalid("a map of operands of different shapes"));
    }
    match &site.region(0)?.apply(operands)?[..] {
        [result] if result.len() == first.len() => Ok(result.reshaped(first.dims())),
        _ => Err(Fault::invalid("the region of a map returns another number of values")),
    }
}

/// Integers of any type as `i64`; those beyond wrap, and keep their bits.
#[allow(clippy::allow_attributes, clippy::unnecessary_cast)] // One of the types is `i64` itself.
pub(super) fn integer_bits(x: &Tensor) -> Vec<i64> {
    each_integer!(
        x.element(),
        |Int| x.lanes::<Int>().iter().map(|e| *e as i64).collect(),
        else x.lanes::<u8>().iter().map(|e| i64::from(*e)).collect()
    )
}

/// The reverse of [`integer_bits`].
pub(super) fn from_integer_bits(element: ElementType, dims: &[i64], bits: &[i64]) -> Tensor {
    each_integer!(
        element,
        |Int| {
            let values = bits.iter().map(|b| *b as Int).collect::<Vec<Int>>();
            from_integers(element, dims, values)
        },
        else {
            let values = bits.iter().map(|b| u8::from(*b != 0)).collect::<Vec<u8>>();
            Tensor::from_lanes(element, dims, values)
        }
    )
}
