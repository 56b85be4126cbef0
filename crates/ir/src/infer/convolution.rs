//! Convolutions.

use crate::ops::{Conv, Convolution, DynamicConv};
use crate::{DYNAMIC, Dims, TensorType};

use super::InferredType;
use super::context::kinds::INT;
use super::context::{Cx, Found, compatible_dim, size};
use super::dot::precision;
use super::window::{WindowFields, places, window};

pub(super) fn infer(cx: &mut Cx, kind: &Convolution) -> Found {
    match kind {
        Convolution::Conv(op) => conv(cx, op),
        Convolution::DynamicConv(op) => dynamic_conv(cx, op),
    }
}

fn numbers(cx: &mut Cx, name: &str, ends: [i64; 2], spatial: &[i64], rank: usize) -> Option<()> {
    let all: Dims = ends.iter().chain(spatial).copied().collect();
    require!(
        cx,
        all.len() == rank,
        "{name} has {} dimension numbers, the operands rank {rank}",
        all.len()
    );
    cx.dims(&format!("{name} dimension numbers"), &all, rank)?;
    Some(())
}

/// Complains where a known size isn't a multiple of a group count.
fn multiple(cx: &mut Cx, what: &str, dim: i64, groups: i64, name: &str) {
    check!(
        cx,
        dim == DYNAMIC || dim % groups == 0,
        "{what} dimension is {dim}, not a multiple of {name} {groups}"
    );
}

/// As a convolution; the padding decides the spatial sizes, unless it is a constant.
fn dynamic_conv(cx: &mut Cx, op: &DynamicConv) -> Found {
    let spatial = op.dims.input_spatial.len();
    let padding = cx.tensor(2, "padding")?;
    cx.kind(padding, "padding", INT);
    let wanted = [spatial as i64, 2];
    cx.same_shape(("padding", &padding.dims), ("the pairs of the spatial dimensions", &wanted))?;
    let pairs = cx
        .constant_dims(2)
        .filter(|flat| flat.len() == 2 * spatial)
        .map(|flat| flat.chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect());
    let known = pairs.is_some();
    let found = conv(
        cx,
        &Conv {
            // More than there are dimensions of are taken, as StableHLO does.
            strides: op
                .strides
                .as_ref()
                .map(|strides| strides.iter().copied().take(spatial.max(1)).collect()),
            padding: pairs,
            lhs_dilation: op.lhs_dilation.clone(),
            rhs_dilation: op.rhs_dilation.clone(),
            reversal: op.reversal.clone(),
            dims: op.dims.clone(),
            feature_groups: op.feature_groups,
            batch_groups: op.batch_groups,
            precision: op.precision.clone(),
        },
    )?;
    let [InferredType::TensorOr(ty)] = &found[..] else { return None };
    let mut ty = ty.clone();
    if !known {
        for &dim in &op.dims.output_spatial {
            ty.dims[dim as usize] = DYNAMIC;
        }
    }
    Some(vec![InferredType::TensorOr(ty)])
}

fn conv(cx: &mut Cx, op: &Conv) -> Found {
    let (lhs, rhs) = (cx.tensor(0, "lhs")?, cx.tensor(1, "rhs")?);
    cx.same_element(("lhs", lhs), ("rhs", rhs));
    precision(cx, &op.precision);
    let rank = lhs.rank();
    require!(cx, rank >= 2, "lhs has rank {rank}, less than 2");
    require!(cx, rhs.rank() == rank, "lhs has rank {rank}, rhs {}", rhs.rank());
    let d = &op.dims;
    numbers(cx, "input", [d.input_batch, d.input_feature], &d.input_spatial, rank)?;
    let kernel = [d.kernel_input_feature, d.kernel_output_feature];
    numbers(cx, "kernel", kernel, &d.kernel_spatial, rank)?;
    numbers(cx, "output", [d.output_batch, d.output_feature], &d.output_spatial, rank)?;
    let (features, batches) = (op.feature_groups, op.batch_groups);
    require!(cx, features > 0, "feature_group_count is {features}, not positive");
    require!(cx, batches > 0, "batch_group_count is {batches}, not positive");
    check!(
        cx,
        features == 1 || batches == 1,
        "feature_group_count is {features} and batch_group_count {batches}; one must be 1"
    );
    let at = |ty: &TensorType, dim: i64| ty.dims[dim as usize];
    let (input_batch, input_feature) = (at(lhs, d.input_batch), at(lhs, d.input_feature));
    let kernel_in = at(rhs, d.kernel_input_feature);
    let kernel_out = at(rhs, d.kernel_output_feature);
    multiple(cx, "input batch", input_batch, batches, "batch_group_count");
    multiple(cx, "input feature", input_feature, features, "feature_group_count");
    multiple(cx, "kernel output feature", kernel_out, batches, "batch_group_count");
    multiple(cx, "kernel output feature", kernel_out, features, "feature_group_count");
    let group = if input_feature == DYNAMIC { DYNAMIC } else { input_feature / features };
    check!(
        cx,
        compatible_dim(group, kernel_in),
        "input feature dimension {} / feature_group_count {features} isn't the kernel's {}",
        size(input_feature),
        size(kernel_in)
    );
    let sizes: Dims = d.kernel_spatial.iter().map(|&dim| at(rhs, dim)).collect();
    let fields = WindowFields {
        strides: op.strides.as_ref(),
        padding: op.padding.as_ref(),
        base_dilations: op.lhs_dilation.as_ref(),
        window_dilations: op.rhs_dilation.as_ref(),
        reversal: op.reversal.as_ref().map(|flags| flags.0.as_slice()),
    };
    let window = window(cx, &sizes, fields)?;
    let base: Dims = d.input_spatial.iter().map(|&dim| at(lhs, dim)).collect();
    let mut shape = Dims::from_elem(DYNAMIC, rank);
    for (&dim, &places) in d.output_spatial.iter().zip(&places(&base, &window)) {
        shape[dim as usize] = places;
    }
    shape[d.output_batch as usize] =
        if input_batch == DYNAMIC { DYNAMIC } else { input_batch / batches };
    shape[d.output_feature as usize] = kernel_out;
    Some(vec![InferredType::TensorOr(TensorType::new(lhs.element, shape))])
}
