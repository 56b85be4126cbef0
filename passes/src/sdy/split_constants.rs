//! Copies of what is computed from constants alone, one for each user.

use rustc_hash::{FxHashMap, FxHashSet};
use shard_ir::clone::{ValueMap, clone_op};
use shard_ir::ops::{Creation, Movement, Op, Sdy, Traits};
use shard_ir::{Diagnostic, FuncId, Module, OpId, RegionId, Symbol, ValueId};

use super::functions::{Names, called, callee, original_name, post_order, set_callee};
use crate::rewrite::{Rewrite, Rewriter, rewrite};

/// Splits the constants of every function, callees first.
pub(super) fn run(module: &mut Module) -> Result<(), Diagnostic> {
    let mut names = Names::default();
    let mut varying: FxHashSet<Symbol> = FxHashSet::default();
    let mut varying_computations: FxHashSet<Symbol> = FxHashSet::default();
    for func in post_order(module) {
        let mut regions = Vec::new();
        super::walk_post(module, module.funcs[func].body, |op| {
            if let Op::Sdy(Sdy::NamedComputation(named)) = module.kind(op) {
                regions.push((module.regions(op)[0], Some(named.name)));
            }
        });
        regions.push((module.funcs[func].body, None));
        for (region, computation) in regions {
            let mut split = Split {
                func,
                computation,
                names: &mut names,
                varying: &mut varying,
                varying_computations: &mut varying_computations,
                constant: Vec::new(),
                expansions: Vec::new(),
                is_constant: FxHashSet::default(),
                groups: FxHashMap::default(),
                copies: FxHashMap::default(),
            };
            split.find_groups(module, region);
            rewrite(module, region, &mut split)?;
            let unused: Vec<OpId> =
                split.expansions.iter().chain(split.constant.iter().rev()).copied().collect();
            super::insert_before(module, region, split.copies);
            erase_unused(module, region, &unused);
        }
    }
    Ok(())
}

struct Split<'a> {
    func: FuncId,
    /// The named computation whose body this is.
    computation: Option<Symbol>,
    names: &'a mut Names,
    /// Functions, by their original names, that don't only compute from their arguments.
    varying: &'a mut FxHashSet<Symbol>,
    /// Named computations of that kind.
    varying_computations: &'a mut FxHashSet<Symbol>,
    /// Ops of constant expressions, in order.
    constant: Vec<OpId>,
    /// Broadcasts of scalars, in order.
    expansions: Vec<OpId>,
    /// All of them.
    is_constant: FxHashSet<OpId>,
    /// The sharding groups of each value.
    groups: FxHashMap<ValueId, Vec<OpId>>,
    /// The copies of each op, which go before it.
    copies: FxHashMap<OpId, Vec<OpId>>,
}

