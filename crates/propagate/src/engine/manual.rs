//! Shardings at the border of a manual computation.
//!
//! Outside, a sharding has the manual axes in front of each dimension's free ones; inside, tensors
//! are local along the manual axes, and only the free ones are left.

use shard_ir::Interner;
use shard_ir::ops::ManualAxes;
use shard_ir::sharding::{AxisIndex, AxisList, AxisRef, DimSharding, Mesh, TensorSharding, axes};
use smallvec::SmallVec;

/// The manual axes of a computation, as indices into its mesh.
pub(super) type ManualSet = SmallVec<[AxisIndex; 4]>;

/// The manual axes by index; names that the mesh hasn't are left out.
pub(super) fn manual_set(manual: &ManualAxes, mesh: &Mesh, interner: &Interner) -> ManualSet {
    manual.0.iter().filter_map(|&name| mesh.axis_index(interner.str(name))).collect()
}

fn split<'a>(dim: &'a DimSharding, manual: &ManualSet) -> (&'a [AxisRef], &'a [AxisRef]) {
    let at = dim.axes.partition_point(|axis| manual.contains(&axis.axis));
    dim.axes.split_at(at)
}

fn free(list: &[AxisRef], manual: &ManualSet) -> AxisList {
    list.iter().filter(|axis| !manual.contains(&axis.axis)).copied().collect()
}

/// The sharding inside: without the manual axes.
pub(super) fn inside(outside: &TensorSharding, manual: &ManualSet) -> TensorSharding {
    let dim = |dim: &DimSharding| DimSharding { axes: split(dim, manual).1.into(), ..dim.clone() };
    TensorSharding {
        dims: outside.dims.iter().map(dim).collect(),
        replicated: free(&outside.replicated, manual),
        unreduced: free(&outside.unreduced, manual),
        ..outside.clone()
    }
}

/// The sharding outside: the manual axes of `outside` and after them those of `inside`.
pub(super) fn outside(
    outside: &TensorSharding,
    inside: &TensorSharding,
    manual: &ManualSet,
) -> TensorSharding {
    let dim = |(outer, inner): (&DimSharding, &DimSharding)| DimSharding {
        axes: split(outer, manual).0.iter().chain(&inner.axes).copied().collect(),
        open: inner.open,
        priority: inner.priority,
    };
    TensorSharding {
        mesh: inside.mesh,
        dims: outside.dims.iter().zip(&inside.dims).map(dim).collect(),
        ..outside.clone()
    }
}

/// Says of the manual axes that a sharding doesn't use that it is replicated along them.
pub(super) fn with_unused_replicated(
    mut sharding: TensorSharding,
    manual: &ManualSet,
    mesh: &Mesh,
) -> TensorSharding {
    let all: AxisList = manual
        .iter()
        .filter_map(|&axis| mesh.whole_axis(axis))
        .filter(|axis| axis.size != 1)
        .collect();
    let used: AxisList = sharding.mentioned_axes().collect();
    let unused = axes::subtract(&all, &used);
    if !unused.is_empty() {
        let replicated: AxisList = sharding.replicated.iter().chain(&unused).copied().collect();
        sharding.replicated = axes::sorted(&replicated);
    }
    sharding
}
