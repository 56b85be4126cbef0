//! Reductions, windows and orders.

use super::super::program::{Builder, Dice, Ty};
use super::movement::array;

fn list(numbers: &[usize]) -> String {
    let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    numbers.join(", ")
}

/// An op that combines, and its neutral element or another start.
fn combiner(dice: &mut Dice, ty: &Ty) -> (&'static str, &'static str, bool) {
    let start = dice.chance(4);
    match ty.element {
        "i1" => (*dice.pick(&["and", "or"]), "true", true),
        _ if ty.is_float() => match dice.below(3) {
            0 => ("add", if start { "2.0" } else { "0.0" }, false),
            1 => ("maximum", if start { "0.5" } else { "-1.0e4" }, true),
            _ => ("minimum", if start { "0.5" } else { "1.0e4" }, true),
        },
        _ if ty.is_complex() => ("add", "(0.0,0.0)", false),
        _ => match dice.below(4) {
            0 => ("add", if start { "2" } else { "0" }, true),
            1 => ("maximum", "0", true),
            2 => ("minimum", "100", true),
            _ => ("multiply", if start { "3" } else { "1" }, true),
        },
    }
}

fn region(op: &str, scalar: &str) -> String {
    format!(
        "({{\n^bb0(%a: {scalar}, %b: {scalar}):\n  %r = stablehlo.{op} %a, %b : {scalar}\n  \
         stablehlo.return %r : {scalar}\n}})"
    )
}

pub fn reduce(b: &mut Builder, dice: &mut Dice) -> Option<()> {
    let value = b.find(dice, |v| v.ty.rank() > 0)?;
    let ty = value.ty.clone();
    let (op, start, keeps) = combiner(dice, &ty);
    let mut dims: Vec<usize> = (0..ty.rank()).filter(|_| dice.chance(2)).collect();
    if dims.is_empty() {
        dims.push(dice.below(ty.rank()));
    }
    let kept: Vec<i64> = (0..ty.rank()).filter(|d| !dims.contains(d)).map(|d| ty.dims[d]).collect();
    let scalar = Ty::new(ty.element, []);
    let init = b.op(
        scalar.clone(),
        true,
        format!("stablehlo.constant dense<{start}> : {}", scalar.text()),
    );
    let result = Ty::new(ty.element, kept);
    let body = format!(
        "stablehlo.reduce({} init: {}) applies stablehlo.{op} across dimensions = [{}] : ({}, {}) \
         -> {}",
        value.name,
        init.name,
        list(&dims),
        ty.text(),
        scalar.text(),
        result.text()
    );
    b.op(result, value.exact && keeps, body);
    Some(())
}

pub fn arg_max(b: &mut Builder, dice: &mut Dice) -> Option<()> {
    let value =
        b.find(dice, |v| v.exact && v.ty.rank() > 0 && matches!(v.ty.element, "f32" | "i32"))?;
    let ty = value.ty.clone();
    let dim = dice.below(ty.rank());
    let index = Ty { element: "i32", ..ty.clone() };
    let iota = b.op(index.clone(), true, format!("stablehlo.iota dim = {dim} : {}", index.text()));
    let (scalar, position) = (Ty::new(ty.element, []).text(), Ty::new("i32", []).text());
    let low = if ty.element == "f32" { "-1.0e9" } else { "-1000000" };
    let (start, zero) = (b.name(), b.name());
    b.line(format!("{start} = stablehlo.constant dense<{low}> : {scalar}"));
    b.line(format!("{zero} = stablehlo.constant dense<0> : {position}"));
    let mut kept = ty.dims.clone();
    kept.remove(dim);
    let (most, at) = (Ty::new(ty.element, kept.clone()), Ty::new("i32", kept));
    let name = b.name();
    b.line(format!(
        "{name}:2 = \"stablehlo.reduce\"({}, {}, {start}, {zero}) <{{dimensions = {}}}> \
         ({{\n^bb0(%a: {scalar}, %i: {position}, %b: {scalar}, %j: {position}):\n  %g = \
         stablehlo.compare GT, %a, %b : ({scalar}, {scalar}) -> tensor<i1>\n  %e = \
         stablehlo.compare EQ, %a, %b : ({scalar}, {scalar}) -> tensor<i1>\n  %l = \
         stablehlo.compare LT, %i, %j : ({position}, {position}) -> tensor<i1>\n  %f = \
         stablehlo.and %e, %l : tensor<i1>\n  %t = stablehlo.or %g, %f : tensor<i1>\n  %x = \
         stablehlo.select %g, %a, %b : tensor<i1>, {scalar}\n  %y = stablehlo.select %t, %i, %j : \
         tensor<i1>, {position}\n  stablehlo.return %x, %y : {scalar}, {position}\n}}) : ({}, {}, \
         {scalar}, {position}) -> ({}, {})",
        value.name,
        iota.name,
        array([dim as i64]),
        ty.text(),
        index.text(),
        most.text(),
        at.text()
    ));
    b.op(at.clone(), true, format!("stablehlo.add {name}#1, {name}#1 : {}", at.text()));
    Some(())
}

