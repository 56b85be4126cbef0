//! Elimination.

use ndarray::Array2;

use super::Scalar;

/// `getrf`: both factors in one matrix, the row that each row was exchanged with, from 1, and the
/// number of the first pivot that is zero, from 1, or 0.
pub(crate) fn lu<T: Scalar>(mut a: Array2<T>) -> (Array2<T>, Vec<i32>, i32) {
    let (m, n) = a.dim();
    let mut pivots = Vec::new();
    let mut info = 0;
    for k in 0..m.min(n) {
        // Complex numbers are compared by the sum of their parts; the first of equal ones is taken.
        let size = |i: usize| a[[i, k]].re().abs() + a[[i, k]].im().abs();
        let mut best = k;
        for i in k + 1..m {
            if size(i) > size(best) {
                best = i;
            }
        }
        pivots.push(best as i32 + 1);
        if best != k {
            for j in 0..n {
                a.swap([k, j], [best, j]);
            }
        }
        let pivot = a[[k, k]];
        if pivot == T::zero() {
            info = if info == 0 { k as i32 + 1 } else { info };
            continue;
        }
        for i in k + 1..m {
            let factor = a[[i, k]] / pivot;
            a[[i, k]] = factor;
            for j in k + 1..n {
                let upper = a[[k, j]];
                a[[i, j]] -= factor * upper;
            }
        }
    }
    (a, pivots, info)
}

/// What `gtsv` leaves: the factors of a tridiagonal matrix in place of its diagonals, the
/// solution, and the number of a pivot that is zero, from 1, or 0.
pub(crate) struct TridiagonalSolution<T> {
    pub lower: Vec<T>,
    pub diagonal: Vec<T>,
    pub upper: Vec<T>,
    pub x: Array2<T>,
    pub info: i32,
}

/// `gtsv`: elimination with exchanges of neighbouring rows. The diagonals below and above have one
/// element less than the middle one.
pub(crate) fn solve_tridiagonal<T: Scalar>(
    mut lower: Vec<T>,
    mut diagonal: Vec<T>,
    mut upper: Vec<T>,
    mut x: Array2<T>,
) -> TridiagonalSolution<T> {
    let n = diagonal.len();
    let size = |e: T| e.re().abs() + e.im().abs();
    let mut info = 0;
    for k in 0..n.saturating_sub(1) {
        if size(diagonal[k]) >= size(lower[k]) {
            if diagonal[k] == T::zero() {
                info = k as i32 + 1;
                return TridiagonalSolution { lower, diagonal, upper, x, info };
            }
            let factor = lower[k] / diagonal[k];
            diagonal[k + 1] -= factor * upper[k];
            for j in 0..x.ncols() {
                let above = x[[k, j]];
                x[[k + 1, j]] -= factor * above;
            }
            lower[k] = T::zero();
        } else {
            let factor = diagonal[k] / lower[k];
            diagonal[k] = lower[k];
            let next = diagonal[k + 1];
            diagonal[k + 1] = upper[k] - factor * next;
            // The second diagonal above takes the place of the one below.
            lower[k] = T::zero();
            if k + 2 < n {
                lower[k] = upper[k + 1];
                upper[k + 1] = -(factor * lower[k]);
            }
            upper[k] = next;
            for j in 0..x.ncols() {
                let above = x[[k, j]];
                x[[k, j]] = x[[k + 1, j]];
                x[[k + 1, j]] = above - factor * x[[k + 1, j]];
            }
        }
    }
    if n > 0 && diagonal[n - 1] == T::zero() {
        info = n as i32;
        return TridiagonalSolution { lower, diagonal, upper, x, info };
    }
    for j in 0..x.ncols() {
        for k in (0..n).rev() {
            let mut sum = x[[k, j]];
            if k + 1 < n {
                sum -= upper[k] * x[[k + 1, j]];
            }
            if k + 2 < n {
                sum -= lower[k] * x[[k + 2, j]];
            }
            x[[k, j]] = sum / diagonal[k];
        }
    }
    TridiagonalSolution { lower, diagonal, upper, x, info }
}
