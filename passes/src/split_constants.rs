//! `split-constants`: every user of a constant gets a constant of its own.
//!
//! Constants, iotas, what is computed from them alone, and broadcasts of scalars cost next to
//! nothing under any sharding, so they must not carry shardings from one user to another. Each use
//! of such a value by an op that isn't one itself gets its own copy of the computation (scalars
//! aside, which have no dimension to shard).

use cranelift_entity::EntitySet;
use shard_ir::ops::{Creation, Movement, Op, Traits};
use shard_ir::{Diagnostic, Module, OpId, ValueId};

use crate::rewrite::{Rewrite, Rewriter, rewrite_module};
use shard_ir::clone::{ValueMap, clone_op};

/// Runs the pass on every function, then removes the originals that nothing uses any more.
///
/// # Errors
/// None; the signature is that of all passes.
pub fn run(module: &mut Module) -> Result<(), Diagnostic> {
    let mut pass =
        Split { constant: EntitySet::new(), pure: EntitySet::new(), taken: EntitySet::new() };
    rewrite_module(module, &mut pass)?;
    crate::dead_code::run(module);
    Ok(())
}

struct Split {
    /// Results of constant expressions, and of broadcasts of scalars.
    constant: EntitySet<ValueId>,
    /// Those of constant expressions alone.
    pure: EntitySet<ValueId>,
    /// Those that have a user already, which keeps the original.
    taken: EntitySet<ValueId>,
}

impl Rewrite for Split {
    fn op(&mut self, rw: &mut Rewriter<'_>, op: OpId) -> Result<(), Diagnostic> {
        let pure = self.is_constant(rw.module, op);
        if pure || is_scalar_expansion(rw.module, op) {
            for &result in rw.module.results(op) {
                self.constant.insert(result);
                if pure {
                    self.pure.insert(result);
                }
            }
            rw.keep(op);
            return Ok(());
        }
        for index in 0..rw.module.operands(op).len() {
            let operand = rw.module.operand(op, index);
            if !self.constant.contains(operand) || is_scalar(rw.module, operand) {
                continue;
            }
            if !self.take(rw.module, operand) {
                let copy = self.copy(rw, operand);
                rw.module.operands_mut(op)[index] = copy;
            }
        }
        rw.keep(op);
        Ok(())
    }
}

impl Split {
    /// Whether an op is computed from constants alone.
    fn is_constant(&self, module: &Module, op: OpId) -> bool {
        match module.kind(op) {
            Op::Creation(Creation::Constant(_) | Creation::Iota(_)) => true,
            Op::Elementwise(_)
            | Op::Movement(Movement::BroadcastInDim(_) | Movement::Reshape | Movement::Slice(_)) => {
                module.regions(op).is_empty()
                    && !module.kind(op).info().traits.has(Traits::EFFECT)
                    && module.operands(op).iter().all(|&value| self.pure.contains(value))
            }
            _ => false,
        }
    }

    /// Claims a value and what it is computed from for one user; `false` if any of it has one.
    fn take(&mut self, module: &Module, value: ValueId) -> bool {
        let mut stack = vec![value];
        let mut all = Vec::new();
        while let Some(value) = stack.pop() {
            if is_scalar(module, value) || !self.constant.contains(value) {
                continue;
            }
            if self.taken.contains(value) {
                return false;
            }
            if !all.contains(&value) {
                all.push(value);
                if let Some(op) = module.defining_op(value) {
                    stack.extend(module.operands(op));
                }
            }
        }
        for value in all {
            self.taken.insert(value);
        }
        true
    }

    /// Copies a constant expression to this place.
    fn copy(&self, rw: &mut Rewriter<'_>, value: ValueId) -> ValueId {
        // Post-order without recursion: expressions may be long.
        let mut stack = vec![(value, false)];
        let mut map = ValueMap::default();
        while let Some((value, ready)) = stack.pop() {
            if map.contains_key(&value)
                || is_scalar(rw.module, value)
                || !self.constant.contains(value)
            {
                continue;
            }
            let Some(op) = rw.module.defining_op(value) else { continue };
            if ready {
                let copy = clone_op(rw.module, op, &mut map, &mut |_, loc| loc);
                rw.place(copy);
                continue;
            }
            stack.push((value, true));
            stack.extend(rw.module.operands(op).iter().rev().map(|&operand| (operand, false)));
        }
        map.get(&value).copied().unwrap_or(value)
    }
}

fn is_scalar(module: &Module, value: ValueId) -> bool {
    module.tensor_type(value).is_none_or(|ty| ty.dims.is_empty())
}

/// A broadcast of a scalar that may be computed from anything.
fn is_scalar_expansion(module: &Module, op: OpId) -> bool {
    matches!(module.kind(op), Op::Movement(Movement::BroadcastInDim(_)))
        && module.operands(op).first().is_some_and(|&operand| is_scalar(module, operand))
}
