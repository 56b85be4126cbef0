//! Factorisations, solves and Fourier transforms, by their textbook counts.

use shard_ir::ops::{FftType, Linalg};

use super::{Cx, Work, complex_factor, flops_only};

pub(super) fn work(cx: Cx, kind: &Linalg) -> Work {
    let Some(a) = cx.operand(0) else { return Work::default() };
    let last = a.dims.last().map_or(1.0, |&n| n.max(1) as f64);
    let factor = complex_factor(a.element);
    match kind {
        // n^3 / 3 for each matrix.
        Linalg::Cholesky(_) => flops_only(a.elements() as f64 * last / 3.0 * factor),
        // n operations for each element of the right-hand sides: n (n - 1) / 2 multiplications
        // with subtractions, and n divisions, a column.
        Linalg::TriangularSolve(_) => flops_only(cx.operand_elements(1) * last * factor),
        // 5 n log2 n; half of it where one side is real.
        Linalg::Fft(op) => {
            let points: f64 = op.length.iter().map(|&n| n.max(1) as f64).product();
            let (elements, share) = match op.kind {
                FftType::Fft | FftType::Ifft => (a.elements() as f64, 5.0),
                FftType::Rfft => (a.elements() as f64, 2.5),
                FftType::Irfft => (cx.result_elements(0), 2.5),
            };
            flops_only(share * elements * points.log2())
        }
    }
}
