//! Schur forms: triangular matrices that are similar to others.
//!
//! A real matrix has a real one with blocks of two by two, each of a pair of complex eigenvalues,
//! with equal elements on the diagonal, as LAPACK standardizes them.

use ndarray::Array2;
use num_complex::Complex;

use super::{Scalar, hessenberg, hessenberg_basis};

type Number = Complex<f64>;

/// Steps for one eigenvalue, after which there is no hope.
const MOST_STEPS: usize = 100;

/// The matrix in Hessenberg form, and the basis. `None` if it isn't finite.
fn prepared<T: Scalar>(a: &Array2<T>) -> Option<(Array2<T>, Array2<T>)> {
    if !a.iter().all(|e| e.re().is_finite() && e.im().is_finite()) {
        return None;
    }
    let n = a.nrows();
    let (mut h, taus) = hessenberg(a.clone(), 0, n);
    let z = hessenberg_basis(&h, &taus);
    for i in 2..n {
        for j in 0..i - 1 {
            h[[i, j]] = T::zero();
        }
    }
    Some((h, z))
}

/// The first row of the block that ends at `last` and doesn't fall apart.
fn block_start<T: Scalar>(h: &mut Array2<T>, last: usize) -> usize {
    let all: f64 = h.iter().map(|e| e.abs()).fold(0.0, f64::max);
    for i in (1..=last).rev() {
        let around = h[[i, i]].abs() + h[[i - 1, i - 1]].abs();
        let scale = if around == 0.0 { all } else { around };
        if h[[i, i - 1]].abs() <= f64::EPSILON * scale {
            h[[i, i - 1]] = T::zero();
            return i;
        }
    }
    0
}

/// `T` and `Z` of `a = Z * T * Z^H`, or `None` if that didn't converge.
pub(super) fn complex_schur(a: &Array2<Number>) -> Option<(Array2<Number>, Array2<Number>)> {
    let (mut h, mut z) = prepared(a)?;
    let n = h.nrows();
    let mut last = n.saturating_sub(1);
    let mut steps = 0;
    while last > 0 {
        let first = block_start(&mut h, last);
        if first == last {
            last -= 1;
            steps = 0;
            continue;
        }
        steps += 1;
        if steps > MOST_STEPS {
            return None;
        }
        let shift = if steps % 10 == 0 {
            h[[last, last]] + Number::new(h[[last, last - 1]].norm(), 0.0)
        } else {
            nearest_eigenvalue(&h, last)
        };
        let mut x = h[[first, first]] - shift;
        let mut y = h[[first + 1, first]];
        for k in first..last {
            let r = x.norm().hypot(y.norm());
            let (c, s) = if r == 0.0 {
                (Number::new(1.0, 0.0), Number::new(0.0, 0.0))
            } else {
                (x / r, y / r)
            };
            for j in k.saturating_sub(1)..n {
                let (a, b) = (h[[k, j]], h[[k + 1, j]]);
                h[[k, j]] = c.conj() * a + s.conj() * b;
                h[[k + 1, j]] = c * b - s * a;
            }
            for i in 0..=(k + 2).min(last) {
                let (a, b) = (h[[i, k]], h[[i, k + 1]]);
                h[[i, k]] = a * c + b * s;
                h[[i, k + 1]] = b * c.conj() - a * s.conj();
            }
            for i in 0..n {
                let (a, b) = (z[[i, k]], z[[i, k + 1]]);
                z[[i, k]] = a * c + b * s;
                z[[i, k + 1]] = b * c.conj() - a * s.conj();
            }
            if k + 2 <= last {
                x = h[[k + 1, k]];
                y = h[[k + 2, k]];
            }
        }
    }
    for i in 1..n {
        for j in 0..i {
            h[[i, j]] = Number::new(0.0, 0.0);
        }
    }
    Some((h, z))
}

/// The eigenvalue of the last block of two by two that is nearest to its last element.
fn nearest_eigenvalue(h: &Array2<Number>, last: usize) -> Number {
    let (a, b) = (h[[last - 1, last - 1]], h[[last - 1, last]]);
    let (c, d) = (h[[last, last - 1]], h[[last, last]]);
    let half = (a - d) * 0.5;
    let root = (half * half + b * c).sqrt();
    let far = if (half + root).norm() >= (half - root).norm() { half + root } else { half - root };
    if far.norm() == 0.0 { d } else { d - b * c / far }
}

/// The same with real matrices.
pub(super) fn real_schur(a: &Array2<f64>) -> Option<(Array2<f64>, Array2<f64>)> {
    let (mut h, mut z) = prepared(a)?;
    // The first row after what is left.
    let mut end = h.nrows();
    let mut steps = 0;
    while end > 0 {
        let last = end - 1;
        let first = block_start(&mut h, last);
        if first == last {
            (end, steps) = (last, 0);
        } else if first + 1 == last {
            standardize(&mut h, &mut z, first);
            (end, steps) = (first, 0);
        } else {
            steps += 1;
            if steps > MOST_STEPS {
                return None;
            }
            double_step(&mut h, &mut z, first, last, steps % 10 == 0);
        }
    }
    let n = h.nrows();
    for i in 2..n {
        for j in 0..i - 1 {
            h[[i, j]] = 0.0;
        }
    }
    Some((h, z))
}

