//! Types.

use shard_ir::{DYNAMIC, ElementType, Module, Type, TypeId};

use super::push_signed;

fn push_element(module: &Module, element: ElementType, out: &mut String) {
    match element {
        ElementType::Quantized(text) => out.push_str(module.str(text)),
        other => out.push_str(other.mlir_name()),
    }
}

fn push_list(module: &Module, types: &[TypeId], out: &mut String) {
    for (at, &ty) in types.iter().enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        push_type(module, ty, out);
    }
}

/// Appends the text of a type. Types nest only as deep as the reader lets them.
pub(super) fn push_type(module: &Module, ty: TypeId, out: &mut String) {
    match module.ty(ty) {
        Type::Tensor(tensor) => {
            out.push_str("tensor<");
            for &size in &tensor.dims {
                if size == DYNAMIC {
                    out.push('?');
                } else {
                    push_signed(size, out);
                }
                out.push('x');
            }
            push_element(module, tensor.element, out);
            if let Some(encoding) = tensor.encoding {
                out.push_str(", ");
                out.push_str(module.str(encoding));
            }
            out.push('>');
        }
        Type::Unranked(element) => {
            out.push_str("tensor<*x");
            push_element(module, *element, out);
            out.push('>');
        }
        Type::Token => out.push_str("!stablehlo.token"),
        Type::Tuple(items) => {
            out.push_str("tuple<");
            push_list(module, items, out);
            out.push('>');
        }
        Type::Function { inputs, results } => {
            out.push('(');
            push_list(module, inputs, out);
            out.push_str(") -> ");
            match &results[..] {
                [result] if !matches!(module.ty(*result), Type::Function { .. }) => {
                    push_type(module, *result, out);
                }
                results => {
                    out.push('(');
                    push_list(module, results, out);
                    out.push(')');
                }
            }
        }
        Type::Scalar(element) => push_element(module, *element, out),
        Type::None => out.push_str("none"),
        Type::Opaque(text) => out.push_str(module.str(*text)),
    }
}
