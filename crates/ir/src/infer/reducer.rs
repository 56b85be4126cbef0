//! Bodies of reductions, of scatters and of reducing collectives.

use crate::{ElementType, NumberKind};

use super::context::{Cx, compatible_dims, compatible_element, promotable};
use super::quantized;

/// What a body combines: the values' elements and the initial value's.
pub(super) struct Reduced {
    pub input: ElementType,
    pub init: ElementType,
}

/// Checks that region `index` takes two values for each input and returns one, with scalars whose
/// types the inputs can be promoted to. Returns the element types of the accumulators.
///
/// `window` is the shape of the parts that may be passed to the body: scalars where it is empty.
pub(super) fn reducer(
    cx: &mut Cx,
    index: usize,
    inputs: &[Reduced],
    window: &[i64],
) -> Option<Vec<ElementType>> {
    let (params, returns) = (cx.region_params(index)?, cx.region_returns(index)?);
    let n = inputs.len();
    require!(
        cx,
        params.len() == 2 * n,
        "the body has {} parameters, {} are needed for {n} inputs",
        params.len(),
        2 * n
    );
    require!(cx, returns.len() == n, "the body returns {} values for {n} inputs", returns.len());
    let mut accumulators = Vec::with_capacity(n);
    for (at, input) in inputs.iter().enumerate() {
        let module = cx.module;
        let returned = module.ty(returns[at]).as_tensor();
        require!(cx, returned.is_some(), "the body returns {}, not a tensor", cx.show(returns[at]));
        let result = returned?;
        let near = |a: ElementType, b: ElementType| {
            compatible_element(a, b) || a.kind() == NumberKind::Float && b.kind() == a.kind()
        };
        for (param, exact) in [(at, true), (n + at, false)] {
            let ty = module.ty(params[param]).as_tensor();
            let fits = ty.is_some_and(|ty| {
                compatible_dims(&ty.dims, &result.dims)
                    && (compatible_element(ty.element, result.element)
                        || !exact && near(ty.element, result.element))
            });
            require!(
                cx,
                fits,
                "parameter {param} of the body has type {}, its result {}",
                cx.show(params[param]),
                cx.show(returns[at])
            );
            let ty = ty?;
            require!(
                cx,
                ty.rank() <= window.len(),
                "parameter {param} of the body has type {}, its rank is more than {}",
                cx.show(params[param]),
                window.len()
            );
        }
        require!(
            cx,
            result.rank() == 0,
            "the body returns {}, the initial value is a scalar",
            cx.show(returns[at])
        );
        check!(
            cx,
            promotable(input.init, result.element)
                && quantized::promotable(cx, input.init, result.element),
            "the body returns {}, the initial value has {}",
            cx.show(returns[at]),
            cx.show_element(input.init)
        );
        let taken = module.ty(params[n + at]).as_tensor()?;
        check!(
            cx,
            promotable(input.input, taken.element)
                && quantized::promotable(cx, input.input, taken.element),
            "parameter {} of the body has type {}, the input has elements of {}",
            n + at,
            cx.show(params[n + at]),
            cx.show_element(input.input)
        );
        accumulators.push(result.element);
    }
    Some(accumulators)
}
