//! What kernels ask of their operands.

use shard_ir::NumberKind;

use crate::{Fault, Tensor};

/// As many operands as the op has.
///
/// # Errors
/// If there are more or fewer.
pub(crate) fn exactly<const N: usize>(operands: &[Tensor]) -> Result<&[Tensor; N], Fault> {
    operands.try_into().map_err(|_| {
        Fault::invalid(format!("{} operands stand where there must be {N}", operands.len()))
    })
}

/// The elements of an operand that holds sizes, indices or amounts.
///
/// # Errors
/// If they are no integers.
pub(crate) fn integers(tensor: &Tensor) -> Result<Vec<i64>, Fault> {
    match tensor.element().kind() {
        NumberKind::Bool | NumberKind::Signed | NumberKind::Unsigned => Ok(tensor.integers()),
        NumberKind::Float | NumberKind::Complex | NumberKind::Quantized => {
            Err(Fault::invalid(format!("integers are wanted, and these are {}", tensor.element())))
        }
    }
}

/// The same, one for each of `rank` dimensions.
///
/// # Errors
/// If they are no integers, or more or fewer than that.
pub(crate) fn integers_per_dim(tensor: &Tensor, rank: usize) -> Result<Vec<i64>, Fault> {
    let values = integers(tensor)?;
    per_dim("integers", &values, rank)?;
    Ok(values)
}

/// Checks that there is one value for each of `rank` dimensions.
///
/// # Errors
/// If there isn't.
pub(crate) fn per_dim(what: &str, values: &[i64], rank: usize) -> Result<(), Fault> {
    if values.len() == rank {
        return Ok(());
    }
    Err(Fault::invalid(format!("{} {what} are given for {rank} dimensions", values.len())))
}

/// A dimension by its number.
///
/// # Errors
/// If the tensor has none of that number.
pub(crate) fn dim(tensor: &Tensor, number: i64) -> Result<usize, Fault> {
    usize::try_from(number).ok().filter(|at| *at < tensor.rank()).ok_or_else(|| {
        Fault::invalid(format!("dimension {number} of a tensor of rank {}", tensor.rank()))
    })
}

/// Checks that two tensors have the same element type. Quantized ones may differ in their
/// parameters: what is said by the index of a dimension differs with the shape.
///
/// # Errors
/// If they haven't.
pub(crate) fn same_element(a: &Tensor, b: &Tensor) -> Result<(), Fault> {
    let width = std::mem::discriminant(a.buffer()) == std::mem::discriminant(b.buffer());
    let quantized = |tensor: &Tensor| tensor.element().kind() == NumberKind::Quantized;
    if width && (a.element() == b.element() || quantized(a) && quantized(b)) {
        return Ok(());
    }
    Err(Fault::invalid(format!("elements of type {} and {}", a.element(), b.element())))
}
