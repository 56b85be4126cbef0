//! Calls of what the program doesn't contain.

use crate::ops::{Custom, CustomCall, dense_i64};
use crate::{Attr, Type, TypeId};

use super::context::{Cx, Found, dims_text, type_text};
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
    let target = cx.module.str(op.target);
    match (op.api_version, &op.backend_config) {
        (Some(4), Some(config)) => check!(
            cx,
            matches!(config, Attr::Dict(_)),
            "backend_config must be a dictionary where api_version is 4"
        ),
        (version, Some(Attr::Dict(_))) => {
            let version = version.unwrap_or(1);
            complain!(cx, "backend_config must be text where api_version is {version}, not 4");
        }
        _ => {}
    }
    let is_buffer = |cx: &Cx, id: TypeId| type_text(cx.module, id).starts_with("memref<");
    if let (Some(results), true) = (cx.declared, target_of_buffers(target)) {
        let operands = cx.operand_types();
        match target {
            "CreateBuffer" => {
                check!(
                    cx,
                    operands.is_empty(),
                    "has {} operands, but none are used",
                    operands.len()
                );
            }
            "Pin" => {
                let fits = results.len() == 1 && is_buffer(cx, results[0]);
                check!(cx, fits, "the result must be a memref");
            }
            _ => {
                let body = |id: TypeId| {
                    let text = type_text(cx.module, id);
                    text.split_once('<').map_or(String::new(), |(_, body)| body.to_owned())
                };
                let fits = operands.len() == 1
                    && results.len() == 1
                    && is_buffer(cx, operands[0])
                    && body(operands[0]) == body(results[0]);
                check!(cx, fits, "the result must be the tensor that the operand, a memref, holds");
            }
        }
    }
    if let Some(results) = cx.declared {
        aliases(cx, op.aliases.as_ref(), results);
    }
    let given = op.operand_layouts.is_some() == op.result_layouts.is_some();
    check!(cx, given, "operand_layouts and result_layouts must be given together");
    layouts(cx, "operand_layouts", op.operand_layouts.as_ref(), &cx.operand_types());
    if let Some(results) = cx.declared {
        layouts(cx, "result_layouts", op.result_layouts.as_ref(), results);
    }
}

/// Custom calls that make buffers of tensors and the other way.
fn target_of_buffers(target: &str) -> bool {
    matches!(target, "CreateBuffer" | "Pin" | "Unpin")
}

/// The list of numbers behind `name = ` in the text of an attribute.
fn numbers(text: &str, name: &str) -> Option<Vec<usize>> {
    let rest = &text[text.find(name)? + name.len()..];
    let body = rest.trim_start().strip_prefix('=')?.trim_start();
    let body = match body.strip_prefix('[') {
        Some(list) => list.split_once(']')?.0,
        None => body.split([',', '>']).next()?,
    };
    body.split(',').map(str::trim).filter(|n| !n.is_empty()).map(|n| n.parse().ok()).collect()
}

/// A result that shares memory with an operand has its type.
fn aliases(cx: &mut Cx, aliases: Option<&Attr>, results: &[TypeId]) {
    let buffers: Vec<usize> = (0..results.len())
        .filter(|&at| type_text(cx.module, results[at]).starts_with("memref<"))
        .collect();
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    if let Some(Attr::Array(list)) = aliases {
        for alias in list {
            let Attr::Text(text) = alias else { continue };
            let text = cx.module.str(*text);
            let output = numbers(text, "output_tuple_indices").unwrap_or_default();
            let operand = numbers(text, "operand_index").and_then(|n| n.first().copied());
            let inner = numbers(text, "operand_tuple_indices").unwrap_or_default();
            let operand = operand.unwrap_or(0);
            let types = cx.operand_types();
            let Some(&whole) = types.get(operand) else {
                let count = types.len();
                complain!(cx, "an alias names operand {operand} of {count}");
                continue;
            };
            let Some(from) = part(cx, whole, &inner) else {
                complain!(
                    cx,
                    "an alias names part {inner:?} of operand {operand}, which isn't there"
                );
                continue;
            };
            let to = match (results, &output[..]) {
                ([one], path) => part(cx, *one, path),
                (_, [first, path @ ..]) => results.get(*first).and_then(|&id| part(cx, id, path)),
                _ => None,
            };
            let Some(to) = to else {
                complain!(cx, "an alias names part {output:?} of the results, which isn't there");
                continue;
            };
            let same = |a: &str, b: &str| a == b;
            let (a, b) = (type_text(cx.module, from), type_text(cx.module, to));
            check!(cx, same(&a, &b), "an alias joins an operand of type {a} and a result of {b}");
            if a.starts_with("memref<") {
                let input = (operand, inner);
                check!(cx, !inputs.contains(&input), "operand {operand} is aliased twice");
                check!(cx, !outputs.contains(&output), "result {output:?} is aliased twice");
                inputs.push(input);
                outputs.push(output);
            }
        }
    }
    let through =
        cx.operand_types().iter().any(|&id| type_text(cx.module, id).starts_with("memref<"));
    if !through || outputs.is_empty() {
        return;
    }
    for at in buffers {
        let used = outputs.iter().any(|path| path.first() == Some(&at) || results.len() == 1);
        check!(cx, used, "result {at} is a memref that no alias names");
    }
}

/// A part of a tuple.
fn part(cx: &Cx, id: TypeId, path: &[usize]) -> Option<TypeId> {
    path.iter().try_fold(id, |id, &at| match cx.module.ty(id) {
        Type::Tuple(parts) => parts.get(at).copied(),
        _ => None,
    })
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
