//! Parts of tensors: cut out, put together.

use shard_ir::Dims;

use crate::Buffer::{B8, B16, B32, B64, B128};
use crate::ops::movement;
use crate::strided::{strides, write};
use crate::{Fault, Tensor, each_width};

/// The block of a tensor that begins at `offsets`.
///
/// # Errors
/// If the block isn't inside the tensor.
pub(super) fn cut(tensor: &Tensor, offsets: &[i64], dims: &[i64]) -> Result<Tensor, Fault> {
    let limits: Dims = offsets.iter().zip(dims).map(|(at, size)| at + size).collect();
    movement::slice(tensor, offsets, &limits, &Dims::from_elem(1, dims.len()))
}

/// Writes a block into a tensor of the same element type.
///
/// # Errors
/// If the block isn't inside the tensor.
pub(super) fn paste(tensor: &mut Tensor, offsets: &[i64], block: &Tensor) -> Result<(), Fault> {
    let dims = Dims::from_slice(tensor.dims());
    let inside = block.rank() == dims.len()
        && (0..dims.len()).all(|d| offsets[d] >= 0 && offsets[d] + block.dims()[d] <= dims[d]);
    if !inside {
        return Err(Fault::invalid(format!(
            "a part of shape {:?} at {offsets:?} isn't inside the shape {dims:?}",
            block.dims()
        )));
    }
    let steps = strides(&dims);
    let offset: isize = offsets.iter().zip(&steps).map(|(at, step)| *at as isize * step).sum();
    match (tensor.buffer_mut(), block.buffer()) {
        (B8(to), B8(from)) => write(to, offset, &steps, block.dims(), from),
        (B16(to), B16(from)) => write(to, offset, &steps, block.dims(), from),
        (B32(to), B32(from)) => write(to, offset, &steps, block.dims(), from),
        (B64(to), B64(from)) => write(to, offset, &steps, block.dims(), from),
        (B128(to), B128(from)) => write(to, offset, &steps, block.dims(), from),
        _ => return Err(Fault::invalid("parts of different element types")),
    }
    Ok(())
}

/// A tensor of zeros.
pub(super) fn zeros(like: &Tensor, dims: &[i64]) -> Result<Tensor, Fault> {
    let count = crate::tensor::element_count(dims)?;
    let mut buffer = each_width!(like.buffer(), |_words| Vec::new());
    match &mut buffer {
        B8(words) => words.resize(count, 0),
        B16(words) => words.resize(count, 0),
        B32(words) => words.resize(count, 0),
        B64(words) => words.resize(count, 0),
        B128(words) => words.resize(count, 0),
    }
    Ok(Tensor::new(like.element(), Dims::from_slice(dims), buffer))
}

/// Equal parts of a tensor along a dimension.
///
/// # Errors
/// If the dimension doesn't divide.
pub(super) fn split(tensor: &Tensor, dim: usize, count: usize) -> Result<Vec<Tensor>, Fault> {
    let size = tensor.dims().get(dim).copied().unwrap_or(0);
    if count == 0 || size % count as i64 != 0 {
        return Err(Fault::invalid(format!("a dimension of {size} in {count} equal parts")));
    }
    let mut dims = Dims::from_slice(tensor.dims());
    dims[dim] = size / count as i64;
    (0..count)
        .map(|part| {
            let mut offsets = Dims::from_elem(0, dims.len());
            offsets[dim] = part as i64 * dims[dim];
            cut(tensor, &offsets, &dims)
        })
        .collect()
}
