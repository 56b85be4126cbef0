//! Functions of the bits that numbers are: the neighbour of a float, the upper half of a product.

use shard_ir::ElementType;
use shard_ir::ops::Elementwise;

use super::math::X;

/// The float after x in the direction of y.
///
/// As whole numbers, floats of one sign are in order: the neighbour is one more or one less.
pub(super) fn next_after<'m>(x: X<'m>, y: X<'m>) -> X<'m> {
    let float = x.element();
    let integer = match float.bits() {
        8 => ElementType::I8,
        16 => ElementType::I16,
        64 => ElementType::I64,
        _ => ElementType::I32,
    };
    let (from, to) = (x.bitcast(integer), y.bitcast(integer));
    let sign = i64::MIN >> (64 - float.bits());
    let (sign_bit, others) = (from.int(sign), from.int(!sign));
    let (zero, one, minus_one) = (from.int(0), from.int(1), from.int(-1));
    let (from_size, to_size) = (from & others, to & others);
    let (from_sign, to_sign) = (from & sign_bit, to & sign_bit);
    // Towards zero if y is nearer to it or on its other side.
    let shrinks = from_size.gt(to_size) | from_sign.ne(to_sign);
    let step = from + shrinks.select(minus_one, one);
    // From zero, the smallest number with y's sign; from one zero to the other, that one.
    let from_zero = to_size.eq(zero).select(to, to_sign | one);
    let result = from_size.eq(zero).select(from_zero, step);
    let result = x.eq(y).select(to, result);
    let unordered = x.ne(x) | y.ne(y);
    unordered.select(x.nan().bitcast(integer), result).bitcast(float)
}

/// The upper half of the bits of the product.
pub(super) fn mulhi<'m>(x: X<'m>, y: X<'m>) -> X<'m> {
    use ElementType::*;
    let element = x.element();
    let (wide, shift) = match element {
        UI64 => return mulhi_u64(x, y),
        I64 => return mulhi_i64(x, y),
        I32 => (I64, Elementwise::ShiftRightArithmetic),
        I16 => (I32, Elementwise::ShiftRightArithmetic),
        I8 => (I16, Elementwise::ShiftRightArithmetic),
        I4 => (I8, Elementwise::ShiftRightArithmetic),
        I2 => (I4, Elementwise::ShiftRightArithmetic),
        UI32 => (UI64, Elementwise::ShiftRightLogical),
        UI16 => (UI32, Elementwise::ShiftRightLogical),
        UI8 => (UI16, Elementwise::ShiftRightLogical),
        UI4 => (UI8, Elementwise::ShiftRightLogical),
        _ => (UI4, Elementwise::ShiftRightLogical),
    };
    let product = x.convert(wide) * y.convert(wide);
    product.binary(shift, product.int(element.bits().into())).convert(element)
}

/// In halves of 32 bits: the upper product, and what the others carry into it.
fn mulhi_u64<'m>(x: X<'m>, y: X<'m>) -> X<'m> {
    let low = |x: X<'m>| x & x.int(0xffff_ffff);
    let high = |x: X<'m>| x.shift_right(x.int(32));
    let ((x_low, x_high), (y_low, y_high)) = ((low(x), high(x)), (low(y), high(y)));
    let middle = x_low * y_high + high(x_low * y_low);
    x_high * y_high + high(middle) + high(x_high * y_low + low(middle))
}

/// Of the numbers as if they had no sign, less what each sign adds to that.
fn mulhi_i64<'m>(x: X<'m>, y: X<'m>) -> X<'m> {
    let (ux, uy) = (x.convert(ElementType::UI64), y.convert(ElementType::UI64));
    let if_negative = |x: X<'m>, other: X<'m>| x.lt(x.int(0)).select(other, other.int(0));
    let product = mulhi_u64(ux, uy) - if_negative(x, uy) - if_negative(y, ux);
    product.convert(ElementType::I64)
}
