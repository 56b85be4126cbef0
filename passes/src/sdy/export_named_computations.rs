//! `sdy-export-named-computations`: named computations become functions and calls of them.

use rustc_hash::FxHashMap;
use shard_ir::ops::{Call, Callee, Control, Op, Sdy, ShardingList};
use shard_ir::{
    Attr, AttrsId, Diagnostic, Func, FuncResult, LocId, Module, OpId, RegionId, ValueId,
};

use super::edges::{edge_ops, edge_shardings, owners};
use super::functions::{EXECUTION_THREAD, Names, ORIGINAL_NAME};
use crate::rewrite::{Rewrite, Rewriter, rewrite};

/// Runs the pass.
pub(super) fn run(module: &mut Module) -> Result<(), Diagnostic> {
    let edges = edge_ops(module);
    let mut pass = Export { edges, names: Names::default() };
    for func in module.func_ids().collect::<Vec<_>>() {
        let body = module.funcs[func].body;
        rewrite(module, body, &mut pass)?;
    }
    Ok(())
}

struct Export {
    edges: FxHashMap<ValueId, OpId>,
    names: Names,
}

impl Export {
    /// Makes a function of a body.
    fn function(
        &mut self,
        rw: &mut Rewriter<'_>,
        op: OpId,
        named: &shard_ir::ops::NamedComputation,
        body: RegionId,
        loc: LocId,
    ) -> shard_ir::Symbol {
        let module = &mut *rw.module;
        let entry = module.entry(body);
        if let Some(last) = module.terminator(entry)
            && let Op::Control(Control::SdyReturn) = module.kind(last)
        {
            module.op_mut(last).op = Control::FuncReturn.into();
        }
        let params = module.params(entry).to_vec();
        if let Some(list) = &named.in_shardings {
            for (&param, &sharding) in params.iter().zip(&list.0) {
                module.shardings[param] = sharding.into();
            }
        }
        let results = module.results(op).to_vec();
        let result = |ty| FuncResult { ty, sharding: None.into(), attrs: AttrsId::EMPTY };
        let results = results.iter().map(|&value| result(module.value_type(value))).collect();
        let mut attrs =
            module.with_attr(AttrsId::EMPTY, ORIGINAL_NAME, Some(Attr::String(named.name)));
        let thread = module.attr(module.op(op).attrs, EXECUTION_THREAD).cloned();
        if thread.is_some() {
            attrs = module.with_attr(attrs, EXECUTION_THREAD, thread);
        }
        let name = self.names.unique(module, named.name);
        let visibility = Some(module.symbol("private"));
        module.new_func(Func {
            name,
            visibility,
            body,
            is_declaration: false,
            arg_attrs: vec![AttrsId::EMPTY; params.len()],
            results,
            attrs,
            loc,
        });
        name
    }
}

impl Rewrite for Export {
    fn op(&mut self, rw: &mut Rewriter<'_>, op: OpId) -> Result<(), Diagnostic> {
        let Op::Sdy(Sdy::NamedComputation(named)) = rw.module.kind(op) else {
            if let Op::Sdy(Sdy::DataFlowEdge(_)) = rw.module.kind(op)
                && self.edges.get(&rw.module.operand(op, 0)).is_none_or(|&edge| edge != op)
            {
                // The edge of a computation that became a call, or of a parameter.
                super::forward(rw, op);
                return Ok(());
            }
            rw.keep(op);
            return Ok(());
        };
        let mut named = (**named).clone();
        let owners = owners(rw.module, op).unwrap_or_default();
        if let Some(list) = edge_shardings(rw.module, &self.edges, &owners.params) {
            named.in_shardings = Some(ShardingList(list));
        }
        if let Some(list) = edge_shardings(rw.module, &self.edges, &owners.results) {
            named.out_shardings = Some(ShardingList(list));
        }
        for owner in owners.params.iter().chain(&owners.results) {
            self.edges.remove(owner);
        }
        let body = rw.module.regions(op)[0];
        rewrite(rw.module, body, self)?;
        let name = self.function(rw, op, &named, body, rw.loc);
        let operands = rw.module.operands(op).to_vec();
        let types: Vec<_> =
            owners.results.iter().map(|&result| rw.module.value_type(result)).collect();
        let call = Call { callee: Callee(name) };
        let call = rw.module.new_op(call, &operands, &types, &[], rw.loc);
        let attrs = rw.module.op(op).attrs;
        rw.module.op_mut(call).attrs = rw.module.with_attr(attrs, EXECUTION_THREAD, None);
        for (index, &old) in owners.results.iter().enumerate() {
            let new = rw.module.result(call, index);
            if let Some(list) = &named.out_shardings {
                rw.module.shardings[new] = list.0[index].into();
            }
            rw.module.value_names[new] = rw.module.value_names[old];
            rw.replace(old, new);
        }
        rw.place(call);
        Ok(())
    }
}
