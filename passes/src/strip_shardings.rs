//! `strip-shardings`: the program as one device would run it, without meshes and shardings.
//!
//! What a partitioned program is checked against. On global values every annotation and every
//! `sdy` collective is the identity, so they go; what is left is the program that was meant.

use shard_ir::ops::{Constant, Control, Custom, Op, Sdy};
use shard_ir::{Attr, AttrsId, Diagnostic, ElementType, FuncId, Item, Module, OpId, ValueId};

use crate::annotations::{FRONTEND, TILES};
use crate::rewrite::{Rewrite, Rewriter, rewrite};

/// Attributes that speak of devices, on ops, arguments, results and the module.
const ATTRIBUTES: &[&str] = &[
    TILES,
    "sdy.sharding",
    "sdy.sharding_rule",
    "xla.sdy.sharding",
    FRONTEND,
    "mhlo.spmd_output_sharding",
    "mhlo.spmd_parameters_shardings",
];

/// Runs the pass on every function.
///
/// # Errors
/// If a part of the program is written for one device of several: a `sdy.manual_computation`, or a
/// collective. Such a program has no form for one device.
pub fn run(module: &mut Module) -> Result<(), Diagnostic> {
    let funcs: Vec<FuncId> = module.func_ids().collect();
    for &func in &funcs {
        let body = module.funcs[func].body;
        rewrite(module, body, &mut Strip)?;
        for index in 0..module.funcs[func].arg_attrs.len() {
            let attrs = module.funcs[func].arg_attrs[index];
            module.funcs[func].arg_attrs[index] = stripped(module, attrs);
        }
        for index in 0..module.funcs[func].results.len() {
            let attrs = module.funcs[func].results[index].attrs;
            let attrs = stripped(module, attrs);
            let result = &mut module.funcs[func].results[index];
            result.attrs = attrs;
            result.sharding = None.into();
        }
    }
    for index in 0..module.value_count() {
        module.shardings[ValueId::from_u32(index as u32)] = None.into();
    }
    module.items.retain(|item| !matches!(item, Item::Mesh(_)));
    let attrs = module.attrs;
    module.attrs = stripped(module, attrs);
    let i32 = module.scalar(ElementType::I32);
    for name in ["mhlo.num_partitions", "mhlo.num_replicas"] {
        let attrs = module.attrs;
        module.attrs = module.with_attr(attrs, name, Some(Attr::Int(1, i32)));
    }
    Ok(())
}

/// The first op that is written for one device of several, if there is one: then the program has
/// no form for one device.
pub fn first_local_op(module: &Module) -> Option<OpId> {
    let mut found = None;
    crate::shardings::walk_module(module, |op| {
        if found.is_none() && is_local(module, module.kind(op)) {
            found = Some(op);
        }
    });
    found
}

fn is_local(module: &Module, op: &Op) -> bool {
    match op {
        Op::Sdy(Sdy::ManualComputation(_)) | Op::Collective(_) => true,
        Op::Custom(Custom::CustomCall(call)) => {
            matches!(module.str(call.target), "SPMDFullToShardShape" | "SPMDShardToFullShape")
        }
        _ => false,
    }
}

fn stripped(module: &mut Module, mut attrs: AttrsId) -> AttrsId {
    for name in ATTRIBUTES {
        attrs = module.with_attr(attrs, name, None);
    }
    attrs
}

struct Strip;

impl Rewrite for Strip {
    fn op(&mut self, rw: &mut Rewriter<'_>, op: OpId) -> Result<(), Diagnostic> {
        if is_local(rw.module, rw.module.kind(op)) {
            return Err(Diagnostic::error("is written for one device of several")
                .at_op(rw.module, op)
                .help("a program with such parts has no form for one device"));
        }
        let attrs = rw.module.op(op).attrs;
        let attrs = stripped(rw.module, attrs);
        rw.module.op_mut(op).attrs = attrs;
        let identity = match rw.module.kind(op) {
            Op::Custom(Custom::CustomCall(call)) => rw.module.str(call.target) == "Sharding",
            Op::Sdy(Sdy::ShardingGroup(_)) => return Ok(()),
            Op::Sdy(Sdy::SdyConstant(constant)) => {
                let value = constant.value.clone();
                rw.module.op_mut(op).op = Constant { value }.into();
                false
            }
            Op::Sdy(Sdy::NamedComputation(_)) => return self.inline(rw, op),
            Op::Sdy(Sdy::DataFlowEdge(_) | Sdy::FuncDataFlowEdge | Sdy::PropagationBarrier(_)) => {
                true
            }
            Op::Sdy(kind) => kind.result_sharding().is_some(),
            Op::Control(Control::SdyReturn) => false,
            _ => false,
        };
        if identity {
            let (operand, result) = (rw.module.operand(op, 0), rw.module.result(op, 0));
            rw.replace(result, operand);
        } else {
            rw.keep(op);
        }
        Ok(())
    }
}

impl Strip {
    /// The body of a named computation takes its place.
    fn inline(&mut self, rw: &mut Rewriter<'_>, op: OpId) -> Result<(), Diagnostic> {
        let region = rw.module.regions(op)[0];
        let block = rw.module.entry(region);
        let operands = rw.module.operands(op).to_vec();
        for (param, operand) in rw.module.params(block).to_vec().into_iter().zip(operands) {
            rw.replace(param, operand);
        }
        let results = rw.module.results(op).to_vec();
        let returned = rw.inline(block, self)?;
        for (result, value) in results.into_iter().zip(returned) {
            let value = rw.current(value);
            rw.replace(result, value);
        }
        Ok(())
    }
}
