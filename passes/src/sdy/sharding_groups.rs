//! `sdy-sharding-group-import` brings sharding groups into a form without overlaps,
//! `sdy-remove-sharding-groups` removes them.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use shard_ir::ops::{Op, Sdy, ShardingConstraint, ShardingGroup};
use shard_ir::sharding::TensorSharding;
use shard_ir::{BlockId, Diagnostic, Module, OpId, RegionOwner, ShardingId, ValueDef, ValueId};

use super::values::sharding;
use super::{Homes, homes};
use crate::rewrite::{Rewrite, Rewriter, rewrite_module};
use crate::shardings::walk_module;

fn group(module: &Module, op: OpId) -> Option<i64> {
    match module.kind(op) {
        Op::Sdy(Sdy::ShardingGroup(group)) => Some(group.group),
        _ => None,
    }
}

/// Joins groups that have a value in common, numbers them from 0 as they first appear, and keeps each
/// value once in a group.
///
/// # Errors
/// If a group has values of different shapes, or on both sides of a manual computation's border.
pub(super) fn import(module: &mut Module) -> Result<(), Diagnostic> {
    let mut members: Vec<(i64, OpId, ValueId)> = Vec::new();
    super::walk_blocks(module, |_, op| {
        if let Some(group) = group(module, op) {
            members.push((group, op, module.operand(op, 0)));
        }
    });
    if members.is_empty() {
        return Ok(());
    }
    let homes = homes(module);
    let mut seen: FxHashMap<i64, (Option<OpId>, Vec<i64>)> = FxHashMap::default();
    for &(group, op, value) in &members {
        let home = manual_parent(module, &homes, op);
        let shape = module.tensor_type(value).map_or(Vec::new(), |ty| ty.dims.to_vec());
        let (first_home, first_shape) = seen.entry(group).or_insert((home, shape.clone()));
        let message = if *first_home != home {
            "ShardingGroupOps values cannot cross ManualComputationOp boundaries for groupId: "
        } else if *first_shape != shape {
            "ShardingGroupOps values must have the same shape for groupId: "
        } else {
            continue;
        };
        return Err(Diagnostic::error(format!("{message}{group}"))
            .at_loc(module, module.op(op).loc)
            .help("give the value a group of its own"));
    }

    // The smallest number of each set of groups stands for all of them.
    let mut leaders: FxHashMap<i64, i64> =
        members.iter().map(|&(group, ..)| (group, group)).collect();
    let leader = |leaders: &FxHashMap<i64, i64>, mut group: i64| {
        while leaders[&group] != group {
            group = leaders[&group];
        }
        group
    };
    let mut first_of: FxHashMap<ValueId, i64> = FxHashMap::default();
    for &(group, _, value) in &members {
        let a = leader(&leaders, *first_of.entry(value).or_insert(group));
        let b = leader(&leaders, group);
        leaders.insert(a.max(b), a.min(b));
    }
    let mut numbers: FxHashMap<i64, usize> = FxHashMap::default();
    for &(group, ..) in &members {
        let next = numbers.len();
        numbers.entry(leader(&leaders, group)).or_insert(next);
    }
    let mut gone: FxHashSet<OpId> = FxHashSet::default();
    let mut kept: FxHashSet<(usize, ValueId)> = FxHashSet::default();
    for (group, op, value) in members {
        let number = numbers[&leader(&leaders, group)];
        module.op_mut(op).op = ShardingGroup { group: number as i64 }.into();
        if !kept.insert((number, value)) {
            gone.insert(op);
        }
    }
    rewrite_module(module, &mut Remove { gone })
}

/// Where values of a group have different shardings, puts an open constraint behind each, which the
/// group has from then on. Returns warnings of that.
pub(super) fn open_conflicts(module: &mut Module) -> Result<Vec<Diagnostic>, Diagnostic> {
    let mut groups: BTreeMap<i64, Vec<(OpId, ValueId)>> = BTreeMap::new();
    super::walk_blocks(module, |_, op| {
        if let Some(group) = group(module, op) {
            groups.entry(group).or_default().push((op, module.operand(op, 0)));
        }
    });
    let mut warnings = Vec::new();
    let mut opened: FxHashMap<ValueId, ShardingId> = FxHashMap::default();
    for (number, members) in groups {
        let mut stated = members.iter().filter_map(|&(_, value)| {
            let id = sharding(module, value)?;
            let says = module.sharding(id).dims.iter().any(|d| !d.axes.is_empty() || !d.open);
            says.then_some(id)
        });
        let Some(first) = stated.next() else { continue };
        if stated.all(|other| other == first) {
            continue;
        }
        let message = format!(
            "The initial operand shardings on the sharding groups of groupID: {number} do not \
             match. Inserting an open sharding constraint to all constrained values."
        );
        let loc = match module.value_def(members[0].1) {
            ValueDef::Result(op, _) => module.op(op).loc,
            ValueDef::Param(block, _) => match module.region(module.block(block).region).owner {
                RegionOwner::Func(func) => module.funcs[func].loc,
                RegionOwner::Op(op) => module.op(op).loc,
                RegionOwner::None => module.op(members[0].0).loc,
            },
        };
        warnings.push(Diagnostic::warning(message).at_loc(module, loc));
        let like = module.sharding(first);
        let open = TensorSharding::fully_open(like.mesh, like.rank());
        let open = module.sharding_id(open);
        opened.extend(members.into_iter().map(|(_, value)| (value, open)));
    }
    if !opened.is_empty() {
        rewrite_module(module, &mut Open { opened })?;
    }
    Ok(warnings)
}

struct Open {
    /// The values that get a constraint, with its sharding.
    opened: FxHashMap<ValueId, ShardingId>,
}

impl Open {
    fn constrain(&mut self, rw: &mut Rewriter<'_>, values: &[ValueId]) {
        // The last that is put behind an op comes first.
        for &value in values.iter().rev() {
            let Some(sharding) = self.opened.remove(&value) else { continue };
            let ty = rw.module.value_type(value);
            let new = rw.emit(ShardingConstraint { sharding }, &[value], ty);
            rw.replace(value, new);
        }
    }
}

impl Rewrite for Open {
    fn op(&mut self, rw: &mut Rewriter<'_>, op: OpId) -> Result<(), Diagnostic> {
        rw.keep(op);
        let results = rw.module.results(op).to_vec();
        self.constrain(rw, &results);
        Ok(())
    }

    fn enter(&mut self, rw: &mut Rewriter<'_>, block: BlockId) -> Result<(), Diagnostic> {
        let params = rw.module.params(block).to_vec();
        self.constrain(rw, &params);
        Ok(())
    }
}

/// Removes all groups.
pub(super) fn remove(module: &mut Module) -> Result<(), Diagnostic> {
    let mut gone = FxHashSet::default();
    walk_module(module, |op| gone.extend(group(module, op).map(|_| op)));
    rewrite_module(module, &mut Remove { gone })
}

struct Remove {
    gone: FxHashSet<OpId>,
}

impl Rewrite for Remove {
    fn op(&mut self, rw: &mut Rewriter<'_>, op: OpId) -> Result<(), Diagnostic> {
        if !self.gone.contains(&op) {
            rw.keep(op);
        }
        Ok(())
    }
}

/// The manual computation that an op lies in.
fn manual_parent(module: &Module, homes: &Homes, mut op: OpId) -> Option<OpId> {
    loop {
        op = module.parent_op(*homes.get(&op)?)?;
        if let Op::Sdy(Sdy::ManualComputation(_)) = module.kind(op) {
            return Some(op);
        }
    }
}
