//! Eigenvalues of Hermitian matrices, and singular values.

use ndarray::Array2;

use super::reflectors::tridiagonal;
use super::{Scalar, adjoint};

/// The eigenvalues of a Hermitian matrix, of which one triangle is read, ascending, and the
/// eigenvectors as columns. `None` if the matrix isn't finite.
pub(crate) fn eigen_hermitian<T: Scalar>(
    a: &Array2<T>,
    lower: bool,
) -> Option<(Vec<f64>, Array2<T>)> {
    let n = a.nrows();
    if !a.iter().all(|e| e.re().is_finite() && e.im().is_finite()) {
        return None;
    }
    let reduced = tridiagonal(a.clone(), lower);
    // The product of the reflectors, applied to the identity.
    let mut z = Array2::from_shape_fn((n, n), |(i, j)| if i == j { T::one() } else { T::zero() });
    let steps = n.saturating_sub(1);
    for step in 0..steps {
        // Column, and where in it `v` is one; the last reflector comes first.
        let (column, pivot) =
            if lower { (steps - 1 - step, steps - step) } else { (step + 1, step) };
        let tau = reduced.taus[if lower { column } else { pivot }];
        let mut v = vec![T::zero(); n];
        v[pivot] = T::one();
        let rest = if lower { pivot + 1..n } else { 0..pivot };
        rest.for_each(|i| v[i] = reduced.a[[i, column]]);
        for j in 0..n {
            let mut sum = T::zero();
            for (i, v) in v.iter().enumerate() {
                sum += v.conj() * z[[i, j]];
            }
            for (i, v) in v.iter().enumerate() {
                z[[i, j]] -= tau * *v * sum;
            }
        }
    }
    let mut diagonal = reduced.diagonal;
    let mut off = reduced.off_diagonal;
    off.push(0.0);
    implicit_ql(&mut diagonal, &mut off, &mut z)?;
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|a, b| diagonal[*a].total_cmp(&diagonal[*b]));
    let values = order.iter().map(|i| diagonal[*i]).collect();
    Some((values, Array2::from_shape_fn((n, n), |(i, j)| z[[i, order[j]]])))
}

/// The QL algorithm with implicit shifts on a tridiagonal matrix.
fn implicit_ql<T: Scalar>(d: &mut [f64], e: &mut [f64], z: &mut Array2<T>) -> Option<()> {
    let n = d.len();
    for l in 0..n {
        for iteration in 0.. {
            let small = |m: usize| {
                let around = d[m].abs() + d[m + 1].abs();
                e[m].abs() <= f64::EPSILON * around + f64::MIN_POSITIVE
            };
            let m = (l..n - 1).find(|m| small(*m)).unwrap_or(n - 1);
            if m == l {
                break;
            }
            if iteration == 60 {
                return None;
            }
            let g = (d[l + 1] - d[l]) / (2.0 * e[l]);
            let r = g.hypot(1.0);
            let mut g = d[m] - d[l] + e[l] / (g + r.copysign(g));
            let (mut s, mut c, mut p) = (1.0, 1.0, 0.0);
            let mut whole = true;
            for i in (l..m).rev() {
                let (f, b) = (s * e[i], c * e[i]);
                let r = f.hypot(g);
                e[i + 1] = r;
                if r == 0.0 {
                    d[i + 1] -= p;
                    e[m] = 0.0;
                    whole = false;
                    break;
                }
                s = f / r;
                c = g / r;
                g = d[i + 1] - p;
                let r = (d[i] - g) * s + 2.0 * c * b;
                p = s * r;
                d[i + 1] = g + p;
                g = c * r - b;
                for k in 0..z.nrows() {
                    let (a, b) = (z[[k, i]], z[[k, i + 1]]);
                    z[[k, i + 1]] = T::real(s) * a + T::real(c) * b;
                    z[[k, i]] = T::real(c) * a - T::real(s) * b;
                }
            }
            if whole {
                d[l] -= p;
                e[l] = g;
                e[m] = 0.0;
            }
        }
    }
    Some(())
}

/// The parts of a singular value decomposition `u * diag(s) * v^H`.
pub(crate) struct Svd<T> {
    /// As many columns as asked for.
    pub u: Array2<T>,
    /// Descending.
    pub s: Vec<f64>,
    /// `v^H`, as many rows as asked for.
    pub vh: Array2<T>,
}

