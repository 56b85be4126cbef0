//! What the algorithms find is put together again.

use ndarray::Array2;
use num_complex::Complex;

use super::*;

/// Numbers between -1 and 1 that are the same in each run.
fn arbitrary<T: Scalar>(rows: usize, columns: usize, part: impl Fn(f64, f64) -> T) -> Array2<T> {
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    Array2::from_shape_fn((rows, columns), |_| part(next(), next()))
}

fn real(rows: usize, columns: usize) -> Array2<f64> {
    arbitrary(rows, columns, |re, _| re)
}

fn complex(rows: usize, columns: usize) -> Array2<Complex<f64>> {
    arbitrary(rows, columns, Complex::new)
}

fn close<T: Scalar>(a: &Array2<T>, b: &Array2<T>) {
    assert_eq!(a.dim(), b.dim());
    let difference = a.iter().zip(b).map(|(a, b)| (*a - *b).abs()).fold(0.0, f64::max);
    assert!(difference < 1e-11, "differs by {difference}");
}

fn unit<T: Scalar>(n: usize) -> Array2<T> {
    Array2::from_shape_fn((n, n), |(i, j)| if i == j { T::one() } else { T::zero() })
}

fn diagonal<T: Scalar>(values: &[f64], rows: usize, columns: usize) -> Array2<T> {
    Array2::from_shape_fn(
        (rows, columns),
        |(i, j)| {
            if i == j { T::real(values[i]) } else { T::zero() }
        },
    )
}

fn check<T: General>(make: impl Fn(usize, usize) -> Array2<T>) {
    for (m, n) in [(1, 1), (5, 5), (7, 4), (4, 7), (0, 3)] {
        let a = make(m, n);
        let (factors, taus) = qr(a.clone());
        let r =
            Array2::from_shape_fn(
                factors.dim(),
                |(i, j)| {
                    if i <= j { factors[[i, j]] } else { T::zero() }
                },
            );
        let mut again = r;
        apply_q(&factors, &taus.to_vec(), &mut again, true, false);
        close(&again, &a);
        for full in [false, true] {
            let Svd { u, s, vh } = svd(&a, full).expect("finite");
            let middle = diagonal(&s, u.ncols(), vh.nrows());
            close(&u.dot(&middle).dot(&vh), &a);
            close(&adjoint(&u).dot(&u), &unit(u.ncols()));
            close(&vh.dot(&adjoint(&vh)), &unit(vh.nrows()));
        }
    }
    for n in [0, 1, 2, 3, 12] {
        let a = make(n, n);
        let hermitian = &a + &adjoint(&a);
        for lower in [true, false] {
            let (values, vectors) = eigen_hermitian(&hermitian, lower).expect("finite");
            let middle = diagonal(&values, n, n);
            close(&vectors.dot(&middle).dot(&adjoint(&vectors)), &hermitian);
        }
        let schur = T::schur(&a).expect("finite");
        close(&schur.basis.dot(&schur.form).dot(&adjoint(&schur.basis)), &a);
        let Eigen { values, left, right } = T::eigen(&a).expect("finite");
        let wide = a.mapv(|e| Complex::new(e.re(), e.im()));
        for (k, value) in values.iter().enumerate() {
            let (l, r) = (left.column(k), right.column(k));
            let residue = &wide.dot(&r) - &r.mapv(|e| e * value);
            assert!(residue.iter().all(|e| e.norm() < 1e-11), "{value}: {residue}");
            let residue = &adjoint(&wide).dot(&l) - &l.mapv(|e| e * value.conj());
            assert!(residue.iter().all(|e| e.norm() < 1e-11), "{value}: {residue}");
        }
    }
}

#[test]
fn real_matrices() {
    check(real);
}

#[test]
fn complex_matrices() {
    check(complex);
}

/// Multiple eigenvalues, no independent columns, and a rotation, whose shifts find nothing.
#[test]
fn hard_matrices() {
    check(|m, n| diagonal::<f64>(&vec![1.0; m.max(n)], m, n));
    check(|m, n| Array2::<f64>::zeros((m, n)));
    check(|m, n| Array2::<f64>::ones((m, n)));
    check(|m, n| Array2::from_shape_fn((m, n), |(i, j)| f64::from((i + 1) % m == j)));
    // Jordan's block, which has one eigenvector alone.
    check(|m, n| Array2::from_shape_fn((m, n), |(i, j)| f64::from(i == j || i + 1 == j)));
    check(|m, n| {
        Array2::from_shape_fn((m, n), |(i, j)| Complex::new(0.0, f64::from((i + 1) % m == j)))
    });
}

#[test]
fn what_is_not_finite_has_no_values() {
    let a = Array2::from_elem((3, 3), f64::NAN);
    assert!(svd(&a, true).is_none());
    assert!(eigen_hermitian(&a, true).is_none());
    assert!(<f64 as General>::eigen(&a).is_none());
}
