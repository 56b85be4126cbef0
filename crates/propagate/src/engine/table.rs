//! Shardings and rules by number, so that equal ones compare and hash as integers.

use std::hash::BuildHasherDefault;

use indexmap::IndexSet;
use rustc_hash::{FxHashMap, FxHasher};
use shard_ir::ops::{Movement, Op};
use shard_ir::sharding::TensorSharding;
use shard_ir::{Module, OpId, TypeId};
use smallvec::SmallVec;

use crate::rules::{self, OpRule};

type FxIndexSet<T> = IndexSet<T, BuildHasherDefault<FxHasher>>;

/// The number of a sharding in a [`ShardingTable`], or that there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SharedSharding(u32);

impl SharedSharding {
    /// No sharding: every dimension is open, and nothing was placed.
    pub const NONE: SharedSharding = SharedSharding(u32::MAX);

    /// Whether there is none.
    pub fn is_none(self) -> bool {
        self == SharedSharding::NONE
    }

    pub(super) fn raw(self) -> u32 {
        self.0
    }
}

impl Default for SharedSharding {
    fn default() -> Self {
        SharedSharding::NONE
    }
}

/// Shardings, each once.
#[derive(Clone, Debug, Default)]
pub struct ShardingTable {
    shardings: FxIndexSet<TensorSharding>,
}

impl ShardingTable {
    /// A sharding by its number.
    pub fn get(&self, id: SharedSharding) -> Option<&TensorSharding> {
        self.shardings.get_index(id.0 as usize)
    }

    /// The shardings, by number from 0.
    pub fn iter(&self) -> impl Iterator<Item = &TensorSharding> {
        self.shardings.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.shardings.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.shardings.is_empty()
    }

    pub(super) fn add(&mut self, sharding: TensorSharding) -> SharedSharding {
        SharedSharding(self.shardings.insert_full(sharding).0 as u32)
    }
}

/// The number of a rule in a [`RuleTable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct RuleId(u32);

impl RuleId {
    /// Not looked up yet.
    pub const UNKNOWN: RuleId = RuleId(u32::MAX);
    /// The op has no rule.
    pub const ABSENT: RuleId = RuleId(u32::MAX - 1);

    pub fn raw(self) -> u32 {
        self.0
    }
}

/// Rules, each once. The layers of a model repeat the same few rules, so that what is computed from
/// a rule and shardings can be looked up by their numbers.
#[derive(Default)]
pub(super) struct RuleTable {
    rules: FxIndexSet<OpRule>,
    /// Rules of ops that depend on nothing but the op's fields and types.
    by_op: FxHashMap<(Op, SmallVec<[TypeId; 6]>), RuleId>,
    identities: FxHashMap<(SmallVec<[i64; 6]>, usize), RuleId>,
    conservative: bool,
}

impl RuleTable {
    pub fn new(conservative: bool) -> RuleTable {
        RuleTable { conservative, ..RuleTable::default() }
    }

    pub fn get(&self, id: RuleId) -> Option<&OpRule> {
        self.rules.get_index(id.0 as usize)
    }

    fn add(&mut self, rule: Option<OpRule>) -> RuleId {
        match rule {
            Some(rule) => RuleId(self.rules.insert_full(rule).0 as u32),
            None => RuleId::ABSENT,
        }
    }

    /// The rule of an op.
    pub fn of_op(&mut self, module: &Module, op: OpId) -> RuleId {
        if depends_on_context(module, op) {
            let rule = rules::rule_with(module, op, self.conservative);
            return self.add(rule);
        }
        let values = module.operands(op).iter().chain(module.results(op));
        let types = values.map(|&value| module.value_type(value)).collect();
        let key = (module.kind(op).clone(), types);
        if let Some(&id) = self.by_op.get(&key) {
            return id;
        }
        let rule = rules::rule_with(module, op, self.conservative);
        let id = self.add(rule);
        self.by_op.insert(key, id);
        id
    }

    /// The rule of values of one shape that are to be sharded alike: so many operands, one result.
    pub fn identity(&mut self, shape: &[i64], operands: usize) -> RuleId {
        let key = (SmallVec::from_slice(shape), operands);
        if let Some(&id) = self.identities.get(&key) {
            return id;
        }
        let id = self.add(Some(OpRule::identity(shape, operands, 1)));
        self.identities.insert(key, id);
        id
    }
}

/// Whether a rule may depend on more than the op's fields and types: on its region, on ops that
/// make its operands, or on a rule that the text states.
fn depends_on_context(module: &Module, op: OpId) -> bool {
    if !module.regions(op).is_empty()
        || module.attr(module.op(op).attrs, rules::RULE_ATTR).is_some()
    {
        return true;
    }
    match module.kind(op) {
        Op::Movement(kind) => matches!(kind, Movement::Concatenate(_)),
        Op::Custom(_) | Op::Hlo(_) | Op::Opaque(_) => true,
        _ => false,
    }
}
