//! The propagation graph: ops, and the values between them.

use cranelift_entity::packed_option::PackedOption;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::unionfind::UnionFind;
use petgraph::visit::EdgeRef;
use rustc_hash::{FxHashMap, FxHashSet};
use shard_ir::ops::{Control, Custom, Movement, Op, Sdy};
use shard_ir::sharding::TensorSharding;
use shard_ir::{Attr, Module, OpId, ValueDef, ValueId};

use super::factors::Direction;
use super::setup::{RecKind, Setup, Ssa, Use, ssa};
use super::table::{RuleId, SharedSharding};
use crate::rules;

/// A node of the graph.
#[derive(Clone, Debug)]
pub enum Node {
    /// Something that shardings go through.
    Op(OpNode),
    /// A value, or values that always have one sharding.
    Value(ValueNode),
}

/// Something that shardings go through.
#[derive(Clone, Debug)]
pub struct OpNode {
    /// The op; for a data-flow edge, the one whose operands and results it connects; none for a
    /// constraint that only propagation has.
    pub op: PackedOption<OpId>,
    /// How.
    pub kind: OpKind,
    pub(super) class: Class,
    pub(super) elementwise: bool,
    pub(super) rule: RuleId,
    pub(super) rec: u32,
}

/// How shardings go through an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpKind {
    /// By the op's rule.
    Rule,
    /// Between the sources and the targets of data flow; the edge's number.
    Edge(u32),
    /// Like an elementwise op, but only in one direction.
    Barrier(Direction),
    /// By a sharding constraint that the module hasn't.
    Constraint,
    /// Not at all.
    Inert,
}

/// When and in which direction the rounds of op priorities let shardings through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    PassThrough,
    Slice,
    Broadcast,
    Other,
}

/// A value, or values that always have one sharding.
#[derive(Clone, Debug)]
pub struct ValueNode {
    /// The first of the values; none for one that only propagation has.
    pub value: PackedOption<ValueId>,
    /// Its sharding.
    pub sharding: SharedSharding,
}

/// How an op and a value hang together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Port {
    /// From an op to its operand (or the source of an edge).
    Operand(u32),
    /// From an op to its result (or the target of an edge).
    Result(u32),
    /// From a value to an op that must look again when the value's sharding changes.
    Tells,
}

/// The graph. Its first nodes are the ops, in the order in which they are first visited.
///
/// From an op, edges lead to its operands and results, in order; from a value, to the ops that its
/// sharding matters to, in the order in which they are told.
#[derive(Clone, Debug, Default)]
pub struct PropagationGraph {
    /// The graph itself.
    pub graph: DiGraph<Node, Port, u32>,
    /// How many of the nodes are ops.
    pub op_count: usize,
    /// The number of each value's node.
    pub(super) value_nodes: Vec<u32>,
}

const NO_NODE: u32 = u32::MAX;

impl PropagationGraph {
    /// The node of a value; `None` for scalars, and values that aren't tensors.
    pub fn node_of(&self, value: ValueId) -> Option<NodeIndex> {
        self.node_of_ssa(ssa(value))
    }

    pub(super) fn node_of_ssa(&self, value: Ssa) -> Option<NodeIndex> {
        let node = self.value_nodes.get(value as usize).copied().filter(|&node| node != NO_NODE)?;
        Some(NodeIndex::new(node as usize))
    }

    pub(super) fn op(&self, node: usize) -> &OpNode {
        match &self.graph[NodeIndex::new(node)] {
            Node::Op(op) => op,
            Node::Value(_) => unreachable!("ops come first"),
        }
    }

    pub(super) fn op_mut(&mut self, node: usize) -> &mut OpNode {
        match &mut self.graph[NodeIndex::new(node)] {
            Node::Op(op) => op,
            Node::Value(_) => unreachable!("ops come first"),
        }
    }

    pub(super) fn sharding(&self, node: NodeIndex) -> SharedSharding {
        match &self.graph[node] {
            Node::Value(value) => value.sharding,
            Node::Op(_) => SharedSharding::NONE,
        }
    }

