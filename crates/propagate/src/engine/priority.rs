//! User priorities: which dimension shardings a round of propagation looks at.

use std::collections::BTreeMap;

use shard_ir::sharding::{DimSharding, TensorSharding};

use super::table::SharedSharding;

/// The sharding that propagation sees before the priorities above 0 have their turn: those
/// dimensions are closed and have no axes, and their axes stay unused.
pub(super) fn initial(sharding: &TensorSharding) -> TensorSharding {
    let mut initial = sharding.clone();
    for dim in &mut initial.dims {
        if dim.priority_or_default() == 0 {
            dim.priority = None;
        } else {
            initial.replicated.extend_from_slice(&dim.axes);
            *dim = DimSharding::closed(&[]);
        }
    }
    initial.replicated.sort_unstable();
    initial
}

/// The sharding with the dimensions of one priority as they were given.
pub(super) fn with_priority(
    current: &TensorSharding,
    given: &TensorSharding,
    priority: u32,
) -> TensorSharding {
    let mut updated = current.clone();
    for (dim, given) in updated.dims.iter_mut().zip(&given.dims) {
        if given.priority_or_default() == priority {
            *dim = DimSharding { priority: None, ..given.clone() };
            updated.replicated.retain(|axis| !given.axes.contains(axis));
        }
    }
    updated
}

/// Whose sharding was given with priorities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// A value, by the number of its node.
    Value(usize),
    /// A result of an entry function: which entry, which result.
    Result(usize, usize),
}

/// What was given with each priority above 0.
pub(super) type ByPriority = BTreeMap<u32, Vec<(Target, SharedSharding)>>;
