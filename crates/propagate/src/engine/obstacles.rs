//! What stopped an axis: found from the final shardings, when somebody asks.

use petgraph::graph::NodeIndex;
use shard_ir::ops::{Op, Sdy};
use shard_ir::sharding::{AxisList, AxisRef, TensorSharding, axes};
use shard_ir::{Module, OpId, ValueId};
use smallvec::SmallVec;

use super::factors::Direction;
use super::graph::{Node, OpKind, OpNode, Port};
use super::{Options, Propagation};
use crate::projection::{Prefix, Projection, TensorFactors, factor_size, gcd};
use crate::rules::{self, FactorIndex, OpRule};

/// Why a factor of a tensor didn't get an axis that another tensor of the op has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The dimension is closed.
    Closed,
    /// The value is to stay replicated along the axis.
    Replicated,
    /// The value is unreduced along the axis.
    Unreduced,
    /// The dimension has another axis in that place.
    OtherAxis(AxisRef),
    /// Another dimension (or another part of the dimension) of the value has the axis: its factor.
    OtherFactor(FactorIndex),
    /// The axis doesn't divide what is left of the factor, and a part of the dimension follows.
    Uneven,
    /// The op lets nothing through along this factor.
    BlockedFactor,
    /// A barrier doesn't let it through in this direction.
    Barrier,
    /// The shardings are of different meshes, or one just names a device.
    OtherMesh,
    /// Other tensors of the op don't agree on the axis.
    Disagreement,
}

/// An axis that stopped at an op.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// The op; none for a constraint that only propagation has.
    pub op: Option<OpId>,
    /// The op's node.
    pub node: NodeIndex,
    /// The factor along which the axis would have come.
    pub factor: FactorIndex,
    /// Which of the op's operands and results didn't get it.
    pub tensor: usize,
    /// That value; the first of merged ones.
    pub value: Option<ValueId>,
    /// The value that has it.
    pub source: Option<ValueId>,
    /// The axis, or the part of it.
    pub axis: AxisRef,
    /// Why.
    pub reason: Reason,
}

/// The axes that stopped at an op: those that one of its tensors has on a factor and another that
/// has the factor hasn't.
///
/// Nothing is found at the borders of manual computations.
pub fn obstacles(
    module: &Module,
    options: &Options,
    result: &Propagation,
    node: NodeIndex,
) -> Vec<Obstacle> {
    let graph = &result.graph;
    let Some(Node::Op(op)) = graph.graph.node_weight(node) else { return Vec::new() };
    let Some(rule) = node_rule(module, options, result, node) else { return Vec::new() };
    let tensors: SmallVec<[(Port, NodeIndex); 6]> = graph.tensors(node.index()).collect();
    let mut values: SmallVec<[Option<NodeIndex>; 6]> =
        SmallVec::from_elem(None, rule.tensor_count());
    for &(port, value) in &tensors {
        let at = match port {
            Port::Operand(index) => index as usize,
            Port::Result(index) => rule.operands.len() + index as usize,
            Port::Tells => continue,
        };
        if let Some(slot) = values.get_mut(at) {
            *slot = Some(value);
        }
    }
    let sharding = |at: usize| -> Option<&TensorSharding> {
        result.table.get(graph.sharding(values.get(at).copied().flatten()?))
    };
    let value_of = |at: usize| graph.value_at(values.get(at).copied().flatten()?);
    let mut projection = Projection::default();
    projection.assign(&rule, sharding, false);
    let meshes_agree = {
        let mut meshes = (0..rule.tensor_count()).filter_map(|at| sharding(at).map(|s| s.mesh));
        let first = meshes.next();
        let maximal = first.is_some_and(|mesh| module.meshes[mesh].mesh.is_maximal());
        !maximal && meshes.all(|mesh| Some(mesh) == first)
    };
    let mut found = Vec::new();
    for tensor in 0..rule.tensor_count() {
        for (factor, own) in &projection.tensors[tensor].factors {
            // The longest list of another tensor that goes beyond what this one has.
            let source =
                (0..rule.tensor_count()).filter(|&other| other != tensor).max_by_key(|&other| {
                    missing(&own.axes, projection.tensors[other].axes(*factor)).len()
                });
            let Some(source) = source else { continue };
            let wanted = projection.tensors[source].axes(*factor);
            let Some(&axis) = missing(&own.axes, wanted).first() else { continue };
            let reason = if !meshes_agree {
                Reason::OtherMesh
            } else if rule.factors[*factor].blocked {
                Reason::BlockedFactor
            } else if is_barred(op.kind, tensor >= rule.operands.len()) {
                Reason::Barrier
            } else {
                let size = factor_size(&rule.factors[*factor]);
                reason(&projection.tensors[tensor], *factor, axis, wanted, size)
            };
            found.push(Obstacle {
                op: op.op.expand(),
                node,
                factor: *factor,
                tensor,
                value: value_of(tensor),
                source: value_of(source),
                axis,
                reason,
            });
        }
    }
    found
}

