//! Rounds and sweeps over the graph.

use cranelift_entity::SecondaryMap;
use fixedbitset::FixedBitSet;
use petgraph::graph::NodeIndex;
use rustc_hash::FxHashMap;
use shard_ir::ops::{Op, Sdy};
use shard_ir::sharding::TensorSharding;
use shard_ir::{FuncId, MeshId, Module, ValueId};
use smallvec::SmallVec;

use super::factors::{Changed, Direction, FactorStrategy, Step};
use super::graph::{Class, Node, OpKind, Port, PropagationGraph, has_no_axes};
use super::priority::{self, ByPriority, Target};
use super::setup::{RecKind, Setup, Ssa, ssa};
use super::table::{RuleId, RuleTable, SharedSharding};
use super::trace::{Placement, Tracer};
use super::{Border, Options, Propagation, Strategy, manual, rewired};
use crate::projection::{Prefix, Projection};
use crate::rules::FactorKind;

/// The rounds of op priorities.
const ROUNDS: usize = 5;

/// In which direction a step goes along pass-through factors, and along others; and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mode {
    pass: Direction,
    other: Direction,
    strategy: FactorStrategy,
    elementwise: bool,
}

impl Mode {
    fn code(self) -> u32 {
        self.pass as u32
            | (self.other as u32) << 2
            | u32::from(self.strategy == FactorStrategy::Aggressive) << 4
            | u32::from(self.elementwise) << 5
    }
}

/// What a step does.
#[derive(Clone, Debug, Default)]
struct Outcome {
    /// The tensors that change, and their new shardings.
    changed: SmallVec<[(u32, SharedSharding); 2]>,
    /// Nothing can change here, in any direction, with any strategy.
    settled: bool,
}

/// The numbers of the shardings of an op's tensors.
type Ids = SmallVec<[SharedSharding; 6]>;

/// The results of an entry function.
struct EntryResults {
    func: FuncId,
    /// What it returns.
    values: Vec<Ssa>,
    shardings: Vec<SharedSharding>,
}

pub(super) struct Engine<'m, 't> {
    setup: Setup<'m>,
    options: &'m Options,
    graph: PropagationGraph,
    rules: RuleTable,
    known: FxHashMap<SmallVec<[u32; 8]>, u32>,
    outcomes: Vec<Outcome>,
    scratch: Projection,
    entries: Vec<EntryResults>,
    /// Ops at which something may still change.
    active: FixedBitSet,
    /// Ops that the sweep has yet to come to.
    pending: FixedBitSet,
    /// Ops that the sweep has passed and must come back to.
    stack: Vec<u32>,
    on_stack: FixedBitSet,
    /// The sweep has come so far.
    cursor: usize,
    /// How many uses each value has.
    use_counts: Vec<u32>,
    /// Ops whose results nothing uses, which may be dropped.
    unused: FixedBitSet,
    dropped: FixedBitSet,
    tracer: Option<&'t mut dyn Tracer>,
    steps: usize,
    user_priority: u32,
    op_round: usize,
}

impl<'m, 't> Engine<'m, 't> {
    pub fn new(
        module: &'m Module,
        options: &'m Options,
        tracer: Option<&'t mut dyn Tracer>,
    ) -> Engine<'m, 't> {
        let mut setup = Setup::new(module, options);
        let graph = PropagationGraph::new(&setup);
        let count = graph.op_count;
        let entries = entry_results(&mut setup);
        let use_counts = setup.uses.iter().map(|uses| uses.len() as u32).collect();
        let mut engine = Engine {
            setup,
            options,
            graph,
            rules: RuleTable::new(options.conservative),
            known: FxHashMap::default(),
            outcomes: Vec::new(),
            scratch: Projection::default(),
            entries,
            active: FixedBitSet::with_capacity(count),
            pending: FixedBitSet::with_capacity(count),
            stack: Vec::new(),
            on_stack: FixedBitSet::with_capacity(count),
            cursor: 0,
            use_counts,
            unused: FixedBitSet::with_capacity(count),
            dropped: FixedBitSet::with_capacity(count),
            tracer,
            steps: 0,
            user_priority: 0,
            op_round: 0,
        };
        for node in 0..count {
            if engine.is_unused(node) {
                engine.unused.insert(node);
                engine.active.insert(node);
            }
        }
        for node in engine.graph.graph.node_indices().skip(count) {
            if !engine.graph.sharding(node).is_none() {
                engine.activate_listeners(node);
            }
        }
        engine
    }

