//! Shapes: `f32[2,<=3]{1,0}`, `(s32[], token[])`.

use shard_ir::{DYNAMIC, Dims, ELEMENT_TYPES, ElementType, Interner, TensorType, Type, TypeId};

/// HLO's name of an element type; empty where HLO has none.
pub(crate) fn element_name(element: ElementType) -> &'static str {
    use ElementType::*;
    match element {
        I1 => "pred",
        I2 => "s2",
        I4 => "s4",
        I8 => "s8",
        I16 => "s16",
        I32 => "s32",
        I64 => "s64",
        UI2 => "u2",
        UI4 => "u4",
        UI8 => "u8",
        UI16 => "u16",
        UI32 => "u32",
        UI64 => "u64",
        F4E2M1FN => "f4e2m1fn",
        F6E2M3FN => "f6e2m3fn",
        F6E3M2FN => "f6e3m2fn",
        F8E3M4 => "f8e3m4",
        F8E4M3 => "f8e4m3",
        F8E4M3FN => "f8e4m3fn",
        F8E4M3FNUZ => "f8e4m3fnuz",
        F8E4M3B11FNUZ => "f8e4m3b11fnuz",
        F8E5M2 => "f8e5m2",
        F8E5M2FNUZ => "f8e5m2fnuz",
        F8E8M0FNU => "f8e8m0fnu",
        BF16 => "bf16",
        F16 => "f16",
        F32 => "f32",
        F64 => "f64",
        C64 => "c64",
        C128 => "c128",
        TF32 | Index | Quantized(_) => "",
    }
}

/// The element type of a name.
pub(super) fn element_type(name: &str) -> Option<ElementType> {
    let found = ELEMENT_TYPES.iter().find(|(element, _)| element_name(*element) == name);
    found.filter(|_| !name.is_empty()).map(|(element, _)| *element)
}

/// A shape that was read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) ty: TypeId,
    /// Each array has the layout that it gets where none is written.
    pub(super) plain: bool,
}

/// Reads a shape; the error says what was expected.
pub(super) fn read(text: &str, interner: &mut Interner) -> Result<Shape, &'static str> {
    let mut rest = text;
    let shape = shape(&mut rest, interner, 0)?;
    skip(&mut rest);
    if rest.is_empty() { Ok(shape) } else { Err("a shape alone") }
}

fn skip(rest: &mut &str) {
    *rest = super::attrs::skip(rest);
}

fn eat(rest: &mut &str, token: &str) -> bool {
    skip(rest);
    match rest.strip_prefix(token) {
        Some(after) => {
            *rest = after;
            true
        }
        None => false,
    }
}

fn shape(rest: &mut &str, interner: &mut Interner, depth: u32) -> Result<Shape, &'static str> {
    if depth > 100 {
        return Err("a shape that nests less deep");
    }
    if !eat(rest, "(") {
        return array(rest, interner);
    }
    let mut parts = Vec::new();
    let mut plain = true;
    if !eat(rest, ")") {
        loop {
            let part = shape(rest, interner, depth + 1)?;
            plain &= part.plain;
            parts.push(part.ty);
            if eat(rest, ")") {
                break;
            }
            if !eat(rest, ",") {
                return Err("',' or ')' in a tuple's shape");
            }
        }
    }
    let ty = interner.type_id(Type::Tuple(parts.into()));
    Ok(Shape { ty, plain })
}

/// `f32[2,3]{1,0}`
fn array(rest: &mut &str, interner: &mut Interner) -> Result<Shape, &'static str> {
    skip(rest);
    let whole = *rest;
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
    let name = &rest[..end];
    *rest = &rest[end..];
    if name == "b" && rest.starts_with('(') {
        return buffer(rest, whole, interner);
    }
    if name.is_empty() || !eat(rest, "[") {
        return Err("an element type and '['");
    }
    let mut dims = Dims::new();
    let mut bounds: Vec<Option<i64>> = Vec::new();
    if !eat(rest, "]") {
        loop {
            let bounded = eat(rest, "<=");
            skip(rest);
            if eat(rest, "?") {
                dims.push(DYNAMIC);
                bounds.push(None);
            } else {
                let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
                let size: i64 = rest[..end].parse().map_err(|_| "the size of a dimension")?;
                *rest = &rest[end..];
                dims.push(if bounded { DYNAMIC } else { size });
                bounds.push(bounded.then_some(size));
            }
            if eat(rest, "]") {
                break;
            }
            if !eat(rest, ",") {
                return Err("',' or ']' after the size of a dimension");
            }
        }
    }
    let layout = layout(rest);
    let plain = layout.is_none_or(|layout| is_default(layout, dims.len()));
    let Some(element) = element_type(name) else {
        let ty = match name {
            "token" => Type::Token,
            _ => {
                let text = &whole[..whole.len() - rest.len()];
                Type::Opaque(interner.symbol(text.split('{').next().unwrap_or(text).trim_end()))
            }
        };
        return if name == "token" || is_kept(name) {
            Ok(Shape { ty: interner.type_id(ty), plain })
        } else {
            Err("an element type")
        };
    };
    let mut ty = TensorType::new(element, dims);
    if !ty.is_countable() {
        return Err("a shape whose bytes 64 bits can count");
    }
    if bounds.iter().any(Option::is_some) {
        let bound = |bound: &Option<i64>| bound.map_or("?".to_owned(), |size| size.to_string());
        let list: Vec<String> = bounds.iter().map(bound).collect();
        ty.encoding = Some(interner.symbol(&format!("#stablehlo.bounds<{}>", list.join(", "))));
    }
    Ok(Shape { ty: interner.type_id(Type::Tensor(ty)), plain })
}

