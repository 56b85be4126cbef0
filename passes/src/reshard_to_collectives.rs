//! `reshard-to-collectives`: each reshard becomes the cheapest sequence of collectives.

use shard_ir::ops::{
    AllToAllParams, AxisLists, MeshAxes, Movement, Op, ReplicatedToUnreduced, Reshard, Sdy,
    SdyAllGather, SdyAllReduce, SdyAllSlice, SdyAllToAll, SdyCollectivePermute, SdyReduceScatter,
};
use shard_ir::sharding::TensorSharding;
use shard_ir::{Diagnostic, Module, OpId, ValueId};
use shard_plan::Pricing;
use shard_plan::reshard::{PlannedStep, Step};

use crate::rewrite::{Rewrite, Rewriter, rewrite_module};

/// Runs the pass on every function.
///
/// # Errors
/// None at present; the signature is that of all passes.
pub fn run(module: &mut Module, pricing: &mut Pricing) -> Result<(), Diagnostic> {
    rewrite_module(module, &mut ToCollectives { pricing })
}

struct ToCollectives<'p> {
    pricing: &'p mut Pricing,
}

impl Rewrite for ToCollectives<'_> {
    fn op(&mut self, rw: &mut Rewriter<'_>, op: OpId) -> Result<(), Diagnostic> {
        let Op::Sdy(Sdy::Reshard(reshard)) = rw.module.kind(op) else {
            rw.keep(op);
            return Ok(());
        };
        let Reshard { sharding: to } = **reshard;
        let (operand, result) = (rw.module.operand(op, 0), rw.module.result(op, 0));
        let Some(ty) = rw.module.tensor_type(operand).cloned() else {
            rw.replace(result, operand);
            return Ok(());
        };
        let to = rw.module.sharding(to).clone();
        let from = rw
            .module
            .value_sharding(operand)
            .cloned()
            .unwrap_or_else(|| TensorSharding::fully_replicated(to.mesh, ty.rank()));
        let plan = self.pricing.reshard(&from, &to, ty.bytes());
        let mut value = operand;
        for step in &plan.steps {
            value = emit(rw, value, step);
        }
        if plan.steps.is_empty() {
            // The same placement in other words (open dimensions, axes of size one).
            let ty = rw.module.value_type(operand);
            let sharding = rw.module.sharding_id(to);
            value = rw.emit_sharded(Movement::Reshape, &[operand], ty, sharding);
        }
        rw.replace(result, value);
        Ok(())
    }
}

fn emit(rw: &mut Rewriter<'_>, value: ValueId, planned: &PlannedStep) -> ValueId {
    let mesh = planned.result.mesh;
    let out = rw.module.sharding_id(planned.result.clone());
    let ty = rw.module.value_type(value);
    let lists = |dims: &[shard_ir::sharding::AxisList]| AxisLists { mesh, dims: dims.into() };
    let combiner = rw.module.value_sharding(value).map(|s| s.combiner).unwrap_or_default();
    let op: Op = match &planned.step {
        Step::AllGather(dims) => SdyAllGather { axes: lists(dims), out }.into(),
        Step::AllSlice(dims) => SdyAllSlice { axes: lists(dims), out }.into(),
        Step::AllToAll(param) => {
            SdyAllToAll { params: AllToAllParams { mesh, params: vec![param.clone()] }, out }.into()
        }
        Step::Permute => SdyCollectivePermute { out }.into(),
        Step::AllReduce(axes) => {
            SdyAllReduce { axes: MeshAxes { mesh, axes: axes.clone() }, combiner, out }.into()
        }
        Step::ReduceScatter(dims) => SdyReduceScatter { axes: lists(dims), combiner, out }.into(),
        Step::MakePartial(axes) => {
            ReplicatedToUnreduced { axes: MeshAxes { mesh, axes: axes.clone() }, out }.into()
        }
    };
    rw.emit_sharded(op, &[value], ty, out)
}
