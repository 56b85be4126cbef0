//! Linear algebra and Fourier transforms: batch dimensions pass through, the others must be whole.

use shard_ir::ops::{Linalg, TransposeKind};
use shard_ir::{Module, OpId};

use super::builder;
use super::{FactorKind, OpRule, RuleBuilder};

pub(super) fn rule(module: &Module, op: OpId, kind: &Linalg) -> Option<OpRule> {
    let input = builder::shape(module, *module.operands(op).first()?);
    let mut builder = RuleBuilder::new(module, op);
    match kind {
        Linalg::Cholesky(_) => {
            for (dim, &size) in input.iter().enumerate() {
                let kind = if dim + 2 < input.len() {
                    FactorKind::PassThrough
                } else {
                    FactorKind::NeedReplication
                };
                builder.everywhere(dim, size, kind, false);
            }
        }
        Linalg::TriangularSolve(solve) => {
            let b = builder::shape(module, *module.operands(op).get(1)?);
            let batch = input.len().checked_sub(2)?;
            let (rows, columns) = (batch, batch + 1);
            builder.pointwise(&input[..batch]);
            let transposed = match solve.transpose_a {
                TransposeKind::Transpose | TransposeKind::Adjoint => true,
                TransposeKind::No | TransposeKind::Invalid => false,
            };
            // `op(a) x = b` or `x op(a) = b`: one dimension of `a` goes along with `b`, the other,
            // which is contracted, with the result; the remaining one of `b` is the result's.
            let (with_b, contracted, free) =
                if solve.left_side { (rows, columns, columns) } else { (columns, rows, rows) };
            let (a_with_b, a_contracted) =
                if transposed { (contracted, with_b) } else { (with_b, contracted) };
            let shared = if solve.left_side { rows } else { columns };
            let (size_a, size_free) = (*input.get(a_with_b)?, *b.get(free)?);
            let free_factor = ([None, Some(free)], [Some(free)], size_free);
            let a_factor = ([Some(a_with_b), Some(shared)], [None], size_a);
            let order =
                if solve.left_side { [a_factor, free_factor] } else { [free_factor, a_factor] };
            for (operands, results, size) in order {
                builder.whole(&operands, &results, size);
            }
            let size = *input.get(a_contracted)?;
            builder.whole(&[Some(a_contracted), None], &[Some(shared)], size);
        }
        Linalg::Fft(fft) => {
            let output = builder::shape(module, *module.results(op).first()?);
            let batch = input.len().saturating_sub(fft.length.len());
            for (dim, &size) in input.iter().enumerate() {
                if dim < batch {
                    builder.everywhere(dim, size, FactorKind::PassThrough, false);
                } else {
                    // A real transform cuts the last dimension: no sharding goes through.
                    let cut = dim + 1 == input.len() && input.last() != output.last();
                    builder.everywhere(dim, size, FactorKind::NeedReplication, cut);
                }
            }
        }
    }
    Some(builder.build())
}
