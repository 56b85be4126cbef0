//! Why each axis was placed.

use petgraph::graph::NodeIndex;
use shard_ir::sharding::AxisList;
use shard_ir::{OpId, ValueId};

use crate::rules::FactorIndex;

/// An axis list that a step placed on a factor of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// The number of the step, from 0.
    pub step: usize,
    /// The user priority of the round.
    pub user_priority: u32,
    /// The round of op priorities, from 0.
    pub op_round: usize,
    /// The op; for data flow, the loop, branch, or computation; none for the result of a function.
    pub op: Option<OpId>,
    /// The op's node in the graph; none for the result of a function.
    pub node: Option<NodeIndex>,
    /// The factor along which the axes came.
    pub factor: FactorIndex,
    /// The factor's axes before.
    pub before: AxisList,
    /// The factor's axes after.
    pub after: AxisList,
    /// The value that got them; the first of merged ones; none for a function's result.
    pub value: Option<ValueId>,
    /// Which of the op's operands and results that is.
    pub tensor: usize,
    /// The values that had them: the largest first. Empty where the axes come from several.
    pub sources: Vec<ValueId>,
}

/// Is told of every axis that is placed.
pub trait Tracer {
    /// A step placed axes.
    fn placed(&mut self, placement: Placement);
}

/// Keeps every placement, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// The placements.
    pub placements: Vec<Placement>,
}

impl Tracer for Log {
    fn placed(&mut self, placement: Placement) {
        self.placements.push(placement);
    }
}
