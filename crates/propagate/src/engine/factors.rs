//! One step: what a rule lets through from some of an op's tensors to the others.
//!
//! For each factor, the axes that all tensors agree on are found (the *compatible major axes*): the
//! longest list such that the axes of each tensor either begin with it or are its beginning. Then
//! each tensor's axes are expanded to it as far as that tensor allows.
//!
//! - The basic strategy stops where anything is in the way in any tensor: another factor that uses
//!   the axis, explicit replication, a closed dimension. What it places, every tensor can take.
//! - The aggressive strategy lets each tensor take what it can; where two factors want the same
//!   axis of one tensor, the factor whose source is the largest tensor goes first.

use shard_ir::sharding::{AxisList, AxisRef, Mesh, axes};
use smallvec::SmallVec;

use crate::projection::{FactorSharding, Prefix, Projection, TensorFactors, factor_size, gcd};
use crate::rules::{Factor, FactorIndex};

/// In which direction shardings may go through an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Direction {
    /// Not at all.
    None,
    /// From operands to results.
    Forward,
    /// From results to operands.
    Backward,
    /// From any tensor to any other.
    Both,
}

/// How conflicts are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FactorStrategy {
    /// Propagate only what is compatible with all tensors.
    Basic,
    /// Resolve conflicts within each tensor.
    Aggressive,
}

/// What a step needs to know beside the projection.
pub(super) struct Step<'a> {
    pub factors: &'a [Factor],
    /// In which direction each factor may go.
    pub direction: &'a dyn Fn(FactorIndex) -> Direction,
    pub mesh: &'a Mesh,
    /// The op is elementwise.
    pub elementwise: bool,
    /// Sub-axes aren't propagated.
    pub conservative: bool,
}

/// The tensors of a projection that a step has changed.
pub(super) type Changed = SmallVec<[bool; 8]>;

impl Step<'_> {
    /// Runs the step; returns which tensors got more axes.
    pub fn run(&self, projection: &mut Projection, strategy: FactorStrategy) -> Changed {
        match strategy {
            FactorStrategy::Basic => self.basic(projection),
            FactorStrategy::Aggressive => self.aggressive(projection),
        }
    }

    fn basic(&self, projection: &mut Projection) -> Changed {
        let mut changed = Changed::from_elem(false, projection.tensors.len());
        for index in 0..self.factors.len() {
            let mut axes = compatible_axes(projection, index, (self.direction)(index));
            let size = factor_size(&self.factors[index]);
            self.truncate(&mut axes, |axis, sharded| {
                projection.tensors.iter().try_fold(axis, |axis, tensor| {
                    let axis = free_of_other_factors(axis, tensor, index)?;
                    match tensor.get(index) {
                        // The tensor lacks the factor: only its other factors matter.
                        None => Some(axis),
                        Some(sharding) => fits_factor(axis, tensor, sharding, sharded, size),
                    }
                })
            });
            for (tensor, changed) in projection.tensors.iter_mut().zip(&mut changed) {
                *changed |= tensor.expand(index, &axes);
            }
        }
        changed
    }

    fn aggressive(&self, projection: &mut Projection) -> Changed {
        let mut changed = Changed::from_elem(false, projection.tensors.len());
        let compatible: SmallVec<[AxisList; 8]> = (0..self.factors.len())
            .map(|index| compatible_axes(projection, index, (self.direction)(index)))
            .collect();
        if compatible.iter().all(|axes| axes.is_empty()) {
            return changed;
        }
        let order = self.preference(projection, &compatible);
        let operands = projection.operand_count;
        // Results first: what an elementwise op's operands get depends on them.
        for at in (operands..projection.tensors.len()).chain(0..operands) {
            for &index in &order {
                let Some(mut axes) = self.possible(&projection.tensors[at], index, &compatible)
                else {
                    continue;
                };
                if self.elementwise && at < operands {
                    // Don't shard one operand like another further than the result: it would be
                    // gathered again.
                    for result in projection.results() {
                        let limit = result.get(index).map(|sharding| &sharding.axes);
                        if let Some(limit) = limit
                            && Prefix::of(limit, &axes) == Prefix::Strict
                        {
                            axes.clone_from(limit);
                        }
                    }
                }
                changed[at] |= projection.tensors[at].expand(index, &axes);
            }
        }
        changed
    }

    /// What a tensor can take of a factor's compatible axes; `None` where that isn't more than it
    /// has.
    fn possible(
        &self,
        tensor: &TensorFactors,
        index: FactorIndex,
        compatible: &[AxisList],
    ) -> Option<AxisList> {
        let sharding = tensor.get(index)?;
        let size = factor_size(&self.factors[index]);
        // Quick: most tensors have the axes already.
        if Prefix::of(&sharding.axes, &compatible[index]) != Prefix::Strict {
            return None;
        }
        let mut axes = compatible[index].clone();
        self.truncate(&mut axes, |axis, sharded| {
            fits_factor(axis, tensor, sharding, sharded, size)
        });
        if Prefix::of(&sharding.axes, &axes) != Prefix::Strict {
            return None;
        }
        self.truncate(&mut axes, |axis, _| free_of_other_factors(axis, tensor, index));
        (!axes.is_empty()).then_some(axes)
    }

    /// The factors, those first whose axes come from the largest tensor; of an elementwise op's
    /// factors, then those first that are sharded most; then in the order of source and factor.
    fn preference(
        &self,
        projection: &Projection,
        compatible: &[AxisList],
    ) -> SmallVec<[FactorIndex; 8]> {
        let mut sources: SmallVec<[(i128, i64); 8]> =
            SmallVec::from_elem((-1, -1), compatible.len());
        for (at, tensor) in projection.tensors.iter().enumerate() {
            let size = tensor.factors.iter().fold(1i128, |size, (index, _)| {
                size.saturating_mul(i128::from(factor_size(&self.factors[*index])))
            });
            for (index, sharding) in &tensor.factors {
                let axes = &compatible[*index];
                let is_source = !axes.is_empty() && Prefix::of(axes, &sharding.axes) != Prefix::No;
                if is_source && size > sources[*index].0 {
                    sources[*index] = (size, at as i64);
                }
            }
        }
        let mut order: SmallVec<[FactorIndex; 8]> = (0..compatible.len()).collect();
        order.sort_unstable_by_key(|&index| {
            let (size, source) = sources[index];
            let sharded = if self.elementwise { axes::product(&compatible[index]) } else { 0 };
            (std::cmp::Reverse(size), std::cmp::Reverse(sharded), source, index)
        });
        order
    }

    /// Cuts a list at the first axis that `keep` shortens or refuses. `keep` is also told the
    /// product of the sizes before.
    fn truncate(&self, list: &mut AxisList, keep: impl Fn(AxisRef, u64) -> Option<AxisRef>) {
        let mut sharded = 1u64;
        for at in 0..list.len() {
            match keep(list[at], sharded) {
                Some(kept) if !self.conservative || kept.is_whole(self.mesh) => {
                    if kept != list[at] {
                        list[at] = kept;
                        list.truncate(at + 1);
                        return;
                    }
                    sharded = sharded.saturating_mul(u64::from(kept.size));
                }
                Some(_) | None => {
                    list.truncate(at);
                    return;
                }
            }
        }
    }
}