pub fn window(b: &mut Builder, dice: &mut Dice) -> Option<()> {
    let value = b.find(dice, |v| v.ty.rank() > 0 && !v.ty.dims.contains(&0))?;
    let ty = value.ty.clone();
    let (op, start, keeps) = combiner(dice, &ty);
    let dim = dice.below(ty.rank());
    let size = dice.between(1, 3);
    let stride = dice.between(1, 2);
    let (base, dilation) = (dice.between(1, 2), dice.between(1, 2));
    let (low, high) = (dice.between(-1, 2), dice.between(0, 2));
    let spread = (ty.dims[dim] - 1) * base + 1 + low + high;
    let reach = (size - 1) * dilation + 1;
    if spread < reach {
        return None;
    }
    let mut dims = ty.dims.clone();
    dims[dim] = (spread - reach) / stride + 1;
    let one_but = |number: i64| array((0..ty.rank()).map(|d| if d == dim { number } else { 1 }));
    let pads: Vec<String> = (0..ty.rank())
        .map(|d| if d == dim { format!("[{low}, {high}]") } else { "[0, 0]".to_owned() })
        .collect();
    let scalar = Ty::new(ty.element, []).text();
    let init = b.name();
    b.line(format!("{init} = stablehlo.constant dense<{start}> : {scalar}"));
    let result = Ty::new(ty.element, dims);
    let body = format!(
        "\"stablehlo.reduce_window\"({}, {init}) <{{window_dimensions = {}, window_strides = {}, \
         base_dilations = {}, window_dilations = {}, padding = dense<[{}]> : tensor<{}x2xi64>}}> \
         {} : ({}, {scalar}) -> {}",
        value.name,
        one_but(size),
        one_but(stride),
        one_but(base),
        one_but(dilation),
        pads.join(", "),
        ty.rank(),
        region(op, &scalar),
        ty.text(),
        result.text()
    );
    b.op(result, value.exact && keeps, body);
    Some(())
}

pub fn cumulative(b: &mut Builder, dice: &mut Dice) -> Option<()> {
    let value = b.find(dice, |v| v.ty.rank() > 0 && !v.ty.dims.contains(&0))?;
    let ty = value.ty.clone();
    let dim = dice.below(ty.rank());
    let size = ty.dims[dim];
    let (op, start, keeps) = combiner(dice, &ty);
    let windows = array((0..ty.rank()).map(|d| if d == dim { size } else { 1 }));
    let pads: Vec<String> = (0..ty.rank())
        .map(|d| if d == dim { format!("[{}, 0]", size - 1) } else { "[0, 0]".to_owned() })
        .collect();
    let scalar = Ty::new(ty.element, []).text();
    let init = b.name();
    b.line(format!("{init} = stablehlo.constant dense<{start}> : {scalar}"));
    let body = format!(
        "\"stablehlo.reduce_window\"({}, {init}) <{{window_dimensions = {windows}, padding = \
         dense<[{}]> : tensor<{}x2xi64>}}> {} : ({}, {scalar}) -> {}",
        value.name,
        pads.join(", "),
        ty.rank(),
        region(op, &scalar),
        ty.text(),
        ty.text()
    );
    b.op(ty.clone(), value.exact && keeps, body);
    Some(())
}

