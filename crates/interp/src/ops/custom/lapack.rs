//! LAPACK, as jaxlib calls it: `lapack_` and a letter for the type, then the routine and `_ffi`.
//!
//! Matrices are the last two dimensions, whatever their layout in memory. Eigenvectors and singular
//! vectors are unique up to a factor only, which may be another one than LAPACK's.

use ndarray::{Array1, Array2};
use shard_ir::{Dims, ElementType};

use super::config::Config;
use crate::matrix::{
    self, Eigen, General, Scalar, Svd, Triangle, Tridiagonal, TridiagonalSolution, by_field,
};
use crate::ops::operands::{exactly, integers};
use crate::site::{Results, Site};
use crate::{Fault, Tensor};

type Outcome = Result<Results, Fault>;

/// One call.
struct Call<'a> {
    site: &'a Site<'a>,
    config: &'a Config<'a>,
    operands: &'a [Tensor],
}

/// Executes a call of `name`, such as `dgetrf_ffi`; `None` if that isn't known.
pub(super) fn eval(
    name: &str,
    site: &Site<'_>,
    config: &Config<'_>,
    operands: &[Tensor],
) -> Option<Outcome> {
    let routine = name.strip_suffix("_ffi")?.strip_prefix(['s', 'd', 'c', 'z'])?;
    let call = Call { site, config, operands };
    macro_rules! run {
        ($method:ident) => {
            match operands.first() {
                Some(first) => by_field!(first.element(), |T| call.$method::<T>()),
                None => Err(Fault::invalid("a call without operands")),
            }
        };
    }
    Some(match routine {
        "potrf" => run!(potrf),
        "trsm" => run!(trsm),
        "getrf" => run!(getrf),
        "geqrf" => run!(geqrf),
        "geqp3" => run!(geqp3),
        "orgqr" | "ungqr" => run!(orgqr),
        "ormqr" | "unmqr" => run!(ormqr),
        "syevd" | "heevd" => run!(syevd),
        "gesdd" | "gesvd" => run!(gesdd),
        "sytrd" | "hetrd" => run!(sytrd),
        "gehrd" => run!(gehrd),
        "geev" => run!(geev),
        "gees" => run!(gees),
        "gtsv" => run!(gtsv),
        _ => return None,
    })
}

/// A batch of matrices.
struct Batch<T> {
    dims: Dims,
    rows: usize,
    columns: usize,
    matrices: Vec<Array2<T>>,
}

impl<T: Scalar> Batch<T> {
    fn new(tensor: &Tensor) -> Result<Batch<T>, Fault> {
        let (dims, rows, columns) = matrix::sizes(tensor)?;
        Ok(Batch { dims, rows, columns, matrices: matrix::matrices(tensor)? })
    }

    fn square(tensor: &Tensor) -> Result<Batch<T>, Fault> {
        let batch = Batch::new(tensor)?;
        if batch.rows != batch.columns {
            return Err(Fault::invalid(format!(
                "a square matrix is wanted, and this has {} rows and {} columns",
                batch.rows, batch.columns
            )));
        }
        Ok(batch)
    }

    /// Vectors, one a matrix, of an operand that goes along with this one.
    fn vectors(&self, tensor: &Tensor) -> Result<(usize, Vec<Vec<T>>), Fault> {
        let Some((len, dims)) = tensor.dims().split_last() else { return Err(self.unfit(tensor)) };
        if dims != &self.dims[..] {
            return Err(self.unfit(tensor));
        }
        let elements = self.elements(tensor)?;
        let len = *len as usize;
        let vector = |at: usize| elements[at * len..(at + 1) * len].to_vec();
        Ok((len, (0..self.matrices.len()).map(vector).collect()))
    }

    /// The elements, if they are of the kind of the matrices'.
    fn elements(&self, tensor: &Tensor) -> Result<Vec<T>, Fault> {
        by_field!(tensor.element(), |U| {
            let same = std::any::TypeId::of::<U>() == std::any::TypeId::of::<T>();
            if same { Ok(()) } else { Err(self.unfit(tensor)) }
        })?;
        Ok(T::elements(tensor))
    }

    fn unfit(&self, tensor: &Tensor) -> Fault {
        Fault::invalid(format!(
            "an operand of {} {:?} beside matrices {:?} of {} by {}",
            tensor.element(),
            tensor.dims(),
            self.dims,
            self.rows,
            self.columns
        ))
    }

