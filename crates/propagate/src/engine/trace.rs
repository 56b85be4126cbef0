//! Why each axis was placed.

use petgraph::graph::NodeIndex;
use shard_ir::sharding::AxisList;
use shard_ir::{OpId, ValueId};
use smallvec::SmallVec;

use super::graph::{Node, Port};
use super::setup::Ssa;
use super::step::{Ids, Mode};
use super::sweep::Engine;
use super::table::RuleId;
use crate::projection::{Prefix, Projection};
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

impl Engine<'_, '_> {
    /// Tells the tracer what a step places on one tensor.
    pub(super) fn trace(
        &mut self,
        node: Option<usize>,
        rule: RuleId,
        mode: Mode,
        ids: &Ids,
        tensor: u32,
        value: Option<Ssa>,
    ) {
        if self.tracer.is_none() {
            return;
        }
        let Some(mesh) = self.common_mesh(ids) else { return };
        let mut after = Projection::default();
        let _ = self.project_and_step(rule, mode, ids, mesh, &mut after);
        let Some(rule) = self.rules.get(rule) else { return };
        let mut before = Projection::default();
        before.assign(rule, |at| self.setup.table.get(ids[at]), false);
        let at = tensor as usize;
        let in_module = |value: Ssa| {
            ((value as usize) < self.setup.module.value_count()).then(|| ValueId::from_u32(value))
        };
        let tensors: SmallVec<[Option<ValueId>; 6]> = (0..ids.len())
            .map(|at| {
                let node = node?;
                let port = |port: Port| match port {
                    Port::Operand(index) => index as usize == at,
                    Port::Result(index) => rule.operands.len() + index as usize == at,
                    Port::Tells => false,
                };
                let (_, value) = self.graph.tensors(node).find(|(p, _)| port(*p))?;
                match &self.graph.graph[value] {
                    Node::Value(value) => value.value.expand(),
                    Node::Op(_) => None,
                }
            })
            .collect();
        let mut placements = Vec::new();
        for (factor, placed) in &after.tensors[at].factors {
            let was = before.tensors[at].axes(*factor);
            if placed.axes[..] == *was {
                continue;
            }
            let mut sources: Vec<(u64, usize)> = before
                .tensors
                .iter()
                .enumerate()
                .filter(|(other, source)| {
                    *other != at && Prefix::of(&placed.axes, source.axes(*factor)) != Prefix::No
                })
                .map(|(other, _)| {
                    let size = rule.tensor(other).iter().flatten().fold(1u64, |size, &factor| {
                        size.saturating_mul(u64::try_from(rule.factors[factor].size).unwrap_or(1))
                    });
                    (size, other)
                })
                .collect();
            sources.sort_by_key(|&(size, other)| (std::cmp::Reverse(size), other));
            placements.push(Placement {
                step: self.steps,
                user_priority: self.user_priority,
                op_round: self.op_round,
                op: node.and_then(|node| self.graph.op(node).op.expand()),
                node: node.map(NodeIndex::new),
                factor: *factor,
                before: was.into(),
                after: placed.axes.clone(),
                value: value.and_then(in_module),
                tensor: at,
                sources: sources.iter().filter_map(|&(_, other)| tensors[other]).collect(),
            });
        }
        if let Some(tracer) = &mut self.tracer {
            for placement in placements {
                tracer.placed(placement);
            }
        }
    }
}