    pub fn run(mut self) -> Propagation {
        if !self.options.user_priorities {
            self.rounds();
            return self.finish();
        }
        let later = self.begin_with_priority_zero();
        self.rounds();
        for (priority, given) in later {
            self.user_priority = priority;
            for (target, original) in given {
                let (Some(original), Some(current)) =
                    (self.setup.table.get(original), self.setup.table.get(self.target(target)))
                else {
                    continue;
                };
                let updated = priority::with_priority(current, original, priority);
                let updated = self.setup.table.add(updated);
                self.set_target(target, updated);
            }
            self.rounds();
        }
        self.finish()
    }

    fn target(&self, target: Target) -> SharedSharding {
        match target {
            Target::Value(node) => self.graph.sharding(NodeIndex::new(node)),
            Target::Result(entry, index) => self.entries[entry].shardings[index],
        }
    }

    fn set_target(&mut self, target: Target, sharding: SharedSharding) {
        match target {
            Target::Value(node) => {
                let node = NodeIndex::new(node);
                if self.graph.sharding(node) != sharding {
                    self.graph.set_sharding(node, sharding);
                    self.activate_listeners(node);
                }
            }
            Target::Result(entry, index) => self.entries[entry].shardings[index] = sharding,
        }
    }

    /// Takes the dimensions of lower priority out of the given shardings.
    fn begin_with_priority_zero(&mut self) -> ByPriority {
        let mut later = ByPriority::new();
        let prioritised =
            |sharding: &TensorSharding| sharding.dims.iter().any(|dim| dim.priority.is_some());
        if !self.setup.table.iter().any(prioritised) {
            return later;
        }
        let values = (self.graph.op_count..self.graph.graph.node_count()).map(Target::Value);
        let results = self.entries.iter().enumerate().flat_map(|(entry, results)| {
            (0..results.shardings.len()).map(move |index| Target::Result(entry, index))
        });
        let targets: Vec<Target> = values.chain(results).collect();
        for target in targets {
            let original = self.target(target);
            let Some(sharding) = self.setup.table.get(original) else { continue };
            let mut priorities: SmallVec<[u32; 4]> =
                sharding.dims.iter().map(|dim| dim.priority_or_default()).collect();
            priorities.sort_unstable();
            priorities.dedup();
            for &priority in priorities.iter().filter(|&&priority| priority > 0) {
                later.entry(priority).or_default().push((target, original));
            }
            let initial = priority::initial(sharding);
            let initial = self.setup.table.add(initial);
            self.set_target(target, initial);
        }
        later
    }

    /// All rounds of op priorities.
    fn rounds(&mut self) {
        let strategies: &[FactorStrategy] = match self.options.strategy {
            Strategy::Aggressive => &[FactorStrategy::Aggressive],
            Strategy::Basic => &[FactorStrategy::Basic],
            Strategy::BasicThenAggressive => &[FactorStrategy::Basic, FactorStrategy::Aggressive],
        };
        let first = if self.options.op_priorities { 0 } else { ROUNDS - 1 };
        for round in first..ROUNDS {
            self.op_round = round;
            for &strategy in strategies {
                self.sweep(strategy);
            }
        }
    }

