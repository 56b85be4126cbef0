//! Convolutions: two operations for each result element, input feature of its group, and element
//! of the kernel that meets an element of the input (not padding, and not a hole of a dilation).

use shard_ir::infer::WindowDim;
use shard_ir::ops::{Conv, Convolution};
use shard_ir::{DYNAMIC, TensorType};

use super::{Cx, Work, complex_factor, flops_only};

pub(super) fn work(cx: Cx, kind: &Convolution) -> Work {
    match kind {
        Convolution::Conv(op) => conv(cx, op).unwrap_or_default(),
        // Without the padding, all sizes of the result are as large as the type says.
        Convolution::DynamicConv(op) => conv(
            cx,
            &Conv {
                strides: op.strides.clone(),
                padding: None,
                lhs_dilation: op.lhs_dilation.clone(),
                rhs_dilation: op.rhs_dilation.clone(),
                reversal: op.reversal.clone(),
                dims: op.dims.clone(),
                feature_groups: op.feature_groups,
                batch_groups: op.batch_groups,
                precision: op.precision.clone(),
            },
        )
        .unwrap_or_default(),
    }
}

fn at(ty: &TensorType, dim: i64) -> Option<i64> {
    ty.dims.get(usize::try_from(dim).ok()?).map(|&size| if size == DYNAMIC { 1 } else { size })
}

fn conv(cx: Cx, op: &Conv) -> Option<Work> {
    let (lhs, rhs, out) = (cx.operand(0)?, cx.operand(1)?, cx.result(0)?);
    let d = &op.dims;
    let batch = at(out, d.output_batch)? as f64;
    let features = at(out, d.output_feature)? as f64;
    // Of one group: the kernel has the input features divided by the feature groups.
    let inputs = at(rhs, d.kernel_input_feature)? as f64;
    let number = |list: &Option<shard_ir::Dims>, i: usize| {
        list.as_ref().and_then(|list| list.get(i).copied()).unwrap_or(1)
    };
    let mut meetings = 1.0;
    for (i, &kernel) in d.kernel_spatial.iter().enumerate() {
        let [low, high] =
            op.padding.as_ref().and_then(|list| list.get(i).copied()).unwrap_or_default();
        let window = WindowDim {
            size: at(rhs, kernel)?,
            stride: number(&op.strides, i),
            low,
            high,
            base_dilation: number(&op.lhs_dilation, i),
            window_dilation: number(&op.rhs_dilation, i),
            reversed: false,
        };
        let base = at(lhs, *d.input_spatial.get(i)?)?;
        let places = at(out, *d.output_spatial.get(i)?)?;
        meetings *= meet(&window, base, places);
    }
    let element = complex_factor(lhs.element);
    Some(flops_only(2.0 * batch * features * inputs * meetings * element))
}

/// The number of pairs of a place of the window and an element of it that meet an element of a
/// base of the given size.
///
/// Element `k` at place `p` lies at `p * stride + k * window_dilation - low`, and meets an element
/// of the base where that is a multiple of `base_dilation` in `0 .. base * base_dilation`.
pub(super) fn meet(window: &WindowDim, base: i64, places: i64) -> f64 {
    /// More steps than any real convolution needs; beyond them the count is an estimate.
    const LIMIT: i128 = 1 << 24;
    let size = i128::from(window.size.max(0));
    let stride = i128::from(window.stride.max(1));
    let dilation = i128::from(window.base_dilation.max(1));
    let (places, base) = (i128::from(places.max(0)), i128::from(base.max(0)));
    let period = dilation / gcd(stride, dilation);
    if size * period > LIMIT {
        return size as f64 * places as f64 / dilation as f64;
    }
    let mut pairs = 0i128;
    for k in 0..size {
        let offset = k * i128::from(window.window_dilation) - i128::from(window.low);
        // Places whose position is in range.
        let first = (-offset).div_euclid(stride) + i128::from((-offset).rem_euclid(stride) != 0);
        let end = (base - 1) * dilation + 1 - offset;
        let last = (end - 1).div_euclid(stride);
        let (first, last) = (first.max(0), last.min(places - 1));
        if base == 0 || last < first {
            continue;
        }
        // Among them every `period`-th one that is a multiple of the dilation, if any is.
        let hit = (first..first + period).find(|p| (p * stride + offset).rem_euclid(dilation) == 0);
        if let Some(hit) = hit.filter(|&hit| hit <= last) {
            pairs += (last - hit) / period + 1;
        }
    }
    pairs as f64
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a.max(1) } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meetings_are_those_that_counting_finds() {
        for seed in 0..4000i64 {
            let window = WindowDim {
                size: seed % 5,
                stride: 1 + seed / 5 % 3,
                low: seed / 15 % 4 - 1,
                high: seed / 60 % 3 - 1,
                base_dilation: 1 + seed / 180 % 3,
                window_dilation: 1 + seed / 540 % 2,
                reversed: false,
            };
            let base = seed / 1080 * 2 + 3;
            let places = window.places(base);
            let mut expected = 0;
            for p in 0..places {
                for k in 0..window.size {
                    let at = p * window.stride + k * window.window_dilation - window.low;
                    let inside = at >= 0 && at <= (base - 1) * window.base_dilation;
                    expected += i64::from(inside && at % window.base_dilation == 0);
                }
            }
            assert_eq!(meet(&window, base, places), expected as f64, "{window:?} {base}");
        }
    }
}
