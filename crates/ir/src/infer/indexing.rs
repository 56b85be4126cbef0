//! Gathers and scatters.

use crate::ops::{GatherDims, Indexing, Scatter, TorchIndexSelect};
use crate::{DYNAMIC, Dims, TensorType};

use super::InferredType;
use super::context::kinds::INT;
use super::context::{Cx, Found, compatible_dim, dims_text, merge_dims, size, tensor};
use super::reducer::{Reduced, reducer};

pub(super) fn infer(cx: &mut Cx, kind: &Indexing) -> Found {
    match kind {
        Indexing::Gather(op) => gather(cx, &op.dims, &op.slice_sizes),
        Indexing::DynamicGather(op) => {
            let x = cx.tensor(0, "operand")?;
            let rank = x.rank();
            let sizes = cx.shape_operand(2, "slice_sizes", Some(rank))?;
            gather(cx, &op.dims, &sizes.unwrap_or_else(|| Dims::from_elem(DYNAMIC, rank)))
        }
        Indexing::Scatter(op) => scatter(cx, op),
        Indexing::TorchIndexSelect(op) => torch_index_select(cx, op),
    }
}

/// The operand's dimensions that gathers and scatters name, and the indices': their names and
/// values.
struct Numbers<'a> {
    names: [&'static str; 4],
    /// Operand dimensions that are left out.
    dropped: &'a [i64],
    /// Operand dimensions that go along with the indices'.
    batching: &'a [i64],
    /// Dimensions of the indices that go along with the operand's.
    indices_batching: &'a [i64],
    /// Operand dimension of each component of an index vector.
    map: &'a [i64],
    /// Dimension of the indices that holds the index vector.
    vector: i64,
}

/// Checks the dimension numbers that gathers and scatters share. Returns the shape of the indices
/// without the index vector, and which dimensions of the operand a slice keeps.
fn numbers(
    cx: &mut Cx,
    x: &TensorType,
    indices: &TensorType,
    n: &Numbers,
) -> Option<(Dims, Vec<usize>)> {
    let [dropped_name, batching_name, indices_name, map_name] = n.names;
    let rank = x.rank();
    let vector = cx.dim("index_vector_dim", n.vector, indices.rank() + 1)?;
    let components = indices.dims.get(vector).copied().unwrap_or(1);
    require!(
        cx,
        compatible_dim(components, n.map.len() as i64),
        "{map_name} has {} elements, an index vector has {}",
        n.map.len(),
        size(components)
    );
    cx.ascending(dropped_name, n.dropped)?;
    cx.ascending(batching_name, n.batching)?;
    let out: Dims = n.dropped.iter().chain(n.batching).copied().collect();
    let out = cx.dims(&format!("{dropped_name} with {batching_name}"), &out, rank)?;
    let along = cx.dims(indices_name, n.indices_batching, indices.rank())?;
    require!(
        cx,
        !along.contains(&vector),
        "{indices_name} {} names index_vector_dim {vector}",
        dims_text(n.indices_batching)
    );
    require!(
        cx,
        n.batching.len() == n.indices_batching.len(),
        "{batching_name} has {} elements, {indices_name} {}",
        n.batching.len(),
        n.indices_batching.len()
    );
    for (&own, &other) in out[n.dropped.len()..].iter().zip(&along) {
        require!(
            cx,
            compatible_dim(x.dims[own], indices.dims[other]),
            "batching dimension {own} of the operand is {}, dimension {other} of the indices {}",
            size(x.dims[own]),
            size(indices.dims[other])
        );
    }
    let map: Dims = n.map.iter().chain(n.batching).copied().collect();
    cx.dims(&format!("{map_name} with {batching_name}"), &map, rank)?;
    let batch = indices.dims.iter().enumerate().filter(|(at, _)| *at != vector).map(|(_, &d)| d);
    Some((batch.collect(), (0..rank).filter(|d| !out.contains(d)).collect()))
}

fn gather(cx: &mut Cx, d: &GatherDims, slice_sizes: &[i64]) -> Found {
    let (x, indices) = (cx.tensor(0, "operand")?, cx.tensor(1, "start_indices")?);
    cx.kind(indices, "start_indices", INT);
    let count = d.offset_dims.len() + d.collapsed_slice_dims.len() + d.operand_batching_dims.len();
    require!(
        cx,
        count == x.rank(),
        "offset_dims, collapsed_slice_dims and operand_batching_dims have {count} elements, the \
         operand has rank {}",
        x.rank()
    );
    let named = Numbers {
        names: [
            "collapsed_slice_dims",
            "operand_batching_dims",
            "start_indices_batching_dims",
            "start_index_map",
        ],
        dropped: &d.collapsed_slice_dims,
        batching: &d.operand_batching_dims,
        indices_batching: &d.start_indices_batching_dims,
        map: &d.start_index_map,
        vector: d.index_vector_dim,
    };
    let (batch, kept) = numbers(cx, x, indices, &named)?;
    cx.ascending("offset_dims", &d.offset_dims)?;
    cx.per_dim("slice_sizes", slice_sizes.len(), x.rank())?;
    for (at, (&n, &dim)) in slice_sizes.iter().zip(&x.dims).enumerate() {
        if n == DYNAMIC {
            continue;
        }
        require!(cx, n >= 0, "slice size {n} of dimension {at} is negative");
        require!(cx, dim == DYNAMIC || n <= dim, "slice size {n} of dimension {at} exceeds {dim}");
        require!(
            cx,
            kept.contains(&at) || n <= 1,
            "slice size {n} of dimension {at}, which the result leaves out, is more than 1"
        );
    }
    let rank = batch.len() + d.offset_dims.len();
    let offsets = cx.dims("offset_dims", &d.offset_dims, rank)?;
    let (mut slices, mut batch) = (kept.iter().map(|&at| slice_sizes[at]), batch.into_iter());
    let dims = (0..rank).map(|at| {
        let next = if offsets.contains(&at) { slices.next() } else { batch.next() };
        next.unwrap_or(DYNAMIC)
    });
    Some(vec![tensor(x.element, dims)])
}

