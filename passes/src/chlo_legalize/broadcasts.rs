//! `chlo.broadcast_*`: the broadcasts that these imply, and then the op.

use shard_ir::ops::{BroadcastInDim, Compare, CompareType, Direction, Elementwise, Op, Opaque};
use shard_ir::{Attr, Diagnostic, Dims, OpId, ValueId};

use super::{attr, no_expansion, succeed};
use crate::rewrite::Rewriter;

/// Emits the broadcasts; returns the op on their results, which isn't placed yet. `None` if `name`
/// is none of these ops.
pub(super) fn expand(
    rw: &mut Rewriter<'_>,
    op: OpId,
    opaque: &Opaque,
    name: &str,
) -> Result<Option<OpId>, Diagnostic> {
    let Some(name) = name.strip_prefix("broadcast_") else { return Ok(None) };
    let Some(kind) = plain(rw, op, opaque, name) else { return Ok(None) };
    let result = rw.module.result(op, 0);
    let to = rw.module.tensor_type(result).filter(|ty| ty.is_static()).map(|ty| ty.dims.clone());
    let Some(to) = to else { return Err(no_expansion(rw.module, op)) };
    let explicit = match attr(rw.module, op, opaque, "broadcast_dimensions") {
        Some(Attr::DenseArray(_, dims)) => Some(dims.clone()),
        _ => None,
    };
    let mut operands = Vec::new();
    for (index, operand) in rw.module.operands(op).to_vec().into_iter().enumerate() {
        let scalar_predicate = kind == Op::from(Elementwise::Select)
            && index == 0
            && rw.module.tensor_type(operand).is_some_and(|ty| ty.rank() == 0);
        operands.push(match scalar_predicate {
            true => operand,
            false => broadcast(rw, op, operand, &to, explicit.as_ref())?,
        });
    }
    let ty = rw.module.value_type(result);
    let new = rw.module.new_op(kind, &operands, &[ty], &[], rw.loc);
    let value = rw.module.result(new, 0);
    succeed(rw, op, result, value);
    rw.replace(result, value);
    Ok(Some(new))
}

/// The op without broadcasts.
fn plain(rw: &Rewriter<'_>, op: OpId, opaque: &Opaque, name: &str) -> Option<Op> {
    use Elementwise as E;
    let kind = match name {
        "add" => E::Add,
        "and" => E::And,
        "atan2" => E::Atan2,
        "compare" => return compare(rw, op, opaque),
        "complex" => E::Complex,
        "divide" => E::Divide,
        "maximum" => E::Maximum,
        "minimum" => E::Minimum,
        "multiply" => E::Multiply,
        "next_after" => E::NextAfter,
        "or" => E::Or,
        "polygamma" => E::Polygamma,
        "power" => E::Power,
        "remainder" => E::Remainder,
        "select" => E::Select,
        "shift_left" => E::ShiftLeft,
        "shift_right_arithmetic" => E::ShiftRightArithmetic,
        "shift_right_logical" => E::ShiftRightLogical,
        "subtract" => E::Subtract,
        "xor" => E::Xor,
        "zeta" => E::Zeta,
        _ => return None,
    };
    Some(kind.into())
}

fn compare(rw: &Rewriter<'_>, op: OpId, opaque: &Opaque) -> Option<Op> {
    let word = |name: &str| match attr(rw.module, op, opaque, name) {
        Some(Attr::Enum { value, .. }) => Some(rw.module.str(*value)),
        _ => None,
    };
    let direction = Direction::from_text(word("comparison_direction")?)?;
    let compare_type = word("compare_type").and_then(CompareType::from_text);
    Some(Compare { direction, compare_type }.into())
}

/// An operand in the shape of the result: its dimensions are the last ones, or those that
/// `explicit` says of the operand of smaller rank.
fn broadcast(
    rw: &mut Rewriter<'_>,
    op: OpId,
    operand: ValueId,
    to: &Dims,
    explicit: Option<&Dims>,
) -> Result<ValueId, Diagnostic> {
    let ty = rw.module.tensor_type(operand).filter(|ty| ty.is_static()).cloned();
    let Some(ty) = ty else { return Err(no_expansion(rw.module, op)) };
    if ty.dims == *to {
        return Ok(operand);
    }
    let (rank, own) = (to.len() as i64, ty.rank() as i64);
    let dimensions = match explicit {
        Some(dims) if dims.len() as i64 == own && own < rank => dims.clone(),
        _ => (rank - own..rank).collect(),
    };
    let ty = rw.module.tensor(ty.element, to.iter().copied());
    Ok(rw.emit(BroadcastInDim { dimensions }, &[operand], ty))
}
