//! Linear algebra and transforms that work on the last dimensions.

mod fft;

use ndarray::Array2;
use shard_ir::ops::{Linalg, TransposeKind, TriangularSolve};

use super::operands::{exactly, same_element};
use crate::matrix::{self, Scalar, Triangle, by_field};
use crate::site::{Results, Site};
use crate::{Fault, Tensor};

pub(crate) fn eval(op: &Linalg, _: &Site<'_>, operands: &[Tensor]) -> Result<Results, Fault> {
    let result = match op {
        Linalg::Cholesky(op) => {
            let [a] = exactly(operands)?;
            by_field!(a.element(), |T| cholesky::<T>(a, op.lower.unwrap_or(false)))?
        }
        Linalg::TriangularSolve(op) => {
            let [a, b] = exactly(operands)?;
            by_field!(a.element(), |T| triangular_solve::<T>(op, a, b))?
        }
        Linalg::Fft(op) => {
            let [x] = exactly(operands)?;
            fft::transform(op.kind, &op.length, x)?
        }
    };
    Ok(Results::from_iter([result]))
}

/// The other triangle of the factor is zero. A matrix that has no factor becomes NaNs, as in XLA.
fn cholesky<T: Scalar>(a: &Tensor, lower: bool) -> Result<Tensor, Fault> {
    let (batch, rows, columns) = matrix::sizes(a)?;
    if rows != columns {
        return Err(Fault::invalid(format!("a factor of a matrix of {rows} by {columns}")));
    }
    let factor = |a: &Array2<T>| {
        // The upper triangle transposed is the conjugated lower one.
        let (mut l, failed) = match lower {
            true => matrix::cholesky(a),
            false => matrix::cholesky(&a.t().to_owned()),
        };
        // A last pivot that is zero, in an otherwise positive matrix, is no failure.
        let zero = failed == Some(rows) && l[[rows - 1, rows - 1]].re() == 0.0;
        if failed.is_some() && !zero {
            l.fill(T::real(f64::NAN));
        }
        if lower { l } else { l.t().to_owned() }
    };
    let factors: Vec<Array2<T>> = matrix::matrices(a)?.iter().map(factor).collect();
    Ok(matrix::tensor(a.element(), &batch, (rows, columns), &factors))
}

fn triangular_solve<T: Scalar>(
    op: &TriangularSolve,
    a: &Tensor,
    b: &Tensor,
) -> Result<Tensor, Fault> {
    same_element(a, b)?;
    let how = Triangle {
        left: op.left_side,
        lower: op.lower,
        unit: op.unit_diagonal,
        transposed: match op.transpose_a {
            TransposeKind::Transpose | TransposeKind::Adjoint => true,
            TransposeKind::No => false,
            TransposeKind::Invalid => return Err(Fault::invalid("an invalid transpose_a")),
        },
        conjugated: op.transpose_a == TransposeKind::Adjoint,
    };
    let (batch, order, columns) = matrix::sizes(a)?;
    let (other_batch, m, n) = matrix::sizes(b)?;
    if batch != other_batch || order != columns || order != if op.left_side { m } else { n } {
        return Err(Fault::invalid(format!(
            "systems of shape {:?} with right sides of shape {:?}",
            a.dims(),
            b.dims()
        )));
    }
    let (a, b_matrices) = (matrix::matrices::<T>(a)?, matrix::matrices::<T>(b)?);
    let solved: Vec<Array2<T>> =
        a.iter().zip(&b_matrices).map(|(a, b)| matrix::solve(how, a, b)).collect();
    Ok(matrix::tensor(b.element(), &batch, (m, n), &solved))
}
