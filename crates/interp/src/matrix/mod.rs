//! Plain algorithms on matrices of real or complex `f64`.
//!
//! Elements are computed in `f64` whatever their type, and rounded when a tensor is made of them.

mod cholesky;
mod eigen;
mod hermitian;
mod lu;
mod reflectors;
mod schur;
#[cfg(test)]
mod tests;
mod triangular;

use std::ops::{AddAssign, DivAssign, MulAssign, SubAssign};

use ndarray::{Array2, LinalgScalar};
use num_complex::{Complex, ComplexFloat};
use shard_ir::{Dims, ElementType};

pub(crate) use cholesky::cholesky;
pub(crate) use eigen::{Eigen, General};
pub(crate) use hermitian::{Svd, eigen_hermitian, svd};
pub(crate) use lu::{TridiagonalSolution, lu, solve_tridiagonal};
pub(crate) use reflectors::{
    Tridiagonal, apply_q, hessenberg, hessenberg_basis, pivoted_qr, q_of, qr, tridiagonal,
};
use schur::{complex_schur, real_schur};
pub(crate) use triangular::{Triangle, solve};

use crate::ops::numeric::{complexes, from_complexes};
use crate::{Fault, Tensor};

/// A real or complex number.
pub(crate) trait Scalar:
    ComplexFloat<Real = f64>
    + LinalgScalar
    + AddAssign
    + SubAssign
    + Default
    + MulAssign
    + DivAssign
    + std::fmt::Debug
{
    /// A real number.
    fn real(value: f64) -> Self;

    /// The elements of a tensor.
    fn elements(tensor: &Tensor) -> Vec<Self>;

    /// A tensor of elements, rounded to its type.
    fn tensor(element: ElementType, dims: &[i64], values: Vec<Self>) -> Tensor;

    /// The number times itself, conjugated.
    fn norm_squared(self) -> f64 {
        self.re() * self.re() + self.im() * self.im()
    }
}

impl Scalar for f64 {
    fn real(value: f64) -> f64 {
        value
    }

    fn elements(tensor: &Tensor) -> Vec<f64> {
        tensor.floats()
    }

    fn tensor(element: ElementType, dims: &[i64], values: Vec<f64>) -> Tensor {
        Tensor::from_floats(element, dims, values)
    }
}

impl Scalar for Complex<f64> {
    fn real(value: f64) -> Complex<f64> {
        Complex::new(value, 0.0)
    }

    fn elements(tensor: &Tensor) -> Vec<Complex<f64>> {
        complexes(tensor).into_owned()
    }

    fn tensor(element: ElementType, dims: &[i64], values: Vec<Complex<f64>>) -> Tensor {
        from_complexes(element, dims, values)
    }
}

/// Does the same with real and with complex elements:
/// `by_field!(element, |T| work::<T>(..))`; other elements are a fault.
macro_rules! by_field {
    ($element:expr, |$field:ident| $body:expr) => {
        match $element.kind() {
            shard_ir::NumberKind::Float => {
                type $field = f64;
                $body
            }
            shard_ir::NumberKind::Complex => {
                type $field = num_complex::Complex<f64>;
                $body
            }
            shard_ir::NumberKind::Bool
            | shard_ir::NumberKind::Signed
            | shard_ir::NumberKind::Unsigned
            | shard_ir::NumberKind::Quantized => {
                Err($crate::Fault::invalid(format!("a matrix of elements of type {}", $element)))
            }
        }
    };
}
pub(crate) use by_field;

/// The sizes of a batch of matrices, and of one of them.
///
/// # Errors
/// If there are fewer than two dimensions.
pub(crate) fn sizes(tensor: &Tensor) -> Result<(Dims, usize, usize), Fault> {
    let [batch @ .., rows, columns] = tensor.dims() else {
        return Err(Fault::invalid(format!("a matrix of rank {}", tensor.rank())));
    };
    Ok((Dims::from_slice(batch), *rows as usize, *columns as usize))
}

/// The matrices of the last two dimensions.
///
/// # Errors
/// As [`sizes`].
pub(crate) fn matrices<T: Scalar>(tensor: &Tensor) -> Result<Vec<Array2<T>>, Fault> {
    let (batch, rows, columns) = sizes(tensor)?;
    let elements = T::elements(tensor);
    let size = rows * columns;
    let matrix = |at: usize| {
        Array2::from_shape_fn((rows, columns), |(i, j)| elements[at * size + i * columns + j])
    };
    Ok((0..batch.iter().product::<i64>() as usize).map(matrix).collect())
}

/// A tensor of matrices of the same size.
pub(crate) fn tensor<T: Scalar>(
    element: ElementType,
    batch: &[i64],
    size: (usize, usize),
    matrices: &[Array2<T>],
) -> Tensor {
    let dims: Dims = batch.iter().copied().chain([size.0 as i64, size.1 as i64]).collect();
    let values = matrices.iter().flat_map(|matrix| matrix.iter().copied()).collect();
    T::tensor(element, &dims, values)
}

/// The conjugate transpose.
pub(crate) fn adjoint<T: Scalar>(a: &Array2<T>) -> Array2<T> {
    Array2::from_shape_fn((a.ncols(), a.nrows()), |(i, j)| a[[j, i]].conj())
}
