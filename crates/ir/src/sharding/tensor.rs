//! Shardings of tensors.

use smallvec::SmallVec;

use super::axes::{self, AxisList};
use super::axis::AxisRef;
use super::mesh::Mesh;
use crate::MeshId;

/// How one dimension of a tensor is sharded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct DimSharding {
    /// The axes that the dimension is split over, major to minor.
    pub axes: AxisList,
    /// Whether propagation may split it over more axes.
    pub open: bool,
    /// When propagation looks at it: 0 first. `None` means 0.
    pub priority: Option<u32>,
}

impl DimSharding {
    /// Split over these axes and no others.
    pub fn closed(axes: &[AxisRef]) -> DimSharding {
        DimSharding { axes: axes.into(), open: false, priority: None }
    }

    /// Split over these axes, and open for more.
    pub fn open(axes: &[AxisRef]) -> DimSharding {
        DimSharding { axes: axes.into(), open: true, priority: None }
    }

    /// The number of shards of the dimension: the product of the axis sizes.
    pub fn shard_count(&self) -> u64 {
        axes::product(&self.axes)
    }

    /// The priority, 0 (the highest) where there is none.
    pub fn priority_or_default(&self) -> u32 {
        self.priority.unwrap_or(0)
    }
}

/// How the partial values on the devices along unreduced axes combine into the tensor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Combiner {
    /// The tensor is the sum of the devices' values.
    #[default]
    Sum,
    /// The tensor is the elementwise maximum of the devices' values.
    Max,
    /// The tensor is the elementwise minimum of the devices' values.
    Min,
}

/// How a tensor lies on the devices of a mesh.
///
/// Along an axis (or sub-axis) that isn't mentioned the tensor is replicated, and where a
/// dimension is open, propagation may still use that axis.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TensorSharding {
    /// The mesh that the axes are of.
    pub mesh: MeshId,
    /// One sharding a dimension.
    pub dims: SmallVec<[DimSharding; 4]>,
    /// Axes that the tensor stays replicated along, in the order of the mesh.
    pub replicated: AxisList,
    /// Axes along which each device has a partial value, in the order of the mesh.
    pub unreduced: AxisList,
    /// How partial values combine; [`Combiner::Sum`] where there are none, so that equal
    /// shardings compare equal.
    pub combiner: Combiner,
}

impl TensorSharding {
    /// Every device has the whole tensor, and propagation leaves it so.
    pub fn fully_replicated(mesh: MeshId, rank: usize) -> TensorSharding {
        TensorSharding::from_dims(mesh, std::iter::repeat_n(DimSharding::closed(&[]), rank))
    }

    /// Nothing is said about the tensor: propagation may use any axis.
    pub fn fully_open(mesh: MeshId, rank: usize) -> TensorSharding {
        TensorSharding::from_dims(mesh, std::iter::repeat_n(DimSharding::open(&[]), rank))
    }

    /// The given dimension shardings, with no replicated and no unreduced axes.
    pub fn from_dims(mesh: MeshId, dims: impl IntoIterator<Item = DimSharding>) -> TensorSharding {
        TensorSharding {
            mesh,
            dims: dims.into_iter().collect(),
            replicated: AxisList::new(),
            unreduced: AxisList::new(),
            combiner: Combiner::Sum,
        }
    }

    /// Closed dimensions split over the given axes.
    pub fn closed_over(mesh: MeshId, dims: &[&[AxisRef]]) -> TensorSharding {
        TensorSharding::from_dims(mesh, dims.iter().map(|axes| DimSharding::closed(axes)))
    }

    /// The same with other explicitly replicated axes, put in the order of the mesh.
    pub fn with_replicated(mut self, axes: &[AxisRef]) -> TensorSharding {
        self.replicated = axes::sorted(axes);
        self
    }

    /// The same with other unreduced axes, put in the order of the mesh.
    pub fn with_unreduced(mut self, axes: &[AxisRef], combiner: Combiner) -> TensorSharding {
        self.unreduced = axes::sorted(axes);
        self.combiner = if axes.is_empty() { Combiner::Sum } else { combiner };
        self
    }

    /// The same with the axes of one dimension replaced (merged into canonical form). A dimension
    /// beyond the rank changes nothing.
    pub fn with_dim_axes(mut self, dim: usize, axes: &[AxisRef]) -> TensorSharding {
        if let Some(sharding) = self.dims.get_mut(dim) {
            sharding.axes = axes::canonical(axes);
        }
        self
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.dims.len()
    }

    /// The axes of a dimension; none for a dimension beyond the rank.
    pub fn dim_axes(&self, dim: usize) -> &[AxisRef] {
        self.dims.get(dim).map_or(&[], |dim| &dim.axes)
    }

    /// The number of shards of a dimension; 1 for a dimension beyond the rank.
    pub fn shard_count(&self, dim: usize) -> u64 {
        axes::product(self.dim_axes(dim))
    }

    /// The number of shards of each dimension.
    pub fn shard_counts(&self) -> SmallVec<[u64; 4]> {
        self.dims.iter().map(DimSharding::shard_count).collect()
    }

    /// The number of different tiles: the product of the shard counts, saturating.
    pub fn tile_count(&self) -> u64 {
        self.dims.iter().fold(1, |count, dim| count.saturating_mul(dim.shard_count()))
    }