    pub(super) fn set_sharding(&mut self, node: NodeIndex, sharding: SharedSharding) {
        if let Node::Value(value) = &mut self.graph[node] {
            value.sharding = sharding;
        }
    }

    /// The tensors of an op: how each hangs on it, and its node.
    pub fn tensors(&self, op: usize) -> impl Iterator<Item = (Port, NodeIndex)> + '_ {
        self.graph.edges(NodeIndex::new(op)).map(|edge| (*edge.weight(), edge.target()))
    }

    /// The ops that a value is an operand or a result of, each once, in order.
    pub fn ops_around(&self, value: NodeIndex) -> Vec<NodeIndex> {
        let mut ops: Vec<NodeIndex> =
            self.graph.neighbors_directed(value, petgraph::Direction::Incoming).collect();
        ops.sort_unstable();
        ops.dedup();
        ops
    }

    /// The first value of a node, if the node is one of values that the module has.
    pub fn value_at(&self, node: NodeIndex) -> Option<ValueId> {
        match self.graph.node_weight(node)? {
            Node::Value(value) => value.value.expand(),
            Node::Op(_) => None,
        }
    }

    /// The ops that a value tells of its changes.
    pub(super) fn listeners(&self, value: NodeIndex) -> petgraph::graph::Neighbors<'_, Port, u32> {
        self.graph.neighbors(value)
    }

    /// Builds the graph of an analysed module.
    pub(super) fn new(setup: &Setup<'_>) -> PropagationGraph {
        let mut order: Vec<u32> = (0..setup.recs.len() as u32)
            .filter(|&rec| is_node(setup, setup.recs[rec as usize].kind))
            .collect();
        order.sort_by_key(|&rec| setup.recs[rec as usize].key);
        let mut graph: DiGraph<Node, Port, u32> = DiGraph::with_capacity(
            order.len() + setup.given.len(),
            3 * setup.operands.len() + setup.given.len(),
        );
        let mut node_of_rec = vec![NO_NODE; setup.recs.len()];
        for &rec in &order {
            let node = graph.add_node(Node::Op(op_node(setup, rec)));
            node_of_rec[rec as usize] = node.index() as u32;
        }
        let op_count = order.len();
        let value_nodes = add_values(setup, &mut graph);
        let mut this = PropagationGraph { graph, op_count, value_nodes };
        for (node, &rec) in order.iter().enumerate() {
            this.connect_op(setup, node, rec);
        }
        let edge_node = |edge: u32| {
            let rec = setup.edges.get(edge as usize).map_or(u32::MAX, |edge| edge.rec);
            node_of_rec.get(rec as usize).copied().unwrap_or(NO_NODE)
        };
        let tellers = Tellers { setup, node_of_rec: &node_of_rec, edge_node: &edge_node };
        // Each value tells its maker and its users; a merged one those of all its members.
        let grouped: FxHashSet<Ssa> = setup.groups.iter().flatten().copied().collect();
        let mut told: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        let mut list = Vec::new();
        for value in 0..setup.given.len() as Ssa {
            let Some(node) = this.node_of_ssa(value) else { continue };
            list.clear();
            if let Some(&edge) = setup.edge_of.get(&value) {
                let edge = &setup.edges[edge as usize];
                if edge.owner == value {
                    tellers.edge(edge, &mut list);
                }
            } else {
                tellers.value(value, &mut list);
            }
            let merged = matches!(&this.graph[node], Node::Value(v)
                if v.value.expand().map(ssa) != Some(value))
                || told.contains_key(&(node.index() as u32));
            if merged || grouped.contains(&value) {
                told.entry(node.index() as u32).or_default().extend_from_slice(&list);
            } else {
                this.add_listeners(node, &list);
            }
        }
        let mut told: Vec<_> = told.into_iter().collect();
        told.sort_unstable();
        for (node, list) in told {
            this.add_listeners(NodeIndex::new(node as usize), &list);
        }
        this
    }

    /// Edges of a node are walked from the last added to the first.
    fn add_listeners(&mut self, value: NodeIndex, list: &[u32]) {
        for &op in list.iter().rev() {
            self.graph.add_edge(value, NodeIndex::new(op as usize), Port::Tells);
        }
    }

    fn connect_op(&mut self, setup: &Setup<'_>, node: usize, rec: u32) {
        let module = setup.module;
        let from = NodeIndex::new(node);
        let connect = |this: &mut Self, value: Ssa, port: Port| {
            if let Some(to) = this.node_of_ssa(value) {
                this.graph.add_edge(from, to, port);
            }
        };
        match setup.recs[rec as usize].kind {
            RecKind::Edge(edge) => {
                let edge = &setup.edges[edge as usize];
                connect(self, edge.owner, Port::Result(0));
                for (index, &source) in edge.sources.iter().enumerate().rev() {
                    connect(self, setup.at(source), Port::Operand(index as u32));
                }
            }
            RecKind::Constraint(result) => {
                connect(self, result, Port::Result(0));
                connect(self, setup.operands(rec)[0], Port::Operand(0));
            }
            RecKind::Op(op) => {
                if self.op(node).kind == OpKind::Inert {
                    return;
                }
                for (index, &result) in module.results(op).iter().enumerate().rev() {
                    connect(self, ssa(result), Port::Result(index as u32));
                }
                for (index, &operand) in setup.operands(rec).iter().enumerate().rev() {
                    connect(self, operand, Port::Operand(index as u32));
                }
            }
        }
    }
}