    fn sweep(&mut self, strategy: FactorStrategy) {
        self.entry_results(strategy);
        self.cursor = 0;
        self.pending.clone_from(&self.active);
        loop {
            let node = match self.stack.pop() {
                Some(node) => {
                    self.on_stack.set(node as usize, false);
                    node as usize
                }
                None => {
                    let Some(node) = next_one(&self.pending, self.cursor) else { break };
                    self.cursor = node + 1;
                    node
                }
            };
            self.visit(node, strategy);
        }
        self.entry_results(strategy);
    }

    /// Passes shardings between what an entry function returns and its results.
    fn entry_results(&mut self, strategy: FactorStrategy) {
        let mode =
            Mode { pass: Direction::Both, other: Direction::Both, strategy, elementwise: false };
        for entry in 0..self.entries.len() {
            for index in 0..self.entries[entry].values.len() {
                let value = self.entries[entry].values[index];
                let Some(node) = self.graph.node_of_ssa(value) else { continue };
                let ids = Ids::from_slice(&[
                    self.graph.sharding(node),
                    self.entries[entry].shardings[index],
                ]);
                if ids[0] == ids[1] {
                    continue;
                }
                let Some(rule) = self.identity_rule(value, 1) else { continue };
                let outcome = self.outcome(rule, mode, &ids);
                for at in 0..self.outcomes[outcome].changed.len() {
                    let (tensor, sharding) = self.outcomes[outcome].changed[at];
                    self.trace(None, rule, mode, &ids, tensor, Some(value));
                    if tensor == 0 {
                        self.graph.set_sharding(node, sharding);
                        self.activate_listeners(node);
                    } else {
                        self.entries[entry].shardings[index] = sharding;
                    }
                }
            }
        }
    }

    fn identity_rule(&mut self, value: Ssa, operands: usize) -> Option<RuleId> {
        let module = self.setup.module;
        // A constraint that only propagation has is of the type of what it constrains.
        let mut value = value;
        while value as usize >= module.value_count() {
            let made =
                |rec: &u32| self.setup.recs[*rec as usize].kind == RecKind::Constraint(value);
            let rec = (0..self.setup.recs.len() as u32).rev().find(made)?;
            value = *self.setup.operands(rec).first()?;
        }
        let ty = module.tensor_type(ValueId::from_u32(value))?;
        ty.is_static().then(|| self.rules.identity(&ty.dims, operands))
    }

    /// Visits an op: does what shardings, round and strategy say.
    fn visit(&mut self, node: usize, strategy: FactorStrategy) {
        if self.dropped.contains(node) || self.unused.contains(node) && self.drop_unused(node) {
            self.active.set(node, false);
            return;
        }
        let kind = self.graph.op(node).kind;
        if kind == OpKind::Inert || !self.active.contains(node) {
            self.active.set(node, false);
            return;
        }
        let Some(rule) = self.rule_of(node) else {
            self.active.set(node, false);
            return;
        };
        let Some(mode) = self.mode(node, strategy) else { return };
        let Some(count) = self.rules.get(rule).map(|rule| rule.tensor_count()) else { return };
        let operands = self.rules.get(rule).map_or(0, |rule| rule.operands.len());
        let mut ids = Ids::from_elem(SharedSharding::NONE, count);
        let mut nodes: SmallVec<[NodeIndex; 6]> = SmallVec::from_elem(NodeIndex::end(), count);
        for (port, value) in self.graph.tensors(node) {
            let at = match port {
                Port::Operand(index) => index as usize,
                Port::Result(index) => operands + index as usize,
                Port::Tells => continue,
            };
            if at < count {
                nodes[at] = value;
                ids[at] = self.graph.sharding(value);
            }
        }
        let border = self.border_of(kind);
        if let Some((edge, outer)) = &border {
            let target = count - 1;
            ids[target] = self.across(*edge, outer, ids[target], true);
        }
        let outcome = self.outcome(rule, mode, &ids);
        if self.outcomes[outcome].changed.is_empty() {
            if self.outcomes[outcome].settled {
                self.active.set(node, false);
            }
            return;
        }
        for at in 0..self.outcomes[outcome].changed.len() {
            let (tensor, mut sharding) = self.outcomes[outcome].changed[at];
            let value = nodes[tensor as usize];
            if value == NodeIndex::end() {
                continue;
            }
            if self.tracer.is_some() {
                let of = match &self.graph.graph[value] {
                    Node::Value(value) => value.value.expand().map(ssa),
                    Node::Op(_) => None,
                };
                self.trace(Some(node), rule, mode, &ids, tensor, of);
            }
            if let (Some((edge, outer)), true) = (&border, tensor as usize + 1 == count) {
                sharding = self.across(*edge, outer, sharding, false);
            }
            self.graph.set_sharding(value, sharding);
            self.tell(value, node);
        }
        self.steps += 1;
    }

