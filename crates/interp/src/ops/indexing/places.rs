//! Where the windows of gathers and scatters lie.
//!
//! Both go over the *batch*: the indices' dimensions without the one that holds the index vector.
//! For each place in the batch there is a window of the operand, which lies on the other side (in
//! a gather's result, in a scatter's updates) along dimensions of its own.

use shard_ir::Dims;
use smallvec::SmallVec;

use crate::ops::operands::integers;
use crate::strided::strides;
use crate::{Fault, Tensor};

/// The dimension numbers of a gather or scatter.
pub(super) struct Numbers<'a> {
    /// Dimensions of the operand that windows leave out.
    pub dropped: &'a [i64],
    /// Dimensions of the operand that go along with the indices'.
    pub batching: &'a [i64],
    /// Dimensions of the indices that go along with the operand's.
    pub indices_batching: &'a [i64],
    /// The operand's dimension of each component of an index vector.
    pub map: &'a [i64],
    /// Dimension of the indices that holds the index vector.
    pub vector: i64,
    /// Dimensions of windows on the other side.
    pub window: &'a [i64],
}

/// The windows.
pub(super) struct Places {
    /// Sizes of the batch.
    pub batch: Dims,
    /// Where each window starts in the operand: for each place of the batch, one index a
    /// dimension. It may be out of bounds.
    pub starts: Vec<i64>,
    /// Dimensions of the operand that windows have.
    pub kept: SmallVec<[usize; 4]>,
    /// Those of the other side.
    pub window: SmallVec<[usize; 4]>,
}

impl Places {
    pub fn new(n: &Numbers<'_>, x: &Tensor, indices: &Tensor) -> Result<Places, Fault> {
        let rank = x.rank();
        let fault = || Fault::invalid("dimension numbers don't fit the operands");
        let within = |d: &i64, rank: usize| {
            usize::try_from(*d).ok().filter(|at| *at < rank).ok_or_else(fault)
        };
        let kept: SmallVec<[usize; 4]> = (0..rank)
            .filter(|d| !n.dropped.contains(&(*d as i64)) && !n.batching.contains(&(*d as i64)))
            .collect();
        if kept.len() != n.window.len() || n.batching.len() != n.indices_batching.len() {
            return Err(fault());
        }
        let vector = within(&n.vector, indices.rank() + 1)?;
        let own = strides(indices.dims());
        let other = || (0..indices.rank()).filter(|d| *d != vector);
        let batch: Dims = other().map(|d| indices.dims()[d]).collect();
        let batch_strides: SmallVec<[isize; 4]> = other().map(|d| own[d]).collect();
        // Where the dimension isn't there, each index vector has one component.
        let components = indices.dims().get(vector).copied().unwrap_or(1);
        let step = own.get(vector).copied().unwrap_or(0);
        if n.map.len() as i64 != components {
            return Err(fault());
        }
        let values = integers(indices)?;
        let places = offsets(&batch_strides, &batch);
        let mut starts = vec![0; places.len() * rank];
        for (component, d) in n.map.iter().enumerate() {
            let (d, shift) = (within(d, rank)?, component as isize * step);
            for (row, place) in starts.chunks_exact_mut(rank).zip(&places) {
                row[d] = values[(place + shift) as usize];
            }
        }
        for (d, along) in n.batching.iter().zip(n.indices_batching) {
            let (d, along) = (within(d, rank)?, within(along, indices.rank())?);
            let at = other().position(|d| d == along).ok_or_else(fault)?;
            let (size, inner) = (batch[at], batch[at + 1..].iter().product::<i64>());
            for (index, row) in starts.chunks_exact_mut(rank).enumerate() {
                row[d] = index as i64 / inner % size;
            }
        }
        let other_rank = batch.len() + kept.len();
        let window = n.window.iter().map(|d| within(d, other_rank)).collect::<Result<_, _>>()?;
        Ok(Places { batch, starts, kept, window })
    }

    /// Dimensions of the other side that the batch has.
    pub fn batch_dims(&self) -> SmallVec<[usize; 4]> {
        let rank = self.batch.len() + self.kept.len();
        (0..rank).filter(|d| !self.window.contains(d)).collect()
    }

    /// The starts of each window. There are none where the operand has no dimensions.
    pub fn each_start(&self) -> impl Iterator<Item = &[i64]> {
        let count = self.batch.iter().product::<i64>() as usize;
        let rank = self.starts.len() / count.max(1);
        (0..count).map(move |at| &self.starts[at * rank..(at + 1) * rank])
    }
}

/// The place of each element of a block, row-major.
pub(super) fn offsets(strides: &[isize], dims: &[i64]) -> Vec<isize> {
    let mut places = vec![0];
    for (&stride, &size) in strides.iter().zip(dims) {
        places = places
            .iter()
            .flat_map(|place| (0..size as isize).map(move |i| place + i * stride))
            .collect();
    }
    places
}

/// A block that lies in two tensors, with the same sizes and other strides.
pub(super) struct Block {
    /// Place of the first element of each row, in each.
    pub rows: Vec<(isize, isize)>,
    /// Elements of a row.
    pub row: usize,
    /// Distance between them, in each.
    pub steps: (isize, isize),
}

impl Block {
    pub fn new(dims: &[i64], one: &[isize], other: &[isize]) -> Block {
        // In as few dimensions as possible, so that rows are long.
        let mut joined: SmallVec<[(i64, isize, isize); 4]> = SmallVec::new();
        for ((&size, &a), &b) in dims.iter().zip(one).zip(other) {
            match joined.last_mut() {
                _ if size == 1 => {}
                Some((outer, outer_a, outer_b))
                    if *outer_a == a * size as isize && *outer_b == b * size as isize =>
                {
                    (*outer, *outer_a, *outer_b) = (*outer * size, a, b);
                }
                _ => joined.push((size, a, b)),
            }
        }
        let (row, a, b) = joined.pop().unwrap_or((1, 1, 1));
        let sizes: Dims = joined.iter().map(|j| j.0).collect();
        let one: SmallVec<[isize; 4]> = joined.iter().map(|j| j.1).collect();
        let other: SmallVec<[isize; 4]> = joined.iter().map(|j| j.2).collect();
        let rows = offsets(&one, &sizes).into_iter().zip(offsets(&other, &sizes)).collect();
        Block { rows, row: row as usize, steps: (a, b) }
    }
}
