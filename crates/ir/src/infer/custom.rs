//! Calls of what the program doesn't contain.

use crate::ops::{Custom, CustomCall, dense_i64};
use crate::{Attr, Type, TypeId};

use super::context::{Cx, Found, dims_text};
use super::control;

pub(super) fn infer(cx: &mut Cx, kind: &Custom) -> Found {
    match kind {
        Custom::CustomCall(op) => {
            custom_call(cx, op);
            cx.all_given()
        }
        Custom::Composite(op) => {
            let name = cx.module.str(op.name);
            check!(cx, namespaced(name), "name '{name}' isn't of the form namespace.name");
            let Some(func) = cx.func(op.decomposition.0) else {
                complain!(cx, "there is no function '@{}'", cx.module.str(op.decomposition.0));
                return None;
            };
            control::call(cx, func)
        }
    }
}

/// `^[a-zA-Z][a-zA-Z0-9_]*([.][a-zA-Z0-9_$]+)+$`
fn namespaced(name: &str) -> bool {
    let mut parts = name.split('.');
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let first = parts.next().unwrap_or_default();
    let rest: Vec<&str> = parts.collect();
    first.starts_with(|c: char| c.is_ascii_alphabetic())
        && first.chars().all(word)
        && !rest.is_empty()
        && rest.iter().all(|part| !part.is_empty() && part.chars().all(|c| word(c) || c == '$'))
}

fn custom_call(cx: &mut Cx, op: &CustomCall) {
    if let Some(Attr::Array(callees)) = &op.called_computations {
        for callee in callees {
            let Attr::SymbolRef(path) = callee else { continue };
            let found = path.len() != 1 || cx.func(path[0]).is_some();
            check!(cx, found, "there is no function '@{}'", cx.module.str(path[0]));
        }
    }
    let given = op.operand_layouts.is_some() == op.result_layouts.is_some();
    check!(cx, given, "operand_layouts and result_layouts must be given together");
    layouts(cx, "operand_layouts", op.operand_layouts.as_ref(), &cx.operand_types());
    if let Some(results) = cx.declared {
        layouts(cx, "result_layouts", op.result_layouts.as_ref(), results);
    }
}

/// A layout is a permutation of the dimensions of each tensor. A single tuple has one for each of
/// its elements.
fn layouts(cx: &mut Cx, name: &str, layouts: Option<&Attr>, types: &[TypeId]) {
    let Some(Attr::Array(list)) = layouts else { return };
    let types: Vec<TypeId> = match types {
        &[one] => match cx.module.ty(one) {
            Type::Tuple(parts) => parts.to_vec(),
            _ => vec![one],
        },
        types => types.to_vec(),
    };
    let (len, count) = (list.len(), types.len());
    check!(cx, len == count, "{name} has {len} elements for {count} values");
    for (at, (layout, &ty)) in list.iter().zip(&types).enumerate() {
        let Attr::Dense(dense) = layout else { continue };
        let Some(order) = dense_i64(dense, cx.module) else { continue };
        let rank = cx.module.ty(ty).as_tensor().map_or(0, |ty| ty.rank());
        let mut sorted = order.clone();
        sorted.sort_unstable();
        check!(
            cx,
            sorted.iter().copied().eq(0..rank as i64),
            "{name}, element {at}: {} isn't a permutation of the {rank} dimensions of {}",
            dims_text(&order),
            cx.show(ty)
        );
    }
}