    /// The border of a manual computation that an edge crosses: the edge's number, and the
    /// sharding outside that the program states.
    fn border_of(&self, kind: OpKind) -> Option<(u32, TensorSharding)> {
        let OpKind::Edge(edge) = kind else { return None };
        let (op, is_param, _) = self.setup.edges[edge as usize].manual.as_ref()?;
        let module = self.setup.module;
        let owner = ValueId::from_u32(self.setup.edges[edge as usize].owner);
        let index = match module.value_def(owner) {
            shard_ir::ValueDef::Result(_, index) | shard_ir::ValueDef::Param(_, index) => index,
        };
        let (shardings, _) = self.setup.border(*op, *is_param);
        Some((edge, shardings.into_iter().nth(index as usize)??))
    }

    /// The sharding of a border's target as its sources see it (`to_sources`), or the other way
    /// round.
    fn across(
        &mut self,
        edge: u32,
        outer: &TensorSharding,
        sharding: SharedSharding,
        to_sources: bool,
    ) -> SharedSharding {
        let Some((_, is_param, axes)) = &self.setup.edges[edge as usize].manual else {
            return sharding;
        };
        let Some(current) = self.setup.table.get(sharding) else { return sharding };
        // A parameter lies inside, its source outside; a result the other way round.
        let crossed = if *is_param == to_sources {
            manual::outside(outer, current, axes)
        } else {
            manual::inside(current, axes)
        };
        self.setup.table.add(crossed)
    }

    fn rule_of(&mut self, node: usize) -> Option<RuleId> {
        let op = self.graph.op(node);
        let (rule, kind) = (op.rule, op.kind);
        if rule == RuleId::UNKNOWN {
            let rec = op.rec;
            let op = op.op;
            let rule = match kind {
                OpKind::Rule => op.expand().map(|op| self.rules.of_op(self.setup.module, op)),
                OpKind::Edge(edge) => {
                    let edge = &self.setup.edges[edge as usize];
                    let (owner, sources) = (edge.owner, edge.sources.len());
                    if sources == 0 { None } else { self.identity_rule(owner, sources) }
                }
                OpKind::Barrier(_) | OpKind::Constraint => {
                    let input = self.setup.operands(rec).first().copied();
                    input.and_then(|input| self.identity_rule(input, 1))
                }
                OpKind::Inert => None,
            };
            self.graph.op_mut(node).rule = rule.unwrap_or(RuleId::ABSENT);
        }
        Some(self.graph.op(node).rule).filter(|&rule| rule != RuleId::ABSENT)
    }

    /// How a round goes through an op; `None` where it doesn't.
    fn mode(&self, node: usize, strategy: FactorStrategy) -> Option<Mode> {
        use Direction::{Backward, Both, Forward, None as No};
        let op = self.graph.op(node);
        let (pass, other) = match (op.kind, op.class, self.op_round) {
            (OpKind::Barrier(allowed), ..) => (allowed, allowed),
            (_, Class::PassThrough, 0) if self.has_shared_operands(node) => (No, No),
            (_, Class::PassThrough, _) => (Both, Both),
            (_, Class::Slice, 0) if self.has_shared_operands(node) => (No, No),
            (_, Class::Slice, 0 | 1) => (Forward, Forward),
            (_, Class::Slice, 2) => (Both, Forward),
            (_, Class::Broadcast | Class::Other, 0 | 1) => (No, No),
            (_, Class::Broadcast, 2) => (Backward, No),
            (_, Class::Broadcast, 3) => (Backward, Backward),
            (_, Class::Other, 2) => (Both, No),
            (_, Class::Slice | Class::Broadcast | Class::Other, _) => (Both, Both),
        };
        let elementwise = op.elementwise;
        (pass != No || other != No).then_some(Mode { pass, other, strategy, elementwise })
    }