/// Whether an entry gets a node: not ops that make values out of nothing, and not returns.
fn is_node(setup: &Setup<'_>, kind: RecKind) -> bool {
    match kind {
        RecKind::Edge(_) | RecKind::Constraint(_) => true,
        RecKind::Op(op) => {
            let kind = setup.module.kind(op);
            !setup.module.operands(op).is_empty() && !kind.is_terminator()
        }
    }
}

fn op_node(setup: &Setup<'_>, rec: u32) -> OpNode {
    let module = setup.module;
    let blank = OpNode {
        op: None.into(),
        kind: OpKind::Inert,
        class: Class::Other,
        elementwise: false,
        rule: RuleId::UNKNOWN,
        rec,
    };
    match setup.recs[rec as usize].kind {
        RecKind::Edge(edge) => {
            let owner = setup.edges[edge as usize].owner;
            let op = match module.value_def(ValueId::from_u32(owner)) {
                ValueDef::Result(op, _) => Some(op),
                ValueDef::Param(block, _) => module.parent_op(block),
            };
            OpNode { op: op.into(), kind: OpKind::Edge(edge), class: Class::PassThrough, ..blank }
        }
        RecKind::Constraint(_) => OpNode {
            kind: OpKind::Constraint,
            class: Class::PassThrough,
            elementwise: true,
            ..blank
        },
        RecKind::Op(op) => {
            let elementwise = rules::is_elementwise(module, op);
            let ranked = |values: &[ValueId]| {
                values.iter().any(|&v| module.tensor_type(v).is_some_and(|ty| ty.rank() > 0))
            };
            let kind = if !ranked(module.operands(op)) && !ranked(module.results(op)) {
                OpKind::Inert
            } else {
                op_kind(module, op)
            };
            let class = if elementwise { Class::PassThrough } else { class(module, op) };
            OpNode { op: Some(op).into(), kind, class, elementwise, ..blank }
        }
    }
}

fn op_kind(module: &Module, op: OpId) -> OpKind {
    match module.kind(op) {
        Op::Elementwise(_)
        | Op::Creation(_)
        | Op::Dot(_)
        | Op::Convolution(_)
        | Op::Reduction(_)
        | Op::Movement(_)
        | Op::Indexing(_)
        | Op::Sorting(_)
        | Op::Linalg(_)
        | Op::Random(_)
        | Op::Normalization(_)
        | Op::Collective(_)
        | Op::Custom(_) => OpKind::Rule,
        Op::Sdy(Sdy::PropagationBarrier(barrier)) => {
            OpKind::Barrier(allowed_direction(module, &barrier.allowed))
        }
        Op::Sdy(Sdy::ShardingConstraint(_)) => OpKind::Rule,
        Op::Control(
            Control::While
            | Control::If
            | Control::Case
            | Control::OptimizationBarrier
            | Control::Return
            | Control::FuncReturn
            | Control::SdyReturn
            | Control::Call(_),
        )
        | Op::Sdy(_)
        | Op::Effects(_)
        | Op::Hlo(_)
        | Op::Opaque(_) => {
            if module.attr(module.op(op).attrs, rules::RULE_ATTR).is_some() {
                OpKind::Rule
            } else {
                OpKind::Inert
            }
        }
    }
}

