//! Gathers and scatters on sharded operands.
//!
//! Along a sharded indexed dimension each device looks at the indices that fall into its shard. A
//! gather gives zero for the others, so that its result is a partial sum; a scatter ignores the
//! others by its own rule for indices out of bounds.

use shard_ir::ops::{
    Compare, Concatenate, Direction, Elementwise, Gather, Indexing, Movement, Scatter, Slice,
};
use shard_ir::sharding::AxisList;
use shard_ir::{Diagnostic, Dims, ElementType, OpId, TensorType, ValueId};
use smallvec::smallvec;

use super::Local;
use crate::rewrite::Rewriter;

pub(super) fn lower(
    local: &mut Local,
    rw: &mut Rewriter<'_>,
    op: OpId,
    kind: Indexing,
) -> Result<(), Diagnostic> {
    match kind {
        Indexing::Gather(gather) => self::gather(local, rw, op, *gather),
        Indexing::Scatter(scatter) => self::scatter(local, rw, op, &scatter),
        Indexing::DynamicGather(_) | Indexing::TorchIndexSelect(_) => local.shrink(rw, op),
    }
}

/// Start indices of a gather or scatter, as signed integers that hold every index of the operand.
struct Starts {
    value: ValueId,
    ty: TensorType,
    vector_dim: usize,
}

/// A component of the index vector that addresses a sharded dimension.
struct Component {
    index: usize,
    axes: AxisList,
    shard: i64,
    /// The largest start index on the whole operand.
    last: i64,
}

fn components(
    local: &Local,
    rw: &Rewriter<'_>,
    operand: ValueId,
    map: &[i64],
    window: impl Fn(usize) -> i64,
) -> Vec<Component> {
    let shape = local.local(rw.module, operand).dims;
    let global = local.global(rw.module, operand).dims;
    map.iter()
        .enumerate()
        .filter_map(|(index, &dim)| {
            let dim = usize::try_from(dim).ok()?;
            let axes = local.dim_axes(rw.module, operand, dim);
            // A window over the whole dimension can start at zero only.
            let whole = window(dim) == global[dim];
            (!axes.is_empty() && !whole).then(|| Component {
                index,
                axes,
                shard: shape[dim],
                last: global[dim] - window(dim),
            })
        })
        .collect()
}

impl Starts {
    /// The indices, converted where their type can't hold every index or has no sign.
    fn new(local: &Local, rw: &mut Rewriter<'_>, value: ValueId, vector_dim: i64) -> Starts {
        let mut ty = local.local(rw.module, value);
        let mut value = value;
        let wide = match ty.element {
            ElementType::I32 | ElementType::I64 => ty.element,
            ElementType::UI32 | ElementType::UI64 => ElementType::I64,
            _ => ElementType::I32,
        };
        if wide != ty.element {
            // A 64-bit unsigned index beyond the signed range is out of bounds; so is the
            // negative number that it becomes for a scatter. A gather clamps it to the end.
            if ty.element == ElementType::UI64 {
                let most = rw.scalar(ElementType::UI64, i64::MAX);
                let most = rw.broadcast_scalar(most, &ty.dims);
                let same = rw.module.value_type(value);
                value = rw.emit(Elementwise::Minimum, &[value, most], same);
            }
            ty.element = wide;
            let id = rw.module.tensor(wide, ty.dims.iter().copied());
            value = rw.emit(Elementwise::Convert, &[value], id);
        }
        Starts { value, ty, vector_dim: usize::try_from(vector_dim).unwrap_or_default() }
    }

    fn type_id(&self, rw: &mut Rewriter<'_>) -> shard_ir::TypeId {
        rw.module.tensor(self.ty.element, self.ty.dims.iter().copied())
    }

    /// Number of components of an index vector.
    fn width(&self) -> usize {
        self.ty.dims.get(self.vector_dim).map_or(1, |&n| n as usize)
    }