    /// Whether any operand, scalars apart, has other uses.
    fn has_shared_operands(&self, node: usize) -> bool {
        let op = self.graph.op(node);
        let (OpKind::Rule | OpKind::Constraint) = op.kind else { return false };
        self.setup.operands(op.rec).iter().any(|&operand| {
            self.use_counts[operand as usize] != 1 && self.graph.node_of_ssa(operand).is_some()
        })
    }

    /// What a step does to shardings: looked up, or computed. The number of the outcome.
    fn outcome(&mut self, rule: RuleId, mode: Mode, ids: &Ids) -> usize {
        let mut key: SmallVec<[u32; 8]> = SmallVec::with_capacity(ids.len() + 2);
        key.push(rule.raw());
        key.push(mode.code());
        key.extend(ids.iter().map(|id| id.raw()));
        if let Some(&known) = self.known.get(&key) {
            return known as usize;
        }
        let mut outcome = Outcome { changed: self.compute(rule, mode, ids), settled: false };
        if outcome.changed.is_empty() {
            // A barrier keeps its direction; everything else gets to go anywhere.
            let widest = Mode {
                pass: Direction::Both,
                other: Direction::Both,
                strategy: FactorStrategy::Aggressive,
                elementwise: mode.elementwise,
            };
            outcome.settled = mode == widest || self.compute(rule, widest, ids).is_empty();
        }
        let number = self.outcomes.len();
        self.outcomes.push(outcome);
        self.known.insert(key, number as u32);
        number
    }

    fn compute(
        &mut self,
        rule: RuleId,
        mode: Mode,
        ids: &Ids,
    ) -> SmallVec<[(u32, SharedSharding); 2]> {
        let mut list = SmallVec::new();
        let Some(mesh) = self.common_mesh(ids) else { return list };
        let mut projection = std::mem::take(&mut self.scratch);
        let Some(changed) = self.project_and_step(rule, mode, ids, mesh, &mut projection) else {
            return list;
        };
        for (tensor, _) in changed.iter().enumerate().filter(|(_, changed)| **changed) {
            let Some(rule) = self.rules.get(rule) else { continue };
            let new =
                projection.tensors[tensor].to_sharding(mesh, rule.tensor(tensor), &rule.factors);
            let old = self.setup.table.get(ids[tensor]);
            if old.map_or_else(|| has_no_axes(&new), |old| *old == new) {
                continue;
            }
            list.push((tensor as u32, self.setup.table.add(new)));
        }
        self.scratch = projection;
        list
    }

    fn project_and_step(
        &self,
        rule: RuleId,
        mode: Mode,
        ids: &Ids,
        mesh: MeshId,
        projection: &mut Projection,
    ) -> Option<Changed> {
        let rule = self.rules.get(rule)?;
        projection.assign(rule, |at| self.setup.table.get(ids[at]), false);
        let direction = |factor: usize| {
            let factor = &rule.factors[factor];
            match factor.kind {
                _ if factor.blocked => Direction::None,
                FactorKind::PassThrough => mode.pass,
                FactorKind::Reduction(_)
                | FactorKind::NeedReplication
                | FactorKind::Permutation => mode.other,
            }
        };
        let step = Step {
            factors: &rule.factors,
            direction: &direction,
            mesh: self.setup.mesh(mesh),
            elementwise: mode.elementwise,
            conservative: self.options.conservative,
        };
        Some(step.run(projection, mode.strategy))
    }