fn class(module: &Module, op: OpId) -> Class {
    match module.kind(op) {
        Op::Movement(kind) => match kind {
            Movement::Reshape | Movement::Transpose(_) => Class::PassThrough,
            Movement::DynamicSlice(_) | Movement::DynamicUpdateSlice => Class::Slice,
            Movement::BroadcastInDim(_) => Class::Broadcast,
            _ => Class::Other,
        },
        Op::Custom(Custom::CustomCall(call)) => match module.str(call.target) {
            "MoveToDevice" | "MoveToHost" => Class::PassThrough,
            _ => Class::Other,
        },
        _ => Class::Other,
    }
}

fn allowed_direction(module: &Module, attr: &Attr) -> Direction {
    let by_name = |name: &str| match name {
        "FORWARD" => Direction::Forward,
        "BACKWARD" => Direction::Backward,
        "BOTH" => Direction::Both,
        _ => Direction::None,
    };
    match attr {
        Attr::Int(1, _) => Direction::Forward,
        Attr::Int(2, _) => Direction::Backward,
        Attr::Int(3, _) => Direction::Both,
        Attr::Enum { value, .. } => by_name(module.str(*value)),
        Attr::String(name) | Attr::Text(name) => {
            let name = module.str(*name);
            by_name(name.rsplit([' ', '.']).next().unwrap_or(name).trim_end_matches('>'))
        }
        _ => Direction::None,
    }
}

/// Adds a node for each value, or for values that data flow and groups merge. Scalars have none.
fn add_values(setup: &Setup<'_>, graph: &mut DiGraph<Node, Port, u32>) -> Vec<u32> {
    let module = setup.module;
    let mut sets: UnionFind<u32> = UnionFind::new(setup.given.len());
    for edge in &setup.edges {
        for &target in edge.others.iter().chain([&edge.seen]) {
            sets.union(edge.owner, target);
        }
    }
    for group in &setup.groups {
        for pair in group.windows(2) {
            sets.union(pair[0], pair[1]);
        }
    }
    let sets = sets.into_labeling();
    let given = |value: Ssa| match setup.edge_of.get(&value) {
        Some(&edge) => setup.given[setup.edges[edge as usize].owner as usize],
        None => setup.given[value as usize],
    };
    let mut nodes = vec![NO_NODE; setup.given.len()];
    for value in 0..setup.given.len() as Ssa {
        let of_module = ((value as usize) < module.value_count()).then(|| ValueId::from_u32(value));
        let ranked =
            of_module.is_none_or(|value| module.tensor_type(value).is_some_and(|ty| ty.rank() > 0));
        if !ranked {
            continue;
        }
        let set = sets[value as usize] as usize;
        if nodes[set] == NO_NODE {
            let node = ValueNode { value: of_module.into(), sharding: given(value) };
            nodes[set] = graph.add_node(Node::Value(node)).index() as u32;
        } else if let Node::Value(node) = &mut graph[NodeIndex::new(nodes[set] as usize)]
            && node.sharding.is_none()
        {
            node.sharding = given(value);
        }
        nodes[value as usize] = nodes[set];
    }
    nodes
}

/// Finds out which ops a change of a value concerns, in the order in which Shardy's compiler adds
/// them to its list of work.
struct Tellers<'a, 'm> {
    setup: &'a Setup<'m>,
    node_of_rec: &'a [u32],
    edge_node: &'a dyn Fn(u32) -> u32,
}

impl Tellers<'_, '_> {
    fn push(&self, node: u32, list: &mut Vec<u32>) {
        if node != NO_NODE {
            list.push(node);
        }
    }

