//! Checks of a sharding against its mesh and the rank of its tensor.

use thiserror::Error;

use super::axis::AxisRef;
use super::mesh::Mesh;
use super::tensor::{Combiner, TensorSharding};
use super::text::AxisText;

/// What is wrong with a tensor's sharding.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ShardingError {
    /// The number of dimension shardings isn't the rank.
    #[error(
        "the sharding has {dims} dimension shardings, but the tensor has rank {rank}; write one {{}} for each dimension"
    )]
    RankMismatch {
        /// Dimension shardings.
        dims: usize,
        /// The tensor's rank.
        rank: usize,
    },
    /// An axis that the mesh doesn't have.
    #[error("the sharding uses axis number {index}, but the mesh has only {count} axes")]
    UnknownAxis {
        /// The index.
        index: usize,
        /// The number of axes of the mesh.
        count: usize,
    },
    /// An axis or sub-axis that appears twice.
    #[error(
        "axis {axis} is used twice in one sharding; an axis can split one dimension, or be replicated, or be unreduced"
    )]
    DuplicateAxis {
        /// The axis.
        axis: String,
    },
    /// Two overlapping parts of an axis.
    #[error(
        "{first} and {second} overlap: they share devices of one axis, and an axis part can be used only once in a sharding"
    )]
    OverlappingAxes {
        /// One part.
        first: String,
        /// The other.
        second: String,
    },
    /// Two parts of an axis that don't overlap, and yet don't fit into one splitting of it.
    #[error(
        "{first} and {second} don't belong to one splitting of the axis: the first ends at {end}, which doesn't divide the second's pre-size {pre}"
    )]
    IncompatibleSubAxes {
        /// The major part.
        first: String,
        /// The minor part.
        second: String,
        /// `pre * size` of the first.
        end: u64,
        /// `pre` of the second.
        pre: u32,
    },
    /// A sub-axis with a size of 0 or 1, or a pre-size of 0.
    #[error("sub-axis {axis} needs a pre-size of at least 1 and a size of at least 2")]
    DegenerateSubAxis {
        /// The sub-axis.
        axis: String,
    },
    /// A sub-axis that doesn't divide its axis.
    #[error(
        "sub-axis {axis} doesn't divide its axis of size {whole}: pre-size times size is {end}, which must be a divisor of {whole}"
    )]
    IndivisibleSubAxis {
        /// The sub-axis.
        axis: String,
        /// `pre * size`.
        end: u64,
        /// The size of the axis.
        whole: u32,
    },
    /// Two neighbouring sub-axes that are one.
    #[error("{first} and {second} follow one another directly; write them as one: {merged}")]
    UnmergedSubAxes {
        /// The major part.
        first: String,
        /// The minor part.
        second: String,
        /// The two as one.
        merged: String,
    },
    /// Replicated or unreduced axes that aren't in the order of the mesh.
    #[error("the {list} axes aren't in the order of the mesh: {second} comes before {first}")]
    UnorderedAxes {
        /// `replicated` or `unreduced`.
        list: &'static str,
        /// The axis that is listed first.
        first: String,
        /// The axis that is listed after it.
        second: String,
    },
    /// A priority on a closed dimension without axes.
    #[error(
        "dimension {dim} has priority p{priority}, but it is closed and has no axes, so the priority has no effect; leave it out, or open the dimension: {{?}}p{priority}"
    )]
    PriorityWithoutEffect {
        /// The dimension.
        dim: usize,
        /// Its priority.
        priority: u32,
    },
    /// Anything on a maximal mesh.
    #[error(
        "on a mesh of one device that holds everything, a sharding has no dimension shardings and no axes"
    )]
    MaximalWithAxes,
    /// A combiner that isn't a sum, without unreduced axes.
    #[error("the sharding has a combiner, but no unreduced axes that it combines")]
    CombinerWithoutAxes,
}

