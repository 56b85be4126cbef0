//! Householder reflectors as LAPACK has them, and what is built of them.
//!
//! A reflector is `I - tau * v * v^H` with `v[0] = 1`; the rest of `v` is stored below the
//! diagonal (or in the row or column that it made zero), and `tau` by itself.

use ndarray::{Array1, Array2};

use super::Scalar;

/// Makes a vector's elements but the first zero: returns what the first becomes, `tau`, and leaves
/// the rest of `v` in their place.
fn reflector<T: Scalar>(alpha: T, rest: &mut [T]) -> (T, T) {
    let below: f64 = rest.iter().map(|e| e.norm_squared()).sum();
    if below == 0.0 && alpha.im() == 0.0 {
        return (alpha, T::zero());
    }
    let norm = (alpha.norm_squared() + below).sqrt();
    let beta = if alpha.re() >= 0.0 { -norm } else { norm };
    let tau = (T::real(beta) - alpha) / T::real(beta);
    let scale = T::one() / (alpha - T::real(beta));
    rest.iter_mut().for_each(|e| *e *= scale);
    (T::real(beta), tau)
}

/// Applies `I - tau * v * v^H` to rows `first..` of the columns `columns` from the left.
fn from_left<T: Scalar>(
    a: &mut Array2<T>,
    v: &[T],
    tau: T,
    first: usize,
    columns: std::ops::Range<usize>,
) {
    for j in columns {
        let mut sum = T::zero();
        for (i, v) in v.iter().enumerate() {
            sum += v.conj() * a[[first + i, j]];
        }
        let sum = sum * tau;
        for (i, v) in v.iter().enumerate() {
            a[[first + i, j]] -= *v * sum;
        }
    }
}

/// Applies it to columns `first..` of the rows `rows` from the right.
fn from_right<T: Scalar>(
    a: &mut Array2<T>,
    v: &[T],
    tau: T,
    first: usize,
    rows: std::ops::Range<usize>,
) {
    for i in rows {
        let mut sum = T::zero();
        for (j, v) in v.iter().enumerate() {
            sum += a[[i, first + j]] * *v;
        }
        let sum = sum * tau;
        for (j, v) in v.iter().enumerate() {
            a[[i, first + j]] -= sum * v.conj();
        }
    }
}

/// `v` of the reflector in a column, from the diagonal or `below` it.
fn stored<T: Scalar>(a: &Array2<T>, column: usize, first: usize) -> Vec<T> {
    let rest = (first + 1..a.nrows()).map(|i| a[[i, column]]);
    std::iter::once(T::one()).chain(rest).collect()
}

/// The reflector that makes column `column` zero below row `first`, stored there.
fn reduce_column<T: Scalar>(a: &mut Array2<T>, column: usize, first: usize) -> T {
    let mut rest: Vec<T> = (first + 1..a.nrows()).map(|i| a[[i, column]]).collect();
    let (beta, tau) = reflector(a[[first, column]], &mut rest);
    a[[first, column]] = beta;
    rest.into_iter().enumerate().for_each(|(i, e)| a[[first + 1 + i, column]] = e);
    tau
}

/// `geqrf`: the upper triangle becomes R, the rest holds the reflectors.
pub(crate) fn qr<T: Scalar>(mut a: Array2<T>) -> (Array2<T>, Array1<T>) {
    let (m, n) = a.dim();
    let mut taus = Array1::zeros(m.min(n));
    for k in 0..m.min(n) {
        taus[k] = reduce_column(&mut a, k, k);
        let v = stored(&a, k, k);
        from_left(&mut a, &v, taus[k].conj(), k, k + 1..n);
    }
    (a, taus)
}

/// `geqp3`: the same with columns exchanged so that the diagonal of R doesn't increase. `jpvt` says
/// of each column where it came from, from 1; columns whose number isn't 0 beforehand come first.
pub(crate) fn pivoted_qr<T: Scalar>(mut a: Array2<T>, jpvt: &mut [i64]) -> (Array2<T>, Array1<T>) {
    let (m, n) = a.dim();
    let mut fixed = 0;
    for j in 0..n {
        if jpvt[j] != 0 {
            swap_columns(&mut a, j, fixed);
            jpvt[j] = jpvt[fixed];
            jpvt[fixed] = j as i64 + 1;
            fixed += 1;
        } else {
            jpvt[j] = j as i64 + 1;
        }
    }
    let mut taus = Array1::zeros(m.min(n));
    for k in 0..m.min(n) {
        if k >= fixed {
            let norm = |j: usize| (k..m).map(|i| a[[i, j]].norm_squared()).sum::<f64>();
            // The first of equal ones.
            let mut best = (k, norm(k));
            for j in k + 1..n {
                if norm(j) > best.1 {
                    best = (j, norm(j));
                }
            }
            swap_columns(&mut a, k, best.0);
            jpvt.swap(k, best.0);
        }
        taus[k] = reduce_column(&mut a, k, k);
        let v = stored(&a, k, k);
        from_left(&mut a, &v, taus[k].conj(), k, k + 1..n);
    }
    (a, taus)
}

fn swap_columns<T: Scalar>(a: &mut Array2<T>, j: usize, k: usize) {
    for i in 0..a.nrows() {
        a.swap([i, j], [i, k]);
    }
}

