//! Elementwise ops: one operation an element.

use shard_ir::ops::Elementwise;

use super::{Cx, Work, flops_only};

pub(super) fn work(cx: Cx, kind: &Elementwise) -> Work {
    use Elementwise as E;
    let elements = cx.result_elements(0);
    match kind {
        E::Atan2
        | E::Cbrt
        | E::Cosine
        | E::Exponential
        | E::ExponentialMinusOne
        | E::Log
        | E::LogPlusOne
        | E::Logistic
        | E::Power
        | E::Rsqrt
        | E::Sine
        | E::Sqrt
        | E::Tan
        | E::Tanh
        | E::Acos
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
        | E::Polygamma
        | E::Sinh
        | E::ChloTan
        | E::Zeta => Work { transcendentals: elements, ..Work::default() },
        E::Abs
        | E::Ceil
        | E::Convert
        | E::CountLeadingZeros
        | E::Floor
        | E::IsFinite
        | E::Negate
        | E::Not
        | E::Popcnt
        | E::RoundNearestAfz
        | E::RoundNearestEven
        | E::Sign
        | E::UniformDequantize
        | E::UniformQuantize
        | E::Add
        | E::And
        | E::Divide
        | E::Maximum
        | E::Minimum
        | E::Multiply
        | E::Or
        | E::Remainder
        | E::ShiftLeft
        | E::ShiftRightArithmetic
        | E::ShiftRightLogical
        | E::Subtract
        | E::Xor
        | E::Clamp
        | E::Select
        | E::Conj
        | E::IsInf
        | E::IsNegInf
        | E::IsPosInf
        | E::Mulhi
        | E::NextAfter
        | E::Square
        | E::Compare(_)
        | E::ReducePrecision(_) => flops_only(elements),
        // Parts of complex numbers are only picked.
        E::Imag | E::Real | E::Complex | E::ConstantLike(_) => Work::default(),
        E::Map(_) => cx.body(0).times(elements),
    }
}
