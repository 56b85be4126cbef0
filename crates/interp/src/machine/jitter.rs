//! Rounding errors on purpose, to see what another order of sums may change.

use half::{bf16, f16};
use num_complex::Complex;
use shard_ir::ElementType;
use shard_ir::ops::{Indexing, Op};

use crate::Tensor;

/// Whether the op adds or multiplies many elements, so that their order shows.
pub(super) fn accumulates(op: &Op) -> bool {
    match op {
        Op::Dot(_)
        | Op::Convolution(_)
        | Op::Reduction(_)
        | Op::Linalg(_)
        | Op::Normalization(_)
        | Op::Indexing(Indexing::Scatter(_)) => true,
        Op::Elementwise(_)
        | Op::Creation(_)
        | Op::Movement(_)
        | Op::Indexing(_)
        | Op::Sorting(_)
        | Op::Random(_)
        | Op::Control(_)
        | Op::Collective(_)
        | Op::Sdy(_)
        | Op::Effects(_)
        | Op::Custom(_)
        | Op::Hlo(_)
        | Op::Opaque(_) => false,
    }
}

/// The tensor with each element changed by up to two units in its last place.
///
/// Integers that aren't large stay: they are counts, whose sums are exact in any order. Changed,
/// those that are converted or compared would be others altogether.
pub(super) fn jittered(tensor: Tensor, seed: u64) -> Tensor {
    let mut state = seed;
    // SplitMix64: any source of different numbers will do.
    let mut jitter = |x: f64, epsilon: f64| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        if x.fract() == 0.0 && x.abs() * epsilon <= 0.25 {
            return x;
        }
        x * (1.0 + 2.0 * epsilon * ((z >> 11) as f64 / (1u64 << 52) as f64 - 1.0))
    };
    let dims = shard_ir::Dims::from_slice(tensor.dims());
    let element = tensor.element();
    match element {
        ElementType::F64 => {
            let new = tensor.lanes::<f64>().iter().map(|x| jitter(*x, f64::EPSILON)).collect();
            Tensor::from_lanes::<f64>(element, dims, new)
        }
        ElementType::F32 | ElementType::TF32 => {
            let epsilon = f64::from(f32::EPSILON);
            let change = |x: &f32| jitter(f64::from(*x), epsilon) as f32;
            Tensor::from_lanes(element, dims, tensor.lanes::<f32>().iter().map(change).collect())
        }
        ElementType::F16 => {
            let epsilon = f16::EPSILON.to_f64();
            let change = |x: &f16| f16::from_f64(jitter(x.to_f64(), epsilon));
            Tensor::from_lanes(element, dims, tensor.lanes::<f16>().iter().map(change).collect())
        }
        ElementType::BF16 => {
            let epsilon = bf16::EPSILON.to_f64();
            let change = |x: &bf16| bf16::from_f64(jitter(x.to_f64(), epsilon));
            Tensor::from_lanes(element, dims, tensor.lanes::<bf16>().iter().map(change).collect())
        }
        ElementType::C64 => {
            let epsilon = f64::from(f32::EPSILON);
            let change = |z: &Complex<f32>| {
                let mut part = |x: f32| jitter(f64::from(x), epsilon) as f32;
                Complex::new(part(z.re), part(z.im))
            };
            let new = tensor.lanes::<Complex<f32>>().iter().map(change).collect();
            Tensor::from_lanes(element, dims, new)
        }
        ElementType::C128 => {
            let change = |z: &Complex<f64>| {
                Complex::new(jitter(z.re, f64::EPSILON), jitter(z.im, f64::EPSILON))
            };
            let new = tensor.lanes::<Complex<f64>>().iter().map(change).collect();
            Tensor::from_lanes(element, dims, new)
        }
        other if other.is_float() => {
            let new = tensor.floats().iter().map(|x| jitter(*x, 0.125)).collect();
            Tensor::from_floats(element, dims, new)
        }
        _ => tensor,
    }
}