pub fn select_and_scatter(b: &mut Builder, dice: &mut Dice) -> Option<()> {
    let value = b.find(dice, |v| {
        v.exact
            && v.ty.rank() > 0
            && matches!(v.ty.element, "f32" | "i32")
            && !v.ty.dims.contains(&0)
    })?;
    let ty = value.ty.clone();
    let dim = dice.below(ty.rank());
    let size = dice.between(1, 3);
    let stride = dice.between(1, 3);
    if ty.dims[dim] < size {
        return None;
    }
    let mut dims = ty.dims.clone();
    dims[dim] = (dims[dim] - size) / stride + 1;
    let source_ty = Ty::new(ty.element, dims);
    let source = b.of_type(dice, &source_ty, false);
    let one_but = |number: i64| array((0..ty.rank()).map(|d| if d == dim { number } else { 1 }));
    let scalar = Ty::new(ty.element, []).text();
    let zero = if ty.element == "f32" { "0.0" } else { "0" };
    let init = b.name();
    b.line(format!("{init} = stablehlo.constant dense<{zero}> : {scalar}"));
    let exact = ty.is_integer() && source.exact;
    let body = format!(
        "\"stablehlo.select_and_scatter\"({}, {}, {init}) <{{window_dimensions = {}, \
         window_strides = {}}}> ({{\n^bb0(%a: {scalar}, %b: {scalar}):\n  %c = stablehlo.compare \
         GE, %a, %b : ({scalar}, {scalar}) -> tensor<i1>\n  stablehlo.return %c : tensor<i1>\n}}, \
         {{\n^bb0(%a: {scalar}, %b: {scalar}):\n  %c = stablehlo.add %a, %b : {scalar}\n  \
         stablehlo.return %c : {scalar}\n}}) : ({}, {}, {scalar}) -> {}",
        value.name,
        source.name,
        one_but(size),
        one_but(stride),
        ty.text(),
        source_ty.text(),
        ty.text()
    );
    b.op(ty, exact, body);
    Some(())
}

pub fn sort(b: &mut Builder, dice: &mut Dice) -> Option<()> {
    let value =
        b.find(dice, |v| v.exact && v.ty.rank() > 0 && (v.ty.is_float() || v.ty.is_integer()))?;
    let ty = value.ty.clone();
    let dim = dice.below(ty.rank());
    let direction = *dice.pick(&["LT", "GT"]);
    let scalar = Ty::new(ty.element, []).text();
    let body = format!(
        "\"stablehlo.sort\"({}) <{{dimension = {dim} : i64, is_stable = true}}> ({{\n^bb0(%a: \
         {scalar}, %b: {scalar}):\n  %c = stablehlo.compare {direction}, %a, %b : ({scalar}, \
         {scalar}) -> tensor<i1>\n  stablehlo.return %c : tensor<i1>\n}}) : ({}) -> {}",
        value.name,
        ty.text(),
        ty.text()
    );
    b.op(ty, true, body);
    Some(())
}

pub fn top_k(b: &mut Builder, dice: &mut Dice) -> Option<()> {
    let value =
        b.find(dice, |v| v.exact && v.ty.rank() > 0 && matches!(v.ty.element, "f32" | "i32"))?;
    let ty = value.ty.clone();
    let length = *ty.dims.last()?;
    let k = dice.between(0, length.min(4));
    let mut dims = ty.dims.clone();
    *dims.last_mut()? = k;
    let (most, at) = (Ty::new(ty.element, dims.clone()), Ty::new("i32", dims));
    let name = b.name();
    b.line(format!(
        "{name}:2 = chlo.top_k({}, k = {k}) : {} -> ({}, {})",
        value.name,
        ty.text(),
        most.text(),
        at.text()
    ));
    b.op(most.clone(), true, format!("stablehlo.add {name}#0, {name}#0 : {}", most.text()));
    b.op(at.clone(), true, format!("stablehlo.add {name}#1, {name}#1 : {}", at.text()));
    Some(())
}