    /// Shape without the index vector.
    fn batch(&self) -> Dims {
        let mut dims = self.ty.dims.clone();
        if self.vector_dim < dims.len() {
            dims.remove(self.vector_dim);
        }
        dims
    }

    /// A tensor of the indices' shape that has `values[i]` (scalars) at component `i`.
    fn per_component(&self, rw: &mut Rewriter<'_>, values: &[ValueId]) -> ValueId {
        if let [value] = values {
            return rw.broadcast_scalar(*value, &self.ty.dims);
        }
        let element = self.ty.element;
        let one = rw.module.tensor(element, [1]);
        let parts: Vec<ValueId> =
            values.iter().map(|v| rw.emit(Movement::Reshape, &[*v], one)).collect();
        let all = rw.module.tensor(element, [values.len() as i64]);
        let joined = rw.emit(Concatenate { dimension: 0 }, &parts, all);
        let ty = self.type_id(rw);
        let dimensions = smallvec![self.vector_dim as i64];
        rw.emit(shard_ir::ops::BroadcastInDim { dimensions }, &[joined], ty)
    }

    /// One component, with the shape of the batch.
    fn component(&self, rw: &mut Rewriter<'_>, from: ValueId, index: usize) -> ValueId {
        let batch = self.batch();
        let ty = rw.module.tensor(self.ty.element, batch.iter().copied());
        if self.vector_dim >= self.ty.dims.len() {
            return from;
        }
        let mut start: Dims = smallvec![0; self.ty.dims.len()];
        let mut limit = self.ty.dims.clone();
        start[self.vector_dim] = index as i64;
        limit[self.vector_dim] = index as i64 + 1;
        let strides = smallvec![1; self.ty.dims.len()];
        let sliced: Vec<i64> = limit.iter().zip(&start).map(|(l, s)| l - s).collect();
        let sliced = rw.module.tensor(self.ty.element, sliced);
        let part = rw.emit(Slice { start, limit, strides }, &[from], sliced);
        rw.emit(Movement::Reshape, &[part], ty)
    }

    /// Subtracts the offsets of this device's shard.
    fn shift(&self, local: &mut Local, rw: &mut Rewriter<'_>, parts: &[Component]) -> ValueId {
        let element = self.ty.element;
        let offsets: Vec<ValueId> = (0..self.width())
            .map(|index| match parts.iter().find(|part| part.index == index) {
                Some(part) => local.offset(rw.module, &part.axes, part.shard, element),
                None => local.offset(rw.module, &[], 0, element),
            })
            .collect();
        let offsets = self.per_component(rw, &offsets);
        let ty = self.type_id(rw);
        rw.emit(Elementwise::Subtract, &[self.value, offsets], ty)
    }
}

