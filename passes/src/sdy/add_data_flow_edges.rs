//! `sdy-add-data-flow-edges`: an `sdy.data_flow_edge` behind every value that data flow makes one
//! with others, to carry their sharding.

use shard_ir::ops::{Op, Sdy};
use shard_ir::{BlockId, Diagnostic, Module, OpId};

use super::edges::{make_edges, owners};
use crate::rewrite::{Rewrite, Rewriter, rewrite_module};

/// Runs the pass: on every data-flow op, or on named computations alone.
pub(super) fn run(module: &mut Module, named_only: bool) -> Result<(), Diagnostic> {
    rewrite_module(module, &mut AddEdges { named_only })
}

struct AddEdges {
    named_only: bool,
}

impl AddEdges {
    fn treats(&self, module: &Module, op: OpId) -> bool {
        !self.named_only || matches!(module.kind(op), Op::Sdy(Sdy::NamedComputation(_)))
    }
}

impl Rewrite for AddEdges {
    fn op(&mut self, rw: &mut Rewriter<'_>, op: OpId) -> Result<(), Diagnostic> {
        rw.keep(op);
        if let Some(owners) = owners(rw.module, op).filter(|_| self.treats(rw.module, op)) {
            let made = make_edges(rw.module, op, &owners.results);
            super::place_edges(rw, &made);
        }
        Ok(())
    }

    fn enter(&mut self, rw: &mut Rewriter<'_>, block: BlockId) -> Result<(), Diagnostic> {
        let Some(op) = rw.module.parent_op(block).filter(|&op| self.treats(rw.module, op)) else {
            return Ok(());
        };
        let owners = owners(rw.module, op).unwrap_or_default();
        if owners.params == rw.module.params(block) {
            let made = make_edges(rw.module, op, &owners.params);
            super::place_edges(rw, &made);
        }
        Ok(())
    }
}
