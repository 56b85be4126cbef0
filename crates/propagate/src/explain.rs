//! Why a value is sharded as it is, and why not otherwise.
//!
//! [`Explainer::new`] propagates with a [`Log`], and answers questions from it: each axis of a
//! value is followed back, placement by placement, to where a user stated it; an axis that a value
//! hasn't is looked for in the values around, the nearest first, up to the op at which it stopped.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use petgraph::graph::NodeIndex;
use rustc_hash::{FxHashMap, FxHashSet};
use shard_ir::ops::{Control, Op, Sdy};
use shard_ir::sharding::{AxisRef, TensorSharding};
use shard_ir::{BlockId, FuncId, MeshId, Module, OpId, ShardingId, ValueDef, ValueId};

use crate::engine::{
    Log, Node, Obstacle, OpKind, Options, Placement, Port, Propagation, Reason, node_rule,
    obstacles, propagate_traced,
};
use crate::rules::{FactorIndex, FactorKind, OpRule};

/// What is explained: a value, or a result of a function, which may be sharded otherwise than what
/// is returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Subject {
    /// A value.
    Value(ValueId),
    /// A result of a function, and which.
    Result(FuncId, usize),
}

/// A dimension of a value, or of a function's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At {
    /// Of what.
    pub subject: Subject,
    /// Which dimension; `None` where the op that axes came through has no rule for it.
    pub dim: Option<usize>,
}

/// How an axis came from one dimension to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The op that it came through; `None` for what a function returns.
    pub op: Option<OpId>,
    /// Whether values are copied there (loops, branches, borders of computations).
    pub is_data_flow: bool,
    /// What the factor is that the axis came along; `None` where it isn't known.
    pub factor: Option<FactorKind>,
    /// The round of user priorities.
    pub user_priority: u32,
    /// Where it came to.
    pub to: At,
    /// Where it came from.
    pub from: At,
}

/// Where a user stated an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// On an argument of a function.
    Argument(FuncId, usize),
    /// On a result of a function.
    Result(FuncId, usize),
    /// On the results of an op.
    Op(OpId),
    /// By a sharding constraint.
    Constraint(OpId),
    /// At the border of a manual computation.
    Border(OpId),
    /// By another member of a sharding group.
    Group(OpId),
    /// It isn't known where.
    Unknown,
}

/// Why a dimension has an axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Present {
    /// The axis.
    pub axis: AxisRef,
    /// From the dimension back to where it was stated.
    pub chain: Vec<Link>,
    /// Where that is.
    pub origin: Origin,
}

/// What stopped an axis on its way to a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Absent {
    /// The axis.
    pub axis: AxisRef,
    /// What stopped it; `None` if no value that hangs together with this one has it.
    pub stop: Option<Stop>,
}

/// A place at which an axis stopped.
#[derive(Clone, Debug, PartialEq)]
pub struct Stop {
    /// The op.
    pub op: Option<OpId>,
    /// The dimension that didn't get it.
    pub to: At,
    /// The dimension that has it.
    pub from: Option<At>,
    /// Why.
    pub reason: Reason,
    /// Of [`Reason::OtherFactor`]: the dimension of the same value that has the axis.
    pub other: Option<usize>,
    /// What is in the way (another axis, or the same in another dimension), and where it is from.
    pub rival: Option<Box<Present>>,
    /// How many ops lie between this place and the value that was asked for: none where it is the
    /// value itself that didn't get the axis.
    pub distance: usize,
}

/// An explanation of one value.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// Of what.
    pub subject: Subject,
    /// Its sharding; `None` where it is open and nothing came.
    pub sharding: Option<TensorSharding>,
    /// For each dimension, its axes.
    pub dims: Vec<Vec<Present>>,
    /// The axes of the mesh that it hasn't.
    pub absent: Vec<Absent>,
}

/// Chains longer than this aren't followed: they don't end.
const LONGEST: usize = 1 << 16;

/// Answers questions about a module's propagation.
#[derive(Debug)]
pub struct Explainer<'m> {
    module: &'m Module,
    options: &'m Options,
    /// What propagation found.
    pub result: Propagation,
    log: Log,
    /// The placements on each value's node, and on each function's results, in order.
    on_node: FxHashMap<NodeIndex, Vec<usize>>,
    on_result: FxHashMap<ValueId, Vec<usize>>,
    /// The values of each node that merges several.
    members: FxHashMap<NodeIndex, Vec<ValueId>>,
    obstacles: RefCell<FxHashMap<NodeIndex, Rc<Vec<Obstacle>>>>,
}

