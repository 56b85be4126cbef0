//! `sdy-add-func-data-flow-edges`: an `sdy.func_data_flow_edge` behind the parameters of called
//! functions and the results of calls, to carry one sharding for all calls of a function.

use shard_ir::ops::{Control, Op, Sdy};
use shard_ir::{BlockId, Diagnostic, LocId, Module, OpId, ValueId};

use super::values::{is_static, set_sharding, sharding};
use crate::rewrite::{Rewrite, Rewriter, rewrite};

/// Runs the pass.
pub(super) fn run(module: &mut Module) -> Result<(), Diagnostic> {
    let main = super::functions::main(module);
    for func in module.func_ids().collect::<Vec<_>>() {
        if module.funcs[func].is_declaration {
            continue;
        }
        let loc = module.funcs[func].loc;
        let args = if main == Some(func) { Vec::new() } else { module.args(func).to_vec() };
        let (entry, body) = (module.func_entry(func), module.funcs[func].body);
        rewrite(module, body, &mut AddEdges { entry, args, loc })?;
    }
    Ok(())
}

struct AddEdges {
    entry: BlockId,
    args: Vec<ValueId>,
    loc: LocId,
}

fn place(rw: &mut Rewriter<'_>, values: &[ValueId], loc: LocId) {
    let mut made: Vec<(ValueId, OpId)> = Vec::new();
    for &value in values {
        if !is_static(rw.module, value) {
            continue;
        }
        let ty = rw.module.value_type(value);
        let edge = rw.module.new_op(Sdy::FuncDataFlowEdge, &[value], &[ty], &[], loc);
        if let Some(sharding) = sharding(rw.module, value) {
            let result = rw.module.result(edge, 0);
            set_sharding(rw.module, result, sharding);
        }
        made.push((value, edge));
    }
    super::place_edges(rw, &made);
}

impl Rewrite for AddEdges {
    fn op(&mut self, rw: &mut Rewriter<'_>, op: OpId) -> Result<(), Diagnostic> {
        rw.keep(op);
        if let Op::Control(Control::Call(_)) = rw.module.kind(op) {
            let (results, loc) = (rw.module.results(op).to_vec(), rw.module.op(op).loc);
            place(rw, &results, loc);
        }
        Ok(())
    }

    fn enter(&mut self, rw: &mut Rewriter<'_>, block: BlockId) -> Result<(), Diagnostic> {
        if block == self.entry {
            let args = std::mem::take(&mut self.args);
            place(rw, &args, self.loc);
        }
        Ok(())
    }
}