fn gather(
    local: &mut Local,
    rw: &mut Rewriter<'_>,
    op: OpId,
    mut gather: Gather,
) -> Result<(), Diagnostic> {
    let (operand, indices) = (rw.module.operand(op, 0), rw.module.operand(op, 1));
    let result = rw.module.result(op, 0);
    let parts =
        components(local, rw, operand, &gather.dims.start_index_map, |dim| gather.slice_sizes[dim]);
    let shape = local.local(rw.module, operand).dims;
    let global = local.global(rw.module, operand).dims;
    for (dim, size) in gather.slice_sizes.iter_mut().enumerate() {
        if *size == global[dim] {
            *size = shape[dim];
        }
    }
    if parts.is_empty() {
        rw.module.op_mut(op).op = gather.into();
        return local.shrink(rw, op);
    }
    local.localize(rw.module, result)?;
    let mut starts = Starts::new(local, rw, indices, gather.dims.index_vector_dim);
    starts.value = clamp(local, rw, &starts, &parts);
    let shifted = starts.shift(local, rw, &parts);

    let ty = rw.module.value_type(result);
    let taken = rw.emit(gather.clone(), &[operand, shifted], ty);

    let batch = starts.batch();
    let mask_ty = rw.module.tensor(ElementType::I1, batch.iter().copied());
    let mut mask: Option<ValueId> = None;
    for part in &parts {
        let index = starts.component(rw, shifted, part.index);
        let zero = rw.scalar(starts.ty.element, 0);
        let zero = rw.broadcast_scalar(zero, &batch);
        let end = rw.scalar(starts.ty.element, part.shard);
        let end = rw.broadcast_scalar(end, &batch);
        for (direction, bound) in [(Direction::Ge, zero), (Direction::Lt, end)] {
            let compare_type = Some(shard_ir::ops::CompareType::Signed);
            let inside = rw.emit(Compare { direction, compare_type }, &[index, bound], mask_ty);
            mask = Some(match mask {
                None => inside,
                Some(mask) => rw.emit(Elementwise::And, &[mask, inside], mask_ty),
            });
        }
    }
    let Some(mask) = mask else { return Ok(()) };
    let out = local.local(rw.module, result);
    let dimensions: Dims =
        (0..out.dims.len() as i64).filter(|dim| !gather.dims.offset_dims.contains(dim)).collect();
    let wide = rw.module.tensor(ElementType::I1, out.dims.iter().copied());
    let mask = rw.emit(shard_ir::ops::BroadcastInDim { dimensions }, &[mask], wide);
    let zero = rw.scalar(out.element, 0);
    let zero = rw.broadcast_scalar(zero, &out.dims);
    let value = rw.emit(Elementwise::Select, &[mask, taken, zero], ty);
    local.stand_in(rw, result, value);
    Ok(())
}

/// A gather clamps start indices to the whole operand, before they are shifted to a shard.
fn clamp(
    local: &mut Local,
    rw: &mut Rewriter<'_>,
    starts: &Starts,
    parts: &[Component],
) -> ValueId {
    let element = starts.ty.element;
    let most = i64::MAX >> (64 - element.bits());
    let (mut low, mut high) = (Vec::new(), Vec::new());
    for index in 0..starts.width() {
        let part = parts.iter().find(|part| part.index == index);
        low.push(match part {
            Some(_) => local.offset(rw.module, &[], 0, element),
            None => rw.scalar(element, -most - 1),
        });
        high.push(rw.scalar(element, part.map_or(most, |part| part.last)));
    }
    let (low, high) = (starts.per_component(rw, &low), starts.per_component(rw, &high));
    let ty = starts.type_id(rw);
    rw.emit(Elementwise::Clamp, &[low, starts.value, high], ty)
}

fn scatter(
    local: &mut Local,
    rw: &mut Rewriter<'_>,
    op: OpId,
    scatter: &Scatter,
) -> Result<(), Diagnostic> {
    let inputs = (rw.module.operands(op).len() - 1) / 2;
    let (input, indices) = (rw.module.operand(op, 0), rw.module.operand(op, inputs));
    let updates = local.global(rw.module, rw.module.operand(op, inputs + 1)).dims;
    let dims = &scatter.dims;
    let rank = local.local(rw.module, input).dims.len() as i64;
    let kept: Vec<i64> = (0..rank)
        .filter(|d| !dims.inserted_window_dims.contains(d) && !dims.input_batching_dims.contains(d))
        .collect();
    let window = |dim: usize| {
        let place = kept.iter().position(|&d| d == dim as i64);
        place
            .and_then(|at| dims.update_window_dims.get(at))
            .and_then(|&d| updates.get(d as usize).copied())
            .unwrap_or(1)
    };
    let parts = components(local, rw, input, &dims.scatter_dims_to_operand_dims, window);
    if !parts.is_empty() {
        let starts = Starts::new(local, rw, indices, dims.index_vector_dim);
        let shifted = starts.shift(local, rw, &parts);
        rw.module.operands_mut(op)[inputs] = shifted;
    }
    local.shrink(rw, op)
}
