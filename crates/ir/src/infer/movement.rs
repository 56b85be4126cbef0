//! Data movement.

use crate::ops::{
    BroadcastInDim, Concatenate, DynamicBroadcastInDim, DynamicSlice, Movement, Pad, Slice,
};
use crate::{DYNAMIC, Dims, ElementType, TensorType};

use super::InferredType;
use super::context::kinds::INT;
use super::context::{Cx, Found, compatible_dim, dims_text, like, merge_dims, size, tensor};

pub(super) fn infer(cx: &mut Cx, kind: &Movement) -> Found {
    match kind {
        Movement::Reshape => {
            let x = cx.tensor(0, "operand")?;
            if let Some(result) = cx.declared_tensor(0) {
                cx.static_result(result);
            }
            reshape(cx, x)
        }
        Movement::BitcastConvert => bitcast_convert(cx),
        Movement::DynamicUpdateSlice => dynamic_update_slice(cx),
        Movement::DynamicReshape => dynamic_reshape(cx),
        Movement::RealDynamicSlice => real_dynamic_slice(cx),
        Movement::DynamicPad => dynamic_pad(cx),
        Movement::BroadcastInDim(op) => broadcast_in_dim(cx, op),
        Movement::DynamicBroadcastInDim(op) => dynamic_broadcast_in_dim(cx, op),
        Movement::Broadcast(op) => {
            let x = cx.tensor(0, "operand")?;
            for &n in &op.sizes {
                check!(cx, n >= 0, "broadcast_sizes {} has {n}, negative", dims_text(&op.sizes));
            }
            Some(vec![tensor(x.element, op.sizes.iter().chain(&x.dims).copied())])
        }
        Movement::Transpose(op) => {
            let x = cx.tensor(0, "operand")?;
            cx.per_dim("permutation", op.permutation.len(), x.rank())?;
            let order = cx.dims("permutation", &op.permutation, x.rank())?;
            Some(vec![tensor(x.element, order.iter().map(|&d| x.dims[d]))])
        }
        Movement::Slice(op) => slice(cx, op),
        Movement::DynamicSlice(op) => dynamic_slice(cx, op),
        Movement::Pad(op) => pad(cx, op),
        Movement::Concatenate(op) => concatenate(cx, op),
        Movement::Reverse(op) => {
            let x = cx.tensor(0, "operand")?;
            cx.dims("dimensions", &op.dimensions, x.rank())?;
            like(x)
        }
        Movement::GetDimensionSize(op) => {
            let x = cx.tensor(0, "operand")?;
            cx.dim("dimension", op.dimension, x.rank())?;
            Some(vec![tensor(ElementType::I32, [])])
        }
        Movement::SetDimensionSize(op) => {
            let x = cx.tensor(0, "operand")?;
            let n = cx.scalar(1, "size", INT)?;
            check!(
                cx,
                n.element == ElementType::I32,
                "size has element type {}, not i32",
                n.element
            );
            let at = cx.dim("dimension", op.dimension, x.rank())?;
            let mut dims = x.dims.clone();
            dims[at] = DYNAMIC;
            Some(vec![tensor(x.element, dims)])
        }
    }
}

fn reshape(cx: &mut Cx, x: &TensorType) -> Found {
    if let Some(result) = cx.declared_tensor(0) {
        cx.same_element(("operand", x), ("result", result));
        let dynamic = !x.is_static() || !result.is_static();
        check!(
            cx,
            dynamic || x.elements() == result.elements(),
            "operand of shape {} has {} elements, result of shape {} has {}",
            dims_text(&x.dims),
            x.elements(),
            dims_text(&result.dims),
            result.elements()
        );
    }
    Some(vec![InferredType::Given])
}

fn dynamic_reshape(cx: &mut Cx) -> Found {
    let x = cx.tensor(0, "operand")?;
    if let Some(shape) = output_shape(cx, "output_shape")? {
        let count = shape.iter().fold(1u64, |n, &dim| n.saturating_mul(dim.max(0) as u64));
        check!(
            cx,
            !x.is_static() || count == x.elements(),
            "operand of shape {} has {} elements, output_shape {} has {count}",
            dims_text(&x.dims),
            x.elements(),
            dims_text(&shape)
        );
    }
    reshape(cx, x)
}

