//! One step at one op: which rule, which way, and what it does to shardings.

use shard_ir::{MeshId, ValueId};
use smallvec::SmallVec;

use super::factors::{Changed, Direction, FactorStrategy, Step};
use super::graph::{Class, OpKind, has_no_axes};
use super::manual;
use super::setup::Ssa;
use super::sweep::Engine;
use super::table::{RuleId, SharedSharding};
use crate::projection::Projection;
use crate::rules::FactorKind;

/// In which direction a step goes along pass-through factors, and along others; and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mode {
    pub pass: Direction,
    pub other: Direction,
    pub strategy: FactorStrategy,
    pub elementwise: bool,
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
pub(super) struct Outcome {
    /// The tensors that change, and their new shardings.
    pub changed: SmallVec<[(u32, SharedSharding); 2]>,
    /// Nothing can change here, in any direction, with any strategy.
    pub settled: bool,
}

/// The numbers of the shardings of an op's tensors.
pub(super) type Ids = SmallVec<[SharedSharding; 6]>;

impl Engine<'_, '_> {
    pub(super) fn identity_rule(&mut self, value: Ssa, operands: usize) -> Option<RuleId> {
        let module = self.setup.module;
        // A constraint that only propagation has is of the type of what it constrains.
        let mut value = value;
        while let Some(&rec) = self.setup.constraint_of.get(&value) {
            value = *self.setup.operands(rec).first()?;
        }
        let ty = module.tensor_type(ValueId::from_u32(value))?;
        ty.is_static().then(|| self.rules.identity(&ty.dims, operands))
    }

    pub(super) fn rule_of(&mut self, node: usize) -> Option<RuleId> {
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
    pub(super) fn mode(&self, node: usize, strategy: FactorStrategy) -> Option<Mode> {
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
    pub(super) fn has_shared_operands(&self, node: usize) -> bool {
        let op = self.graph.op(node);
        let (OpKind::Rule | OpKind::Constraint) = op.kind else { return false };
        self.setup.operands(op.rec).iter().any(|&operand| {
            self.use_counts[operand as usize] != 1 && self.graph.node_of_ssa(operand).is_some()
        })
    }

    /// What a step does to shardings: looked up, or computed. The number of the outcome.
    pub(super) fn outcome(&mut self, rule: RuleId, mode: Mode, ids: &Ids) -> usize {
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

    pub(super) fn compute(
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

    pub(super) fn project_and_step(
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
    pub(super) fn common_mesh(&self, ids: &Ids) -> Option<MeshId> {
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

    /// The sharding of a border's target as its sources see it (`to_sources`), or the other way
    /// round.
    pub(super) fn across(
        &mut self,
        edge: u32,
        sharding: SharedSharding,
        to_sources: bool,
    ) -> SharedSharding {
        let Some(crossing) = &self.setup.edges[edge as usize].crossing else { return sharding };
        let table = &self.setup.table;
        let (Some(current), Some(outer)) = (table.get(sharding), table.get(crossing.outer)) else {
            return sharding;
        };
        // A parameter lies inside, its source outside; a result the other way round.
        let crossed = if crossing.is_param == to_sources {
            manual::outside(outer, current, &crossing.axes)
        } else {
            manual::inside(current, &crossing.axes)
        };
        self.setup.table.add(crossed)
    }
}
