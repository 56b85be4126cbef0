//! Control flow, calls and annotations.

use super::super::program::{Builder, Dice, Ty, Val};

pub fn constraint(b: &mut Builder, dice: &mut Dice) -> Option<()> {
    let value = b.find(dice, |v| v.ty.rank() > 0)?;
    let sharding = b.mesh.sharding(dice, value.ty.rank());
    let body = format!("sdy.sharding_constraint {} {sharding} : {}", value.name, value.ty.text());
    b.op(value.ty.clone(), value.exact, body);
    Some(())
}

pub fn barrier(b: &mut Builder, dice: &mut Dice) -> Option<()> {
    let value = b.find(dice, |_| true)?;
    let body = format!("stablehlo.optimization_barrier {} : {}", value.name, value.ty.text());
    b.op(value.ty.clone(), value.exact, body);
    Some(())
}

/// Ops inside a region that take one value to another of the same type.
fn inside(
    b: &mut Builder,
    dice: &mut Dice,
    value: &Val,
    name: &str,
    fresh: &str,
) -> (String, String) {
    let text = value.ty.text();
    let captured = b.find(dice, |v| v.ty == value.ty && v.exact);
    let other = captured.map_or(name.to_owned(), |v| v.name);
    let op = match value.ty.element {
        "i1" => *dice.pick(&["xor", "or", "and"]),
        _ if value.ty.is_complex() => "add",
        _ => *dice.pick(&["maximum", "minimum", "add"]),
    };
    let mut lines = format!("{fresh} = stablehlo.{op} {name}, {other} : {text}");
    if value.ty.rank() > 0 && dice.chance(3) {
        let sharding = b.mesh.sharding(dice, value.ty.rank());
        lines
            .push_str(&format!("\n{fresh}c = sdy.sharding_constraint {fresh} {sharding} : {text}"));
        return (lines, format!("{fresh}c"));
    }
    (lines, fresh.to_owned())
}

fn indented(lines: &str) -> String {
    lines.lines().map(|line| format!("  {line}\n")).collect()
}

/// A loop that runs a few times; its body may use the counter to read a row.
pub fn repeat(b: &mut Builder, dice: &mut Dice) -> Option<()> {
    let value = b.find(dice, |v| v.exact || v.ty.is_float())?;
    let times = dice.below(4);
    let (zero, one, most) = (b.name(), b.name(), b.name());
    b.line(format!("{zero} = stablehlo.constant dense<0> : tensor<i32>"));
    b.line(format!("{one} = stablehlo.constant dense<1> : tensor<i32>"));
    b.line(format!("{most} = stablehlo.constant dense<{times}> : tensor<i32>"));
    let (i, carry, fresh) = (b.name(), b.name(), b.name());
    let (body, result) = inside(b, dice, &value, &carry, &fresh);
    let text = value.ty.text();
    let name = b.name();
    b.line(format!(
        "{name}:2 = stablehlo.while({i} = {zero}, {carry} = {}) : tensor<i32>, {text}\ncond {{\n  \
         %c = stablehlo.compare LT, {i}, {most} : (tensor<i32>, tensor<i32>) -> tensor<i1>\n  \
         stablehlo.return %c : tensor<i1>\n}} do {{\n{}  %n = stablehlo.add {i}, {one} : \
         tensor<i32>\n  stablehlo.return %n, {result} : tensor<i32>, {text}\n}}",
        value.name,
        indented(&body)
    ));
    let exact = value.exact;
    let ty = value.ty.clone();
    b.op(ty, exact, format!("stablehlo.optimization_barrier {name}#1 : {text}"));
    Some(())
}

pub fn branch(b: &mut Builder, dice: &mut Dice) -> Option<()> {
    let flag = Ty::new("i1", []);
    let predicate = b.find(dice, |v| v.ty == flag && v.exact);
    let predicate = predicate.unwrap_or_else(|| b.constant(dice, &flag));
    let value = b.find(dice, |_| true)?;
    let (x, y) = (b.name(), b.name());
    let (then, first) = inside(b, dice, &value, &value.name, &x);
    let (other, second) = inside(b, dice, &value, &value.name, &y);
    let text = value.ty.text();
    let body = format!(
        "\"stablehlo.if\"({}) ({{\n{}  stablehlo.return {first} : {text}\n}}, {{\n{}  \
         stablehlo.return {second} : {text}\n}}) : (tensor<i1>) -> {text}",
        predicate.name,
        indented(&then),
        indented(&other)
    );
    b.op(value.ty.clone(), value.exact, body);
    Some(())
}

pub fn case(b: &mut Builder, dice: &mut Dice) -> Option<()> {
    let scalar = Ty::new("i32", []);
    let index = b.find(dice, |v| v.ty == scalar && v.exact);
    let index = index.unwrap_or_else(|| b.constant(dice, &scalar));
    let value = b.find(dice, |_| true)?;
    let text = value.ty.text();
    let mut regions = Vec::new();
    for _ in 0..1 + dice.below(3) {
        let fresh = b.name();
        let (lines, result) = inside(b, dice, &value, &value.name, &fresh);
        regions.push(format!("{{\n{}  stablehlo.return {result} : {text}\n}}", indented(&lines)));
    }
    let body = format!(
        "\"stablehlo.case\"({}) ({}) : (tensor<i32>) -> {text}",
        index.name,
        regions.join(", ")
    );
    b.op(value.ty.clone(), value.exact, body);
    Some(())
}

pub fn call(b: &mut Builder, dice: &mut Dice) -> Option<()> {
    let value = b.find(dice, |_| true)?;
    let text = value.ty.text();
    let callee = format!("f{}", b.functions.len());
    let op = if value.ty.element == "i1" { "or" } else { "add" };
    b.functions.push(format!(
        "func.func private @{callee}(%a: {text}) -> {text} {{\n  %s = stablehlo.{op} %a, %a : \
         {text}\n  return %s : {text}\n}}"
    ));
    let body = format!("call @{callee}({}) : ({text}) -> {text}", value.name);
    b.op(value.ty.clone(), value.exact, body);
    Some(())
}
