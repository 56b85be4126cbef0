//! Gathers: windows of a tensor at indices, which are clamped so that each is inside.

use shard_ir::Dims;
use shard_ir::ops::{GatherDims, TorchIndexSelect};
use smallvec::SmallVec;

use super::places::{Block, Numbers, Places, offsets};
use crate::ops::operands::{dim, integers, per_dim};
use crate::strided::strides;
use crate::tensor::{Lane, element_count};
use crate::{Fault, Tensor, each_width};

pub(super) fn gather(
    numbers: &GatherDims,
    slice_sizes: &[i64],
    x: &Tensor,
    indices: &Tensor,
) -> Result<Tensor, Fault> {
    per_dim("slice sizes", slice_sizes, x.rank())?;
    let places = Places::new(
        &Numbers {
            dropped: &numbers.collapsed_slice_dims,
            batching: &numbers.operand_batching_dims,
            indices_batching: &numbers.start_indices_batching_dims,
            map: &numbers.start_index_map,
            vector: numbers.index_vector_dim,
            window: &numbers.offset_dims,
        },
        x,
        indices,
    )?;
    let batch_dims = places.batch_dims();
    let mut dims = Dims::from_elem(0, places.batch.len() + places.kept.len());
    for (to, from) in places.window.iter().zip(&places.kept) {
        dims[*to] = slice_sizes[*from];
    }
    for (to, size) in batch_dims.iter().zip(&places.batch) {
        dims[*to] = *size;
    }
    let count = element_count(&dims)?;
    if count == 0 {
        return Ok(Tensor::new(x.element(), dims, each_width!(x.buffer(), |_words| Vec::new())));
    }
    let own = strides(x.dims());
    let mut most: SmallVec<[i64; 4]> = SmallVec::new();
    for (d, &size) in x.dims().iter().enumerate() {
        // Of a dimension that the result leaves out one element is taken.
        let slice = if places.kept.contains(&d) { slice_sizes[d] } else { 1 };
        most.push(size - slice);
        if size < slice {
            return Err(Fault::invalid(format!("a slice of {slice} in dimension {d} of {size}")));
        }
    }
    let first = |start: &[i64]| -> isize {
        start
            .iter()
            .zip(&most)
            .zip(&own)
            .map(|((i, most), s)| (*i).clamp(0, *most) as isize * s)
            .sum()
    };
    let from: Vec<isize> = places.each_start().map(first).collect();
    let result = strides(&dims);
    let batch_strides: SmallVec<[isize; 4]> = batch_dims.iter().map(|d| result[*d]).collect();
    let to = offsets(&batch_strides, &places.batch);
    let window: Dims = places.kept.iter().map(|d| slice_sizes[*d]).collect();
    let one: SmallVec<[isize; 4]> = places.kept.iter().map(|d| own[*d]).collect();
    let other: SmallVec<[isize; 4]> = places.window.iter().map(|d| result[*d]).collect();
    let block = Block::new(&window, &one, &other);
    let buffer = each_width!(x.buffer(), |words| copied(words, &from, &to, &block, count));
    Ok(Tensor::new(x.element(), dims, buffer))
}

/// A block of `words` at each place of `from`, written at that of `to`.
fn copied<W: Lane>(
    words: &[W],
    from: &[isize],
    to: &[isize],
    block: &Block,
    count: usize,
) -> Vec<W> {
    let mut out = vec![W::zeroed(); count];
    let (row, (step, out_step)) = (block.row, block.steps);
    for (from, to) in from.iter().zip(to) {
        for (a, b) in &block.rows {
            let (a, b) = (from + a, to + b);
            if row > 1 && step == 1 && out_step == 1 {
                let (a, b) = (a as usize, b as usize);
                out[b..b + row].copy_from_slice(&words[a..a + row]);
            } else {
                for i in 0..row as isize {
                    out[(b + i * out_step) as usize] = words[(a + i * step) as usize];
                }
            }
        }
    }
    out
}

/// Elements along one dimension; indices are clamped, as in a gather.
pub(super) fn index_select(
    op: &TorchIndexSelect,
    x: &Tensor,
    index: &Tensor,
) -> Result<Tensor, Fault> {
    let along = dim(x, op.dim)?;
    let batch = usize::try_from(op.batch_dims).unwrap_or(usize::MAX);
    if batch > along || batch > index.rank() || x.dims()[..batch] != index.dims()[..batch] {
        return Err(Fault::invalid(format!("{} batch dimensions", op.batch_dims)));
    }
    let (outer_dims, inner_dims) = (&x.dims()[batch..along], &x.dims()[along + 1..]);
    let dims: Dims =
        x.dims()[..along].iter().chain(&index.dims()[batch..]).chain(inner_dims).copied().collect();
    let count = element_count(&dims)?;
    let size = x.dims()[along];
    if size == 0 && count > 0 {
        return Err(Fault::invalid("a selection from no elements"));
    }
    let extent = |dims: &[i64]| dims.iter().product::<i64>() as usize;
    let (outer, inner) = (extent(outer_dims), extent(inner_dims));
    let per_batch = extent(&index.dims()[batch..]);
    let indices: Vec<usize> =
        integers(index)?.iter().map(|i| (*i).clamp(0, (size - 1).max(0)) as usize).collect();
    let buffer = each_width!(x.buffer(), |words| {
        let mut out = Vec::with_capacity(count);
        if count > 0 {
            for (group, rows) in words.chunks(size as usize * inner).enumerate() {
                let first = group / outer * per_batch;
                for i in &indices[first..first + per_batch] {
                    out.extend_from_slice(&rows[i * inner..(i + 1) * inner]);
                }
            }
        }
        out
    });
    Ok(Tensor::new(x.element(), dims, buffer))
}
