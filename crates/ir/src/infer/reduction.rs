//! Reductions.

use crate::ops::{Reduce, ReduceWindow, Reduction, SelectAndScatter};
use crate::{Dims, ElementType, NumberKind, TensorType};

use super::context::{Cx, Found, compatible_element, merge_dims};
use super::reducer::{Reduced, reducer};
use super::window::{WindowFields, places, window};
use super::{InferredType, context};

pub(super) fn infer(cx: &mut Cx, kind: &Reduction) -> Found {
    match kind {
        Reduction::Reduce(op) => reduce(cx, op),
        Reduction::ReduceWindow(op) => reduce_window(cx, op),
        Reduction::SelectAndScatter(op) => select_and_scatter(cx, op),
    }
}

/// The inputs, their common shape, and what the body combines.
fn inputs<'a>(cx: &mut Cx<'a>) -> Option<(Vec<&'a TensorType>, Dims, Vec<Reduced>)> {
    let count = cx.operands.len();
    require!(
        cx,
        count.is_multiple_of(2),
        "has {count} operands, not inputs and as many initial values"
    );
    let n = count / 2;
    let inputs = cx.tensors(0..n, "input")?;
    let inits = cx.tensors(n..count, "initial value, operand")?;
    let mut shape = inputs[0].dims.clone();
    let mut reduced = Vec::with_capacity(n);
    for (at, (input, init)) in inputs.iter().zip(&inits).enumerate() {
        let name = format!("input {at}");
        cx.same_shape(("input 0", &shape), (&name, &input.dims))?;
        shape = merge_dims(&shape, &input.dims);
        require!(cx, init.rank() == 0, "initial value {at} has rank {}, not 0", init.rank());
        reduced.push(Reduced { input: input.element, init: init.element });
    }
    Some((inputs, shape, reduced))
}

fn results(elements: &[ElementType], dims: &Dims) -> Found {
    Some(elements.iter().map(|&e| context::tensor(e, dims.iter().copied())).collect())
}

fn reduce(cx: &mut Cx, op: &Reduce) -> Found {
    let (_, shape, reduced) = inputs(cx)?;
    let gone = cx.dims("dimensions", &op.dimensions, shape.len())?;
    let kept: Dims = (0..shape.len()).filter(|d| !gone.contains(d)).map(|d| shape[d]).collect();
    let elements = reducer(cx, 0, &reduced, &kept)?;
    results(&elements, &kept)
}

fn reduce_window(cx: &mut Cx, op: &ReduceWindow) -> Found {
    let (_, shape, reduced) = inputs(cx)?;
    cx.per_dim("window_dimensions", op.window.len(), shape.len())?;
    let fields = WindowFields {
        strides: op.strides.as_ref(),
        padding: op.padding.as_ref(),
        base_dilations: op.base_dilations.as_ref(),
        window_dilations: op.window_dilations.as_ref(),
        reversal: None,
    };
    let window = window(cx, &op.window, fields)?;
    let elements = reducer(cx, 0, &reduced, &op.window)?;
    results(&elements, &places(&shape, &window))
}

fn select_and_scatter(cx: &mut Cx, op: &SelectAndScatter) -> Found {
    let (x, source) = (cx.tensor(0, "operand")?, cx.tensor(1, "source")?);
    let init = cx.tensor(2, "initial value")?;
    check!(cx, init.rank() == 0, "initial value has rank {}, not 0", init.rank());
    select_region(cx, x)?;
    let reduced = [Reduced { input: source.element, init: init.element }];
    let elements = reducer(cx, 1, &reduced, &[])?;
    let sizes = op.window.clone().unwrap_or_default();
    cx.per_dim("window_dimensions", sizes.len(), x.rank())?;
    let fields = WindowFields {
        strides: op.strides.as_ref(),
        padding: op.padding.as_ref(),
        ..WindowFields::default()
    };
    let window = window(cx, &sizes, fields)?;
    let expected = places(&x.dims, &window);
    cx.same_shape(("source", &source.dims), ("the windows' places", &expected))?;
    check!(
        cx,
        near(source.element, x.element),
        "element type of source is {}, of operand {}",
        cx.show_element(source.element),
        cx.show_element(x.element)
    );
    Some(vec![InferredType::Tensor(TensorType { element: elements[0], ..x.clone() })])
}

fn near(a: ElementType, b: ElementType) -> bool {
    compatible_element(a, b) || a.kind() == NumberKind::Float && b.kind() == NumberKind::Float
}

fn select_region(cx: &mut Cx, x: &TensorType) -> Option<()> {
    let (params, returns) = (cx.region_params(0)?, cx.region_returns(0)?);
    require!(cx, params.len() == 2, "the select region has {} parameters, not 2", params.len());
    for (at, &param) in params.iter().enumerate() {
        let ty = cx.module.ty(param).as_tensor();
        require!(
            cx,
            ty.is_some_and(|ty| ty.rank() == 0 && near(ty.element, x.element)),
            "parameter {at} of the select region has type {}, not a scalar {}",
            cx.show(param),
            cx.show_element(x.element)
        );
    }
    predicate(cx, "the select region", &returns)
}

/// Complains where a region doesn't return one scalar boolean.
pub(super) fn predicate(cx: &mut Cx, name: &str, returns: &[crate::TypeId]) -> Option<()> {
    require!(cx, returns.len() == 1, "{name} returns {} values, not 1", returns.len());
    let ty = cx.module.ty(returns[0]).as_tensor();
    require!(
        cx,
        ty.is_some_and(|ty| ty.rank() == 0 && ty.element == ElementType::I1),
        "{name} returns {}, not tensor<i1>",
        cx.show(returns[0])
    );
    Some(())
}
