//! Triangular systems of equations.

use ndarray::Array2;

use super::Scalar;

/// How a triangular matrix is taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Triangle {
    /// It stands at the left of the unknown.
    pub left: bool,
    /// Its lower triangle is read.
    pub lower: bool,
    /// Its diagonal is one, and not read.
    pub unit: bool,
    /// It is transposed.
    pub transposed: bool,
    /// It is conjugated.
    pub conjugated: bool,
}

/// The solution of `op(a) * x = b`, or of `x * op(a) = b`. The sizes must fit.
pub(crate) fn solve<T: Scalar>(how: Triangle, a: &Array2<T>, b: &Array2<T>) -> Array2<T> {
    // x * a = b is the same as transpose(a) * transpose(x) = transpose(b).
    let flipped = how.transposed == how.left;
    let lower = how.lower != flipped;
    let n = a.nrows();
    let at = |i: usize, j: usize| {
        let element = if flipped { a[[j, i]] } else { a[[i, j]] };
        if how.conjugated { element.conj() } else { element }
    };
    let mut x: Array2<T> = if how.left { b.clone() } else { b.t().to_owned() };
    let width = x.ncols();
    for step in 0..n {
        let i = if lower { step } else { n - 1 - step };
        let known = if lower { 0..i } else { i + 1..n };
        let mut row: Vec<T> = x.row(i).to_vec();
        for j in known {
            let factor = at(i, j);
            for (element, known) in row.iter_mut().zip(x.row(j)) {
                *element -= factor * *known;
            }
        }
        if !how.unit {
            let pivot = at(i, i);
            row.iter_mut().for_each(|element| *element /= pivot);
        }
        for (k, element) in row.into_iter().enumerate().take(width) {
            x[[i, k]] = element;
        }
    }
    if how.left { x } else { x.t().to_owned() }
}