impl<'m> Explainer<'m> {
    /// Propagates, and remembers why.
    pub fn new(module: &'m Module, options: &'m Options) -> Explainer<'m> {
        let mut log = Log::default();
        let result = propagate_traced(module, options, &mut log);
        let mut on_node: FxHashMap<NodeIndex, Vec<usize>> = FxHashMap::default();
        let mut on_result: FxHashMap<ValueId, Vec<usize>> = FxHashMap::default();
        for (at, placement) in log.placements.iter().enumerate() {
            match placement.node {
                Some(_) => {
                    // Values that only propagation has aren't asked about.
                    if let Some(node) = placement.value.and_then(|v| result.graph.node_of(v)) {
                        on_node.entry(node).or_default().push(at);
                    }
                }
                None => {
                    // Between what is returned, which stands for the step, and the result.
                    if let Some(value) = placement.value {
                        on_result.entry(value).or_default().push(at);
                    }
                }
            }
        }
        let mut members: FxHashMap<NodeIndex, Vec<ValueId>> = FxHashMap::default();
        for value in (0..module.value_count() as u32).map(ValueId::from_u32) {
            if let Some(node) = result.graph.node_of(value) {
                members.entry(node).or_default().push(value);
            }
        }
        Explainer {
            module,
            options,
            result,
            log,
            on_node,
            on_result,
            members,
            obstacles: RefCell::default(),
        }
    }

    /// The sharding of what is asked about.
    pub fn sharding(&self, subject: Subject) -> Option<&TensorSharding> {
        match subject {
            Subject::Value(value) => self.result.sharding(value),
            Subject::Result(func, index) => self.result.func_result(func, index),
        }
    }

    /// Explains a value.
    pub fn explain(&self, subject: Subject, mesh: MeshId) -> Explanation {
        let sharding = self.sharding(subject).cloned();
        let dims = sharding.as_ref().map_or(Vec::new(), |sharding| {
            (0..sharding.rank())
                .map(|dim| {
                    let axes = sharding.dim_axes(dim).iter();
                    axes.map(|&axis| self.present(At { subject, dim: Some(dim) }, axis)).collect()
                })
                .collect()
        });
        let has = |axis: AxisRef| {
            sharding
                .as_ref()
                .is_some_and(|sharding| sharding.mentioned_axes().any(|other| other.overlaps(axis)))
        };
        let absent = self.module.meshes[mesh]
            .mesh
            .all_axes()
            .filter(|&axis| axis.size > 1 && !has(axis))
            .map(|axis| Absent { axis, stop: self.stop(subject, axis) })
            .collect();
        Explanation { subject, sharding, dims, absent }
    }

    /// Follows an axis back to where it was stated.
    pub fn present(&self, at: At, axis: AxisRef) -> Present {
        let mut chain = Vec::new();
        let mut here = at;
        let mut limit = usize::MAX;
        while chain.len() < LONGEST {
            let Some((place, link)) = self.came(here, axis, limit) else { break };
            limit = place;
            here = link.from;
            chain.push(link);
        }
        let origin = self.origin(here, axis);
        Present { axis, chain, origin }
    }

    /// The placement that brought an axis to a dimension, before another.
    fn came(&self, at: At, axis: AxisRef, limit: usize) -> Option<(usize, Link)> {
        let brought = |list: &[usize], result: bool| {
            let mut found = None;
            for &index in list.iter().take_while(|&&index| index < limit) {
                let placement = &self.log.placements[index];
                let new = has(&placement.after, axis) && !has(&placement.before, axis);
                let here = (placement.node.is_none() && placement.tensor == 1) == result;
                if new && here && self.dim_of(placement, placement.tensor, at.dim) {
                    found = Some(index);
                }
            }
            found
        };
        let (index, result) = match at.subject {
            Subject::Value(value) => {
                let node = self.result.graph.node_of(value)?;
                let placed = self.on_node.get(&node).and_then(|list| brought(list, false));
                // What a function returns may take axes from the function's result.
                let members = self.members.get(&node).into_iter().flatten();
                let from_result =
                    members.filter_map(|value| brought(self.on_result.get(value)?, false)).max();
                (placed.max(from_result)?, false)
            }
            Subject::Result(func, index) => {
                let value = returned(self.module, func, index)?;
                let node = self.result.graph.node_of(value)?;
                let members = self.members.get(&node).into_iter().flatten();
                let found = members.filter_map(|value| brought(self.on_result.get(value)?, true));
                (found.max()?, true)
            }
        };
        let placement = &self.log.placements[index];
        let from = self.source(placement, at, axis, result)?;
        let rule = placement.node.and_then(|node| self.rule(node));
        let is_data_flow = placement.node.is_some_and(|node| self.is_data_flow(node));
        let factor = rule.map(|rule| rule.factors[placement.factor].kind);
        let (op, user_priority) = (placement.op, placement.user_priority);
        Some((index, Link { op, is_data_flow, factor, user_priority, to: at, from }))
    }

    /// Where a placement's axes came from.
    fn source(&self, placement: &Placement, at: At, axis: AxisRef, result: bool) -> Option<At> {
        let Some(node) = placement.node else {
            // Between what is returned and the result.
            return match (at.subject, result) {
                (Subject::Result(func, index), true) => {
                    let value = returned(self.module, func, index)?;
                    Some(At { subject: Subject::Value(value), dim: at.dim })
                }
                (Subject::Value(value), _) => {
                    let (func, index) = self.result_of(value, at.dim, axis)?;
                    Some(At { subject: Subject::Result(func, index), dim: at.dim })
                }
                _ => None,
            };
        };
        let &value = placement.sources.first()?;
        let rule = self.rule(node);
        let tensor =
            rule.as_ref().and_then(|rule| self.tensor_of(node, rule, value, placement.tensor));
        let dim = match (rule, tensor) {
            (Some(rule), Some(tensor)) => dim_with(&rule, tensor, placement.factor),
            // Data flow copies values: a dimension stays what it is.
            _ => at.dim,
        };
        Some(At { subject: Subject::Value(value), dim })
    }

    /// A result of a function that returns a value, and has an axis.
    fn result_of(
        &self,
        value: ValueId,
        dim: Option<usize>,
        axis: AxisRef,
    ) -> Option<(FuncId, usize)> {
        let node = self.result.graph.node_of(value)?;
        self.module.func_ids().find_map(|func| {
            let count = self.module.funcs[func].results.len();
            (0..count).find_map(|index| {
                let same = returned(self.module, func, index)
                    .is_some_and(|other| self.result.graph.node_of(other) == Some(node));
                let sharding = self.result.func_result(func, index)?;
                let has = dim
                    .is_some_and(|dim| dim < sharding.rank() && has(sharding.dim_axes(dim), axis));
                (same && has).then_some((func, index))
            })
        })
    }

    /// Whether a placement concerns a dimension.
    fn dim_of(&self, placement: &Placement, tensor: usize, dim: Option<usize>) -> bool {
        let rule = placement.node.and_then(|node| self.rule(node));
        match (rule, dim) {
            (Some(rule), Some(dim)) => dim_with(&rule, tensor, placement.factor) == Some(dim),
            // Each dimension is a factor of its own.
            (None, Some(dim)) => placement.factor == dim,
            (_, None) => true,
        }
    }

    fn rule(&self, node: NodeIndex) -> Option<OpRule> {
        node_rule(self.module, self.options, &self.result, node)
    }

    /// Which of a node's tensors a value is, another than `but`.
    fn tensor_of(
        &self,
        node: NodeIndex,
        rule: &OpRule,
        value: ValueId,
        but: usize,
    ) -> Option<usize> {
        let wanted = self.result.graph.node_of(value)?;
        let tensors = self.result.graph.tensors(node.index());
        let found =
            tensors.filter(|(_, node)| *node == wanted).filter_map(|(port, _)| match port {
                Port::Operand(index) => Some(index as usize),
                Port::Result(index) => Some(rule.operands.len() + index as usize),
                Port::Tells => None,
            });
        found.filter(|&tensor| tensor != but).min()
    }

    fn is_data_flow(&self, node: NodeIndex) -> bool {
        let graph = &self.result.graph.graph;
        matches!(graph.node_weight(node), Some(Node::Op(op)) if matches!(op.kind, OpKind::Edge(_)))
    }

    /// Who stated an axis of a dimension that no step brought there.
    fn origin(&self, at: At, axis: AxisRef) -> Origin {
        let module = self.module;
        let states = |sharding: ShardingId| {
            let sharding = module.sharding(sharding);
            match at.dim {
                Some(dim) => dim < sharding.rank() && has(sharding.dim_axes(dim), axis),
                None => sharding.mentioned_axes().any(|other| other.overlaps(axis)),
            }
        };
        let value = match at.subject {
            Subject::Result(func, index) => return Origin::Result(func, index),
            Subject::Value(value) => value,
        };
        let node = self.result.graph.node_of(value);
        let alone = [value];
        let members =
            node.and_then(|node| self.members.get(&node)).map_or(&alone[..], Vec::as_slice);
        // The value itself first.
        let members = || std::iter::once(value).chain(members.iter().copied());
        for member in members() {
            if !module.shardings[member].expand().is_some_and(states) {
                continue;
            }
            match module.value_def(member) {
                ValueDef::Result(op, _) => {
                    return match module.kind(op) {
                        Op::Sdy(Sdy::ShardingConstraint(_)) => Origin::Constraint(op),
                        _ => Origin::Op(op),
                    };
                }
                ValueDef::Param(block, index) => {
                    if let Some(func) = self.entry_of(block) {
                        return Origin::Argument(func, index as usize);
                    }
                }
            }
        }
        for member in members() {
            if let ValueDef::Result(op, _) = module.value_def(member)
                && let Op::Sdy(kind) = module.kind(op)
                && kind.result_sharding().is_some_and(states)
            {
                return Origin::Constraint(op);
            }
        }
        // Constraints apply to what they constrain, and manual computations to their operands.
        let mut group = None;
        for op in (0..module.op_count() as u32).map(OpId::from_u32) {
            let Op::Sdy(kind) = module.kind(op) else { continue };
            let concerned = |value: &ValueId| members().any(|member| member == *value);
            match kind {
                Sdy::ManualComputation(manual) => {
                    let inner = module.regions(op).first().map(|&region| module.entry(region));
                    let params = inner.map_or(&[][..], |entry| module.params(entry));
                    let ins = module.operands(op).iter().zip(params).zip(&manual.in_shardings.0);
                    let outs = module.results(op).iter().zip(&manual.out_shardings.0);
                    let stated = ins
                        .flat_map(|((operand, param), sharding)| {
                            [(operand, sharding), (param, sharding)]
                        })
                        .chain(outs)
                        .any(|(value, &sharding)| concerned(value) && states(sharding));
                    if stated {
                        return Origin::Border(op);
                    }
                }
                Sdy::ShardingGroup(_) if module.operands(op).iter().any(concerned) => {
                    group = Some(op);
                }
                kind => {
                    let constrains = kind.result_sharding().is_some_and(states)
                        && module.operands(op).iter().any(concerned);
                    if constrains {
                        return Origin::Constraint(op);
                    }
                }
            }
        }
        group.map_or(Origin::Unknown, Origin::Group)
    }

    /// The function whose entry a block is.
    fn entry_of(&self, block: BlockId) -> Option<FuncId> {
        self.module.func_ids().find(|&func| {
            !self.module.funcs[func].is_declaration && self.module.func_entry(func) == block
        })
    }

    fn obstacles_at(&self, node: NodeIndex) -> Rc<Vec<Obstacle>> {
        if let Some(known) = self.obstacles.borrow().get(&node) {
            return known.clone();
        }
        let found = obstacles(self.module, self.options, &self.result, node);
        let found = Rc::new(found);
        self.obstacles.borrow_mut().insert(node, found.clone());
        found
    }

    /// The nearest place at which an axis stopped on its way to a value.
    fn stop(&self, subject: Subject, axis: AxisRef) -> Option<Stop> {
        let value = match subject {
            Subject::Value(value) => value,
            Subject::Result(func, index) => {
                let value = returned(self.module, func, index)?;
                if let Some(stop) = self.stop_at_result(func, index, value, axis) {
                    return Some(stop);
                }
                value
            }
        };
        let start = self.result.graph.node_of(value)?;
        let graph = &self.result.graph;
        let mut seen: FxHashSet<NodeIndex> = FxHashSet::from_iter([start]);
        let mut queue = VecDeque::from([(start, 0usize)]);
        while let Some((node, distance)) = queue.pop_front() {
            for op in graph.ops_around(node) {
                let found = self.obstacles_at(op);
                let here = found.iter().find_map(|obstacle| {
                    let value = obstacle.value?;
                    let stops = obstacle.axis.overlaps(axis) && graph.node_of(value) == Some(node);
                    stops.then_some((obstacle, value))
                });
                if let Some((obstacle, value)) = here {
                    return Some(self.stopped(obstacle, value, axis, distance));
                }
            }
            for op in graph.ops_around(node) {
                for (_, next) in graph.tensors(op.index()) {
                    let lacks = match &graph.graph[next] {
                        Node::Value(value) => {
                            self.result.table.get(value.sharding).is_none_or(|sharding| {
                                !sharding.mentioned_axes().any(|other| other.overlaps(axis))
                            })
                        }
                        Node::Op(_) => false,
                    };
                    if lacks && seen.insert(next) {
                        queue.push_back((next, distance + 1));
                    }
                }
            }
        }
        None
    }

    /// What is returned has an axis that the function's result, being closed, hasn't.
    fn stop_at_result(
        &self,
        func: FuncId,
        index: usize,
        value: ValueId,
        axis: AxisRef,
    ) -> Option<Stop> {
        let from = self.result.sharding(value)?;
        let dim = (0..from.rank()).find(|&dim| has(from.dim_axes(dim), axis))?;
        let to = self.result.func_result(func, index);
        let rival = to.and_then(|to| to.dim_axes(dim).first().copied());
        let at = At { subject: Subject::Result(func, index), dim: Some(dim) };
        Some(Stop {
            op: None,
            to: at,
            from: Some(At { subject: Subject::Value(value), dim: Some(dim) }),
            reason: rival.map_or(Reason::Closed, Reason::OtherAxis),
            other: None,
            rival: rival.map(|rival| Box::new(self.present(at, rival))),
            distance: 0,
        })
    }

    /// An obstacle that keeps an axis from a value.
    fn stopped(&self, obstacle: &Obstacle, value: ValueId, axis: AxisRef, distance: usize) -> Stop {
        let rule = self.rule(obstacle.node);
        let dim =
            |tensor: Option<usize>, factor: FactorIndex| dim_with(rule.as_ref()?, tensor?, factor);
        let to =
            At { subject: Subject::Value(value), dim: dim(Some(obstacle.tensor), obstacle.factor) };
        let from = obstacle.source.map(|source| {
            let rule = rule.as_ref();
            let tensor =
                rule.and_then(|r| self.tensor_of(obstacle.node, r, source, obstacle.tensor));
            At { subject: Subject::Value(source), dim: dim(tensor, obstacle.factor) }
        });
        let other = match obstacle.reason {
            Reason::OtherFactor(factor) => dim(Some(obstacle.tensor), factor),
            _ => None,
        };
        let rival = match obstacle.reason {
            Reason::OtherAxis(rival) => Some(self.present(to, rival)),
            Reason::OtherFactor(_) => Some(self.present(At { dim: other, ..to }, axis)),
            _ => None,
        };
        Stop {
            op: obstacle.op,
            to,
            from,
            reason: obstacle.reason.clone(),
            other,
            rival: rival.map(Box::new),
            distance,
        }
    }

    /// The ops through which shardings go between a value and others, and these values.
    pub fn around(&self, value: ValueId) -> Vec<(Option<OpId>, Vec<ValueId>)> {
        let graph = &self.result.graph;
        let Some(node) = graph.node_of(value) else { return Vec::new() };
        graph
            .ops_around(node)
            .into_iter()
            .map(|op| {
                let values = graph.tensors(op.index()).filter_map(|(_, node)| graph.value_at(node));
                let kind = match &graph.graph[op] {
                    Node::Op(op) => op.op.expand(),
                    Node::Value(_) => None,
                };
                (kind, values.collect())
            })
            .collect()
    }
}

/// Whether a list has an axis or a part of it.
fn has(list: &[AxisRef], axis: AxisRef) -> bool {
    list.iter().any(|other| other.overlaps(axis))
}

/// The dimension of a tensor of a rule that has a factor.
fn dim_with(rule: &OpRule, tensor: usize, factor: FactorIndex) -> Option<usize> {
    if tensor >= rule.tensor_count() {
        return None;
    }
    rule.tensor(tensor).iter().position(|dim| dim.contains(&factor))
}

/// What a function returns.
fn returned(module: &Module, func: FuncId, index: usize) -> Option<ValueId> {
    let last = module.terminator(module.func_entry(func))?;
    matches!(module.kind(last), Op::Control(Control::FuncReturn)).then_some(())?;
    module.operands(last).get(index).copied()
}