    /// The mesh that all shardings are of; `None` where there are several, none, or one that just
    /// names a device.
    fn common_mesh(&self, ids: &Ids) -> Option<MeshId> {
        let mut common: Option<MeshId> = None;
        for sharding in ids.iter().filter_map(|&id| self.setup.table.get(id)) {
            match common {
                Some(mesh) if !self.setup.mesh(mesh).is_empty() => {
                    if mesh != sharding.mesh && !self.setup.mesh(sharding.mesh).is_empty() {
                        return None;
                    }
                }
                Some(_) | None => common = Some(sharding.mesh),
            }
        }
        common.filter(|&mesh| !self.setup.mesh(mesh).is_maximal())
    }

    /// A value's sharding has changed at an op: whoever that concerns has work to do.
    fn tell(&mut self, value: NodeIndex, by: usize) {
        for listener in self.graph.listeners(value) {
            let listener = listener.index();
            self.active.insert(listener);
            if listener == by || self.dropped.contains(listener) {
                continue;
            }
            if listener >= self.cursor {
                self.pending.insert(listener);
            } else if !self.on_stack.put(listener) {
                self.stack.push(listener as u32);
            }
        }
    }

    fn activate_listeners(&mut self, value: NodeIndex) {
        for listener in self.graph.listeners(value) {
            self.active.insert(listener.index());
        }
    }

    fn is_unused(&self, node: usize) -> bool {
        let op = self.graph.op(node);
        let RecKind::Op(op) = self.setup.recs[op.rec as usize].kind else { return false };
        let module = self.setup.module;
        module.results(op).iter().all(|&result| self.use_counts[ssa(result) as usize] == 0)
            && self.setup.is_pure(op)
    }

    /// Drops an op that nothing uses any more, as Shardy's compiler does on its way; its operands
    /// have a use less. Returns whether it was dropped.
    fn drop_unused(&mut self, node: usize) -> bool {
        if !self.is_unused(node) {
            return false;
        }
        self.dropped.insert(node);
        let rec = self.graph.op(node).rec;
        let operands: SmallVec<[Ssa; 4]> = SmallVec::from_slice(self.setup.operands(rec));
        for &operand in &operands {
            let count = &mut self.use_counts[operand as usize];
            *count = count.saturating_sub(1);
        }
        for &operand in operands.iter().filter(|&&operand| self.use_counts[operand as usize] <= 1) {
            let module = self.setup.module;
            if operand as usize >= module.value_count() {
                continue;
            }
            let maker = module.defining_op(ValueId::from_u32(operand));
            let Some(maker) = maker.and_then(|op| self.setup.rec_of[op].expand()) else { continue };
            let Some(maker) = self.node_of_rec(maker.0) else { continue };
            if self.is_unused(maker) {
                self.unused.insert(maker);
                self.active.insert(maker);
            }
            if !self.dropped.contains(maker) && maker < self.cursor && !self.on_stack.put(maker) {
                self.stack.push(maker as u32);
            }
        }
        true
    }

    /// The node of an op's entry: nodes are in the order of keys.
    fn node_of_rec(&self, rec: u32) -> Option<usize> {
        let key = |rec: u32| self.setup.recs[rec as usize].key;
        let (mut low, mut high) = (0, self.graph.op_count);
        while low < high {
            let middle = (low + high) / 2;
            if key(self.graph.op(middle).rec) < key(rec) { low = middle + 1 } else { high = middle }
        }
        (low < self.graph.op_count && self.graph.op(low).rec == rec).then_some(low)
    }