/// Whether shapes of an element type are kept as their text.
fn is_kept(name: &str) -> bool {
    matches!(name, "opaque" | "u1" | "s1")
}

/// `b(f32[2])`, kept as its text.
fn buffer(rest: &mut &str, whole: &str, interner: &mut Interner) -> Result<Shape, &'static str> {
    *rest = &rest[1..];
    shape(rest, interner, 1)?;
    if !eat(rest, ")") {
        return Err("')' after a buffer's shape");
    }
    let text = &whole[..whole.len() - rest.len()];
    let ty = Type::Opaque(interner.symbol(text));
    Ok(Shape { ty: interner.type_id(ty), plain: true })
}

/// What is between the braces of a layout.
fn layout<'a>(rest: &mut &'a str) -> Option<&'a str> {
    let inner = rest.trim_start().strip_prefix('{')?;
    let mut open = 1;
    for (at, c) in inner.char_indices() {
        match c {
            '{' | '(' => open += 1,
            '}' | ')' => open -= 1,
            _ => {}
        }
        if open == 0 {
            *rest = &inner[at + 1..];
            return Some(&inner[..at]);
        }
    }
    None
}

/// Whether a layout is row-major without further ado.
fn is_default(layout: &str, rank: usize) -> bool {
    let numbers = layout.split(',').map(|number| number.trim().parse::<usize>().ok());
    rank == 0 && layout.trim().is_empty() || numbers.eq((0..rank).rev().map(Some))
}

/// Whether HLO has a type; [`write`] has no text for others.
pub(super) fn exists(interner: &Interner, ty: TypeId) -> bool {
    match interner.ty(ty) {
        Type::Tensor(tensor) => !element_name(tensor.element).is_empty(),
        Type::Tuple(parts) => parts.iter().all(|part| exists(interner, *part)),
        Type::Token => true,
        // Types of other dialects are kept as text, too.
        Type::Opaque(text) => {
            let text = interner.str(*text);
            text.starts_with("b(") || text.split_once('[').is_some_and(|(name, _)| is_kept(name))
        }
        Type::Unranked(_) | Type::Function { .. } | Type::Scalar(_) | Type::None => false,
    }
}

/// Appends a shape with the default layouts; `layouts` false leaves them out.
pub(super) fn write(interner: &Interner, ty: TypeId, layouts: bool, out: &mut String) {
    use std::fmt::Write as _;
    match interner.ty(ty) {
        Type::Tensor(tensor) => {
            out.push_str(element_name(tensor.element));
            out.push('[');
            let bounds = tensor.encoding.map(|text| bounds_of(interner.str(text)));
            for (dim, &size) in tensor.dims.iter().enumerate() {
                if dim > 0 {
                    out.push(',');
                }
                let bound = bounds.as_ref().and_then(|bounds| bounds.get(dim).copied().flatten());
                let _ = match (size, bound) {
                    (DYNAMIC, Some(bound)) => write!(out, "<={bound}"),
                    (DYNAMIC, None) => write!(out, "?"),
                    (size, _) => write!(out, "{size}"),
                };
            }
            out.push(']');
            if layouts && tensor.rank() > 0 {
                for dim in (0..tensor.rank()).rev() {
                    let _ =
                        write!(out, "{}{dim}", if dim + 1 == tensor.rank() { '{' } else { ',' });
                }
                out.push('}');
            }
        }
        Type::Tuple(parts) => {
            out.push('(');
            for (index, &part) in parts.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                    if index % 5 == 0 {
                        let _ = write!(out, "/*index={index}*/");
                    }
                }
                write(interner, part, layouts, out);
            }
            out.push(')');
        }
        Type::Token => out.push_str("token[]"),
        Type::Opaque(text) => out.push_str(interner.str(*text)),
        Type::Unranked(_) | Type::Function { .. } | Type::Scalar(_) | Type::None => {
            out.push_str("opaque[]");
        }
    }
}

/// The bounds in `#stablehlo.bounds<?, 4>`.
fn bounds_of(encoding: &str) -> Vec<Option<i64>> {
    let inner = encoding.strip_prefix("#stablehlo.bounds<").and_then(|text| text.strip_suffix('>'));
    inner.unwrap_or("").split(',').map(|bound| bound.trim().parse().ok()).collect()
}
