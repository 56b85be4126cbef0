//! Data movement: what depends on shapes alone, or on start indices.

mod bitcast;
mod pad;

use shard_ir::ops::{DynamicSlice, Movement, Slice};
use shard_ir::{DYNAMIC, Dims, ElementType, NumberKind};
use smallvec::SmallVec;

use super::operands::{dim, exactly, integers, integers_per_dim, per_dim, same_element};
use crate::site::{Results, Site};
use crate::strided::{read, strides, write};
use crate::tensor::{Lane, element_count};
use crate::{Fault, Tensor, each_width};

pub(crate) fn eval(op: &Movement, site: &Site<'_>, operands: &[Tensor]) -> Result<Results, Fault> {
    let result = match op {
        Movement::Reshape => reshape(site, operands)?,
        Movement::BitcastConvert => {
            let [x] = exactly(operands)?;
            bitcast::convert(site, x)?
        }
        Movement::DynamicUpdateSlice => dynamic_update_slice(operands)?,
        Movement::DynamicReshape => {
            let [x, shape] = exactly(operands)?;
            reshaped(x, &integers(shape)?)?
        }
        Movement::RealDynamicSlice => {
            let [x, start, limit, step] = exactly(operands)?;
            let per_dim = |tensor| integers_per_dim(tensor, x.rank());
            slice(x, &per_dim(start)?, &per_dim(limit)?, &per_dim(step)?)?
        }
        Movement::DynamicPad => {
            let [x, value, low, high, interior] = exactly(operands)?;
            let per_dim = |tensor| integers_per_dim(tensor, x.rank());
            pad::pad(x, value, &per_dim(low)?, &per_dim(high)?, &per_dim(interior)?)?
        }
        Movement::BroadcastInDim(op) => {
            let [x] = exactly(operands)?;
            let dims = broadcast_dims(site, x, &op.dimensions)?;
            broadcast(x, &op.dimensions, &dims)?
        }
        Movement::DynamicBroadcastInDim(op) => {
            let [x, shape] = exactly(operands)?;
            broadcast(x, &op.dimensions, &integers(shape)?)?
        }
        Movement::Broadcast(op) => {
            let [x] = exactly(operands)?;
            let dims: Dims = op.sizes.iter().chain(x.dims()).copied().collect();
            let first = op.sizes.len() as i64;
            let dimensions: Dims = (first..first + x.rank() as i64).collect();
            broadcast(x, &dimensions, &dims)?
        }
        Movement::Transpose(op) => {
            let [x] = exactly(operands)?;
            transpose(x, &op.permutation)?
        }
        Movement::Slice(op) => {
            let [x] = exactly(operands)?;
            let Slice { start, limit, strides } = &**op;
            slice(x, start, limit, strides)?
        }
        Movement::DynamicSlice(op) => dynamic_slice(op, operands)?,
        Movement::Pad(op) => {
            let [x, value] = exactly(operands)?;
            pad::pad(x, value, &op.low, &op.high, &op.interior)?
        }
        Movement::Concatenate(op) => concatenate(operands, op.dimension)?,
        Movement::Reverse(op) => {
            let [x] = exactly(operands)?;
            reverse(x, &op.dimensions)?
        }
        Movement::GetDimensionSize(op) => {
            let [x] = exactly(operands)?;
            let size = x.dims()[dim(x, op.dimension)?];
            Tensor::from_lanes(ElementType::I32, Dims::new(), vec![size as i32])
        }
        Movement::SetDimensionSize(op) => {
            let [x, size] = exactly(operands)?;
            set_dimension_size(x, size.integer()?, op.dimension)?
        }
    };
    // Where each index of a dimension has parameters of its own, the type names the dimension.
    let result = match result.element().kind() {
        NumberKind::Quantized => result.retyped(site.result_element(0)?),
        _ => result,
    };
    Ok(Results::from_iter([result]))
}

/// The elements at `offset + i * strides[0] + ...` as a tensor of `dims`. All of them must be
/// within the operand.
fn picked(x: &Tensor, offset: isize, strides: &[isize], dims: &[i64]) -> Result<Tensor, Fault> {
    element_count(dims)?;
    let (joined_strides, joined_dims) = joined(strides, dims);
    let buffer =
        each_width!(x.buffer(), |words| read(words, offset, &joined_strides, &joined_dims));
    Ok(Tensor::new(x.element(), dims, buffer))
}

/// The same block in as few dimensions as possible, so that its innermost rows are long.
fn joined(strides: &[isize], dims: &[i64]) -> (SmallVec<[isize; 4]>, Dims) {
    let mut out: (SmallVec<[isize; 4]>, Dims) = Default::default();
    for (&stride, &size) in strides.iter().zip(dims) {
        match (out.0.last_mut(), out.1.last_mut()) {
            _ if size == 1 => {}
            (Some(outer), Some(outer_size)) if *outer == stride * size as isize => {
                *outer = stride;
                *outer_size *= size;
            }
            _ => {
                out.0.push(stride);
                out.1.push(size);
            }
        }
    }
    out
}