    /// Tells the tracer what a step places on one tensor.
    fn trace(
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

    fn finish(mut self) -> Propagation {
        let module = self.setup.module;
        let mut shardings = SecondaryMap::with_capacity(module.value_count());
        for value in (0..module.value_count() as u32).map(ValueId::from_u32) {
            let sharding = match self.graph.node_of(value) {
                Some(node) => self.graph.sharding(node),
                None => self.setup.given[ssa(value) as usize],
            };
            if !sharding.is_none() {
                shardings[value] = sharding;
            }
        }
        let mut func_results: SecondaryMap<FuncId, Vec<SharedSharding>> = SecondaryMap::new();
        for entry in &self.entries {
            func_results[entry.func].clone_from(&entry.shardings);
        }
        for &func in self.setup.funcs.iter().filter(|&&func| !self.setup.is_entry(func)) {
            let last = module.terminator(module.func_entry(func));
            let returned = last.map_or(&[][..], |last| module.operands(last));
            func_results[func] = returned.iter().map(|&value| shardings[value]).collect();
        }
        let borders = self.borders(&shardings);
        Propagation {
            rewired: rewired(&self.setup),
            table: self.setup.table,
            shardings,
            func_results,
            borders,
            graph: self.graph,
        }
    }

    fn borders(&mut self, shardings: &SecondaryMap<ValueId, SharedSharding>) -> Vec<Border> {
        let module = self.setup.module;
        let mut borders = Vec::new();
        for rec in 0..self.setup.recs.len() {
            let RecKind::Op(op) = self.setup.recs[rec].kind else { continue };
            let Op::Sdy(Sdy::ManualComputation(_) | Sdy::NamedComputation(_)) = module.kind(op)
            else {
                continue;
            };
            let entry = module.regions(op).first().map(|&region| module.entry(region));
            let params = entry.map_or(&[][..], |entry| module.params(entry));
            let (outer, axes) = self.setup.border(op, true);
            let operands = params
                .iter()
                .enumerate()
                .map(|(index, &param)| {
                    let inside = shardings[param];
                    let outer = outer.get(index).and_then(Option::as_ref);
                    match (outer, self.setup.table.get(inside)) {
                        (Some(outer), Some(current)) => {
                            let crossed = manual::outside(outer, current, &axes);
                            self.setup.table.add(crossed)
                        }
                        _ => inside,
                    }
                })
                .collect();
            let results = module.results(op).iter().map(|&result| shardings[result]).collect();
            borders.push(Border { op, operands, results });
        }
        borders
    }
}

/// The first bit that is set at `from` or after it.
fn next_one(bits: &FixedBitSet, from: usize) -> Option<usize> {
    const BITS: usize = usize::BITS as usize;
    let words = bits.as_slice();
    let first = *words.get(from / BITS)? & (usize::MAX << (from % BITS));
    let rest = words[from / BITS + 1..].iter().copied();
    let (at, word) = std::iter::once(first).chain(rest).enumerate().find(|(_, w)| *w != 0)?;
    Some((from / BITS + at) * BITS + word.trailing_zeros() as usize)
}

/// What entry functions return, and the shardings that their results are given.
fn entry_results(setup: &mut Setup<'_>) -> Vec<EntryResults> {
    let module = setup.module;
    let funcs: Vec<FuncId> = setup.funcs.iter().copied().filter(|&f| setup.is_entry(f)).collect();
    let mut entries = Vec::new();
    for func in funcs {
        let last = module.terminator(module.func_entry(func));
        let rec = last.and_then(|last| setup.rec_of[last].expand());
        let values: Vec<Ssa> = rec.map_or(Vec::new(), |rec| setup.operands(rec.0).to_vec());
        let shardings = (0..values.len())
            .map(|index| {
                let result = module.funcs[func].results.get(index);
                let given = result.and_then(|result| result.sharding.expand());
                let rank =
                    result.and_then(|result| module.ty(result.ty).as_tensor()).map(|ty| ty.rank());
                given
                    .filter(|&given| Some(module.sharding(given).rank()) == rank)
                    .map_or(SharedSharding::NONE, |given| setup.stated(given))
            })
            .collect();
        entries.push(EntryResults { func, values, shardings });
    }
    entries
}