    /// The edge that owns the value a use copies its operand to, if the user is data flow.
    fn edge_of_source(&self, place: Use) -> Option<u32> {
        let setup = self.setup;
        let RecKind::Op(op) = setup.recs[place.rec as usize].kind else { return None };
        let module = setup.module;
        let index = place.operand as usize;
        let result_of = |op: OpId| {
            let result = module.results(op).get(index)?;
            setup.edge_of.get(&ssa(*result)).copied()
        };
        match module.kind(op) {
            Op::Control(kind) => match kind {
                Control::While | Control::OptimizationBarrier => result_of(op),
                Control::If | Control::Case | Control::Call(_) => None,
                Control::Return | Control::FuncReturn | Control::SdyReturn => {
                    let block = setup.recs[place.rec as usize].block.expand()?;
                    let parent = module.parent_op(block)?;
                    let body = *module.regions(parent).last()?;
                    match module.kind(parent) {
                        // The condition's predicate goes nowhere.
                        Op::Control(Control::While) if module.block(block).region != body => None,
                        _ => result_of(parent),
                    }
                }
            },
            Op::Sdy(Sdy::ManualComputation(_) | Sdy::NamedComputation(_)) => {
                let &region = module.regions(op).first()?;
                let &entry = module.region(region).blocks.first()?;
                let param = module.params(entry).get(index)?;
                setup.edge_of.get(&ssa(*param)).copied()
            }
            _ => None,
        }
    }

    fn users(&self, value: Ssa, list: &mut Vec<u32>) {
        let setup = self.setup;
        let module = setup.module;
        for &place in setup.uses[value as usize].iter().rev() {
            if let Some(edge) = self.edge_of_source(place) {
                self.push((self.edge_node)(edge), list);
                continue;
            }
            let RecKind::Op(op) = setup.recs[place.rec as usize].kind else {
                self.push(self.node_of_rec[place.rec as usize], list);
                continue;
            };
            match module.kind(op) {
                // A call's operand goes to the function's parameter, and what a function returns
                // to the results of its calls.
                Op::Control(Control::Call(call)) => {
                    let Some(&callee) = setup.by_name.get(&call.callee.0) else { continue };
                    if let Some(&param) = module.args(callee).get(place.operand as usize)
                        && let Some(&edge) = setup.edge_of.get(&ssa(param))
                    {
                        self.push((self.edge_node)(edge), list);
                    }
                }
                Op::Control(Control::FuncReturn) => {
                    let Some(block) = setup.recs[place.rec as usize].block.expand() else {
                        continue;
                    };
                    let shard_ir::RegionOwner::Func(func) =
                        module.region(module.block(block).region).owner
                    else {
                        continue;
                    };
                    for &call in &setup.callers[func] {
                        let result = module.results(call).get(place.operand as usize);
                        if let Some(&edge) = result.and_then(|r| setup.edge_of.get(&ssa(*r))) {
                            self.push((self.edge_node)(edge), list);
                        }
                    }
                }
                _ => self.push(self.node_of_rec[place.rec as usize], list),
            }
        }
    }

    fn edge(&self, edge: &super::setup::Edge, list: &mut Vec<u32>) {
        for &target in &edge.others {
            self.users(target, list);
        }
        self.push(self.node_of_rec.get(edge.rec as usize).copied().unwrap_or(NO_NODE), list);
        self.users(edge.seen, list);
    }

    fn value(&self, value: Ssa, list: &mut Vec<u32>) {
        let setup = self.setup;
        if (value as usize) < setup.module.value_count() {
            if let Some(op) = setup.module.defining_op(ValueId::from_u32(value))
                && let Some(rec) = setup.rec_of[op].expand()
            {
                self.push(self.node_of_rec[rec.0 as usize], list);
            }
        } else {
            let maker = setup.constraint_of.get(&value);
            let node = maker.and_then(|&rec| self.node_of_rec.get(rec as usize).copied());
            self.push(node.unwrap_or(NO_NODE), list);
        }
        self.users(value, list);
    }
}

/// Whether a sharding has no axes at all.
pub(super) fn has_no_axes(sharding: &TensorSharding) -> bool {
    sharding.mentioned_axes().next().is_none()
}
