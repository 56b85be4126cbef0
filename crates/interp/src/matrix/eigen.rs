//! Eigenvalues and eigenvectors of any square matrix.

use ndarray::Array2;
use num_complex::Complex;

use super::{Scalar, complex_schur, real_schur};

type Number = Complex<f64>;

/// Eigenvalues, and vectors as columns: of length 1, the largest element of each real.
pub(crate) struct Eigen {
    pub values: Vec<Number>,
    /// Of `v^H * a = value * v^H`.
    pub left: Array2<Number>,
    /// Of `a * v = value * v`.
    pub right: Array2<Number>,
}

/// A Schur form with its basis and the eigenvalues.
pub(crate) struct Schur<T> {
    pub form: Array2<T>,
    pub basis: Array2<T>,
    pub values: Vec<Number>,
}

/// What real and complex matrices do each in their own way.
pub(crate) trait General: Scalar {
    /// The Schur form; `None` if the matrix isn't finite.
    fn schur(a: &Array2<Self>) -> Option<Schur<Self>>;

    /// The eigenvalues and vectors; `None` if the matrix isn't finite.
    fn eigen(a: &Array2<Self>) -> Option<Eigen>;
}

impl General for Number {
    fn schur(a: &Array2<Number>) -> Option<Schur<Number>> {
        let (form, basis) = complex_schur(a)?;
        let values = form.diag().to_vec();
        Some(Schur { form, basis, values })
    }

    fn eigen(a: &Array2<Number>) -> Option<Eigen> {
        let Schur { form, basis, values } = Number::schur(a)?;
        let (left, right) = (left_vectors(&form), right_vectors(&form));
        Some(Eigen {
            values,
            left: normalized(basis.dot(&left)),
            right: normalized(basis.dot(&right)),
        })
    }
}

impl General for f64 {
    fn schur(a: &Array2<f64>) -> Option<Schur<f64>> {
        let (form, basis) = real_schur(a)?;
        let n = form.nrows();
        let mut values = Vec::with_capacity(n);
        while values.len() < n {
            let k = values.len();
            let below = if k + 1 < n { form[[k + 1, k]] } else { 0.0 };
            if below == 0.0 {
                values.push(Number::new(form[[k, k]], 0.0));
            } else {
                let size = below.abs().sqrt() * form[[k, k + 1]].abs().sqrt();
                values.push(Number::new(form[[k, k]], size));
                values.push(Number::new(form[[k, k]], -size));
            }
        }
        Some(Schur { form, basis, values })
    }

    fn eigen(a: &Array2<f64>) -> Option<Eigen> {
        let Schur { form, basis, values } = f64::schur(a)?;
        let (mut form, mut basis) = (form.mapv(Number::from), basis.mapv(Number::from));
        split_blocks(&mut form, &mut basis);
        let (left, right) = (left_vectors(&form), right_vectors(&form));
        let mut left = normalized(basis.dot(&left));
        let mut right = normalized(basis.dot(&right));
        for vectors in [&mut left, &mut right] {
            for (k, value) in values.iter().enumerate() {
                for i in 0..vectors.nrows() {
                    if value.im == 0.0 {
                        vectors[[i, k]].im = 0.0;
                    } else if value.im < 0.0 {
                        vectors[[i, k]] = vectors[[i, k - 1]].conj();
                    }
                }
            }
        }
        Some(Eigen { values, left, right })
    }
}

/// Makes each block of two by two triangular, which takes complex numbers; the eigenvalue with the
/// positive imaginary part comes first.
fn split_blocks(t: &mut Array2<Number>, z: &mut Array2<Number>) {
    let n = t.nrows();
    for m in 1..n {
        let below = t[[m, m - 1]];
        if below == Number::default() {
            continue;
        }
        let size = below.norm().sqrt() * t[[m - 1, m]].norm().sqrt();
        // The eigenvector of the block is (i * size, below).
        let r = size.hypot(below.norm());
        let (c, s) = (Number::new(0.0, size / r), below / r);
        for j in m - 1..n {
            let (a, b) = (t[[m - 1, j]], t[[m, j]]);
            t[[m - 1, j]] = c.conj() * a + s.conj() * b;
            t[[m, j]] = c * b - s * a;
        }
        for (matrix, rows) in [(&mut *t, m + 1), (&mut *z, n)] {
            for i in 0..rows {
                let (a, b) = (matrix[[i, m - 1]], matrix[[i, m]]);
                matrix[[i, m - 1]] = a * c + b * s;
                matrix[[i, m]] = b * c.conj() - a * s.conj();
            }
        }
        t[[m, m - 1]] = Number::default();
    }
}

/// A triangular matrix whose largest element is 1, which has the same eigenvectors: products of
/// its elements neither vanish nor overflow.
fn scaled(t: &Array2<Number>) -> Array2<Number> {
    let largest = t.iter().map(|e| e.norm()).fold(0.0, f64::max);
    if largest == 0.0 { t.clone() } else { t.mapv(|e| e / largest) }
}

/// The difference of eigenvalues, or the least that equal ones are taken to differ by.
fn apart(difference: Number) -> Number {
    if difference.norm() < f64::EPSILON { Number::new(f64::EPSILON, 0.0) } else { difference }
}

/// Makes a vector shorter that would overflow, as vectors of equal eigenvalues do.
fn shorten(vectors: &mut Array2<Number>, column: usize, size: f64) {
    if size > 1e100 {
        vectors.column_mut(column).iter_mut().for_each(|e| *e /= size);
    }
}

/// The eigenvectors of a triangular matrix.
fn right_vectors(t: &Array2<Number>) -> Array2<Number> {
    let (n, t) = (t.nrows(), scaled(t));
    let mut x = Array2::zeros((n, n));
    for k in 0..n {
        x[[k, k]] = Number::new(1.0, 0.0);
        for i in (0..k).rev() {
            let sum: Number = (i + 1..=k).map(|j| t[[i, j]] * x[[j, k]]).sum();
            x[[i, k]] = -sum / apart(t[[i, i]] - t[[k, k]]);
            let size = x[[i, k]].norm();
            shorten(&mut x, k, size);
        }
    }
    x
}

fn left_vectors(t: &Array2<Number>) -> Array2<Number> {
    let (n, t) = (t.nrows(), scaled(t));
    let mut y = Array2::zeros((n, n));
    for k in 0..n {
        y[[k, k]] = Number::new(1.0, 0.0);
        for i in k + 1..n {
            let sum: Number = (k..i).map(|j| t[[j, i]].conj() * y[[j, k]]).sum();
            y[[i, k]] = -sum / apart(t[[i, i]] - t[[k, k]]).conj();
            let size = y[[i, k]].norm();
            shorten(&mut y, k, size);
        }
    }
    y
}

/// Columns of length 1, the largest element of each real.
fn normalized(mut vectors: Array2<Number>) -> Array2<Number> {
    for mut column in vectors.columns_mut() {
        let norm = column.iter().map(|e| e.norm_sqr()).sum::<f64>().sqrt();
        let largest = column.iter().copied().fold(Number::default(), |best, e| {
            if e.norm_sqr() > best.norm_sqr() { e } else { best }
        });
        if norm > 0.0 {
            let factor = largest.conj() / (largest.norm() * norm);
            column.iter_mut().for_each(|e| *e *= factor);
        }
    }
    vectors
}