/// Francis's step with two shifts at once, which may be complex.
fn double_step(
    h: &mut Array2<f64>,
    z: &mut Array2<f64>,
    first: usize,
    last: usize,
    exceptional: bool,
) {
    let n = h.nrows();
    let (sum, product) = if exceptional {
        let size = h[[last, last - 1]].abs() + h[[last - 1, last - 2]].abs();
        let middle = 0.75 * size + h[[last, last]];
        (2.0 * middle, middle * middle + 0.4375 * size * size)
    } else {
        let (a, b) = (h[[last - 1, last - 1]], h[[last - 1, last]]);
        let (c, d) = (h[[last, last - 1]], h[[last, last]]);
        (a + d, a * d - b * c)
    };
    let (a, b) = (h[[first, first]], h[[first, first + 1]]);
    let (c, d) = (h[[first + 1, first]], h[[first + 1, first + 1]]);
    let mut bulge =
        vec![a * a + b * c - sum * a + product, c * (a + d - sum), c * h[[first + 2, first + 1]]];
    for k in first..last {
        let norm = bulge.iter().map(|e| e * e).sum::<f64>().sqrt();
        if norm > 0.0 {
            // The reflector I - scale * v * v^T.
            let mut v = bulge.clone();
            v[0] += norm.copysign(v[0]);
            let scale = 2.0 / v.iter().map(|e| e * e).sum::<f64>();
            for j in k.saturating_sub(1).max(first)..n {
                let sum: f64 = v.iter().enumerate().map(|(i, v)| v * h[[k + i, j]]).sum();
                v.iter().enumerate().for_each(|(i, v)| h[[k + i, j]] -= scale * sum * v);
            }
            for (matrix, rows) in [(&mut *h, (k + 4).min(last + 1)), (&mut *z, n)] {
                for i in 0..rows {
                    let sum: f64 = v.iter().enumerate().map(|(j, v)| v * matrix[[i, k + j]]).sum();
                    v.iter().enumerate().for_each(|(j, v)| matrix[[i, k + j]] -= scale * sum * v);
                }
            }
        }
        // What the step has pushed below the subdiagonal, in this column.
        if k > first {
            (k + 1..=last.min(k + 2)).for_each(|i| h[[i, k - 1]] = 0.0);
        }
        bulge = (k + 1..=last.min(k + 3)).map(|i| h[[i, k]]).collect();
    }
}

/// Turns a block of two by two at `k` so that it is triangular if its eigenvalues are real, and has
/// equal elements on the diagonal if not (LAPACK's `lanv2`).
fn standardize(h: &mut Array2<f64>, z: &mut Array2<f64>, k: usize) {
    let n = h.nrows();
    let block = [h[[k, k]], h[[k, k + 1]], h[[k + 1, k]], h[[k + 1, k + 1]]];
    let (new, c, s) = standard_block(block);
    for j in k + 2..n {
        let (a, b) = (h[[k, j]], h[[k + 1, j]]);
        h[[k, j]] = c * a + s * b;
        h[[k + 1, j]] = c * b - s * a;
    }
    for (matrix, rows) in [(&mut *h, k), (&mut *z, n)] {
        for i in 0..rows {
            let (a, b) = (matrix[[i, k]], matrix[[i, k + 1]]);
            matrix[[i, k]] = c * a + s * b;
            matrix[[i, k + 1]] = c * b - s * a;
        }
    }
    let [a, b, c, d] = new;
    (h[[k, k]], h[[k, k + 1]], h[[k + 1, k]], h[[k + 1, k + 1]]) = (a, b, c, d);
}

/// The block, and the cosine and sine of the rotation.
fn standard_block([a, b, c, d]: [f64; 4]) -> ([f64; 4], f64, f64) {
    if c == 0.0 {
        return ([a, b, c, d], 1.0, 0.0);
    }
    if b == 0.0 {
        return ([d, -c, 0.0, a], 0.0, 1.0);
    }
    if a == d && b.is_sign_negative() != c.is_sign_negative() {
        return ([a, b, c, d], 1.0, 0.0);
    }
    let half = 0.5 * (a - d);
    let larger = b.abs().max(c.abs());
    let smaller = b.abs().min(c.abs()) * b.signum() * c.signum();
    let scale = half.abs().max(larger);
    let discriminant = half / scale * half + larger / scale * smaller;
    if discriminant >= 4.0 * f64::EPSILON {
        // Two real eigenvalues.
        let root = half + (scale.sqrt() * discriminant.sqrt()).copysign(half);
        let norm = c.hypot(root);
        return ([d + root, b - c, 0.0, d - larger / root * smaller], root / norm, c / norm);
    }
    // A pair of complex ones, or nearly equal real ones: makes the diagonal equal.
    let sum = b + c;
    let norm = sum.hypot(a - d);
    let cos = (0.5 * (1.0 + sum.abs() / norm)).sqrt();
    let sin = -(half / (norm * cos)) * 1.0f64.copysign(sum);
    let (aa, bb) = (a * cos + b * sin, b * cos - a * sin);
    let (cc, dd) = (c * cos + d * sin, d * cos - c * sin);
    let (a, b) = (aa * cos + cc * sin, bb * cos + dd * sin);
    let (c, d) = (cc * cos - aa * sin, dd * cos - bb * sin);
    let middle = 0.5 * (a + d);
    if c == 0.0 {
        return ([middle, b, c, middle], cos, sin);
    }
    if b == 0.0 {
        return ([middle, -c, 0.0, middle], -sin, cos);
    }
    if b.is_sign_negative() != c.is_sign_negative() {
        return ([middle, b, c, middle], cos, sin);
    }
    // Real after all.
    let (root_b, root_c) = (b.abs().sqrt(), c.abs().sqrt());
    let p = (root_b * root_c).copysign(c);
    let tau = 1.0 / (b + c).abs().sqrt();
    let (cos_more, sin_more) = (root_b * tau, root_c * tau);
    (
        [middle + p, b - c, 0.0, middle - p],
        cos * cos_more - sin * sin_more,
        cos * sin_more + sin * cos_more,
    )
}