/// The result's shape as operand 1, where it is a constant.
fn output_shape(cx: &mut Cx, name: &str) -> Option<Option<Dims>> {
    let result = cx.declared_tensor(0);
    let shape = cx.shape_operand(1, name, result.map(TensorType::rank))?;
    if let (Some(result), Some(shape)) = (result, &shape) {
        cx.constant_shape(name, shape, result);
    }
    Some(shape)
}

fn bitcast_convert(cx: &mut Cx) -> Found {
    let x = cx.tensor(0, "operand")?;
    let Some(result) = cx.declared_tensor(0) else { return Some(vec![InferredType::Given]) };
    let complex = |ty: &TensorType| ty.element.kind() == crate::NumberKind::Complex;
    let quantized = |ty: &TensorType| ty.element.kind() == crate::NumberKind::Quantized;
    if quantized(x) || quantized(result) {
        return Some(vec![InferredType::Given]);
    }
    check!(
        cx,
        complex(x) == complex(result),
        "converts between real and complex elements: {} and {}",
        x.element,
        result.element
    );
    // Here a boolean is one bit, unlike in memory.
    let bits = |ty: &TensorType| if ty.element == ElementType::I1 { 1 } else { ty.element.bits() };
    let (narrow, wide) = if bits(x) < bits(result) { (x, result) } else { (result, x) };
    let (narrow_name, wide_name) =
        if bits(x) < bits(result) { ("operand", "result") } else { ("result", "operand") };
    let mut prefix: &[i64] = &narrow.dims;
    if bits(narrow) != bits(wide) {
        require!(
            cx,
            narrow.rank() == wide.rank() + 1,
            "{narrow_name} of type {} must have one dimension more than {wide_name} of type {}",
            cx.show_tensor(narrow),
            cx.show_tensor(wide)
        );
        let last = narrow.dims[wide.rank()];
        require!(
            cx,
            last == DYNAMIC || last.checked_mul(bits(narrow).into()) == Some(bits(wide).into()),
            "the last dimension of {narrow_name} is {last}, and {last} * {} bits aren't {}",
            bits(narrow),
            bits(wide)
        );
        prefix = &narrow.dims[..wide.rank()];
    }
    cx.same_shape((narrow_name, prefix), (wide_name, &wide.dims))?;
    Some(vec![InferredType::Given])
}

/// Start indices are scalars of one integer type, one a dimension.
fn start_indices(cx: &mut Cx, first: usize, rank: usize) -> Option<()> {
    let count = cx.operands.len() - first;
    require!(cx, count == rank, "has {count} start indices for an operand of rank {rank}");
    let starts = (first..cx.operands.len())
        .map(|at| cx.scalar(at, &format!("start index {}", at - first), INT))
        .collect::<Option<Vec<_>>>()?;
    for (at, pair) in starts.windows(2).enumerate() {
        let name = format!("start index {}", at + 1);
        cx.same_element(("start index 0", pair[0]), (&name, pair[1]));
    }
    Some(())
}

fn dynamic_slice(cx: &mut Cx, op: &DynamicSlice) -> Found {
    let x = cx.tensor(0, "operand")?;
    cx.per_dim("slice_sizes", op.sizes.len(), x.rank())?;
    start_indices(cx, 1, x.rank())?;
    for (at, (&n, &dim)) in op.sizes.iter().zip(&x.dims).enumerate() {
        check!(cx, n >= 0, "slice size {n} of dimension {at} is negative");
        check!(cx, dim == DYNAMIC || n <= dim, "slice size {n} of dimension {at} exceeds {dim}");
    }
    Some(vec![tensor(x.element, op.sizes.iter().copied())])
}

fn dynamic_update_slice(cx: &mut Cx) -> Found {
    let (x, update) = (cx.tensor(0, "operand")?, cx.tensor(1, "update")?);
    cx.same_element(("operand", x), ("update", update));
    require!(
        cx,
        update.rank() == x.rank(),
        "update has rank {}, operand {}",
        update.rank(),
        x.rank()
    );
    start_indices(cx, 2, x.rank())?;
    for (at, (&n, &dim)) in update.dims.iter().zip(&x.dims).enumerate() {
        check!(
            cx,
            n == DYNAMIC || dim == DYNAMIC || n <= dim,
            "dimension {at} of update is {n}, more than {dim} of operand"
        );
    }
    like(x)
}

