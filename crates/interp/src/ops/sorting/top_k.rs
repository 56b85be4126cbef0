//! The first elements in descending or ascending order.

use shard_ir::{Dims, ElementType};

use super::keys::total_order;
use crate::{Fault, Tensor, each_width};

/// The `k` largest (or smallest) elements along the last dimension and their indices. Of equal
/// ones the first comes first; floats have their total order, so that a NaN is the largest.
pub(crate) fn top_k(x: &Tensor, k: i64, largest: bool) -> Result<[Tensor; 2], Fault> {
    let last = x.dims().last().copied();
    let (Some(row), Ok(k)) = (last, usize::try_from(k)) else {
        return Err(Fault::invalid(format!("the first {k} elements of a scalar")));
    };
    let row = row as usize;
    if k > row {
        return Err(Fault::invalid(format!("the first {k} elements of {row}")));
    }
    let Some(mut keys) = total_order(x) else {
        return Err(Fault::invalid(format!("an order of elements of type {}", x.element())));
    };
    if largest {
        // Where one is larger, its complement is smaller.
        keys.iter_mut().for_each(|key| *key = !*key);
    }
    let mut dims = Dims::from_slice(x.dims());
    if let Some(last) = dims.last_mut() {
        *last = k as i64;
    }
    let mut places: Vec<usize> = Vec::new();
    let mut indices: Vec<i32> = Vec::new();
    if k > 0 {
        let mut order: Vec<(i64, usize)> = Vec::with_capacity(row);
        for (at, keys) in keys.chunks(row).enumerate() {
            order.clear();
            order.extend(keys.iter().copied().zip(0..));
            if k < row {
                order.select_nth_unstable(k);
                order.truncate(k);
            }
            order.sort_unstable();
            places.extend(order.iter().map(|(_, index)| at * row + index));
            indices.extend(order.iter().map(|(_, index)| *index as i32));
        }
    }
    let values = each_width!(x.buffer(), |words| places.iter().map(|at| words[*at]).collect());
    Ok([
        Tensor::new(x.element(), dims.clone(), values),
        Tensor::from_lanes(ElementType::I32, dims, indices),
    ])
}
