//! `sdy-remove-all-gather-reduce-scatter-for-cmv1`: gathers into products, and reduce-scatters out
//! of them, go where a backend that overlaps the two puts its own in.

use rustc_hash::{FxHashMap, FxHashSet};
use shard_ir::ops::{Op, Sdy};
use shard_ir::{Diagnostic, Module, OpId, ValueId};

use super::forward;
use super::values::{set_sharding, sharding};
use crate::rewrite::{Rewrite, Rewriter, rewrite_module};
use crate::shardings::walk_module;

/// Runs the pass.
pub(super) fn run(module: &mut Module) -> Result<(), Diagnostic> {
    let mut users: FxHashMap<ValueId, Vec<OpId>> = FxHashMap::default();
    let mut dots = Vec::new();
    walk_module(module, |op| {
        for &operand in module.operands(op) {
            users.entry(operand).or_default().push(op);
        }
        if let Op::Dot(_) = module.kind(op) {
            dots.push(op);
        }
    });
    let only_user = |value: ValueId| match users.get(&value).map(Vec::as_slice) {
        Some(&[only]) => Some(only),
        _ => None,
    };
    let mut gone: FxHashSet<OpId> = FxHashSet::default();
    for dot in dots {
        let gathers: Vec<OpId> = module
            .operands(dot)
            .iter()
            .filter_map(|&operand| {
                module.defining_op(operand).filter(|_| only_user(operand).is_some())
            })
            .filter(|&op| matches!(module.kind(op), Op::Sdy(Sdy::SdyAllGather(_))))
            .collect();
        if !gathers.is_empty() {
            // The reduce-scatter of a gathered product stays.
            gone.extend(gathers);
            continue;
        }
        let result = module.result(dot, 0);
        let unreduced =
            sharding(module, result).is_some_and(|id| !module.sharding(id).unreduced.is_empty());
        let Some(user) = only_user(result).filter(|_| !unreduced) else { continue };
        if let Op::Sdy(Sdy::SdyReduceScatter(scatter)) = module.kind(user) {
            let out = scatter.out;
            set_sharding(module, result, out);
            gone.insert(user);
        }
    }
    rewrite_module(module, &mut Forward { gone })
}

struct Forward {
    gone: FxHashSet<OpId>,
}

impl Rewrite for Forward {
    fn op(&mut self, rw: &mut Rewriter<'_>, op: OpId) -> Result<(), Diagnostic> {
        if self.gone.contains(&op) {
            forward(rw, op);
        } else {
            rw.keep(op);
        }
        Ok(())
    }
}