fn real_dynamic_slice(cx: &mut Cx) -> Found {
    let x = cx.tensor(0, "operand")?;
    for (at, name) in [(1, "start_indices"), (2, "limit_indices"), (3, "strides")] {
        let count = cx.index_vector(at, name)?;
        check!(
            cx,
            compatible_dim(count, x.rank() as i64),
            "{name} has {} elements for an operand of rank {}",
            size(count),
            x.rank()
        );
    }
    let starts = cx.tensor(1, "start_indices")?;
    for (at, name) in [(2, "limit_indices"), (3, "strides")] {
        let other = cx.tensor(at, name)?;
        cx.same_element(("start_indices", starts), (name, other));
    }
    given_like(cx, x)
}

/// The program gives the shape; rank and element type are the operand's.
fn given_like(cx: &mut Cx, x: &TensorType) -> Found {
    if let Some(result) = cx.declared_tensor(0) {
        cx.same_element(("operand", x), ("result", result));
        check!(
            cx,
            result.rank() == x.rank(),
            "result has rank {}, operand {}",
            result.rank(),
            x.rank()
        );
    }
    Some(vec![InferredType::Given])
}

fn dynamic_pad(cx: &mut Cx) -> Found {
    let (x, value) = (cx.tensor(0, "operand")?, cx.tensor(1, "padding_value")?);
    cx.same_element(("operand", x), ("padding_value", value));
    check!(cx, value.rank() == 0, "padding_value has rank {}, not 0", value.rank());
    let rank = Some(x.rank());
    let low = cx.shape_operand(2, "edge_padding_low", rank)?;
    let high = cx.shape_operand(3, "edge_padding_high", rank)?;
    let interior = cx.shape_operand(4, "interior_padding", rank)?;
    if let Some(interior) = &interior {
        let positive = interior.iter().all(|&n| n >= 0);
        require!(cx, positive, "interior_padding {} is negative", dims_text(interior));
    }
    if let (Some(low), Some(high), Some(interior)) = (&low, &high, &interior)
        && let Some(result) = cx.declared_tensor(0)
        && result.rank() == x.rank()
    {
        for (at, &dim) in x.dims.iter().enumerate().filter(|(_, dim)| **dim != DYNAMIC) {
            let sum = padded(dim, low[at], high[at], interior[at]);
            check!(
                cx,
                compatible_dim(sum, result.dims[at]),
                "dimension {at} becomes {sum} by padding, but is {} in the result",
                size(result.dims[at])
            );
        }
    }
    given_like(cx, x)
}

/// The size of a dimension after padding.
fn padded(dim: i64, low: i64, high: i64, interior: i64) -> i64 {
    let gaps = (dim - 1).max(0).saturating_mul(interior);
    dim.saturating_add(gaps).saturating_add(low).saturating_add(high)
}

/// Dimensions of a broadcast: one for each of the operand, none twice, those of the result with
/// the operand's size unless that is 1.
fn broadcast(cx: &mut Cx, x: &TensorType, dimensions: &[i64], dynamic: bool) -> Option<()> {
    cx.per_dim("broadcast_dimensions", dimensions.len(), x.rank())?;
    let rank = match cx.declared_tensor(0) {
        Some(result) => result.rank(),
        None => {
            dimensions.iter().map(|&d| d.saturating_add(1)).max().unwrap_or(0).clamp(0, 1 << 16)
                as usize
        }
    };
    let order = cx.dims("broadcast_dimensions", dimensions, rank)?;
    let Some(result) = cx.declared_tensor(0) else { return Some(()) };
    cx.same_element(("operand", x), ("result", result));
    for (at, (&n, &to)) in x.dims.iter().zip(&order).enumerate() {
        let wanted = result.dims[to];
        // A static broadcast can't make a size unknown.
        let fits = n == 1 || n == DYNAMIC || n == wanted || dynamic && wanted == DYNAMIC;
        check!(
            cx,
            fits,
            "dimension {at} of operand is {}, neither 1 nor {} of dimension {to} of the result",
            size(n),
            size(wanted)
        );
    }
    Some(())
}

fn broadcast_in_dim(cx: &mut Cx, op: &BroadcastInDim) -> Found {
    let x = cx.tensor(0, "operand")?;
    broadcast(cx, x, &op.dimensions, false)?;
    if let Some(result) = cx.declared_tensor(0) {
        cx.static_result(result);
    }
    Some(vec![InferredType::Given])
}

