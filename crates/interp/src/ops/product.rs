//! Matrix products of any element type.

use std::borrow::Cow;

use ndarray::linalg::general_mat_mul;
use ndarray::{ArrayView2, ArrayViewMut2};
use num_complex::Complex;
use shard_ir::{Dims, ElementType, NumberKind};

use super::elementwise::convert;
use super::numeric::{no_meaning, wrap};
use crate::strided::{self, strides};
use crate::{Fault, Lane, Tensor};

/// Elements that there are matrix products of.
pub(crate) trait Product: Lane {
    /// Adds the product of two matrices to a third.
    fn multiply(a: ArrayView2<'_, Self>, b: ArrayView2<'_, Self>, to: ArrayViewMut2<'_, Self>);
}

/// Products term by term, in the order of the contracted dimension, row by row of the right matrix,
/// which the compiler makes vectors of.
fn in_order<T: Copy>(
    a: ArrayView2<'_, T>,
    b: ArrayView2<'_, T>,
    mut to: ArrayViewMut2<'_, T>,
    sum: impl Fn(T, T, T) -> T,
) {
    for (row, mut to) in a.rows().into_iter().zip(to.rows_mut()) {
        for (factor, from) in row.iter().zip(b.rows()) {
            to.zip_mut_with(&from, |to, from| *to = sum(*to, *factor, *from));
        }
    }
}

macro_rules! floats {
    ($($lane:ty)*) => {$(
        impl Product for $lane {
            fn multiply(
                a: ArrayView2<'_, Self>,
                b: ArrayView2<'_, Self>,
                mut to: ArrayViewMut2<'_, Self>,
            ) {
                // Few terms are rounded one by one, as everybody does: where they cancel, what is
                // left depends on it. In long sums it doesn't show, and blocks are much faster.
                const FEW: usize = 32;
                if a.ncols() <= FEW {
                    in_order(a, b, to, |to, a, b| to + a * b);
                } else {
                    general_mat_mul(1.0, &a, &b, 1.0, &mut to);
                }
            }
        }
    )*};
}

floats! { f32 f64 }

macro_rules! others {
    ($($lane:ty, |$to:ident, $a:ident, $b:ident| $sum:expr;)*) => {$(
        impl Product for $lane {
            fn multiply(
                a: ArrayView2<'_, Self>,
                b: ArrayView2<'_, Self>,
                to: ArrayViewMut2<'_, Self>,
            ) {
                in_order(a, b, to, |$to, $a, $b| $sum);
            }
        }
    )*};
}

others! {
    i8, |to, a, b| to.wrapping_add(a.wrapping_mul(b));
    i16, |to, a, b| to.wrapping_add(a.wrapping_mul(b));
    i32, |to, a, b| to.wrapping_add(a.wrapping_mul(b));
    i64, |to, a, b| to.wrapping_add(a.wrapping_mul(b));
    u8, |to, a, b| to.wrapping_add(a.wrapping_mul(b));
    u16, |to, a, b| to.wrapping_add(a.wrapping_mul(b));
    u32, |to, a, b| to.wrapping_add(a.wrapping_mul(b));
    u64, |to, a, b| to.wrapping_add(a.wrapping_mul(b));
    Complex<f32>, |to, a, b| to + a * b;
    Complex<f64>, |to, a, b| to + a * b;
}

/// What a sum of products is computed in, for operands and a result of these types.
pub(crate) fn computed_in(operands: [ElementType; 2], result: ElementType) -> ElementType {
    let all = [operands[0], operands[1], result];
    let kind = |kind: NumberKind| all.iter().any(|element| element.kind() == kind);
    let double = all.iter().any(|e| matches!(e, ElementType::F64 | ElementType::C128));
    if kind(NumberKind::Complex) {
        if double { ElementType::C128 } else { ElementType::C64 }
    } else if kind(NumberKind::Float) {
        if double { ElementType::F64 } else { ElementType::F32 }
    } else if result.is_integer() {
        // Sums and products wrap, so that it doesn't matter when.
        result
    } else {
        // Of booleans: whether there is a term at all.
        ElementType::I64
    }
}

/// Computes with two operands as lanes of the type that [`computed_in`] names:
/// `each_product!(element, |T| work::<T>(..))`.
macro_rules! each_product {
    ($element:expr, |$lane:ident| $body:expr) => {
        match $element {
            shard_ir::ElementType::F32 => {
                type $lane = f32;
                Ok($body)
            }
            shard_ir::ElementType::F64 => {
                type $lane = f64;
                Ok($body)
            }
            shard_ir::ElementType::C64 => {
                type $lane = num_complex::Complex<f32>;
                Ok($body)
            }
            shard_ir::ElementType::C128 => {
                type $lane = num_complex::Complex<f64>;
                Ok($body)
            }
            element => $crate::ops::numeric::each_integer!(
                element,
                |$lane| Ok($body),
                else Err($crate::ops::numeric::no_meaning(element))
            ),
        }
    };
}
pub(crate) use each_product;

/// Sums of products as a tensor of the result's type.
pub(crate) fn finish<T: Product>(
    computed: ElementType,
    dims: Dims,
    values: Vec<T>,
    result: ElementType,
) -> Result<Tensor, Fault> {
    convert(&Tensor::from_lanes(computed, dims, wrap(computed, values)), result)
}

/// An operand in the type that is computed with.
pub(crate) fn prepare(operand: &Tensor, element: ElementType) -> Result<Tensor, Fault> {
    if operand.element().kind() == NumberKind::Quantized {
        return Err(no_meaning(operand.element()));
    }
    convert(operand, element)
}

/// Elements with the dimensions in another order; the same memory where that changes nothing.
pub(crate) fn permuted<'a, T: Lane>(
    values: &'a [T],
    dims: &[i64],
    order: &[usize],
) -> Cow<'a, [T]> {
    let moving = |d: &&usize| dims[**d] != 1;
    if order.iter().filter(moving).is_sorted() {
        return Cow::Borrowed(values);
    }
    let from = strides(dims);
    let steps: Vec<isize> = order.iter().map(|d| from[*d]).collect();
    let sizes: Vec<i64> = order.iter().map(|d| dims[*d]).collect();
    Cow::Owned(strided::read(values, 0, &steps, &sizes))
}

/// `rows` times `columns` elements as a matrix, where they are stored that way or the other way
/// round.
pub(crate) fn matrix<T>(
    values: &[T],
    rows: usize,
    columns: usize,
    transposed: bool,
) -> Result<ArrayView2<'_, T>, Fault> {
    let (outer, inner) = if transposed { (columns, rows) } else { (rows, columns) };
    let view = ArrayView2::from_shape((outer, inner), values)
        .map_err(|_| Fault::invalid("a matrix of another size than its elements"))?;
    Ok(if transposed { view.reversed_axes() } else { view })
}
