//! Elementwise ops, and values out of nothing.

use super::super::program::{Builder, Dice, Ty};

pub fn unary(b: &mut Builder, dice: &mut Dice) -> Option<()> {
    let value = b.find(dice, |_| true)?;
    let ty = value.ty.clone();
    let (op, result) = match ty.element {
        "i1" => ("not", ty.clone()),
        _ if ty.is_integer() => {
            let all = ["negate", "not", "popcnt", "count_leading_zeros", "abs", "sign"];
            // The last two take signed numbers.
            let count = if ty.element.starts_with("ui") { 4 } else { 6 };
            (*dice.pick(&all[..count]), ty.clone())
        }
        _ if ty.is_complex() => match dice.below(3) {
            0 => ("negate", ty.clone()),
            1 => ("real", Ty { element: "f32", ..ty.clone() }),
            _ => ("imag", Ty { element: "f32", ..ty.clone() }),
        },
        _ => {
            let smooth = ["tanh", "logistic", "negate", "sine", "cosine", "abs"];
            let jumping = ["floor", "ceil", "sign", "round_nearest_even", "is_finite"];
            let count = if value.exact { 11 } else { 6 };
            let all: Vec<&str> = smooth.into_iter().chain(jumping).collect();
            let op = *dice.pick(&all[..count]);
            let element = if op == "is_finite" { "i1" } else { ty.element };
            (op, Ty { element, ..ty.clone() })
        }
    };
    let signature = format!("({}) -> {}", ty.text(), result.text());
    b.op(result, value.exact, format!("\"stablehlo.{op}\"({}) : {signature}", value.name));
    Some(())
}

pub fn binary(b: &mut Builder, dice: &mut Dice) -> Option<()> {
    let left = b.find(dice, |_| true)?;
    let ty = left.ty.clone();
    let right = b.of_type(dice, &ty, false);
    let op = *match ty.element {
        "i1" => dice.pick(&["and", "or", "xor", "maximum", "minimum"][..]),
        _ if ty.is_integer() => dice.pick(
            &[
                "add",
                "subtract",
                "multiply",
                "maximum",
                "minimum",
                "and",
                "or",
                "xor",
                "divide",
                "remainder",
                "shift_left",
                "shift_right_logical",
            ][..],
        ),
        _ if ty.is_complex() => dice.pick(&["add", "subtract", "multiply"][..]),
        _ => dice.pick(&["add", "subtract", "multiply", "maximum", "minimum"][..]),
    };
    let exact = left.exact && right.exact;
    let body = format!("stablehlo.{op} {}, {} : {}", left.name, right.name, ty.text());
    b.op(ty, exact, body);
    Some(())
}

pub fn compare(b: &mut Builder, dice: &mut Dice) -> Option<()> {
    let left = b.find(dice, |v| v.exact && !v.ty.is_complex())?;
    let ty = left.ty.clone();
    let right = b.of_type(dice, &ty, true);
    let direction = *dice.pick(&["LT", "GE", "EQ", "NE", "GT", "LE"]);
    let result = Ty { element: "i1", ..ty.clone() };
    let body = format!(
        "stablehlo.compare {direction}, {}, {} : ({}, {}) -> {}",
        left.name,
        right.name,
        ty.text(),
        ty.text(),
        result.text()
    );
    b.op(result, true, body);
    Some(())
}

pub fn select(b: &mut Builder, dice: &mut Dice) -> Option<()> {
    let predicate = b.find(dice, |v| v.ty.element == "i1" && v.exact)?;
    let scalar = predicate.ty.rank() == 0;
    let dims = predicate.ty.dims.clone();
    let left = b.find(dice, |v| scalar || v.ty.dims == dims)?;
    let right = b.of_type(dice, &left.ty, false);
    let exact = left.exact && right.exact;
    let ty = left.ty.clone();
    let body = format!(
        "stablehlo.select {}, {}, {} : {}, {}",
        predicate.name,
        left.name,
        right.name,
        predicate.ty.text(),
        ty.text()
    );
    b.op(ty, exact, body);
    Some(())
}

