//! An all-reduce and a slice along the same axes as one reduce-scatter.

use shard_ir::ops::{AxisLists, Op, Sdy, SdyAllSlice, SdyReduceScatter};
use shard_ir::sharding::{AxisList, TensorSharding, axes};
use shard_ir::{OpId, ValueId};

use super::values::sharding;
use crate::rewrite::Rewriter;

/// Emits what does the work of an all-reduce and of a slice of it: a reduce-scatter, and a slice
/// along what is left. `None` where the slice doesn't begin with all of the reduced axes.
pub(super) fn fuse(rw: &mut Rewriter<'_>, reduce: OpId, slice: OpId) -> Option<ValueId> {
    let (Op::Sdy(Sdy::SdyAllReduce(reduced)), Op::Sdy(Sdy::SdyAllSlice(sliced))) =
        (rw.module.kind(reduce).clone(), rw.module.kind(slice).clone())
    else {
        return None;
    };
    let mut left = reduced.axes.axes.clone();
    let mut scattered: Vec<AxisList> = Vec::new();
    let mut rest: Vec<AxisList> = Vec::new();
    for dim in &sliced.axes.dims {
        let mut taken = AxisList::new();
        for &axis in dim {
            let Some(at) = left.iter().position(|&other| other == axis) else { break };
            left.remove(at);
            taken.push(axis);
        }
        rest.push(dim[taken.len()..].into());
        scattered.push(taken);
    }
    if !left.is_empty() {
        return None;
    }
    let input = rw.module.operand(reduce, 0);
    let out = rw.module.sharding(sliced.out).clone();
    let before = match sharding(rw.module, input) {
        Some(id) => rw.module.sharding(id).clone(),
        None => TensorSharding::fully_replicated(out.mesh, out.rank()),
    };
    let mut between = TensorSharding {
        mesh: rw.module.sharding(reduced.out).mesh,
        dims: before.dims.iter().cloned().collect(),
        ..out
    };
    for (dim, added) in between.dims.iter_mut().zip(&scattered) {
        let all: AxisList = dim.axes.iter().chain(added).copied().collect();
        (dim.axes, dim.open, dim.priority) = (axes::canonical(&all), false, None);
    }
    let between = rw.module.sharding_id(between);
    let lists = |dims: Vec<AxisList>| AxisLists { mesh: sliced.axes.mesh, dims: dims.into() };
    let ty = rw.module.value_type(input);
    let scatter =
        SdyReduceScatter { axes: lists(scattered), combiner: reduced.combiner, out: between };
    let value = rw.emit(scatter, &[input], ty);
    if rest.iter().all(|axes| axes.is_empty()) {
        return Some(value);
    }
    Some(rw.emit(SdyAllSlice { axes: lists(rest), out: sliced.out }, &[value], ty))
}
