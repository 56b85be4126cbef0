//! `sdy-apply-sharding-constraints`: what a constraint, or the border of a manual computation, says
//! of a value holds for the value itself, so that its other users see it too.

use rustc_hash::{FxHashMap, FxHashSet};
use shard_ir::ops::{Control, Op, Sdy, ShardingConstraint};
use shard_ir::{Diagnostic, Module, OpId, ShardingId, ValueDef, ValueId};

use super::edges::edge_of_targets;
use super::values::{open, set_sharding, sharding};
use super::{Homes, homes, insert_behind, walk_post};

/// Runs the pass.
pub(super) fn run(module: &mut Module) -> Result<(), Diagnostic> {
    let mut apply =
        Apply { uses: FxHashMap::default(), edges: edge_of_targets(module), homes: homes(module) };
    let mut ops = Vec::new();
    for func in module.func_ids().collect::<Vec<_>>() {
        walk_post(module, module.funcs[func].body, |op| {
            for (index, &operand) in module.operands(op).iter().enumerate() {
                apply.uses.entry(operand).or_default().push((op, index));
            }
            ops.push(op);
        });
    }
    for op in ops {
        match module.kind(op) {
            Op::Sdy(Sdy::ShardingConstraint(constraint)) => {
                let sharding = constraint.sharding;
                apply.use_tail(module, op);
                let input = module.operand(op, 0);
                apply.constrain(module, op, input, sharding, None);
            }
            Op::Sdy(Sdy::ManualComputation(manual)) => {
                for (index, sharding) in manual.in_shardings.0.clone().into_iter().enumerate() {
                    let input = module.operand(op, index);
                    apply.constrain(module, op, input, sharding, Some(index));
                }
            }
            _ => {}
        }
    }
    Ok(())
}

struct Apply {
    /// The uses of each value: which operand of which op.
    uses: FxHashMap<ValueId, Vec<(OpId, usize)>>,
    /// The data-flow edge of each value that has one.
    edges: FxHashMap<ValueId, OpId>,
    /// The block of each op.
    homes: Homes,
}

impl Apply {
    fn uses(&self, value: ValueId) -> &[(OpId, usize)] {
        self.uses.get(&value).map_or(&[], Vec::as_slice)
    }

    /// The sharding of a value, which its edge has where there is one.
    fn sharding(&self, module: &Module, value: ValueId) -> Option<ShardingId> {
        match self.edges.get(&value) {
            Some(&edge) => sharding(module, module.result(edge, 0)),
            None => sharding(module, value),
        }
    }

    /// Moves the uses for which `moves` holds to another value.
    fn replace(
        &mut self,
        module: &mut Module,
        from: ValueId,
        to: ValueId,
        moves: impl Fn(&Module, OpId) -> bool,
    ) {
        let (moved, kept): (Vec<_>, Vec<_>) =
            self.uses(from).iter().partition(|(user, _)| moves(module, *user));
        self.uses.insert(from, kept);
        for &(user, index) in &moved {
            module.operands_mut(user)[index] = to;
        }
        self.uses.entry(to).or_default().extend(moved);
    }

    fn constrains(module: &Module, op: OpId) -> bool {
        matches!(module.kind(op), Op::Sdy(Sdy::ShardingConstraint(_) | Sdy::ManualComputation(_)))
    }

    fn is_constraint(module: &Module, op: OpId) -> bool {
        matches!(module.kind(op), Op::Sdy(Sdy::ShardingConstraint(_)))
    }

    /// The last of a chain of constraints that begins here and that only its end has other users
    /// of.
    fn tail(&self, module: &Module, head: OpId) -> Option<OpId> {
        let input = module.operand(head, 0);
        let from_constraint =
            module.defining_op(input).is_some_and(|op| Self::is_constraint(module, op));
        let constrained =
            self.uses(input).iter().any(|&(op, _)| op != head && Self::constrains(module, op));
        if from_constraint || constrained || self.sharding(module, input).is_some() {
            return None;
        }
        let mut tail = head;
        while let &[(only, _)] = self.uses(module.result(tail, 0))
            && Self::is_constraint(module, only)
        {
            tail = only;
        }
        let ends = self.uses(module.result(tail, 0)).iter();
        let last = tail != head && !ends.into_iter().any(|&(op, _)| Self::constrains(module, op));
        last.then_some(tail)
    }