/// The part of an axis up to where any of a list begins; `None` where nothing is left.
fn prefix_without(axis: AxisRef, others: &[AxisRef]) -> Option<AxisRef> {
    others.iter().try_fold(axis, |axis, &other| axis.prefix_without_overlap(other))
}

/// The part of an axis that no other factor of the tensor uses.
fn free_of_other_factors(
    axis: AxisRef,
    tensor: &TensorFactors,
    index: FactorIndex,
) -> Option<AxisRef> {
    let others = tensor.factors.iter().filter(|(other, _)| *other != index);
    others.into_iter().try_fold(axis, |axis, (_, sharding)| {
        prefix_without(prefix_without(axis, &sharding.overflow)?, &sharding.axes)
    })
}

/// The part of an axis that a factor of a tensor has or can take, `sharded` being the product of
/// the axes before it.
fn fits_factor(
    axis: AxisRef,
    tensor: &TensorFactors,
    sharding: &FactorSharding,
    sharded: u64,
    size: u64,
) -> Option<AxisRef> {
    let axis = prefix_without(axis, &tensor.replicated)?;
    let axis = prefix_without(axis, &tensor.unreduced)?;
    if sharding.axes.iter().any(|has| has.contains(axis)) {
        return Some(axis);
    }
    if !sharding.closed && sharding.overflow.is_empty() {
        if sharding.minor_most {
            return Some(axis);
        }
        if sharded != 0 && size.is_multiple_of(sharded) {
            let common = gcd(size / sharded, u64::from(axis.size));
            if common == u64::from(axis.size) {
                return Some(axis);
            }
            if common != 1 {
                return Some(AxisRef::sub(axis.axis, axis.pre, u32::try_from(common).ok()?));
            }
        }
    }
    sharding.axes.last().copied().filter(|last| last.prefix_of(axis))
}

/// The longest list of axes of a factor that no tensor contradicts. Forward, only the operands add
/// to the list, backward only the results; the others can only cut it.
fn compatible_axes(projection: &Projection, index: FactorIndex, direction: Direction) -> AxisList {
    let (operands, results) = (projection.operands(), projection.results());
    let (first, second) = match direction {
        Direction::None => return AxisList::new(),
        Direction::Both | Direction::Forward => (operands, results),
        Direction::Backward => (results, operands),
    };
    let mut list = AxisList::new();
    let mut can_expand = true;
    let mut merge = |tensors: &[TensorFactors], can_expand: &mut bool| {
        for sharding in tensors.iter().filter_map(|tensor| tensor.get(index)) {
            if list.is_empty() && *can_expand {
                list.clone_from(&sharding.axes);
            } else if list != sharding.axes || !*can_expand {
                (list, *can_expand) = compatible_of_two(&list, &sharding.axes, *can_expand);
            }
        }
    };
    merge(first, &mut can_expand);
    can_expand &= direction == Direction::Both;
    merge(second, &mut can_expand);
    list
}

/// What two lists agree on, with the rest of the longer one where they don't contradict each other
/// (of the second, only if `can_expand`); and whether the result may still be expanded.
fn compatible_of_two(old: &[AxisRef], new: &[AxisRef], can_expand: bool) -> (AxisList, bool) {
    let mut list = AxisList::new();
    for (at, (&old_axis, &new_axis)) in old.iter().zip(new).enumerate() {
        if old_axis == new_axis {
            list.push(new_axis);
        } else if new_axis.prefix_of(old_axis) {
            // A further axis in the shorter list contradicts the rest of the longer axis.
            if at + 1 < new.len() {
                list.push(new_axis);
                return (list, false);
            }
            list.push(old_axis);
        } else if old_axis.prefix_of(new_axis) {
            if !can_expand || at + 1 < old.len() {
                list.push(old_axis);
                return (list, false);
            }
            list.push(new_axis);
        } else {
            return (list, false);
        }
    }
    let both = old.len().min(new.len());
    list.extend_from_slice(&old[both..]);
    if can_expand {
        list.extend_from_slice(&new[both..]);
    }
    (list, can_expand)
}