fn reshape(site: &Site<'_>, operands: &[Tensor]) -> Result<Tensor, Fault> {
    let [x] = exactly(operands)?;
    let declared = &site.result_type(0)?.dims;
    if declared.is_empty() {
        // In a region of scalars the operand may be many of them.
        return Ok(if x.len() == 1 { x.reshaped(Dims::new()) } else { x.clone() });
    }
    let mut dims = declared.clone();
    let unknown = dims.iter().filter(|size| **size == DYNAMIC).count();
    let sizes = dims.iter().filter(|size| **size != DYNAMIC);
    let known = sizes.fold(1, |count: i64, size| count.saturating_mul(*size));
    if unknown == 1 && known > 0 {
        let rest = x.len() as i64 / known;
        dims.iter_mut().filter(|size| **size == DYNAMIC).for_each(|size| *size = rest);
    }
    reshaped(x, &dims)
}

fn reshaped(x: &Tensor, dims: &[i64]) -> Result<Tensor, Fault> {
    if element_count(dims)? != x.len() {
        return Err(Fault::invalid(format!(
            "{} elements of shape {:?} can't have the shape {dims:?}",
            x.len(),
            x.dims()
        )));
    }
    Ok(x.reshaped(dims))
}

/// The shape of a broadcast: as the program states it, with sizes that it doesn't state from the
/// operand.
fn broadcast_dims(site: &Site<'_>, x: &Tensor, dimensions: &[i64]) -> Result<Dims, Fault> {
    let mut dims = site.result_type(0)?.dims.clone();
    for (&to, &size) in dimensions.iter().zip(x.dims()) {
        match usize::try_from(to).ok().and_then(|to| dims.get_mut(to)) {
            Some(wanted) if *wanted == DYNAMIC => *wanted = size,
            _ => {}
        }
    }
    Ok(dims)
}

fn broadcast(x: &Tensor, dimensions: &[i64], dims: &[i64]) -> Result<Tensor, Fault> {
    per_dim("dimensions", dimensions, x.rank())?;
    let own = strides(x.dims());
    let mut steps: SmallVec<[isize; 4]> = SmallVec::from_elem(0, dims.len());
    for ((&to, &size), &stride) in dimensions.iter().zip(x.dims()).zip(&own) {
        let target = usize::try_from(to).ok().filter(|to| *to < dims.len());
        match target {
            Some(to) if dims[to] == size => steps[to] = stride,
            Some(_) if size == 1 => {}
            _ => {
                return Err(Fault::invalid(format!(
                    "shape {:?} can't be broadcast to {dims:?} along {dimensions:?}",
                    x.dims()
                )));
            }
        }
    }
    picked(x, 0, &steps, dims)
}

fn transpose(x: &Tensor, permutation: &[i64]) -> Result<Tensor, Fault> {
    per_dim("dimensions", permutation, x.rank())?;
    let own = strides(x.dims());
    let order = permutation.iter().map(|d| dim(x, *d)).collect::<Result<SmallVec<[_; 4]>, _>>()?;
    let steps: SmallVec<[isize; 4]> = order.iter().map(|d| own[*d]).collect();
    let dims: Dims = order.iter().map(|d| x.dims()[*d]).collect();
    if element_count(&dims)? != x.len() {
        return Err(Fault::invalid(format!("{permutation:?} is no permutation")));
    }
    picked(x, 0, &steps, &dims)
}

/// The elements from `start` to before `limit`, by steps.
///
/// # Errors
/// If they aren't inside.
pub(crate) fn slice(
    x: &Tensor,
    start: &[i64],
    limit: &[i64],
    step: &[i64],
) -> Result<Tensor, Fault> {
    for values in [start, limit, step] {
        per_dim("bounds", values, x.rank())?;
    }
    let own = strides(x.dims());
    let mut offset = 0;
    let mut steps: SmallVec<[isize; 4]> = SmallVec::new();
    let mut dims = Dims::new();
    for (at, &size) in x.dims().iter().enumerate() {
        let (start, limit, step) = (start[at], limit[at], step[at]);
        if start < 0 || start > limit || limit > size || step <= 0 {
            return Err(Fault::invalid(format!(
                "a slice from {start} to {limit} by {step} of dimension {at} of size {size}"
            )));
        }
        let count = ((limit - start) as u64).div_ceil(step as u64) as i64;
        offset += start as isize * own[at];
        // Of a single element the step is of no concern, and may be huge.
        steps.push(if count > 1 { step as isize * own[at] } else { own[at] });
        dims.push(count);
    }
    picked(x, offset, &steps, &dims)
}

