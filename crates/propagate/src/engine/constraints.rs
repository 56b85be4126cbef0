//! Sharding constraints that apply to their inputs, and sharding groups.

use std::hash::BuildHasherDefault;

use indexmap::{IndexMap, IndexSet};
use petgraph::unionfind::UnionFind;
use rustc_hash::{FxHashMap, FxHasher};
use shard_ir::ops::{Control, Op, Sdy};
use shard_ir::sharding::TensorSharding;
use shard_ir::{ValueDef, ValueId};
use smallvec::SmallVec;

use super::graph::has_no_axes;
use super::setup::{GAP, RecKind, Setup, Ssa, Use, ssa};
use super::table::SharedSharding;

type FxIndexMap<K, V> = IndexMap<K, V, BuildHasherDefault<FxHasher>>;
type FxIndexSet<T> = IndexSet<T, BuildHasherDefault<FxHasher>>;

impl Setup<'_> {
    /// The sharding of a value as far as it is given; edges have one for all targets.
    fn sharding(&self, value: Ssa) -> SharedSharding {
        match self.edge_of.get(&value) {
            Some(&edge) => self.given[self.edges[edge as usize].owner as usize],
            None => self.given[value as usize],
        }
    }

    /// Whether nothing is given for a value, or just that it is open.
    fn is_unsharded(&self, value: Ssa) -> bool {
        self.table.get(self.sharding(value)).is_none_or(|sharding| {
            *sharding == TensorSharding::fully_open(sharding.mesh, sharding.rank())
        })
    }

    fn is_tensor(&self, value: Ssa) -> bool {
        let module = self.module;
        (value as usize) >= module.value_count()
            || module.tensor_type(ValueId::from_u32(value)).is_some()
    }

    /// Whether a sharding can be attached to a value: a parameter of a region that no edge owns
    /// (of a reduction) has none.
    fn is_shardable(&self, value: Ssa) -> bool {
        if self.edge_of.contains_key(&value) || value as usize >= self.module.value_count() {
            return true;
        }
        match self.module.value_def(ValueId::from_u32(value)) {
            ValueDef::Result(..) => true,
            ValueDef::Param(block, _) => self.module.parent_op(block).is_none(),
        }
    }

    fn constraint_sharding(&mut self, rec: u32) -> Option<SharedSharding> {
        match self.recs[rec as usize].kind {
            RecKind::Op(op) => match self.module.kind(op) {
                Op::Sdy(Sdy::ShardingConstraint(constraint)) => {
                    Some(self.stated(constraint.sharding))
                }
                _ => None,
            },
            RecKind::Constraint(result) => Some(self.given[result as usize]),
            RecKind::Edge(_) => None,
        }
    }

    fn is_constraint(&self, rec: u32) -> bool {
        match self.recs[rec as usize].kind {
            RecKind::Op(op) => {
                matches!(self.module.kind(op), Op::Sdy(Sdy::ShardingConstraint(_)))
            }
            RecKind::Constraint(_) => true,
            RecKind::Edge(_) => false,
        }
    }

    /// The value that a constraint makes.
    fn constraint_result(&self, rec: u32) -> Option<Ssa> {
        match self.recs[rec as usize].kind {
            RecKind::Op(op) => self.module.results(op).first().map(|&result| ssa(result)),
            RecKind::Constraint(result) => Some(result),
            RecKind::Edge(_) => None,
        }
    }

    fn is_manual_rec(&self, rec: u32) -> bool {
        matches!(self.recs[rec as usize].kind, RecKind::Op(op) if self.is_manual(op))
    }

    /// A constraint applies to its input, so that whatever else uses the input sees it too, where
    /// the input has no sharding, the constraint is closed, and no other constraint or manual
    /// computation wants something else of it.
    pub(super) fn apply_constraints(&mut self) {
        for at in 0..self.constraints.len() {
            let rec = self.constraints[at];
            if self.is_constraint(rec) {
                self.replace_uses_by_chain(rec);
                let Some(sharding) = self.constraint_sharding(rec) else { continue };
                if let Some(&input) = self.operands(rec).first() {
                    self.apply(rec, input, sharding, None);
                }
            } else if let RecKind::Op(op) = self.recs[rec as usize].kind {
                for operand in 0..self.module.operands(op).len() {
                    if let Some(sharding) = self.stated_operand(op, operand) {
                        let input = self.operands(rec)[operand];
                        self.apply(rec, input, sharding, Some(operand));
                    }
                }
            }
        }
    }

    fn apply(&mut self, rec: u32, input: Ssa, sharding: SharedSharding, border: Option<usize>) {
        let stated = self.table.get(sharding);
        let closed = stated.is_some_and(|stated| stated.dims.iter().all(|dim| !dim.open));
        if !closed
            || !self.is_tensor(input)
            || !self.is_shardable(input)
            || !self.is_unsharded(input)
        {
            return;
        }
        for at in 0..self.uses[input as usize].len() {
            let place = self.uses[input as usize][at];
            let wanted = match self.constraint_sharding(place.rec) {
                Some(wanted) => wanted,
                None if self.is_manual_rec(place.rec) => {
                    let RecKind::Op(op) = self.recs[place.rec as usize].kind else { continue };
                    match self.stated_operand(op, place.operand as usize) {
                        Some(wanted) => wanted,
                        None => continue,
                    }
                }
                None => continue,
            };
            if wanted != sharding {
                return;
            }
        }
        let Some(&edge) = self.edge_of.get(&input) else {
            self.given[input as usize] = sharding;
            return;
        };
        // All targets of the edge have one sharding, and only this one is constrained: its users
        // take the constraint's result instead.
        let after = self.place_after(edge, input);
        let (constraint, result) = match (border, self.constraint_result(rec)) {
            (None, Some(result)) => {
                self.recs[rec as usize].key = after;
                (rec, result)
            }
            _ => {
                let result = self.given.len() as Ssa;
                self.given.push(sharding);
                self.uses.push(SmallVec::new());
                let rec = self.push_rec(RecKind::Constraint(result), after, None, &[input]);
                self.constraint_of.insert(result, rec);
                self.uses[input as usize].push(Use { rec, operand: 0 });
                (rec, result)
            }
        };
        self.replace_uses(input, result, |place| place.rec != constraint);
        let unreduced = self.table.get(sharding).filter(|sharding| !sharding.unreduced.is_empty());
        if let Some(stated) = unreduced.cloned() {
            // Unreduced axes don't propagate: the value itself must have them.
            let mut own = TensorSharding::fully_open(stated.mesh, stated.rank());
            own.unreduced = stated.unreduced;
            own.combiner = stated.combiner;
            let owner = self.edges[edge as usize].owner;
            self.given[owner as usize] = self.table.add(own);
        }
    }

    /// A key just after the edge that makes `value`, or where `value` is a parameter that the edge
    /// doesn't stand behind, at the front of its block.
    fn place_after(&mut self, edge: u32, value: Ssa) -> u64 {
        self.moves += 1;
        let edge = &self.edges[edge as usize];
        let after = if value == edge.owner || value == edge.seen {
            self.recs[edge.rec as usize].key + GAP / 2
        } else {
            let first = match self.module.value_def(ValueId::from_u32(value)) {
                ValueDef::Param(block, _) => self.module.block_ops(block).first(),
                ValueDef::Result(op, _) => Some(&self.module.results(op)).and(None),
            };
            let first = first.and_then(|&op| self.rec_of[op].expand());
            first.map_or(0, |rec| self.recs[rec.0 as usize].key) - GAP / 4
        };
        after.saturating_sub(self.moves)
    }

    /// Moves the uses of a value for which `moves` holds to another value.
    fn replace_uses(&mut self, from: Ssa, to: Ssa, moves: impl Fn(Use) -> bool) {
        let uses = std::mem::take(&mut self.uses[from as usize]);
        let (moved, kept): (SmallVec<[Use; 2]>, SmallVec<[Use; 2]>) =
            uses.into_iter().partition(|&place| moves(place));
        self.uses[from as usize] = kept;
        for place in moved.into_iter().rev() {
            let first = self.recs[place.rec as usize].first_operand;
            self.operands[(first + place.operand) as usize] = to;
            self.uses[to as usize].push(place);
        }
    }

    /// Where a constraint is the first of a chain of constraints that only the last has other users
    /// of, those users of the chain's input that come after it take the chain's result.
    fn replace_uses_by_chain(&mut self, head: u32) {
        let Some(&input) = self.operands(head).first() else { return };
        let defined_by_constraint = (input as usize) < self.module.value_count()
            && self.module.defining_op(ValueId::from_u32(input)).is_some_and(|op| {
                matches!(self.module.kind(op), Op::Sdy(Sdy::ShardingConstraint(_)))
            });
        let virtual_constraint = input as usize >= self.module.value_count();
        let constrains = |rec: u32| self.is_constraint(rec) || self.is_manual_rec(rec);
        if defined_by_constraint
            || virtual_constraint
            || !self.is_unsharded(input)
            || self.uses[input as usize]
                .iter()
                .any(|place| place.rec != head && constrains(place.rec))
        {
            return;
        }
        let mut tail = head;
        while let Some(result) = self.constraint_result(tail)
            && let &[only] = &self.uses[result as usize][..]
            && self.is_constraint(only.rec)
        {
            tail = only.rec;
        }
        let Some(result) = self.constraint_result(tail) else { return };
        if tail == head || self.uses[result as usize].iter().any(|place| constrains(place.rec)) {
            return;
        }
        let (block, key) = (self.recs[tail as usize].block, self.recs[tail as usize].key);
        let later: SmallVec<[u32; 4]> = self.uses[input as usize]
            .iter()
            .map(|place| place.rec)
            .filter(|&rec| {
                let user = &self.recs[rec as usize];
                let returns = matches!(user.kind, RecKind::Op(op)
                    if matches!(self.module.kind(op), Op::Control(Control::FuncReturn)));
                rec != head && !returns && user.block == block && user.key > key
            })
            .collect();
        self.replace_uses(input, result, |place| later.contains(&place.rec));
    }

    /// The values of each sharding group; groups with a value in common are one. Where the values
    /// are given different shardings, open constraints on them form the group instead.
    pub(super) fn form_groups(&mut self) {
        let module = self.module;
        let mut members: Vec<(i64, Ssa)> = Vec::new();
        for rec in 0..self.recs.len() as u32 {
            if let RecKind::Op(op) = self.recs[rec as usize].kind
                && let Op::Sdy(Sdy::ShardingGroup(group)) = module.kind(op)
                && let Some(&value) = self.operands(rec).first()
            {
                members.push((group.group, value));
            }
        }
        if members.is_empty() {
            return;
        }
        // Members of one group, and entries of one value, are in one set.
        let mut sets: UnionFind<usize> = UnionFind::new(members.len());
        let mut first_of_group: FxHashMap<i64, usize> = FxHashMap::default();
        let mut first_of_value: FxHashMap<Ssa, usize> = FxHashMap::default();
        for (at, &(group, value)) in members.iter().enumerate() {
            sets.union(*first_of_group.entry(group).or_insert(at), at);
            sets.union(*first_of_value.entry(value).or_insert(at), at);
        }
        let mut joined: FxIndexMap<usize, FxIndexSet<Ssa>> = FxIndexMap::default();
        for (at, &(_, value)) in members.iter().enumerate() {
            joined.entry(sets.find(at)).or_default().insert(value);
        }
        for values in joined.into_values() {
            let mut values: Vec<Ssa> = values.into_iter().collect();
            let says_something = |sharding: &TensorSharding| {
                sharding.dims.iter().any(|dim| !dim.axes.is_empty() || !dim.open)
            };
            let mut common = SharedSharding::NONE;
            let mut conflict = false;
            for &value in &values {
                let sharding = self.sharding(value);
                if self.table.get(sharding).is_some_and(says_something) {
                    conflict |= !common.is_none() && common != sharding;
                    common = if common.is_none() { sharding } else { common };
                }
            }
            if conflict {
                let Some(first) = self.table.get(common).cloned() else { continue };
                let open = self.table.add(TensorSharding::fully_open(first.mesh, first.rank()));
                for value in &mut values {
                    *value = self.constrain(*value, open);
                }
            } else if common.is_none() {
                // Open members, if only with priorities, say nothing for the others.
                for &value in &values {
                    let target =
                        self.edge_of.get(&value).map(|&edge| self.edges[edge as usize].owner);
                    let target = target.unwrap_or(value) as usize;
                    if self.table.get(self.given[target]).is_some_and(has_no_axes) {
                        self.given[target] = SharedSharding::NONE;
                    }
                }
            } else {
                for &value in &values {
                    let target =
                        self.edge_of.get(&value).map(|&edge| self.edges[edge as usize].owner);
                    self.given[target.unwrap_or(value) as usize] = common;
                }
            }
            self.groups.push(values);
        }
    }

    /// Puts a constraint after a value, for all its users.
    fn constrain(&mut self, value: Ssa, sharding: SharedSharding) -> Ssa {
        self.moves += 1;
        let key = match self.module.value_def(ValueId::from_u32(value)) {
            ValueDef::Result(op, _) => self.rec_of[op].expand(),
            ValueDef::Param(..) => None,
        };
        let key = key.map_or(0, |rec| self.recs[rec.0 as usize].key) + GAP / 2 - self.moves;
        let result = self.given.len() as Ssa;
        self.given.push(sharding);
        self.uses.push(SmallVec::new());
        let rec = self.push_rec(RecKind::Constraint(result), key, None, &[value]);
        self.constraint_of.insert(result, rec);
        self.replace_uses(value, result, |_| true);
        self.uses[value as usize].push(Use { rec, operand: 0 });
        result
    }
}