/// What a list has beyond the axes of another; nothing where those aren't a part of it.
fn missing(own: &[AxisRef], wanted: &[AxisRef]) -> AxisList {
    let common = axes::common_prefix(own, wanted);
    axes::strip_prefix(wanted, &common).unwrap_or_default()
}

fn is_barred(kind: OpKind, to_result: bool) -> bool {
    match kind {
        OpKind::Barrier(Direction::None) => true,
        OpKind::Barrier(Direction::Forward) => !to_result,
        OpKind::Barrier(Direction::Backward) => to_result,
        OpKind::Barrier(Direction::Both)
        | OpKind::Rule
        | OpKind::Edge(_)
        | OpKind::Constraint
        | OpKind::Inert => false,
    }
}

fn reason(
    tensor: &TensorFactors,
    factor: FactorIndex,
    axis: AxisRef,
    wanted: &[AxisRef],
    size: u64,
) -> Reason {
    let overlaps = |list: &[AxisRef]| list.iter().any(|other| other.overlaps(axis));
    let Some(own) = tensor.get(factor) else { return Reason::Disagreement };
    if Prefix::of(&own.axes, wanted) == Prefix::No {
        let common = axes::common_prefix(&own.axes, wanted);
        let rest = axes::strip_prefix(&own.axes, &common).unwrap_or_default();
        if let Some(&other) = rest.first() {
            return Reason::OtherAxis(other);
        }
    }
    if overlaps(&tensor.replicated) {
        return Reason::Replicated;
    }
    if overlaps(&tensor.unreduced) {
        return Reason::Unreduced;
    }
    let uses = |other: &&(FactorIndex, crate::projection::FactorSharding)| {
        other.0 != factor && (overlaps(&other.1.axes) || overlaps(&other.1.overflow))
    };
    if let Some((other, _)) = tensor.factors.iter().find(uses) {
        return Reason::OtherFactor(*other);
    }
    // Opening the dimension would have helped.
    if own.closed {
        return Reason::Closed;
    }
    let left = size / axes::product(&own.axes).max(1);
    if !own.minor_most && (!own.overflow.is_empty() || gcd(left, u64::from(axis.size)) <= 1) {
        return Reason::Uneven;
    }
    Reason::Disagreement
}

/// The rule by which shardings go through a node of the graph; `None` where they don't, and at the
/// borders of manual computations.
pub fn node_rule(
    module: &Module,
    options: &Options,
    result: &Propagation,
    node: NodeIndex,
) -> Option<OpRule> {
    let graph = &result.graph;
    let Some(Node::Op(OpNode { kind, op, .. })) = graph.graph.node_weight(node) else {
        return None;
    };
    let op = op.expand();
    let manual = |op: OpId| matches!(module.kind(op), Op::Sdy(Sdy::ManualComputation(_)));
    match kind {
        OpKind::Rule => rules::rule_with(module, op?, options.conservative),
        OpKind::Inert => None,
        OpKind::Edge(_) if op.is_some_and(manual) => None,
        OpKind::Edge(_) | OpKind::Barrier(_) | OpKind::Constraint => {
            let tensors = || graph.tensors(node.index());
            let operands = tensors().filter_map(|(port, _)| match port {
                Port::Operand(index) => Some(index as usize + 1),
                Port::Result(_) | Port::Tells => None,
            });
            let shape = tensors()
                .find_map(|(_, value)| Some(&module.tensor_type(graph.value_at(value)?)?.dims))?;
            Some(OpRule::identity(shape, operands.max().unwrap_or(0), 1))
        }
    }
}
