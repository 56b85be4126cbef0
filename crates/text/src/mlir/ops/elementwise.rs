//! `stablehlo.add %0, %1 : type`, and other elementwise ops.

use shard_ir::ops::{Compare, CompareType, Direction, ReducePrecision};
use shard_ir::{ElementType, OpId, Type, TypeId};

use super::super::parser::{OpStart, Parser, Parts, Read};
use super::super::small::exponent_mantissa;
use super::{Entry, Pretty};

pub(super) fn pretty(name: &str) -> Option<Pretty> {
    Some(match name {
        "stablehlo.select" => select,
        "stablehlo.compare" => compare,
        "stablehlo.complex" => complex,
        "stablehlo.reduce_precision" => reduce_precision,
        "stablehlo.is_finite" => functional,
        "stablehlo.abs"
        | "stablehlo.cbrt"
        | "stablehlo.ceil"
        | "stablehlo.convert"
        | "stablehlo.count_leading_zeros"
        | "stablehlo.cosine"
        | "stablehlo.exponential"
        | "stablehlo.exponential_minus_one"
        | "stablehlo.floor"
        | "stablehlo.imag"
        | "stablehlo.log"
        | "stablehlo.log_plus_one"
        | "stablehlo.logistic"
        | "stablehlo.negate"
        | "stablehlo.not"
        | "stablehlo.popcnt"
        | "stablehlo.real"
        | "stablehlo.round_nearest_afz"
        | "stablehlo.round_nearest_even"
        | "stablehlo.rsqrt"
        | "stablehlo.sign"
        | "stablehlo.sine"
        | "stablehlo.sqrt"
        | "stablehlo.tan"
        | "stablehlo.tanh"
        | "stablehlo.uniform_dequantize"
        | "stablehlo.uniform_quantize"
        | "stablehlo.add"
        | "stablehlo.and"
        | "stablehlo.atan2"
        | "stablehlo.divide"
        | "stablehlo.maximum"
        | "stablehlo.minimum"
        | "stablehlo.multiply"
        | "stablehlo.or"
        | "stablehlo.power"
        | "stablehlo.remainder"
        | "stablehlo.shift_left"
        | "stablehlo.shift_right_arithmetic"
        | "stablehlo.shift_right_logical"
        | "stablehlo.subtract"
        | "stablehlo.xor"
        | "stablehlo.clamp" => same_types,
        "chlo.acos" | "chlo.acosh" | "chlo.asin" | "chlo.asinh" | "chlo.atan" | "chlo.atanh"
        | "chlo.bessel_i1e" | "chlo.conj" | "chlo.cosh" | "chlo.digamma" | "chlo.erf"
        | "chlo.erf_inv" | "chlo.erfc" | "chlo.is_inf" | "chlo.is_neg_inf" | "chlo.is_pos_inf"
        | "chlo.lgamma" | "chlo.mulhi" | "chlo.next_after" | "chlo.polygamma" | "chlo.sinh"
        | "chlo.square" | "chlo.tan" | "chlo.zeta" => arrow,
        _ => return None,
    })
}

fn same_types<'a>(p: &mut Parser<'a>, start: &OpStart<'a>, entry: &'static Entry) -> Read<OpId> {
    let op = p.plain(start, entry)?;
    let mut parts = Parts::default();
    p.operands(&mut parts.operands)?;
    p.same_types(start, op, parts)
}

fn functional<'a>(p: &mut Parser<'a>, start: &OpStart<'a>, entry: &'static Entry) -> Read<OpId> {
    let op = p.plain(start, entry)?;
    p.operands_functional(start, op)
}

/// `%0, %1 : type, type -> type`.
fn arrow<'a>(p: &mut Parser<'a>, start: &OpStart<'a>, entry: &'static Entry) -> Read<OpId> {
    let op = p.plain(start, entry)?;
    let mut parts = Parts::default();
    p.operands(&mut parts.operands)?;
    p.optional_attr_dict(&mut parts.attrs)?;
    p.expect(b':')?;
    let at = p.c.pos();
    let mut inputs = Default::default();
    p.type_list(&mut inputs)?;
    p.check_types(at, &parts.operands, &inputs)?;
    p.expect_str("->")?;
    p.result_types(&mut parts.results)?;
    p.finish(start, op, parts)
}

