//! Convolutions.

use crate::ops::{Conv, Convolution};
use crate::{DYNAMIC, Dims, TensorType};

use super::InferredType;
use super::context::{Cx, Found, compatible_dim, size};
use super::dot::precision;
use super::window::{WindowFields, places, window};

pub(super) fn infer(cx: &mut Cx, kind: &Convolution) -> Found {
    match kind {
        Convolution::Conv(op) => conv(cx, op),
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