/// One-sided Jacobi rotations. `full` asks for square `u` and `v`. `None` if the matrix isn't
/// finite.
pub(crate) fn svd<T: Scalar>(a: &Array2<T>, full: bool) -> Option<Svd<T>> {
    if !a.iter().all(|e| e.re().is_finite() && e.im().is_finite()) {
        return None;
    }
    if a.nrows() < a.ncols() {
        let Svd { u, s, vh } = svd(&adjoint(a), full)?;
        return Some(Svd { u: adjoint(&vh), s, vh: adjoint(&u) });
    }
    let (m, n) = a.dim();
    // Columns as rows, which lie together.
    let mut columns: Vec<Vec<T>> = a.columns().into_iter().map(|c| c.to_vec()).collect();
    let mut v: Vec<Vec<T>> = (0..n)
        .map(|i| (0..n).map(|j| if i == j { T::one() } else { T::zero() }).collect())
        .collect();
    for _ in 0..60 {
        let mut rotated = false;
        for p in 0..n {
            for q in p + 1..n {
                rotated |= rotate(&mut columns, &mut v, p, q);
            }
        }
        if !rotated {
            break;
        }
    }
    let norms: Vec<f64> = columns.iter().map(|c| norm(c)).collect();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|a, b| norms[*b].total_cmp(&norms[*a]));
    let s: Vec<f64> = order.iter().map(|i| norms[*i]).collect();
    let largest = s.first().copied().unwrap_or(0.0);
    let mut u: Vec<Vec<T>> = Vec::new();
    for (at, i) in order.iter().enumerate() {
        if s[at] > largest * f64::EPSILON * 1e-3 {
            u.push(columns[*i].iter().map(|e| *e / T::real(s[at])).collect());
        } else {
            complete(&mut u, m, at + 1);
        }
    }
    complete(&mut u, m, if full { m } else { n });
    Some(Svd {
        u: Array2::from_shape_fn((m, u.len()), |(i, j)| u[j][i]),
        s,
        vh: Array2::from_shape_fn((n, n), |(i, j)| v[order[i]][j].conj()),
    })
}

fn norm<T: Scalar>(column: &[T]) -> f64 {
    let largest = column.iter().map(|e| e.abs()).fold(0.0, f64::max);
    if largest == 0.0 {
        return 0.0;
    }
    // Squares of what is very small or large would be lost.
    let scaled = |e: &T| (*e / T::real(largest)).norm_squared();
    largest * column.iter().map(scaled).sum::<f64>().sqrt()
}

/// Makes two columns orthogonal; whether they weren't yet.
fn rotate<T: Scalar>(columns: &mut [Vec<T>], v: &mut [Vec<T>], p: usize, q: usize) -> bool {
    let alpha: f64 = columns[p].iter().map(|e| e.norm_squared()).sum();
    let beta: f64 = columns[q].iter().map(|e| e.norm_squared()).sum();
    let mut gamma = T::zero();
    for (a, b) in columns[p].iter().zip(&columns[q]) {
        gamma += a.conj() * *b;
    }
    let size = gamma.abs();
    if size == 0.0 || size <= f64::EPSILON * (alpha * beta).sqrt() {
        return false;
    }
    let zeta = (beta - alpha) / (2.0 * size);
    let t = 1.0f64.copysign(zeta) / (zeta.abs() + zeta.hypot(1.0));
    let c = 1.0 / t.hypot(1.0);
    let (c, s, phase) = (T::real(c), T::real(c * t), gamma / T::real(size));
    for vectors in [columns, v] {
        let (left, right) = vectors.split_at_mut(q);
        for (a, b) in left[p].iter_mut().zip(&mut right[0]) {
            let turned = *b * phase.conj();
            let first = *a;
            *a = c * first - s * turned;
            *b = s * first + c * turned;
        }
    }
    true
}

/// Adds vectors of `len` elements that are orthogonal to all before, until there are `count`.
fn complete<T: Scalar>(vectors: &mut Vec<Vec<T>>, len: usize, count: usize) {
    let mut axis = 0;
    while vectors.len() < count && axis < len {
        let mut next = vec![T::zero(); len];
        next[axis] = T::one();
        axis += 1;
        // Twice, since once isn't exact.
        for _ in 0..2 {
            for vector in vectors.iter() {
                let mut sum = T::zero();
                for (a, b) in vector.iter().zip(&next) {
                    sum += a.conj() * *b;
                }
                next.iter_mut().zip(vector).for_each(|(b, a)| *b -= sum * *a);
            }
        }
        let size = norm(&next);
        // Some axis is as far away as that, since there are fewer vectors than axes.
        if size > 0.5 / (len as f64).sqrt() {
            vectors.push(next.iter().map(|e| *e / T::real(size)).collect());
        }
    }
}
