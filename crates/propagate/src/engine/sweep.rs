//! Rounds and sweeps over the graph.

use fixedbitset::FixedBitSet;
use petgraph::graph::NodeIndex;
use rustc_hash::FxHashMap;
use shard_ir::sharding::TensorSharding;
use shard_ir::{FuncId, Module, ValueId};
use smallvec::SmallVec;

use super::factors::{Direction, FactorStrategy};
use super::finish::entry_results;
use super::graph::{Node, OpKind, Port, PropagationGraph};
use super::priority::{self, ByPriority, Target};
use super::setup::{RecKind, Setup, Ssa, ssa};
use super::step::{Ids, Mode, Outcome};
use super::table::{RuleTable, SharedSharding};
use super::trace::Tracer;
use super::{Options, Propagation, Strategy};
use crate::projection::Projection;

/// The rounds of op priorities.
const ROUNDS: usize = 5;

/// The results of an entry function.
pub(super) struct EntryResults {
    pub(super) func: FuncId,
    /// What it returns.
    pub(super) values: Vec<Ssa>,
    pub(super) shardings: Vec<SharedSharding>,
}

/// The engine: an analysed module, its graph, what steps are known to do, and the work that is left.
pub(super) struct Engine<'m, 't> {
    pub(super) setup: Setup<'m>,
    pub(super) options: &'m Options,
    pub(super) graph: PropagationGraph,
    pub(super) rules: RuleTable,
    /// What a step does, by rule, mode and shardings: the number of its outcome.
    pub(super) known: FxHashMap<SmallVec<[u32; 8]>, u32>,
    pub(super) outcomes: Vec<Outcome>,
    pub(super) scratch: Projection,
    pub(super) entries: Vec<EntryResults>,
    /// Ops at which something may still change.
    pub(super) active: FixedBitSet,
    /// Ops that the sweep has yet to come to.
    pub(super) pending: FixedBitSet,
    /// Ops that the sweep has passed and must come back to.
    pub(super) stack: Vec<u32>,
    pub(super) on_stack: FixedBitSet,
    /// The sweep has come so far.
    pub(super) cursor: usize,
    /// How many uses each value has.
    pub(super) use_counts: Vec<u32>,
    /// Ops whose results nothing uses, which may be dropped.
    pub(super) unused: FixedBitSet,
    pub(super) dropped: FixedBitSet,
    pub(super) tracer: Option<&'t mut dyn Tracer>,
    pub(super) steps: usize,
    pub(super) user_priority: u32,
    pub(super) op_round: usize,
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
        let crossing = match kind {
            OpKind::Edge(edge) => {
                self.setup.edges[edge as usize].crossing.is_some().then_some(edge)
            }
            OpKind::Rule | OpKind::Barrier(_) | OpKind::Constraint | OpKind::Inert => None,
        };
        if let Some(edge) = crossing {
            let target = count - 1;
            ids[target] = self.across(edge, ids[target], true);
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
            if let (Some(edge), true) = (crossing, tensor as usize + 1 == count) {
                sharding = self.across(edge, sharding, false);
            }
            self.graph.set_sharding(value, sharding);
            self.tell(value, node);
        }
        self.steps += 1;
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
