//! Calls of what the program doesn't contain.

use crate::Attr;
use crate::ops::{Custom, CustomCall};

use super::context::{Cx, Found};
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
    let results = cx.declared.map(<[_]>::len);
    let lists = [
        ("operand_layouts", &op.operand_layouts, Some(cx.operands.len())),
        ("result_layouts", &op.result_layouts, results),
    ];
    for (name, layouts, count) in lists {
        // A single tuple has a layout for each of its elements.
        let (Some(Attr::Array(list)), Some(count)) = (layouts, count) else { continue };
        check!(
            cx,
            list.len() == count || count == 1,
            "{name} has {} elements for {count} values",
            list.len()
        );
    }
}