fn dynamic_broadcast_in_dim(cx: &mut Cx, op: &DynamicBroadcastInDim) -> Found {
    let x = cx.tensor(0, "operand")?;
    let shape = output_shape(cx, "output_dimensions")?;
    broadcast(cx, x, &op.dimensions, true)?;
    for (at, (&n, &to)) in x.dims.iter().zip(&op.dimensions).enumerate() {
        let Some(&wanted) = shape.as_ref().and_then(|shape| shape.get(to as usize)) else { break };
        check!(
            cx,
            n == 1 || compatible_dim(n, wanted),
            "dimension {at} of operand is {}, neither 1 nor {wanted} of output_dimensions",
            size(n)
        );
    }
    let known = op.expanding.iter().chain(&op.nonexpanding).flatten().copied();
    cx.dims("known expanding and nonexpanding dimensions", &known.collect::<Dims>(), x.rank())?;
    Some(vec![InferredType::Given])
}

fn slice(cx: &mut Cx, op: &Slice) -> Found {
    let x = cx.tensor(0, "operand")?;
    cx.per_dim("start_indices", op.start.len(), x.rank())?;
    cx.per_dim("limit_indices", op.limit.len(), x.rank())?;
    cx.per_dim("strides", op.strides.len(), x.rank())?;
    let mut dims = Dims::new();
    for (at, &dim) in x.dims.iter().enumerate() {
        let (start, limit, stride) = (op.start[at], op.limit[at], op.strides[at]);
        require!(cx, start >= 0, "start index {start} of dimension {at} is negative");
        require!(cx, start <= limit, "start index {start} of dimension {at} exceeds limit {limit}");
        require!(
            cx,
            dim == DYNAMIC || limit <= dim,
            "limit index {limit} of dimension {at} exceeds its size {dim}"
        );
        require!(cx, stride > 0, "stride {stride} of dimension {at} isn't positive");
        let span = (limit - start) as u64;
        dims.push(span.div_ceil(stride as u64) as i64);
    }
    Some(vec![tensor(x.element, dims)])
}

fn pad(cx: &mut Cx, op: &Pad) -> Found {
    let (x, value) = (cx.tensor(0, "operand")?, cx.tensor(1, "padding_value")?);
    cx.same_element(("operand", x), ("padding_value", value));
    check!(cx, value.rank() == 0, "padding_value has rank {}, not 0", value.rank());
    cx.per_dim("edge_padding_low", op.low.len(), x.rank())?;
    cx.per_dim("edge_padding_high", op.high.len(), x.rank())?;
    cx.per_dim("interior_padding", op.interior.len(), x.rank())?;
    let mut dims = Dims::new();
    for (at, &dim) in x.dims.iter().enumerate() {
        let (low, high, interior) = (op.low[at], op.high[at], op.interior[at]);
        require!(cx, interior >= 0, "interior padding {interior} of dimension {at} is negative");
        if dim == DYNAMIC {
            dims.push(DYNAMIC);
            continue;
        }
        let sum = padded(dim, low, high, interior);
        require!(cx, sum >= 0, "dimension {at} becomes {sum}, negative, by padding {low}, {high}");
        dims.push(sum);
    }
    Some(vec![tensor(x.element, dims)])
}

fn concatenate(cx: &mut Cx, op: &Concatenate) -> Found {
    let inputs = cx.tensors(0..cx.operands.len(), "operand")?;
    let first = inputs[0];
    let along = cx.dim("dimension", op.dimension, first.rank())?;
    let mut dims = first.dims.clone();
    for (at, input) in inputs.iter().enumerate().skip(1) {
        let name = format!("operand {at}");
        cx.same_element(("operand 0", first), (&name, input));
        require!(
            cx,
            input.rank() == first.rank(),
            "operand 0 has rank {}, {name} {}",
            first.rank(),
            input.rank()
        );
        let (mut others, mut own) = (dims.clone(), input.dims.clone());
        (others[along], own[along]) = (0, 0);
        cx.same_shape(("operand 0", &others), (&name, &own))?;
        let (sum, more) = (dims[along], input.dims[along]);
        dims = merge_dims(&others, &own);
        dims[along] =
            if sum == DYNAMIC || more == DYNAMIC { DYNAMIC } else { sum.saturating_add(more) };
    }
    Some(vec![tensor(first.element, dims)])
}