pub fn convert(b: &mut Builder, dice: &mut Dice) -> Option<()> {
    let value = b.find(dice, |v| !v.ty.is_complex())?;
    // A number that isn't exact may be on either side of a step.
    let all = ["f32", "f64", "bf16", "i32", "i8", "i1", "i64"];
    let count = if value.exact { 7 } else { 2 };
    let element = *dice.pick(&all[..count]);
    let result = Ty { element, ..value.ty.clone() };
    let body =
        format!("stablehlo.convert {} : ({}) -> {}", value.name, value.ty.text(), result.text());
    b.op(result, value.exact, body);
    Some(())
}

pub fn clamp(b: &mut Builder, dice: &mut Dice) -> Option<()> {
    let value = b.find(dice, |v| v.ty.is_float() || v.ty.is_integer())?;
    let ty = value.ty.clone();
    let scalar = Ty::new(ty.element, []);
    let bound = if dice.chance(2) { scalar } else { ty.clone() };
    let (low, high) = (b.of_type(dice, &bound, false), b.of_type(dice, &bound, false));
    let exact = value.exact && low.exact && high.exact;
    let body = format!(
        "stablehlo.clamp {}, {}, {} : ({}, {}, {}) -> {}",
        low.name,
        value.name,
        high.name,
        bound.text(),
        ty.text(),
        bound.text(),
        ty.text()
    );
    b.op(ty, exact, body);
    Some(())
}

pub fn map(b: &mut Builder, dice: &mut Dice) -> Option<()> {
    let value = b.find(dice, |v| v.ty.is_float() || v.ty.is_integer())?;
    let ty = value.ty.clone();
    let other = b.of_type(dice, &ty, false);
    let scalar = Ty::new(ty.element, []).text();
    let dims: Vec<String> = (0..ty.rank()).map(|dim| dim.to_string()).collect();
    let dims = if dims.is_empty() {
        "array<i64>".into()
    } else {
        format!("array<i64: {}>", dims.join(", "))
    };
    let body = format!(
        "\"stablehlo.map\"({}, {}) <{{dimensions = {dims}}}> ({{\n^bb0(%a: {scalar}, %b: {scalar}):\n  \
         %m = stablehlo.maximum %a, %b : {scalar}\n  %n = stablehlo.add %m, %a : {scalar}\n  \
         stablehlo.return %n : {scalar}\n}}) : ({}, {}) -> {}",
        value.name,
        other.name,
        ty.text(),
        ty.text(),
        ty.text()
    );
    b.op(ty, value.exact && other.exact, body);
    Some(())
}

pub fn iota(b: &mut Builder, dice: &mut Dice) -> Option<()> {
    let like = b.find(dice, |v| v.ty.rank() > 0)?;
    let element = *dice.pick(&["i32", "f32", "ui32"]);
    let ty = Ty { element, ..like.ty };
    let dim = dice.below(ty.rank());
    let body = format!("stablehlo.iota dim = {dim} : {}", ty.text());
    b.op(ty, true, body);
    Some(())
}

pub fn random_bits(b: &mut Builder, dice: &mut Dice) -> Option<()> {
    let like = b.find(dice, |_| true)?;
    let algorithm = *dice.pick(&["THREE_FRY", "PHILOX"]);
    let seed = 1 + dice.below(9);
    let state = Ty::new("ui64", [if algorithm == "PHILOX" { 3 } else { 2 }]);
    let key =
        b.op(state.clone(), true, format!("stablehlo.constant dense<{seed}> : {}", state.text()));
    // States are no numbers to compute with.
    b.values.pop();
    let ty = Ty { element: "ui32", ..like.ty };
    let name = b.name();
    b.line(format!(
        "{name}:2 = \"stablehlo.rng_bit_generator\"({}) <{{rng_algorithm = \
         #stablehlo<rng_algorithm {algorithm}>}}> : ({}) -> ({}, {})",
        key.name,
        state.text(),
        state.text(),
        ty.text()
    ));
    b.op(ty.clone(), true, format!("stablehlo.add {name}#1, {name}#1 : {}", ty.text()));
    Some(())
}