fn scatter(cx: &mut Cx, op: &Scatter) -> Found {
    let count = cx.operands.len();
    require!(cx, count % 2 == 1, "has {count} operands, not inputs, indices and as many updates");
    let n = count / 2;
    let inputs = cx.tensors(0..n, "input")?;
    let indices = cx.tensor(n, "scatter_indices")?;
    cx.kind(indices, "scatter_indices", INT);
    let updates = cx.tensors(n + 1..count, "update, operand")?;
    let (mut shape, mut parts) = (inputs[0].dims.clone(), updates[0].dims.clone());
    for (at, (input, update)) in inputs.iter().zip(&updates).enumerate().skip(1) {
        cx.same_shape(("input 0", &shape), (&format!("input {at}"), &input.dims))?;
        cx.same_shape(("update 0", &parts), (&format!("update {at}"), &update.dims))?;
        shape = merge_dims(&shape, &input.dims);
        parts = merge_dims(&parts, &update.dims);
    }
    let d = &op.dims;
    let windows = d.update_window_dims.len();
    let sum = windows + d.inserted_window_dims.len() + d.input_batching_dims.len();
    require!(
        cx,
        sum == shape.len(),
        "update_window_dims, inserted_window_dims and input_batching_dims have {sum} elements, the \
         input has rank {}",
        shape.len()
    );
    let named = Numbers {
        names: [
            "inserted_window_dims",
            "input_batching_dims",
            "scatter_indices_batching_dims",
            "scatter_dims_to_operand_dims",
        ],
        dropped: &d.inserted_window_dims,
        batching: &d.input_batching_dims,
        indices_batching: &d.scatter_indices_batching_dims,
        map: &d.scatter_dims_to_operand_dims,
        vector: d.index_vector_dim,
    };
    let (batch, kept) = numbers(cx, &inputs[0].with_dims(shape.iter().copied()), indices, &named)?;
    let rank = batch.len() + windows;
    require!(cx, parts.len() == rank, "updates have rank {}, expected {rank}", parts.len());
    cx.ascending("update_window_dims", &d.update_window_dims)?;
    let window = cx.dims("update_window_dims", &d.update_window_dims, rank)?;
    let (mut bounds, mut batch) = (kept.iter().map(|&at| shape[at]), batch.into_iter());
    for (at, &got) in parts.iter().enumerate() {
        if window.contains(&at) {
            let bound = bounds.next().unwrap_or(DYNAMIC);
            require!(
                cx,
                got == DYNAMIC || bound == DYNAMIC || got <= bound,
                "window dimension {at} of the updates is {got}, more than {bound} of the input"
            );
        } else {
            let wanted = batch.next().unwrap_or(DYNAMIC);
            require!(
                cx,
                compatible_dim(got, wanted),
                "scatter dimension {at} of the updates is {}, of the indices {}",
                size(got),
                size(wanted)
            );
        }
    }
    let reduced: Vec<Reduced> = inputs
        .iter()
        .zip(&updates)
        .map(|(input, update)| Reduced { input: input.element, init: update.element })
        .collect();
    let elements = reducer(cx, 0, &reduced, &[])?;
    let result = |(input, element): (&&TensorType, _)| {
        InferredType::Tensor(TensorType { element, ..(**input).clone() })
    };
    Some(inputs.iter().zip(elements).map(result).collect())
}

fn torch_index_select(cx: &mut Cx, op: &TorchIndexSelect) -> Found {
    let (x, index) = (cx.tensor(0, "operand")?, cx.tensor(1, "index")?);
    cx.kind(index, "index", INT);
    let dim = cx.dim("dim", op.dim, x.rank())?;
    let batch = cx.dim("batch_dims", op.batch_dims, index.rank().min(dim) + 1)?;
    cx.same_shape(("operand's batch", &x.dims[..batch]), ("index's", &index.dims[..batch]))?;
    let dims = x.dims[..dim].iter().chain(&index.dims[batch..]).chain(&x.dims[dim + 1..]);
    Some(vec![tensor(x.element, dims.copied())])
}