    /// The shape of vectors of `len`, one a matrix.
    fn vector_dims(&self, len: usize) -> Dims {
        self.dims.iter().copied().chain([len as i64]).collect()
    }

    fn info(&self, info: Vec<i32>) -> Tensor {
        Tensor::from_lanes(ElementType::I32, self.dims.clone(), info)
    }
}

/// A number that says that it didn't work.
fn failed<T>(result: &Option<T>) -> i32 {
    i32::from(result.is_none())
}

fn nans<T: Scalar>(rows: usize, columns: usize) -> Array2<T> {
    Array2::from_elem((rows, columns), T::real(f64::NAN))
}

impl Call<'_> {
    fn lower(&self) -> Result<bool, Fault> {
        Ok(self.config.letter("uplo")? == 'L')
    }

    /// Result `index`, of matrices.
    fn matrices<T: Scalar>(
        &self,
        index: usize,
        batch: &Dims,
        size: (usize, usize),
        matrices: &[Array2<T>],
    ) -> Result<Tensor, Fault> {
        Ok(matrix::tensor(self.site.result_element(index)?, batch, size, matrices))
    }

    /// Result `index`, of vectors.
    fn vectors<T: Scalar>(
        &self,
        index: usize,
        dims: &[i64],
        values: Vec<T>,
    ) -> Result<Tensor, Fault> {
        Ok(T::tensor(self.site.result_element(index)?, dims, values))
    }

    /// The factor stands in its triangle; in the other one is what was there.
    fn potrf<T: Scalar>(&self) -> Outcome {
        let [a] = exactly(self.operands)?;
        let batch = Batch::<T>::square(a)?;
        let lower = self.lower()?;
        let (mut factors, mut info) = (Vec::new(), Vec::new());
        for a in &batch.matrices {
            let (l, minor) =
                if lower { matrix::cholesky(a) } else { matrix::cholesky(&matrix::adjoint(a)) };
            let known = minor.unwrap_or(usize::MAX);
            factors.push(Array2::from_shape_fn(a.dim(), |(i, j)| {
                let (row, column) = if lower { (i, j) } else { (j, i) };
                match row >= column && column + 1 < known {
                    true if lower => l[[row, column]],
                    true => l[[row, column]].conj(),
                    false => a[[i, j]],
                }
            }));
            info.push(minor.unwrap_or(0) as i32);
        }
        let size = (batch.rows, batch.columns);
        Ok(Results::from_iter([self.matrices(0, &batch.dims, size, &factors)?, batch.info(info)]))
    }

    fn trsm<T: Scalar>(&self) -> Outcome {
        let [a, b] = exactly(self.operands)?;
        let (batch, b_batch) = (Batch::<T>::square(a)?, Batch::<T>::new(b)?);
        batch.elements(b)?;
        let op = self.config.letter("trans_x")?;
        let how = Triangle {
            left: self.config.letter("side")? == 'L',
            lower: self.lower()?,
            unit: self.config.letter("diag")? == 'U',
            transposed: op != 'N',
            conjugated: op == 'C',
        };
        let shared = if how.left { b_batch.rows } else { b_batch.columns };
        if batch.dims != b_batch.dims || batch.rows != shared {
            return Err(batch.unfit(b));
        }
        let pairs = batch.matrices.iter().zip(&b_batch.matrices);
        let solved: Vec<Array2<T>> = pairs.map(|(a, b)| matrix::solve(how, a, b)).collect();
        let size = (b_batch.rows, b_batch.columns);
        Ok(Results::from_iter([self.matrices(0, &batch.dims, size, &solved)?]))
    }

    fn getrf<T: Scalar>(&self) -> Outcome {
        let [a] = exactly(self.operands)?;
        let mut batch = Batch::<T>::new(a)?;
        let (mut pivots, mut info) = (Vec::new(), Vec::new());
        for a in &mut batch.matrices {
            let (factors, exchanged, zero) = matrix::lu(std::mem::take(a));
            *a = factors;
            pivots.extend(exchanged);
            info.push(zero);
        }
        let size = (batch.rows, batch.columns);
        let pivot_dims = batch.vector_dims(size.0.min(size.1));
        Ok(Results::from_iter([
            self.matrices(0, &batch.dims, size, &batch.matrices)?,
            Tensor::from_lanes::<i32>(ElementType::I32, pivot_dims, pivots),
            batch.info(info),
        ]))
    }

    fn geqrf<T: Scalar>(&self) -> Outcome {
        let [a] = exactly(self.operands)?;
        let mut batch = Batch::<T>::new(a)?;
        let mut taus = Vec::new();
        for a in &mut batch.matrices {
            let (factors, tau) = matrix::qr(std::mem::take(a));
            *a = factors;
            taus.extend(tau);
        }
        let size = (batch.rows, batch.columns);
        let tau_dims = batch.vector_dims(size.0.min(size.1));
        Ok(Results::from_iter([
            self.matrices(0, &batch.dims, size, &batch.matrices)?,
            self.vectors(1, &tau_dims, taus)?,
        ]))
    }

    fn geqp3<T: Scalar>(&self) -> Outcome {
        let [a, jpvt] = exactly(self.operands)?;
        let mut batch = Batch::<T>::new(a)?;
        let size = (batch.rows, batch.columns);
        let pivot_dims = batch.vector_dims(size.1);
        let mut columns = integers(jpvt)?;
        if jpvt.dims() != &pivot_dims[..] {
            return Err(batch.unfit(jpvt));
        }
        let mut taus = Vec::new();
        for (at, a) in batch.matrices.iter_mut().enumerate() {
            let columns = &mut columns[at * size.1..(at + 1) * size.1];
            let (factors, tau) = matrix::pivoted_qr(std::mem::take(a), columns);
            *a = factors;
            taus.extend(tau);
        }
        let columns = columns.iter().map(|column| *column as i32).collect();
        let tau_dims = batch.vector_dims(size.0.min(size.1));
        Ok(Results::from_iter([
            self.matrices(0, &batch.dims, size, &batch.matrices)?,
            Tensor::from_lanes::<i32>(ElementType::I32, pivot_dims, columns),
            self.vectors(2, &tau_dims, taus)?,
        ]))
    }

    fn orgqr<T: Scalar>(&self) -> Outcome {
        let [a, taus] = exactly(self.operands)?;
        let batch = Batch::<T>::new(a)?;
        let (_, taus) = batch.vectors(taus)?;
        let pairs = batch.matrices.iter().zip(&taus);
        let q: Vec<Array2<T>> = pairs.map(|(a, taus)| matrix::q_of(a, taus)).collect();
        let size = (batch.rows, batch.columns);
        Ok(Results::from_iter([self.matrices(0, &batch.dims, size, &q)?]))
    }

    fn ormqr<T: Scalar>(&self) -> Outcome {
        let [a, taus, c] = exactly(self.operands)?;
        let batch = Batch::<T>::new(a)?;
        let (count, taus) = batch.vectors(taus)?;
        batch.elements(c)?;
        let mut other = Batch::<T>::new(c)?;
        let left = self.config.flag("left").unwrap_or(true);
        let adjoint = self.config.flag("transpose").unwrap_or(false);
        let shared = if left { other.rows } else { other.columns };
        if other.dims != batch.dims || shared != batch.rows || count > batch.rows.min(batch.columns)
        {
            return Err(batch.unfit(c));
        }
        for ((a, taus), c) in batch.matrices.iter().zip(&taus).zip(&mut other.matrices) {
            matrix::apply_q(a, taus, c, left, adjoint);
        }
        let size = (other.rows, other.columns);
        Ok(Results::from_iter([self.matrices(0, &batch.dims, size, &other.matrices)?]))
    }

    fn syevd<T: Scalar>(&self) -> Outcome {
        let [a] = exactly(self.operands)?;
        let batch = Batch::<T>::square(a)?;
        let (n, lower) = (batch.rows, self.lower()?);
        let (mut vectors, mut values, mut info) = (Vec::new(), Vec::new(), Vec::new());
        for a in &batch.matrices {
            let found = matrix::eigen_hermitian(a, lower);
            info.push(failed(&found));
            let (w, v) = found.unwrap_or_else(|| (vec![f64::NAN; n], nans(n, n)));
            values.extend(w);
            vectors.push(v);
        }
        Ok(Results::from_iter([
            self.matrices(0, &batch.dims, (n, n), &vectors)?,
            self.vectors(1, &batch.vector_dims(n), values)?,
            batch.info(info),
        ]))
    }

    fn gesdd<T: Scalar>(&self) -> Outcome {
        let [a] = exactly(self.operands)?;
        let batch = Batch::<T>::new(a)?;
        let (m, n) = (batch.rows, batch.columns);
        // The shapes of the results say how many vectors there are.
        let sizes = |index: usize| -> Result<(usize, usize), Fault> {
            let dims = self.site.result_dims(index)?;
            let [.., rows, columns] = dims[..] else {
                return Err(Fault::invalid("singular vectors that are no matrix"));
            };
            Ok((rows as usize, columns as usize))
        };
        let (u_size, v_size) = (sizes(2)?, sizes(3)?);
        let least = m.min(n);
        let full = (u_size.1, v_size.0) == (m, n);
        if !(full || (u_size.1, v_size.0) == (least, least)) || u_size.0 != m || v_size.1 != n {
            return Err(Fault::invalid("another number of singular vectors than there are"));
        }
        let (mut u, mut s, mut vh) = (Vec::new(), Vec::new(), Vec::new());
        let mut info = Vec::new();
        for a in &batch.matrices {
            let found = matrix::svd(a, full);
            info.push(failed(&found));
            let found = found.unwrap_or_else(|| Svd {
                u: nans(u_size.0, u_size.1),
                s: vec![f64::NAN; least],
                vh: nans(v_size.0, v_size.1),
            });
            u.push(found.u);
            s.extend(found.s);
            vh.push(found.vh);
        }
        Ok(Results::from_iter([
            // LAPACK's scratch.
            a.clone(),
            self.vectors(1, &batch.vector_dims(least), s)?,
            self.matrices(2, &batch.dims, u_size, &u)?,
            self.matrices(3, &batch.dims, v_size, &vh)?,
            batch.info(info),
        ]))
    }

    fn sytrd<T: Scalar>(&self) -> Outcome {
        let [a] = exactly(self.operands)?;
        let batch = Batch::<T>::square(a)?;
        let (n, lower) = (batch.rows, self.lower()?);
        let (mut reduced, mut diagonals, mut offs, mut all_taus) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for a in &batch.matrices {
            let Tridiagonal { mut a, diagonal, off_diagonal, taus } =
                matrix::tridiagonal(a.clone(), lower);
            // The tridiagonal matrix stands in the matrix, too.
            for (k, e) in off_diagonal.iter().enumerate() {
                let place = if lower { [k + 1, k] } else { [k, k + 1] };
                a[place] = T::real(*e);
            }
            reduced.push(a);
            diagonals.extend(diagonal);
            offs.extend(off_diagonal);
            all_taus.extend(taus);
        }
        let less = batch.vector_dims(n.saturating_sub(1));
        let info = vec![0; batch.matrices.len()];
        Ok(Results::from_iter([
            self.matrices(0, &batch.dims, (n, n), &reduced)?,
            self.vectors(1, &batch.vector_dims(n), diagonals)?,
            self.vectors(2, &less, offs)?,
            self.vectors(3, &less, all_taus)?,
            batch.info(info),
        ]))
    }

    fn gehrd<T: Scalar>(&self) -> Outcome {
        let [a] = exactly(self.operands)?;
        let mut batch = Batch::<T>::square(a)?;
        let n = batch.rows;
        let bound = |name, or| {
            let value = self.config.integer(name).and_then(|value| usize::try_from(value).ok());
            value.unwrap_or(or).min(n)
        };
        let (low, high) = (bound("low", 1).saturating_sub(1), bound("high", n));
        let mut taus: Vec<T> = Vec::new();
        for a in &mut batch.matrices {
            let (reduced, tau): (_, Array1<T>) = matrix::hessenberg(std::mem::take(a), low, high);
            *a = reduced;
            taus.extend(tau);
        }
        let tau_dims = batch.vector_dims(n.saturating_sub(1));
        let info = vec![0; batch.matrices.len()];
        Ok(Results::from_iter([
            self.matrices(0, &batch.dims, (n, n), &batch.matrices)?,
            self.vectors(1, &tau_dims, taus)?,
            batch.info(info),
        ]))
    }

    /// Real and imaginary parts of eigenvalues as two results, or both as one.
    fn eigenvalues(
        &self,
        first: usize,
        dims: &[i64],
        values: Vec<num_complex::Complex<f64>>,
    ) -> Result<Results, Fault> {
        if self.site.result_element(first)?.is_float() {
            let (re, im) = values.iter().map(|value| (value.re, value.im)).unzip();
            return Ok(Results::from_iter([
                self.vectors::<f64>(first, dims, re)?,
                self.vectors::<f64>(first + 1, dims, im)?,
            ]));
        }
        Ok(Results::from_iter([self.vectors(first, dims, values)?]))
    }

    fn geev<T: General>(&self) -> Outcome {
        let [a] = exactly(self.operands)?;
        let batch = Batch::<T>::square(a)?;
        let n = batch.rows;
        let (mut all, mut lefts, mut rights) = (Vec::new(), Vec::new(), Vec::new());
        let mut info = Vec::new();
        for a in &batch.matrices {
            let found = T::eigen(a);
            info.push(failed(&found));
            let Eigen { values, left, right } = found.unwrap_or_else(|| Eigen {
                values: vec![f64::NAN.into(); n],
                left: nans(n, n),
                right: nans(n, n),
            });
            all.extend(values);
            lefts.push(left);
            rights.push(right);
        }
        let mut results = self.eigenvalues(0, &batch.vector_dims(n), all)?;
        let next = results.len();
        results.push(self.matrices(next, &batch.dims, (n, n), &lefts)?);
        results.push(self.matrices(next + 1, &batch.dims, (n, n), &rights)?);
        results.push(batch.info(info));
        Ok(results)
    }

    fn gees<T: General>(&self) -> Outcome {
        let [a] = exactly(self.operands)?;
        if self.config.letter("sort")? != 'N' {
            return Err(Fault::unsupported("a Schur form with selected eigenvalues"));
        }
        let batch = Batch::<T>::square(a)?;
        let n = batch.rows;
        let (mut forms, mut bases, mut all) = (Vec::new(), Vec::new(), Vec::new());
        let mut info = Vec::new();
        for a in &batch.matrices {
            let found = T::schur(a);
            info.push(failed(&found));
            match found {
                Some(found) => {
                    forms.push(found.form);
                    bases.push(found.basis);
                    all.extend(found.values);
                }
                None => {
                    forms.push(nans(n, n));
                    bases.push(nans(n, n));
                    all.extend(vec![num_complex::Complex::from(f64::NAN); n]);
                }
            }
        }
        let mut results = Results::from_iter([
            self.matrices(0, &batch.dims, (n, n), &forms)?,
            self.matrices(1, &batch.dims, (n, n), &bases)?,
        ]);
        results.extend(self.eigenvalues(2, &batch.vector_dims(n), all)?);
        // No eigenvalues are selected.
        results.push(batch.info(vec![0; info.len()]));
        results.push(batch.info(info));
        Ok(results)
    }

    /// The diagonals have equal lengths; the first element of the lower one and the last of the
    /// upper one don't count.
    fn gtsv<T: Scalar>(&self) -> Outcome {
        let [lower, diagonal, upper, b] = exactly(self.operands)?;
        let batch = Batch::<T>::new(b)?;
        let n = batch.rows;
        let diagonals = [lower, diagonal, upper].map(|tensor| batch.vectors(tensor));
        let [(first, lowers), (second, diagonals), (third, uppers)] = match diagonals {
            [Ok(a), Ok(b), Ok(c)] => [a, b, c],
            [Err(fault), ..] | [_, Err(fault), _] | [.., Err(fault)] => return Err(fault),
        };
        if [first, second, third] != [n; 3] {
            return Err(batch.unfit(diagonal));
        }
        let mut outs: [Vec<T>; 3] = Default::default();
        let (mut solutions, mut info) = (Vec::new(), Vec::new());
        for (at, b) in batch.matrices.iter().enumerate() {
            let TridiagonalSolution { lower, diagonal, upper, x, info: zero } =
                matrix::solve_tridiagonal(
                    lowers[at].get(1..).unwrap_or_default().to_vec(),
                    diagonals[at].clone(),
                    uppers[at][..n.saturating_sub(1)].to_vec(),
                    b.clone(),
                );
            outs[0].extend(lowers[at].first().into_iter().chain(&lower));
            outs[1].extend(diagonal);
            outs[2].extend(upper.iter().chain(uppers[at].last()));
            solutions.push(x);
            info.push(zero);
        }
        let dims = batch.vector_dims(n);
        let [lower, diagonal, upper] = outs;
        Ok(Results::from_iter([
            self.vectors(0, &dims, lower)?,
            self.vectors(1, &dims, diagonal)?,
            self.vectors(2, &dims, upper)?,
            self.matrices(3, &batch.dims, (n, batch.columns), &solutions)?,
            batch.info(info),
        ]))
    }
}
