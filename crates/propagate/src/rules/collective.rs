//! Collectives that the program contains itself (in manual regions): dimensions that they cut or
//! join need replication along the axes that propagation handles, the others pass through.

use shard_ir::ops::Collective;
use shard_ir::{Module, OpId, ValueId};

use super::builder::{self, DimChoice};
use super::{FactorKind, OpRule, RuleBuilder};

pub(super) fn rule(module: &Module, op: OpId, kind: &Collective) -> Option<OpRule> {
    match kind {
        Collective::PartitionId | Collective::ReplicaId => None,
        Collective::AllReduce(_)
        | Collective::CollectivePermute(_)
        | Collective::CollectiveBroadcast(_) => with_whole_dims(module, op, &[]),
        Collective::AllGather(gather) => with_whole_dims(module, op, &[gather.dimension]),
        Collective::ReduceScatter(scatter) => with_whole_dims(module, op, &[scatter.dimension]),
        Collective::AllToAll(exchange) if exchange.split == exchange.concat => {
            with_whole_dims(module, op, &[exchange.split])
        }
        Collective::AllToAll(exchange) => {
            with_whole_dims(module, op, &[exchange.split, exchange.concat])
        }
    }
}

/// Pass-through factors for all dimensions but `whole`, which get one factor for the operands and
/// another for the results.
fn with_whole_dims(module: &Module, op: OpId, whole: &[i64]) -> Option<OpRule> {
    let (operands, results) = (module.operands(op), module.results(op));
    let (input, output) = (*operands.first()?, *results.first()?);
    module.tensor_type(output)?;
    let mut builder = RuleBuilder::new(module, op);
    let alike = |values: &[ValueId]| {
        values.iter().all(|&v| builder::shape(module, v) == builder::shape(module, values[0]))
    };
    if !alike(operands) || !alike(results) {
        // Several tensors of different shapes in one op: nothing connects them.
        for (index, (&operand, &result)) in operands.iter().zip(results).enumerate() {
            let only = |count: usize, dim: usize| -> Vec<DimChoice> {
                (0..count).map(|at| (at == index).then_some(dim)).collect()
            };
            let sizes = builder::shape(module, operand).iter().zip(builder::shape(module, result));
            for (dim, (&size, &out_size)) in sizes.enumerate() {
                let (on_operand, on_result) = (only(operands.len(), dim), only(results.len(), dim));
                if builder::lists(whole, dim) {
                    builder.whole(&on_operand, &vec![None; results.len()], size);
                    builder.whole(&vec![None; operands.len()], &on_result, out_size);
                } else {
                    builder.pass(&on_operand, &on_result, size);
                }
            }
        }
        return Some(builder.build());
    }
    let (in_shape, out_shape) = (builder::shape(module, input), builder::shape(module, output));
    for (dim, &size) in in_shape.iter().enumerate() {
        if !builder::lists(whole, dim) {
            builder.everywhere(dim, size, FactorKind::PassThrough, false);
        }
    }
    for dim in whole.iter().filter_map(|&dim| usize::try_from(dim).ok()) {
        builder.all_operands(dim, *in_shape.get(dim)?, FactorKind::NeedReplication);
        builder.all_results(dim, *out_shape.get(dim)?, FactorKind::NeedReplication);
    }
    Some(builder.build())
}
