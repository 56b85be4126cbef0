//! Sorts.

use crate::ops::{Sort, Sorting};
use crate::{DYNAMIC, ElementType, Type};

use super::context::kinds::{BOOL, FLOAT, INT};
use super::context::{Cx, Found, compatible_element, merge_dims, tensor};
use super::reduction::predicate;
use super::{InferredType, context};

pub(super) fn infer(cx: &mut Cx, kind: &Sorting) -> Found {
    match kind {
        Sorting::Sort(op) => sort(cx, op),
        Sorting::TopK(op) => {
            if let Type::Unranked(_) = cx.module.ty(cx.operand_type(0)) {
                return cx.all_given();
            }
            let x = cx.tensor(0, "operand")?;
            cx.kind(x, "operand", BOOL | INT | FLOAT);
            require!(cx, x.rank() >= 1, "operand has rank 0, less than 1");
            let last = x.rank() - 1;
            check!(cx, op.k >= 0, "k is {}, negative", op.k);
            check!(
                cx,
                x.dims[last] == DYNAMIC || op.k <= x.dims[last],
                "k is {}, more than {} elements of the last dimension",
                op.k,
                x.dims[last]
            );
            let mut dims = x.dims.clone();
            dims[last] = op.k;
            Some(vec![tensor(x.element, dims.iter().copied()), tensor(ElementType::I32, dims)])
        }
    }
}

fn sort(cx: &mut Cx, op: &Sort) -> Found {
    let inputs = cx.tensors(0..cx.operands.len(), "input")?;
    let rank = inputs[0].rank();
    let mut shape = inputs[0].dims.clone();
    for (at, input) in inputs.iter().enumerate().skip(1) {
        cx.same_shape(("input 0", &shape), (&format!("input {at}"), &input.dims))?;
        shape = merge_dims(&shape, &input.dims);
    }
    let along = if op.dimension < 0 { op.dimension + rank as i64 } else { op.dimension };
    require!(
        cx,
        (0..rank as i64).contains(&along),
        "dimension is {}, out of range for rank {rank}",
        op.dimension
    );
    let (params, returns) = (cx.region_params(0)?, cx.region_returns(0)?);
    require!(
        cx,
        params.len() == 2 * inputs.len(),
        "the comparator has {} parameters, {} are needed for {} inputs",
        params.len(),
        2 * inputs.len(),
        inputs.len()
    );
    for (at, &param) in params.iter().enumerate() {
        let element = inputs[at / 2].element;
        let ty = cx.module.ty(param).as_tensor();
        check!(
            cx,
            ty.is_some_and(|ty| ty.rank() == 0 && compatible_element(ty.element, element)),
            "parameter {at} of the comparator has type {}, not a scalar {}",
            cx.show(param),
            cx.show_element(element)
        );
    }
    predicate(cx, "the comparator", &returns)?;
    let result = |input: &&crate::TensorType| InferredType::Tensor(context_type(input, &shape));
    Some(inputs.iter().map(result).collect())
}

fn context_type(input: &crate::TensorType, shape: &[i64]) -> crate::TensorType {
    let dims = context::merge_dims(&input.dims, shape);
    crate::TensorType { dims, ..input.clone() }
}
