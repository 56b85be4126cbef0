//! `sdy-constant-or-scalar-splitter` gives each user of a constant its own,
//! `sdy-constant-or-scalar-merger` makes equal ones one again.

use rustc_hash::FxHashMap;
use shard_ir::ops::{Creation, Movement, Op, Sdy, SdyConstant};
use shard_ir::{BlockId, Diagnostic, Module, OpId, ShardingId, TypeId, ValueId};

use super::values::sharding;
use crate::rewrite::{Rewrite, Rewriter, rewrite_module};
use crate::shardings::walk_module;

/// Makes constants `sdy.constant`, which folding leaves alone, and splits what is computed from
/// them alone.
pub(super) fn split(module: &mut Module) -> Result<(), Diagnostic> {
    let mut ops = Vec::new();
    walk_module(module, |op| ops.push(op));
    for op in ops {
        if let Op::Creation(Creation::Constant(constant)) = module.kind(op) {
            let value = constant.value.clone();
            module.op_mut(op).op = SdyConstant { value }.into();
        }
    }
    super::split_constants::run(module)
}

/// Makes of constants and broadcasts of scalars that are equal, with their shardings, the first.
pub(super) fn merge(module: &mut Module) -> Result<(), Diagnostic> {
    rewrite_module(module, &mut Merge::default())
}

/// What makes two ops one beside their kind: attributes, operands, type and sharding.
type Key = (BlockId, Op, shard_ir::AttrsId, Vec<ValueId>, TypeId, Option<ShardingId>);

#[derive(Default)]
struct Merge {
    first: FxHashMap<Key, ValueId>,
}

fn is_mergeable(module: &Module, op: OpId) -> bool {
    match module.kind(op) {
        Op::Sdy(Sdy::SdyConstant(_)) | Op::Creation(Creation::Constant(_)) => true,
        Op::Movement(Movement::BroadcastInDim(_)) => {
            module.tensor_type(module.operand(op, 0)).is_some_and(|ty| ty.rank() == 0)
        }
        _ => false,
    }
}

impl Rewrite for Merge {
    fn op(&mut self, rw: &mut Rewriter<'_>, op: OpId) -> Result<(), Diagnostic> {
        if !is_mergeable(rw.module, op) {
            rw.keep(op);
            return Ok(());
        }
        let result = rw.module.result(op, 0);
        let key = (
            rw.block,
            rw.module.kind(op).clone(),
            rw.module.op(op).attrs,
            rw.module.operands(op).to_vec(),
            rw.module.value_type(result),
            sharding(rw.module, result),
        );
        match self.first.get(&key) {
            Some(&first) => rw.replace(result, first),
            None => {
                self.first.insert(key, result);
                rw.keep(op);
            }
        }
        Ok(())
    }
}
