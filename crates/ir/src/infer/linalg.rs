//! Linear algebra and Fourier transforms.

use crate::ops::{Fft, FftType, Linalg, TransposeKind, TriangularSolve};
use crate::{ElementType, TensorType};

use super::InferredType;
use super::context::kinds::{COMPLEX, FLOAT, QUANTIZED};
use super::context::{Cx, Found, compatible_dim, dims_text, like, real_part, size};

pub(super) fn infer(cx: &mut Cx, kind: &Linalg) -> Found {
    match kind {
        Linalg::Cholesky(_) => {
            let a = cx.tensor(0, "a")?;
            cx.kind(a, "a", FLOAT | COMPLEX | QUANTIZED);
            square(cx, a)?;
            like(a)
        }
        Linalg::TriangularSolve(op) => triangular_solve(cx, op),
        Linalg::Fft(op) => fft(cx, op),
    }
}

/// The last two dimensions of a matrix are equal.
fn square(cx: &mut Cx, a: &TensorType) -> Option<()> {
    let rank = a.rank();
    require!(cx, rank >= 2, "a has rank {rank}, less than 2");
    let (rows, columns) = (a.dims[rank - 2], a.dims[rank - 1]);
    require!(
        cx,
        compatible_dim(rows, columns),
        "the last two dimensions of a are {} and {}, not equal",
        size(rows),
        size(columns)
    );
    Some(())
}

fn triangular_solve(cx: &mut Cx, op: &TriangularSolve) -> Found {
    let (a, b) = (cx.tensor(0, "a")?, cx.tensor(1, "b")?);
    cx.kind(a, "a", FLOAT | COMPLEX);
    cx.same_element(("a", a), ("b", b));
    square(cx, a)?;
    let rank = a.rank();
    require!(cx, b.rank() == rank, "a has rank {rank}, b {}", b.rank());
    let shared = if op.left_side { rank - 2 } else { rank - 1 };
    check!(
        cx,
        compatible_dim(a.dims[rank - 1], b.dims[shared]),
        "the last dimension of a is {}, dimension {shared} of b {}",
        size(a.dims[rank - 1]),
        size(b.dims[shared])
    );
    cx.same_shape(("a's batch", &a.dims[..rank - 2]), ("b's", &b.dims[..rank - 2]))?;
    let kind = op.transpose_a;
    check!(cx, kind != TransposeKind::Invalid, "transpose_a is {}", kind.text());
    like(b)
}

fn fft(cx: &mut Cx, op: &Fft) -> Found {
    let x = cx.tensor(0, "operand")?;
    let n = op.length.len();
    require!(cx, (1..=3).contains(&n), "fft_length has {n} elements, not 1 to 3");
    require!(cx, x.rank() >= n, "operand has rank {}, fft_length {n} elements", x.rank());
    let real = op.kind == FftType::Rfft;
    if real {
        let ok = matches!(x.element, ElementType::F32 | ElementType::F64);
        require!(cx, ok, "operand has element type {}, not f32 or f64", cx.show_element(x.element));
    } else {
        cx.kind(x, "operand", COMPLEX);
    }
    let tail = &x.dims[x.rank() - n..];
    let (&last, &length) = (tail.last()?, op.length.last()?);
    let half = length / 2 + 1;
    let fits = match op.kind {
        FftType::Fft | FftType::Ifft | FftType::Rfft => {
            tail.iter().zip(&op.length).all(|(&d, &l)| compatible_dim(d, l))
        }
        FftType::Irfft => {
            tail[..n - 1].iter().zip(&op.length).all(|(&d, &l)| compatible_dim(d, l))
                && (compatible_dim(last, half) || last == 0 && length == 0)
        }
    };
    check!(
        cx,
        fits,
        "the last dimensions of operand are {}, fft_length is {} for {}",
        dims_text(tail),
        dims_text(&op.length),
        op.kind.text()
    );
    let mut result = TensorType::new(x.element, x.dims.iter().copied());
    let at = x.rank() - 1;
    match op.kind {
        FftType::Fft | FftType::Ifft => return like(x),
        FftType::Rfft => {
            let wide = x.element == ElementType::F64;
            result.element = if wide { ElementType::C128 } else { ElementType::C64 };
            if length != 0 {
                result.dims[at] = half;
            }
        }
        FftType::Irfft => {
            result.element = real_part(x.element);
            result.dims[at] = length;
        }
    }
    Some(vec![InferredType::Tensor(result)])
}
