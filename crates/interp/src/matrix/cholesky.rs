//! Cholesky factors.

use ndarray::Array2;

use super::Scalar;

/// The lower factor of a matrix, of which the lower triangle is read; the other triangle is zero.
/// The second value is the number of the first leading minor that isn't positive, from 1; factors
/// are computed up to there.
pub(crate) fn cholesky<T: Scalar>(a: &Array2<T>) -> (Array2<T>, Option<usize>) {
    let n = a.nrows();
    let mut l: Array2<T> = Array2::zeros((n, n));
    for j in 0..n {
        let row_j: Vec<T> = l.row(j).iter().take(j).copied().collect();
        let pivot = a[[j, j]].re() - row_j.iter().map(|e| e.norm_squared()).sum::<f64>();
        // Also where it is NaN.
        if pivot.partial_cmp(&0.0) != Some(std::cmp::Ordering::Greater) {
            l[[j, j]] = T::real(pivot);
            return (l, Some(j + 1));
        }
        let pivot = pivot.sqrt();
        l[[j, j]] = T::real(pivot);
        for i in j + 1..n {
            let mut sum = a[[i, j]];
            for (k, b) in row_j.iter().enumerate() {
                sum -= l[[i, k]] * b.conj();
            }
            l[[i, j]] = sum / T::real(pivot);
        }
    }
    (l, None)
}