    /// Users of a chain's input that come behind the chain use its end.
    fn use_tail(&mut self, module: &mut Module, head: OpId) {
        let Some(tail) = self.tail(module, head) else { return };
        let Some(&block) = self.homes.get(&tail) else { return };
        let ops = module.block_ops(block);
        let at = ops.iter().position(|&op| op == tail).map_or(ops.len(), |at| at + 1);
        let later: FxHashSet<OpId> = ops[at..].iter().copied().collect();
        let (input, result) = (module.operand(head, 0), module.result(tail, 0));
        self.replace(module, input, result, |module, user| {
            user != head
                && !matches!(module.kind(user), Op::Control(Control::FuncReturn))
                && later.contains(&user)
        });
    }

    /// Whether a value can have a sharding: parameters of regions have one by an edge alone.
    fn is_shardable(&self, module: &Module, value: ValueId) -> bool {
        let by_itself = match module.value_def(value) {
            ValueDef::Result(..) => true,
            ValueDef::Param(block, _) => module.parent_op(block).is_none(),
        };
        module.tensor_type(value).is_some() && (by_itself || self.edges.contains_key(&value))
    }

    /// Whether another constraint or manual computation wants something else of a value.
    fn is_contested(&self, module: &Module, value: ValueId, wanted: ShardingId) -> bool {
        self.uses(value).iter().any(|&(user, index)| match module.kind(user) {
            Op::Sdy(Sdy::ShardingConstraint(other)) => other.sharding != wanted,
            Op::Sdy(Sdy::ManualComputation(manual)) => {
                manual.in_shardings.0.get(index).is_some_and(|&other| other != wanted)
            }
            _ => false,
        })
    }

    fn constrain(
        &mut self,
        module: &mut Module,
        op: OpId,
        input: ValueId,
        wanted: ShardingId,
        operand: Option<usize>,
    ) {
        let is_closed = module.sharding(wanted).dims.iter().all(|dim| !dim.open);
        if !is_closed
            || !self.is_shardable(module, input)
            || self.sharding(module, input).is_some()
            || self.is_contested(module, input, wanted)
        {
            return;
        }
        let is_edge = module
            .defining_op(input)
            .is_some_and(|op| matches!(module.kind(op), Op::Sdy(Sdy::DataFlowEdge(_))));
        if !is_edge && !self.edges.contains_key(&input) {
            set_sharding(module, input, wanted);
            return;
        }
        // What an edge stands for has one sharding; only this value is constrained, so that its
        // users take the constraint's result.
        let constraint = if operand.is_none() {
            if let Some(&block) = self.homes.get(&op) {
                module.block_mut(block).ops.retain(|&other| other != op);
            }
            op
        } else {
            let (ty, loc) = (module.value_type(input), module.op(op).loc);
            let kind = ShardingConstraint { sharding: wanted };
            let new = module.new_op(kind, &[input], &[ty], &[], loc);
            self.uses.entry(input).or_default().push((new, 0));
            new
        };
        insert_behind(module, &mut self.homes, input, constraint);
        let result = module.result(constraint, 0);
        self.replace(module, input, result, |_, user| user != constraint);
        let (unreduced, combiner, mesh) = {
            let wanted = module.sharding(wanted);
            (wanted.unreduced.clone(), wanted.combiner, wanted.mesh)
        };
        if !unreduced.is_empty() {
            // Unreduced axes don't propagate, so that the value has to say them itself.
            let current = self.sharding(module, input).unwrap_or_else(|| open(module, mesh, input));
            let mut new = module.sharding(current).clone();
            (new.unreduced, new.combiner) = (unreduced, combiner);
            let new = module.sharding_id(new);
            let target = self.edges.get(&input).map_or(input, |&edge| module.result(edge, 0));
            set_sharding(module, target, new);
        }
    }
}
