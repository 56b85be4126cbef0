//! Reductions whose results are partial: each device would begin with the initial value.

use shard_ir::ops::{Creation, Op, Reduction};
use shard_ir::sharding::Combiner;
use shard_ir::{DenseData, Diagnostic, Module, OpId, ValueId};

use super::Local;
use super::collective::keep_on_owner;
use crate::rewrite::Rewriter;

pub(super) fn lower(
    local: &mut Local,
    rw: &mut Rewriter<'_>,
    op: OpId,
    kind: Reduction,
) -> Result<(), Diagnostic> {
    match kind {
        Reduction::Reduce(_) | Reduction::ReduceWindow(_) => begin_once(local, rw, op),
        Reduction::SelectAndScatter(_) => {}
    }
    local.shrink(rw, op)
}

/// Of the parts of a sum, one begins with the initial value, the others with nothing. A maximum
/// or minimum may begin with it everywhere.
fn begin_once(local: &mut Local, rw: &mut Rewriter<'_>, op: OpId) {
    let inputs = rw.module.results(op).len();
    for index in 0..inputs {
        let result = rw.module.result(op, index);
        let init = rw.module.operand(op, inputs + index);
        let Some(sharding) = rw.module.value_sharding(result) else { continue };
        if !sharding.is_unreduced()
            || sharding.combiner != Combiner::Sum
            || is_zero(rw.module, init)
        {
            continue;
        }
        let along = sharding.unreduced.clone();
        let init = keep_on_owner(local, rw, init, &along, Combiner::Sum);
        rw.module.operands_mut(op)[inputs + index] = init;
    }
}

/// Whether a value is a constant zero, of either sign.
fn is_zero(module: &Module, value: ValueId) -> bool {
    let Some(op) = module.defining_op(value) else { return false };
    let Op::Creation(Creation::Constant(constant)) = module.kind(op) else { return false };
    let DenseData::Splat(bytes) = &constant.value.data else { return false };
    let Some((last, rest)) = bytes.split_last() else { return false };
    let float = module.tensor_type(value).is_some_and(|ty| ty.element.is_float());
    rest.iter().all(|byte| *byte == 0) && (*last == 0 || float && *last == 0x80)
}