/// Where a block of `sizes` begins: start indices are clamped so that all of it is inside.
fn block_offset(x: &Tensor, starts: &[Tensor], sizes: &[i64]) -> Result<isize, Fault> {
    per_dim("sizes", sizes, x.rank())?;
    if starts.len() != x.rank() {
        return Err(Fault::invalid(format!(
            "{} start indices for {} dimensions",
            starts.len(),
            x.rank()
        )));
    }
    let own = strides(x.dims());
    let mut offset = 0;
    for (at, (start, &size)) in starts.iter().zip(sizes).enumerate() {
        let most = x.dims()[at].saturating_sub(size);
        if size < 0 || most < 0 {
            return Err(Fault::invalid(format!(
                "a block of {size} in dimension {at} of size {}",
                x.dims()[at]
            )));
        }
        offset += start.integer()?.clamp(0, most) as isize * own[at];
    }
    Ok(offset)
}

fn dynamic_slice(op: &DynamicSlice, operands: &[Tensor]) -> Result<Tensor, Fault> {
    let Some((x, starts)) = operands.split_first() else {
        return Err(Fault::invalid("a slice of nothing"));
    };
    let offset = block_offset(x, starts, &op.sizes)?;
    picked(x, offset, &strides(x.dims()), &op.sizes)
}

fn dynamic_update_slice(operands: &[Tensor]) -> Result<Tensor, Fault> {
    let [x, update, starts @ ..] = operands else {
        return Err(Fault::invalid("an update of nothing"));
    };
    same_element(x, update)?;
    let offset = block_offset(x, starts, update.dims())?;
    if update.dims() == x.dims() {
        return Ok(update.clone());
    }
    let (steps, dims) = joined(&strides(x.dims()), update.dims());
    let buffer = each_width!(x.buffer(), |words| {
        let mut words = words.clone();
        write(&mut words, offset, &steps, &dims, Lane::of(update.buffer()));
        words
    });
    Ok(Tensor::new(x.element(), x.dims(), buffer))
}

/// Tensors one after the other along a dimension.
///
/// # Errors
/// If their other dimensions or their elements differ.
pub(crate) fn concatenate(operands: &[Tensor], dimension: i64) -> Result<Tensor, Fault> {
    let Some(first) = operands.first() else {
        return Err(Fault::invalid("a concatenation of nothing"));
    };
    let along = dim(first, dimension)?;
    let mut dims = Dims::from_slice(first.dims());
    dims[along] = 0;
    for operand in operands {
        same_element(first, operand)?;
        let fits = operand.rank() == first.rank()
            && (0..first.rank()).all(|d| d == along || operand.dims()[d] == dims[d]);
        if !fits {
            return Err(Fault::invalid(format!(
                "shapes {:?} and {:?} can't be joined along dimension {along}",
                first.dims(),
                operand.dims()
            )));
        }
        dims[along] = dims[along].saturating_add(operand.dims()[along]);
    }
    let count = element_count(&dims)?;
    let outer = dims[..along].iter().product::<i64>() as usize;
    let buffer = each_width!(first.buffer(), |words| joined_rows(words, operands, outer, count));
    Ok(Tensor::new(first.element(), dims, buffer))
}

/// One row of each operand after the other, `outer` times. The first argument says of which type.
fn joined_rows<W: Lane>(_: &[W], operands: &[Tensor], outer: usize, count: usize) -> Vec<W> {
    if count == 0 {
        return Vec::new();
    }
    let parts: Vec<(&[W], usize)> =
        operands.iter().map(|x| (W::of(x.buffer()), x.len() / outer)).collect();
    let mut out = Vec::with_capacity(count);
    for row in 0..outer {
        for (words, width) in &parts {
            out.extend_from_slice(&words[row * width..(row + 1) * width]);
        }
    }
    out
}

fn reverse(x: &Tensor, dimensions: &[i64]) -> Result<Tensor, Fault> {
    let mut steps = strides(x.dims());
    let mut offset = 0;
    for &dimension in dimensions {
        let at = dim(x, dimension)?;
        if steps[at] > 0 {
            offset += (x.dims()[at] - 1) as isize * steps[at];
            steps[at] = -steps[at];
        }
    }
    picked(x, offset, &steps, x.dims())
}

/// A tensor has its actual size, so setting a smaller one takes the first elements.
fn set_dimension_size(x: &Tensor, size: i64, dimension: i64) -> Result<Tensor, Fault> {
    let at = dim(x, dimension)?;
    if size < 0 || size > x.dims()[at] {
        return Err(Fault::invalid(format!(
            "dimension {at} of size {} can't have size {size}",
            x.dims()[at]
        )));
    }
    let mut dims = Dims::from_slice(x.dims());
    dims[at] = size;
    picked(x, 0, &strides(x.dims()), &dims)
}
