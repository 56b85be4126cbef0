//! Custom calls whose meaning is known by their name.

use shard_ir::ops::{Custom, Op, Random};
use shard_ir::{ElementType, Module, OpId, ValueId};

use super::builder;
use super::{FactorKind, OpRule, RuleBuilder, sorting};

pub(super) fn rule(module: &Module, op: OpId, kind: &Custom) -> Option<OpRule> {
    match kind {
        Custom::CustomCall(call) => by_name(module, op, module.str(call.target)),
        Custom::Composite(_) => None,
    }
}

fn by_name(module: &Module, op: OpId, target: &str) -> Option<OpRule> {
    match target {
        "annotate_device_placement"
        | "Cholesky"
        | "CompactWyHelper"
        | "InspectSharding"
        | "InvertDiagBlocksLowerTriangular"
        | "InvertDiagBlocksUpperTriangular"
        | "LayoutConstraint"
        | "mhlo.erf"
        | "MoveToDevice"
        | "MoveToHost"
        | "X64SplitHigh"
        | "X64SplitLow"
        | "xla.megascale.provide_metadata"
        | "_SPMDInternalOp_MultiPad"
        | "_SPMDInternalOp_RotateRight"
        | "_SPMDInternalOp_MultiRotate"
        | "_SPMDInternalOp_MultiSlice"
        | "_SPMDInternalOp_Wrap" => builder::pointwise(module, op),
        "X64Combine" => x64_combine(module, op),
        "Eigh" => eigh(module, op),
        "Qr" | "QrDecompositionBlock" => qr(module, op),
        "ProductOfElementaryHouseholderReflectors" => householder_product(module, op),
        "mhlo.topk" => sorting::top_k(module, op),
        "ApproxTopK" | "PartialReduce" => approx_top_k(module, op),
        _ => None,
    }
}

/// The shape of the only operand of a matrix decomposition with two results, and the first of its
/// last two dimensions.
fn matrix(module: &Module, op: OpId) -> Option<(&[i64], usize)> {
    let shape = builder::shape(module, *module.operands(op).first()?);
    (module.results(op).len() == 2).then_some((shape, shape.len().checked_sub(2)?))
}

fn eigh(module: &Module, op: OpId) -> Option<OpRule> {
    let (shape, rows) = matrix(module, op)?;
    let columns = rows + 1;
    let mut builder = RuleBuilder::new(module, op);
    builder.pointwise(&shape[..rows]);
    builder.whole(&[Some(rows)], &[Some(rows), None], shape[rows]);
    builder.whole(&[Some(columns)], &[Some(columns), Some(rows)], shape[columns]);
    Some(builder.build())
}

fn qr(module: &Module, op: OpId) -> Option<OpRule> {
    let (shape, rows) = matrix(module, op)?;
    let columns = rows + 1;
    let taus = builder::shape(module, module.result(op, 1));
    let mut builder = RuleBuilder::new(module, op);
    builder.pointwise(&shape[..rows]);
    builder.whole(&[Some(rows)], &[Some(rows), None], shape[rows]);
    builder.whole(&[Some(columns)], &[Some(columns), None], shape[columns]);
    builder.whole(&[None], &[None, Some(rows)], *taus.get(rows)?);
    Some(builder.build())
}

fn householder_product(module: &Module, op: OpId) -> Option<OpRule> {
    let &[a, taus] = module.operands(op) else { return None };
    let (shape, taus) = (builder::shape(module, a), builder::shape(module, taus));
    let rows = shape.len().checked_sub(2)?;
    let columns = rows + 1;
    let mut builder = RuleBuilder::new(module, op);
    builder.pointwise(&shape[..rows]);
    builder.whole(&[Some(rows), None], &[Some(rows)], shape[rows]);
    builder.whole(&[Some(columns), None], &[Some(columns)], shape[columns]);
    builder.whole(&[None, Some(rows)], &[None], *taus.get(rows)?);
    Some(builder.build())
}

/// Operands: input, iota, two scalars; results: values, indices.
fn approx_top_k(module: &Module, op: OpId) -> Option<OpRule> {
    let input = builder::shape(module, *module.operands(op).first()?);
    let output = builder::shape(module, *module.results(op).first()?);
    let mut builder = RuleBuilder::new(module, op);
    for (dim, (&size, &kept)) in input.iter().zip(output).enumerate() {
        if size == kept {
            builder.everywhere(dim, size, FactorKind::PassThrough, false);
            continue;
        }
        let here = Some(dim);
        builder.whole(&[here, here, None, None], &[None, None], size);
        let kind = FactorKind::NeedReplication;
        builder.add(&[None; 4], &[here, here], kept, kind, true);
    }
    Some(builder.build())
}

/// Joins the two halves of 64-bit numbers. The state of a random generator must be whole, and
/// can't be resharded, so nothing goes through there.
fn x64_combine(module: &Module, op: OpId) -> Option<OpRule> {
    let result = *module.results(op).first()?;
    if !is_generator_state(module, result) {
        return builder::pointwise(module, op);
    }
    let mut builder = RuleBuilder::new(module, op);
    for (dim, &size) in builder::shape(module, result).iter().enumerate() {
        builder.everywhere(dim, size, FactorKind::NeedReplication, true);
    }
    Some(builder.build())
}

/// Whether a value has the type of a generator's state and a generator of the program uses it.
/// Modules have no lists of uses, so that this looks at every op, but only for the few values of
/// that type.
fn is_generator_state(module: &Module, value: ValueId) -> bool {
    let state = module
        .tensor_type(value)
        .is_some_and(|ty| ty.element == ElementType::UI64 && matches!(ty.dims[..], [2 | 3]));
    state
        && (0..module.op_count() as u32).map(OpId::from_u32).any(|op| {
            matches!(module.kind(op), Op::Random(Random::RngBitGenerator(_)))
                && module.operands(op).contains(&value)
        })
}
