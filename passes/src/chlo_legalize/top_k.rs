//! `chlo.top_k`: a sort of the elements with their positions, of which the first are cut off.

use shard_ir::ops::{Compare, CompareType, Control, Direction, Iota, Slice, Sort, TopK};
use shard_ir::{Attr, Builder, Diagnostic, Dims, ElementType, OpId, RegionId};

use super::{no_expansion, replace};
use crate::rewrite::Rewriter;

pub(super) fn expand(rw: &mut Rewriter<'_>, op: OpId, top_k: &TopK) -> Result<(), Diagnostic> {
    let operand = rw.module.operand(op, 0);
    let ty = rw.module.tensor_type(operand).filter(|ty| ty.is_static() && ty.rank() > 0).cloned();
    let Some(ty) = ty else { return Err(no_expansion(rw.module, op)) };
    let dimension = ty.rank() as i64 - 1;
    let types = [ty.element, ElementType::I32].map(|one| rw.module.tensor(one, ty.dims.clone()));
    let positions = rw.emit(Iota { dimension }, &[], types[1]);
    let attrs = rw.module.op(op).attrs;
    let stable = rw.module.attr(attrs, "is_stable") != Some(&Attr::Bool(false));
    let comparator = descending(rw, ty.element)?;
    let sort = Sort { dimension, stable: Some(stable) };
    let sort = rw.module.new_op(sort, &[operand, positions], &types, &[comparator], rw.loc);
    rw.place(sort);
    let mut limit: Dims = ty.dims.clone();
    limit[dimension as usize] = top_k.k.min(limit[dimension as usize]);
    let slice = Slice {
        start: limit.iter().map(|_| 0).collect(),
        strides: limit.iter().map(|_| 1).collect(),
        limit,
    };
    let values = [0, 1].map(|index| {
        let ty = rw.module.value_type(rw.module.result(op, index));
        let sorted = rw.module.result(sort, index);
        rw.emit(slice.clone(), &[sorted], ty)
    });
    replace(rw, op, &values);
    Ok(())
}

/// Compares the first pair of scalars of two; floats by their total order, in which NaN is more
/// than any number.
fn descending(rw: &mut Rewriter<'_>, element: ElementType) -> Result<RegionId, Diagnostic> {
    let [value, position] =
        [element, ElementType::I32].map(|element| rw.module.tensor(element, []));
    let params = [value, value, position, position];
    let compare_type = element.is_float().then_some(CompareType::TotalOrder);
    let compare = Compare { direction: Direction::Gt, compare_type };
    let loc = rw.loc;
    Builder::free_region(rw.module, loc, &params, Control::Return, |b, params| {
        let boolean = b.module.tensor(ElementType::I1, []);
        Ok(vec![b.typed(compare, &params[..2], boolean)])
    })
    .map_err(|error| Diagnostic::error(error.to_string()))
}