/// `orgqr`: the first columns of the product of the reflectors in `a`, as many as it has.
pub(crate) fn q_of<T: Scalar>(a: &Array2<T>, taus: &[T]) -> Array2<T> {
    let (m, n) = a.dim();
    let mut q = Array2::from_shape_fn((m, n), |(i, j)| if i == j { T::one() } else { T::zero() });
    for k in (0..taus.len().min(m).min(n)).rev() {
        from_left(&mut q, &stored(a, k, k), taus[k], k, 0..n);
    }
    q
}

/// `ormqr`: `op(Q) * c`, or `c * op(Q)`, with the product of the reflectors in `a`.
pub(crate) fn apply_q<T: Scalar>(
    a: &Array2<T>,
    taus: &[T],
    c: &mut Array2<T>,
    left: bool,
    adjoint: bool,
) {
    let count = taus.len();
    for step in 0..count {
        let k = if left == adjoint { step } else { count - 1 - step };
        let v = stored(a, k, k);
        let tau = if adjoint { taus[k].conj() } else { taus[k] };
        if left {
            let columns = 0..c.ncols();
            from_left(c, &v, tau, k, columns);
        } else {
            let rows = 0..c.nrows();
            from_right(c, &v, tau, k, rows);
        }
    }
}

/// `gehrd`: a similar matrix that is zero below the first subdiagonal, where the reflectors are.
/// Rows and columns outside of `low..high` are that already.
pub(crate) fn hessenberg<T: Scalar>(
    mut a: Array2<T>,
    low: usize,
    high: usize,
) -> (Array2<T>, Array1<T>) {
    let n = a.nrows();
    let mut taus = Array1::zeros(n.saturating_sub(1));
    for k in low..high.saturating_sub(1).min(n.saturating_sub(1)) {
        let mut rest: Vec<T> = (k + 2..high).map(|i| a[[i, k]]).collect();
        let (beta, tau) = reflector(a[[k + 1, k]], &mut rest);
        a[[k + 1, k]] = beta;
        rest.iter().enumerate().for_each(|(i, e)| a[[k + 2 + i, k]] = *e);
        let v: Vec<T> = std::iter::once(T::one()).chain(rest).collect();
        from_right(&mut a, &v, tau, k + 1, 0..high);
        from_left(&mut a, &v, tau.conj(), k + 1, k + 1..n);
        taus[k] = tau;
    }
    (a, taus)
}

/// The product of the reflectors that [`hessenberg`] leaves.
pub(crate) fn hessenberg_basis<T: Scalar>(a: &Array2<T>, taus: &Array1<T>) -> Array2<T> {
    let n = a.nrows();
    let mut q = Array2::from_shape_fn((n, n), |(i, j)| if i == j { T::one() } else { T::zero() });
    for k in (0..taus.len()).rev() {
        from_left(&mut q, &stored(a, k, k + 1), taus[k], k + 1, 0..n);
    }
    q
}

/// A real tridiagonal matrix that is similar to a Hermitian one.
pub(crate) struct Tridiagonal<T> {
    /// The reflectors, as `sytrd` and `hetrd` leave them.
    pub a: Array2<T>,
    pub diagonal: Vec<f64>,
    pub off_diagonal: Vec<f64>,
    pub taus: Vec<T>,
}

/// `sytrd`, `hetrd`: reads one triangle and leaves the reflectors in it.
pub(crate) fn tridiagonal<T: Scalar>(mut a: Array2<T>, lower: bool) -> Tridiagonal<T> {
    let n = a.nrows();
    let steps = n.saturating_sub(1);
    let mut taus = vec![T::zero(); steps];
    let mut off_diagonal = vec![0.0; steps];
    // All of the matrix is kept up to date, and its other triangle brought back in the end.
    let before = a.clone();
    for i in 0..n {
        a[[i, i]] = T::real(a[[i, i]].re());
        for j in 0..i {
            if lower {
                a[[j, i]] = a[[i, j]].conj();
            } else {
                a[[i, j]] = a[[j, i]].conj();
            }
        }
    }
    let mut vectors = Array2::zeros((n, n));
    for step in 0..steps {
        // From the first column downwards, or from the last one upwards.
        let (column, pivot, others): (usize, usize, Vec<usize>) = if lower {
            (step, step + 1, (step + 2..n).collect())
        } else {
            let column = n - 1 - step;
            (column, column - 1, (0..column - 1).collect())
        };
        let mut rest: Vec<T> = others.iter().map(|i| a[[*i, column]]).collect();
        let (beta, tau) = reflector(a[[pivot, column]], &mut rest);
        let place = if lower { step } else { column - 1 };
        taus[place] = tau;
        off_diagonal[place] = beta.re();
        let mut v = vec![T::zero(); n];
        v[pivot] = T::one();
        others.iter().zip(&rest).for_each(|(i, e)| v[*i] = *e);
        from_left(&mut a, &v, tau.conj(), 0, 0..n);
        from_right(&mut a, &v, tau, 0, 0..n);
        vectors[[pivot, column]] = beta;
        others.iter().zip(&rest).for_each(|(i, e)| vectors[[*i, column]] = *e);
    }
    let diagonal: Vec<f64> = (0..n).map(|i| a[[i, i]].re()).collect();
    for i in 0..n {
        for j in 0..n {
            let inside = if lower { i > j } else { i < j };
            a[[i, j]] = match (i == j, inside) {
                (true, _) => T::real(diagonal[i]),
                (false, true) => vectors[[i, j]],
                (false, false) => before[[i, j]],
            };
        }
    }
    Tridiagonal { a, diagonal, off_diagonal, taus }
}