impl TensorSharding {
    /// Checks the sharding against its mesh and the rank of its tensor.
    ///
    /// # Errors
    /// The first complaint of [`TensorSharding::complaints`].
    pub fn verify(&self, mesh: &Mesh, rank: usize) -> Result<(), ShardingError> {
        self.complaints(mesh, rank).into_iter().next().map_or(Ok(()), Err)
    }

    /// Everything that is wrong with the sharding: the number of dimensions, axes that the mesh
    /// doesn't have, axes used twice or overlapping, sub-axes that don't divide or should be
    /// merged, priorities without effect, replicated or unreduced axes out of order.
    pub fn complaints(&self, mesh: &Mesh, rank: usize) -> Vec<ShardingError> {
        let mut found = Vec::new();
        if mesh.is_maximal() {
            if self.rank() != 0 || !self.replicated.is_empty() || !self.unreduced.is_empty() {
                found.push(ShardingError::MaximalWithAxes);
            }
            return found;
        }
        if self.rank() != rank {
            found.push(ShardingError::RankMismatch { dims: self.rank(), rank });
        }
        let mut check = Check { mesh, found, seen: Vec::new() };
        for (dim, sharding) in self.dims.iter().enumerate() {
            if let (Some(priority), false, true) =
                (sharding.priority, sharding.open, sharding.axes.is_empty())
            {
                check.found.push(ShardingError::PriorityWithoutEffect { dim, priority });
            }
            check.list(&sharding.axes);
        }
        check.ordered("replicated", &self.replicated);
        check.list(&self.replicated);
        check.ordered("unreduced", &self.unreduced);
        check.list(&self.unreduced);
        if self.unreduced.is_empty() && self.combiner != Combiner::Sum {
            check.found.push(ShardingError::CombinerWithoutAxes);
        }
        check.found
    }
}

struct Check<'a> {
    mesh: &'a Mesh,
    found: Vec<ShardingError>,
    seen: Vec<AxisRef>,
}

impl Check<'_> {
    fn name(&self, axis: AxisRef) -> String {
        AxisText { axis, mesh: self.mesh }.to_string()
    }

    fn ordered(&mut self, list: &'static str, axes: &[AxisRef]) {
        for pair in axes.windows(2).filter(|pair| pair[0] > pair[1]) {
            let (first, second) = (self.name(pair[0]), self.name(pair[1]));
            self.found.push(ShardingError::UnorderedAxes { list, first, second });
        }
    }

    fn list(&mut self, axes: &[AxisRef]) {
        for &axis in axes {
            self.axis(axis);
        }
        for pair in axes.windows(2) {
            if let Some(merged) = pair[0].merge(pair[1]) {
                let (first, second) = (self.name(pair[0]), self.name(pair[1]));
                let merged = self.name(merged);
                self.found.push(ShardingError::UnmergedSubAxes { first, second, merged });
            }
        }
    }

    fn axis(&mut self, axis: AxisRef) {
        let Some(whole) = self.mesh.axis_size(axis.axis) else {
            let (index, count) = (axis.axis.index(), self.mesh.axes.len());
            self.found.push(ShardingError::UnknownAxis { index, count });
            return;
        };
        let end = axis.next_pre();
        if end == 0 || axis.size == 1 && !axis.is_whole(self.mesh) {
            self.found.push(ShardingError::DegenerateSubAxis { axis: self.name(axis) });
        } else if u64::from(whole) % end != 0 {
            let axis = self.name(axis);
            self.found.push(ShardingError::IndivisibleSubAxis { axis, end, whole });
        }
        let earlier = self.seen.iter().copied().find_map(|other| {
            let (first, second) = (self.name(other.min(axis)), self.name(other.max(axis)));
            if other == axis {
                Some(ShardingError::DuplicateAxis { axis: first })
            } else if other.overlaps(axis) {
                Some(ShardingError::OverlappingAxes { first, second })
            } else if !other.can_coexist(axis) {
                let (end, pre) = (other.min(axis).next_pre(), other.max(axis).pre);
                Some(ShardingError::IncompatibleSubAxes { first, second, end, pre })
            } else {
                None
            }
        });
        self.found.extend(earlier);
        self.seen.push(axis);
    }
}
