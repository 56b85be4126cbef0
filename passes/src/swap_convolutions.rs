//! `swap-convolutions`: dilated input and large kernel of a convolution change places.
//!
//! TPU's compiler computes a convolution whose kernel is at least as large as its result, and whose
//! input is dilated (the gradient of a transposed convolution's kernel is one), with the two
//! operands in each other's place, so that the holes are in the kernel. In a program with
//! `mhlo.num_partitions` it does so before its partitioner runs, loses the mark that the op is
//! partitioned by hand, and aborts (libtpu 0.0.52). So the operands change places here, which
//! comes to the same: `out[o] = Σ_i x[i] w[ld·i + low − o]`, read from its end.

use shard_ir::ops::{Conv, ConvDims, Convolution, Op, Padding, Precisions, Reverse};
use shard_ir::{Diagnostic, Dims, Module, OpId};

use crate::rewrite::{Rewrite, Rewriter, rewrite_module};

/// Runs the pass on every function.
///
/// # Errors
/// None; the signature is that of all passes.
pub fn run(module: &mut Module) -> Result<(), Diagnostic> {
    rewrite_module(module, &mut SwapConvolutions)
}

struct SwapConvolutions;

impl Rewrite for SwapConvolutions {
    fn op(&mut self, rw: &mut Rewriter<'_>, op: OpId) -> Result<(), Diagnostic> {
        let swapped = match rw.module.kind(op) {
            Op::Convolution(Convolution::Conv(conv)) => swapped(rw.module, op, conv),
            _ => None,
        };
        let Some(conv) = swapped else {
            rw.keep(op);
            return Ok(());
        };
        let (x, w) = (rw.module.operand(op, 0), rw.module.operand(op, 1));
        let result = rw.module.result(op, 0);
        let ty = rw.module.value_type(result);
        let dimensions = conv.dims.output_spatial.clone();
        let turned = rw.emit(conv, &[w, x], ty);
        let value = rw.emit(Reverse { dimensions }, &[turned], ty);
        rw.module.shardings[value] = rw.module.shardings[result];
        rw.replace(result, value);
        Ok(())
    }
}

/// The convolution with its operands in each other's place, whose result is to be reversed along
/// its spatial dimensions; `None` for a convolution that compilers leave as it is.
fn swapped(module: &Module, op: OpId, conv: &Conv) -> Option<Conv> {
    let dims = &conv.dims;
    let rank = dims.input_spatial.len();
    let sizes = |value, along: &Dims| -> Option<Vec<i64>> {
        let ty = module.tensor_type(value)?;
        along.iter().map(|&dim| ty.dims.get(usize::try_from(dim).ok()?).copied()).collect()
    };
    let input = sizes(module.operand(op, 0), &dims.input_spatial)?;
    let kernel = sizes(module.operand(op, 1), &dims.kernel_spatial)?;
    let output = sizes(module.result(op, 0), &dims.output_spatial)?;
    let stated = |list: &Option<Dims>, dim: usize| {
        list.as_ref().and_then(|list| list.get(dim).copied()).unwrap_or(1)
    };
    let plain = conv.feature_groups == 1
        && conv.batch_groups == 1
        && conv.reversal.as_ref().is_none_or(|flags| !flags.0.contains(&true));
    let large = (0..rank).all(|dim| {
        kernel[dim] >= output[dim]
            && stated(&conv.strides, dim) == 1
            && stated(&conv.rhs_dilation, dim) == 1
    });
    let dilated = (0..rank).any(|dim| stated(&conv.lhs_dilation, dim) > 1);
    let known = [&input, &kernel, &output].into_iter().flatten().all(|&size| size > 0);
    if !(plain && large && dilated && known) {
        return None;
    }

    let mut padding = Padding::new();
    for dim in 0..rank {
        let before =
            conv.padding.as_ref().and_then(|padding| padding.get(dim)).map_or(0, |sides| sides[0]);
        let low = output[dim] - 1 - before;
        let span = (input[dim] - 1).checked_mul(stated(&conv.lhs_dilation, dim))?;
        padding.push([low, output[dim] - kernel[dim] - low + span]);
    }
    Some(Conv {
        strides: None,
        padding: Some(padding),
        lhs_dilation: None,
        rhs_dilation: conv.lhs_dilation.clone(),
        reversal: None,
        dims: ConvDims {
            input_batch: dims.kernel_output_feature,
            input_feature: dims.kernel_input_feature,
            input_spatial: dims.kernel_spatial.clone(),
            kernel_input_feature: dims.input_feature,
            kernel_output_feature: dims.input_batch,
            kernel_spatial: dims.input_spatial.clone(),
            output_batch: dims.output_feature,
            output_feature: dims.output_batch,
            output_spatial: dims.output_spatial.clone(),
        },
        precision: Precisions(conv.precision.0.iter().rev().copied().collect()),
        ..conv.clone()
    })
}
