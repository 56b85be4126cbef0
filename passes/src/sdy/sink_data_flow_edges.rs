//! `sdy-sink-data-flow-edges` and `sdy-sink-func-data-flow-edges`: what data-flow edges say goes to
//! the values and ops that they stand for, and the edges go.

use rustc_hash::FxHashMap;
use shard_ir::ops::{Op, Sdy};
use shard_ir::sharding::TensorSharding;
use shard_ir::{Diagnostic, Module, OpId, ValueId};

use super::edges::{edge_ops, edge_shardings, owners, set_owner_shardings};
use super::values::{set_sharding, sharding};
use crate::rewrite::{Rewrite, Rewriter, rewrite_module};

/// Runs the pass on edges of data flow inside of functions.
pub(super) fn run(module: &mut Module) -> Result<(), Diagnostic> {
    let edges = edge_ops(module);
    rewrite_module(module, &mut Sink { edges })
}

struct Sink {
    edges: FxHashMap<ValueId, OpId>,
}

impl Rewrite for Sink {
    fn op(&mut self, rw: &mut Rewriter<'_>, op: OpId) -> Result<(), Diagnostic> {
        if let Op::Sdy(Sdy::DataFlowEdge(_)) = rw.module.kind(op) {
            super::forward(rw, op);
            return Ok(());
        }
        let owners = owners(rw.module, op).unwrap_or_default();
        for side in [owners.params, owners.results] {
            if let Some(shardings) = edge_shardings(rw.module, &self.edges, &side) {
                set_owner_shardings(rw.module, op, &side, &shardings);
            }
        }
        rw.keep(op);
        Ok(())
    }
}

/// Runs the pass on edges between functions.
pub(super) fn run_between_functions(module: &mut Module) -> Result<(), Diagnostic> {
    rewrite_module(module, &mut SinkFunc)
}

struct SinkFunc;

impl Rewrite for SinkFunc {
    fn op(&mut self, rw: &mut Rewriter<'_>, op: OpId) -> Result<(), Diagnostic> {
        if !matches!(rw.module.kind(op), Op::Sdy(Sdy::FuncDataFlowEdge)) {
            rw.keep(op);
            return Ok(());
        }
        let (operand, result) = (rw.module.operand(op, 0), rw.module.result(op, 0));
        let old = sharding(rw.module, operand);
        let new = sharding(rw.module, result).or_else(|| {
            let old = rw.module.sharding(old?);
            let open = TensorSharding::fully_open(old.mesh, old.rank());
            Some(rw.module.sharding_id(open))
        });
        if let Some(new) = new {
            set_sharding(rw.module, operand, new);
        }
        super::forward(rw, op);
        Ok(())
    }
}