    /// The axes that split dimensions: dimension by dimension, each major to minor.
    pub fn dim_axes_in_order(&self) -> impl Iterator<Item = AxisRef> + '_ {
        self.dims.iter().flat_map(|dim| dim.axes.iter().copied())
    }

    /// Every axis that is mentioned: of dimensions, replicated, and unreduced.
    pub fn mentioned_axes(&self) -> impl Iterator<Item = AxisRef> + '_ {
        self.dim_axes_in_order()
            .chain(self.replicated.iter().copied())
            .chain(self.unreduced.iter().copied())
    }

    /// The parts of the mesh along which devices have copies of one another: not splitting a
    /// dimension and not unreduced. In the order of the mesh, without axes of size one.
    pub fn replication_axes(&self, mesh: &Mesh) -> AxisList {
        let used: AxisList =
            self.dim_axes_in_order().chain(self.unreduced.iter().copied()).collect();
        axes::complement(mesh, &used)
    }

    /// The parts of the mesh that aren't mentioned: what propagation may still use.
    pub fn unused_axes(&self, mesh: &Mesh) -> AxisList {
        axes::complement(mesh, &self.mentioned_axes().collect::<AxisList>())
    }

    /// The dimension that is split over (a part of) an axis.
    pub fn dim_of(&self, axis: AxisRef) -> Option<usize> {
        self.dims.iter().position(|dim| dim.axes.iter().any(|used| used.overlaps(axis)))
    }

    /// Whether every device has the whole value: no dimension is split (axes of size one split
    /// nothing) and nothing is unreduced.
    pub fn is_replicated(&self) -> bool {
        self.dims.iter().all(|dim| dim.shard_count() == 1) && !self.is_unreduced()
    }

    /// Whether devices have partial values.
    pub fn is_unreduced(&self) -> bool {
        self.unreduced.iter().any(|axis| axis.size != 1)
    }

    /// Whether a value so sharded lies on the devices exactly as the other says: the dimensions'
    /// and the unreduced axes are the same. What only propagation looks at (openness, priorities,
    /// explicit replication) and axes of size one make no difference.
    pub fn is_equivalent(&self, other: &TensorSharding) -> bool {
        let same = |a: &[AxisRef], b: &[AxisRef]| {
            axes::canonical(&axes::without_unit_axes(a))
                == axes::canonical(&axes::without_unit_axes(b))
        };
        self.mesh == other.mesh
            && self.rank() == other.rank()
            && self.dims.iter().zip(&other.dims).all(|(a, b)| same(&a.axes, &b.axes))
            && same(&self.unreduced, &other.unreduced)
            && (self.combiner == other.combiner || !self.is_unreduced())
    }

    /// The same with every dimension closed and without priorities on the empty ones.
    pub fn closed(mut self) -> TensorSharding {
        for dim in &mut self.dims {
            dim.open = false;
            if dim.axes.is_empty() {
                dim.priority = None;
            }
        }
        self
    }

    /// The same with every dimension open.
    pub fn with_all_open(mut self) -> TensorSharding {
        for dim in &mut self.dims {
            dim.open = true;
        }
        self
    }

    /// The same without priorities.
    pub fn without_priorities(mut self) -> TensorSharding {
        for dim in &mut self.dims {
            dim.priority = None;
        }
        self
    }

    /// The same in canonical form: without axes of size one, neighbouring sub-axes merged, the
    /// replicated and unreduced axes in the order of the mesh, no priority on an empty closed
    /// dimension, the combiner `Sum` without unreduced axes.
    pub fn normalized(mut self) -> TensorSharding {
        for dim in &mut self.dims {
            dim.axes = axes::canonical(&axes::without_unit_axes(&dim.axes));
            if dim.axes.is_empty() && !dim.open {
                dim.priority = None;
            }
        }
        self.replicated = axes::sorted(&axes::without_unit_axes(&self.replicated));
        self.unreduced = axes::sorted(&axes::without_unit_axes(&self.unreduced));
        if self.unreduced.is_empty() {
            self.combiner = Combiner::Sum;
        }
        self
    }

    /// The shape of a device's part: each dimension divided by its shard count, rounded up.
    /// A dynamic (negative) dimension stays as it is. `None` where the rank differs.
    pub fn local_shape(&self, global: &[i64]) -> Option<Vec<i64>> {
        if global.len() != self.rank() {
            return None;
        }
        Some(self.dims.iter().zip(global).map(|(dim, &size)| dim.local_size(size)).collect())
    }

    /// Whether every dimension is a multiple of its shard count. A dynamic dimension is even only
    /// where it isn't split. `false` where the rank differs.
    pub fn is_even(&self, global: &[i64]) -> bool {
        let even = |dim: &DimSharding, size: i64| match (dim.shard_count(), u64::try_from(size)) {
            (1, _) => true,
            (0, _) | (_, Err(_)) => false,
            (shards, Ok(size)) => size % shards == 0,
        };
        global.len() == self.rank() && self.dims.iter().zip(global).all(|(d, &s)| even(d, s))
    }
}

impl DimSharding {
    /// The size of a device's part of a dimension of the given size: rounded up; a dynamic
    /// (negative) size stays as it is.
    pub fn local_size(&self, size: i64) -> i64 {
        match (u64::try_from(size), self.shard_count()) {
            (Ok(whole), shards) if shards > 1 => whole.div_ceil(shards) as i64,
            _ => size,
        }
    }
}