impl Split<'_> {
    fn find_groups(&mut self, module: &Module, region: RegionId) {
        module.walk(region, |op| {
            if let Op::Sdy(Sdy::ShardingGroup(_)) = module.kind(op) {
                self.groups.entry(module.operand(op, 0)).or_default().push(op);
            }
        });
    }

    /// Whether an op's results are constant where its operands are.
    fn preserves(&self, module: &Module, op: OpId) -> bool {
        match module.kind(op) {
            Op::Control(shard_ir::ops::Control::Call(call)) => module
                .find_func(call.callee.0)
                .is_some_and(|func| !self.varying.contains(&original_name(module, func))),
            Op::Sdy(Sdy::NamedComputation(named)) => {
                !self.varying_computations.contains(&named.name)
            }
            Op::Elementwise(_) => {
                module.regions(op).is_empty() && !module.kind(op).info().traits.has(Traits::EFFECT)
            }
            Op::Movement(Movement::BroadcastInDim(_) | Movement::Reshape | Movement::Slice(_)) => {
                true
            }
            _ => false,
        }
    }

    fn is_expression(&self, module: &Module, op: OpId) -> bool {
        match module.kind(op) {
            Op::Sdy(Sdy::SdyConstant(_)) | Op::Creation(Creation::Iota(_)) => true,
            _ => {
                self.preserves(module, op)
                    && module.operands(op).iter().all(|&operand| {
                        module.defining_op(operand).is_some_and(|op| self.constant.contains(&op))
                    })
            }
        }
    }

    /// Copies a constant expression, scalars aside.
    fn copy(&mut self, rw: &mut Rewriter<'_>, value: ValueId) -> Result<ValueId, Diagnostic> {
        // Post-order without recursion: expressions may be long.
        let mut stack = vec![(value, false)];
        let mut map = ValueMap::default();
        while let Some((value, ready)) = stack.pop() {
            if map.contains_key(&value) || is_scalar(rw.module, value) {
                continue;
            }
            let Some(op) = rw.module.defining_op(value) else { continue };
            if !ready {
                stack.push((value, true));
                stack.extend(rw.module.operands(op).iter().rev().map(|&operand| (operand, false)));
                continue;
            }
            let copy = clone_op(rw.module, op, &mut map, &mut |_, loc| loc);
            if let Some(name) = callee(rw.module, copy) {
                let func = called(rw.module, copy, name)?;
                let name = self.names.copy(rw.module, func)?;
                set_callee(rw.module, copy, name);
            }
            self.copies.entry(op).or_default().push(copy);
            for group in self.groups.get(&value).cloned().unwrap_or_default() {
                let copy = clone_op(rw.module, group, &mut map, &mut |_, loc| loc);
                self.copies.entry(op).or_default().push(copy);
            }
        }
        Ok(map.get(&value).copied().unwrap_or(value))
    }
}

impl Rewrite for Split<'_> {
    fn op(&mut self, rw: &mut Rewriter<'_>, op: OpId) -> Result<(), Diagnostic> {
        let module = &*rw.module;
        if let Op::Sdy(Sdy::ShardingGroup(_)) = module.kind(op) {
            rw.keep(op);
            return Ok(());
        }
        if self.is_expression(module, op) {
            self.constant.push(op);
            self.is_constant.insert(op);
            rw.place(op);
            return Ok(());
        }
        if !self.preserves(module, op) && !module.kind(op).is_terminator() {
            self.varying_computations.extend(self.computation);
            self.varying.insert(original_name(module, self.func));
        }
        let expands = matches!(module.kind(op), Op::Movement(Movement::BroadcastInDim(_)))
            && is_scalar(module, module.operand(op, 0));
        if expands {
            self.expansions.push(op);
            self.is_constant.insert(op);
            rw.keep(op);
            return Ok(());
        }
        for index in 0..rw.module.operands(op).len() {
            let operand = rw.module.operand(op, index);
            let maker = rw.module.defining_op(operand);
            if maker.is_some_and(|maker| self.is_constant.contains(&maker)) {
                let copy = self.copy(rw, operand)?;
                rw.module.operands_mut(op)[index] = copy;
            }
        }
        // The body of a named computation was treated by itself.
        match rw.module.kind(op) {
            Op::Sdy(Sdy::NamedComputation(_)) => rw.place(op),
            _ => rw.keep(op),
        }
        Ok(())
    }
}

fn is_scalar(module: &Module, value: ValueId) -> bool {
    module.tensor_type(value).is_none_or(|ty| ty.dims.is_empty())
}

/// Removes those of the ops that nothing but sharding groups uses, and these groups.
fn erase_unused(module: &mut Module, region: RegionId, ops: &[OpId]) {
    let mut users: FxHashMap<ValueId, Vec<OpId>> = FxHashMap::default();
    module.walk(region, |op| {
        for &operand in module.operands(op) {
            users.entry(operand).or_default().push(op);
        }
    });
    let mut gone: FxHashSet<OpId> = FxHashSet::default();
    for &op in ops {
        let users_of = |value| users.get(value).into_iter().flatten();
        let all = module.results(op).iter().flat_map(users_of).copied();
        let left: Vec<OpId> = all.filter(|user| !gone.contains(user)).collect();
        let is_group = |&user: &OpId| matches!(module.kind(user), Op::Sdy(Sdy::ShardingGroup(_)));
        if left.iter().all(is_group) {
            gone.extend(left);
            gone.insert(op);
        }
    }
    super::erase(module, region, &gone);
}