/// `%p, %a, %b : predicate, type`.
fn select<'a>(p: &mut Parser<'a>, start: &OpStart<'a>, entry: &'static Entry) -> Read<OpId> {
    let op = p.plain(start, entry)?;
    let mut parts = Parts::default();
    p.operands(&mut parts.operands)?;
    p.optional_attr_dict(&mut parts.attrs)?;
    p.expect(b':')?;
    let first = p.c.peek();
    let at = p.c.pos();
    if first == b'(' {
        let (inputs, results) = p.function_type()?;
        p.check_types(at, &parts.operands, &inputs)?;
        parts.results = results;
    } else {
        let predicate = p.ty()?;
        p.expect(b',')?;
        let ty = p.ty()?;
        p.check_types(at, &parts.operands, &[predicate, ty, ty])?;
        parts.results.push(ty);
    }
    p.finish(start, op, parts)
}

/// `LT, %0, %1, SIGNED : (types) -> type`.
fn compare<'a>(p: &mut Parser<'a>, start: &OpStart<'a>, _: &'static Entry) -> Read<OpId> {
    let direction = p.enumeration("a direction such as 'LT'", Direction::from_text)?;
    p.expect(b',')?;
    let mut parts = Parts::default();
    parts.operands.push(p.operand()?);
    p.expect(b',')?;
    parts.operands.push(p.operand()?);
    let compare_type = if p.c.eat(b',') {
        Some(p.enumeration("a type such as 'SIGNED'", CompareType::from_text)?)
    } else {
        None
    };
    p.functional(start, Compare { direction, compare_type }, parts)
}

/// `%0, %1 : complex type`.
fn complex<'a>(p: &mut Parser<'a>, start: &OpStart<'a>, entry: &'static Entry) -> Read<OpId> {
    let op = p.plain(start, entry)?;
    let mut parts = Parts::default();
    p.operands(&mut parts.operands)?;
    p.optional_attr_dict(&mut parts.attrs)?;
    p.expect(b':')?;
    let first = p.c.peek();
    let at = p.c.pos();
    if first == b'(' {
        let (inputs, results) = p.function_type()?;
        p.check_types(at, &parts.operands, &inputs)?;
        parts.results = results;
    } else {
        let ty = p.ty()?;
        let Some(real) = real_type(p, ty) else {
            let end = p.c.pos();
            return p.error(at..end, "expected a tensor of complex numbers");
        };
        p.check_types(at, &parts.operands, &[real, real])?;
        parts.results.push(ty);
    }
    p.finish(start, op, parts)
}

fn real_type(p: &mut Parser<'_>, ty: TypeId) -> Option<TypeId> {
    let Type::Tensor(tensor) = p.m.ty(ty) else { return None };
    let mut real = tensor.clone();
    real.element = match real.element {
        ElementType::C64 => ElementType::F32,
        ElementType::C128 => ElementType::F64,
        _ => return None,
    };
    Some(p.m.type_id(Type::Tensor(real)))
}

/// `%0, format = e5m10 : type`.
fn reduce_precision<'a>(p: &mut Parser<'a>, start: &OpStart<'a>, _: &'static Entry) -> Read<OpId> {
    let mut parts = Parts::default();
    parts.operands.push(p.operand()?);
    p.expect(b',')?;
    p.key("format")?;
    p.c.skip_space();
    let at = p.c.pos();
    let word = p.c.ident();
    let Some((exponent_bits, mantissa_bits)) = exponent_mantissa(word) else {
        let end = at + word.len().max(1);
        return p.error(at..end, "expected a format such as 'e5m10'");
    };
    p.same_types(start, ReducePrecision { exponent_bits, mantissa_bits }, parts)
}

impl Parser<'_> {
    /// A value of an enumeration.
    pub(crate) fn enumeration<T>(
        &mut self,
        what: &str,
        from_text: impl Fn(&str) -> Option<T>,
    ) -> Read<T> {
        self.c.skip_space();
        let at = self.c.pos();
        let word = self.c.ident();
        match from_text(word) {
            Some(value) => Ok(value),
            None => {
                self.c.set_pos(at);
                self.expected(what)
            }
        }
    }
}
