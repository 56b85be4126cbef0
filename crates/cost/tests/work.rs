//! Work of ops and programs, on programs from text.

use shard_cost::ops::{bytes_accessed, flops, op_work};
use shard_cost::{program, trip_count};
use shard_ir::{FuncId, Module, OpId};

fn read(text: &str) -> Module {
    let parsed = shard_text::parse(text, &shard_text::ParseOptions::default());
    let messages: Vec<String> = parsed.diagnostics.iter().map(ToString::to_string).collect();
    assert!(messages.is_empty(), "{text}\n{messages:#?}");
    let found = shard_ir::verify(&parsed.module);
    assert!(found.is_empty(), "{text}\n{found:#?}");
    parsed.module
}

fn main_func(module: &Module) -> FuncId {
    module.main_func().expect("a function")
}

/// The first op of the given name, anywhere in the main function.
fn find(module: &Module, name: &str) -> OpId {
    let mut found = None;
    module.walk(module.funcs[main_func(module)].body, |op| {
        if module.op_name(op) == name {
            found.get_or_insert(op);
        }
    });
    found.unwrap_or_else(|| panic!("no {name}"))
}

const ADD: &str = "({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %r = stablehlo.add %a, %b : tensor<f32> stablehlo.return %r : tensor<f32> })";

#[test]
fn operations_of_each_family() {
    let cases: Vec<(&str, String, f64)> = vec![
        ("stablehlo.add", "stablehlo.add %x, %x : tensor<4x8xf32>".into(), 32.0),
        (
            "stablehlo.dot_general",
            "stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>".into(),
            2.0 * 4.0 * 8.0 * 16.0,
        ),
        (
            "stablehlo.dot_general",
            "stablehlo.dot_general %c, %c, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<4x8xcomplex<f32>>, tensor<4x8xcomplex<f32>>) -> tensor<4xcomplex<f32>>".into(),
            8.0 * 32.0,
        ),
        (
            "stablehlo.convolution",
            "\"stablehlo.convolution\"(%i, %k) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 2 : i64, batch_group_count = 1 : i64, padding = dense<1> : tensor<2x2xi64>}> : (tensor<2x5x5x6xf32>, tensor<3x3x3x8xf32>) -> tensor<2x5x5x8xf32>".into(),
            // 13 of the 15 pairs along each dimension meet no padding.
            2.0 * 2.0 * 8.0 * 3.0 * 13.0 * 13.0,
        ),
        (
            "stablehlo.reduce",
            format!("\"stablehlo.reduce\"(%x, %z) <{{dimensions = array<i64: 1>}}> {ADD} : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>"),
            28.0,
        ),
        (
            "stablehlo.reduce_window",
            format!("\"stablehlo.reduce_window\"(%x, %z) <{{window_dimensions = array<i64: 2, 3>}}> {ADD} : (tensor<4x8xf32>, tensor<f32>) -> tensor<3x6xf32>"),
            18.0 * 5.0,
        ),
        (
            "stablehlo.scatter",
            format!("\"stablehlo.scatter\"(%x, %n, %u) <{{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}}> {ADD} : (tensor<4x8xf32>, tensor<3x1xi32>, tensor<3x8xf32>) -> tensor<4x8xf32>"),
            24.0,
        ),
        (
            "stablehlo.sort",
            "\"stablehlo.sort\"(%x) <{dimension = 1 : i64}> ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %r = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1> stablehlo.return %r : tensor<i1> }) : (tensor<4x8xf32>) -> tensor<4x8xf32>".into(),
            32.0 * 3.0,
        ),
        ("stablehlo.cholesky", "stablehlo.cholesky %q, lower = true : tensor<2x6x6xf32>".into(), 2.0 * 72.0),
        (
            "stablehlo.fft",
            "\"stablehlo.fft\"(%c) <{fft_type = #stablehlo<fft_type FFT>, fft_length = array<i64: 8>}> : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xcomplex<f32>>".into(),
            5.0 * 32.0 * 3.0,
        ),
        (
            "stablehlo.all_reduce",
            format!("\"stablehlo.all_reduce\"(%x) <{{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}}> {ADD} : (tensor<4x8xf32>) -> tensor<4x8xf32>"),
            32.0,
        ),
        ("stablehlo.transpose", "stablehlo.transpose %x, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>".into(), 0.0),
    ];
    for (name, op, expected) in cases {
        let text = format!(
            "func.func @f(%x: tensor<4x8xf32>, %y: tensor<8x16xf32>, %c: tensor<4x8xcomplex<f32>>, %i: tensor<2x5x5x6xf32>, %k: tensor<3x3x3x8xf32>, %z: tensor<f32>, %n: tensor<3x1xi32>, %u: tensor<3x8xf32>, %q: tensor<2x6x6xf32>) {{ %0 = {op} return }}"
        );
        let module = read(&text);
        assert_eq!(flops(&module, find(&module, name)), expected, "{op}");
    }
}

#[test]
fn transcendentals_and_bytes() {
    let module = read(
        "func.func @f(%x: tensor<4x8xf32>, %i: tensor<i32>, %u: tensor<1x8xf32>) {
  %0 = stablehlo.exponential %x : tensor<4x8xf32>
  %1 = stablehlo.reshape %x : (tensor<4x8xf32>) -> tensor<32xf32>
  %2 = stablehlo.dynamic_update_slice %x, %u, %i, %i : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  %3 = stablehlo.slice %x [0:1, 0:8] : (tensor<4x8xf32>) -> tensor<1x8xf32>
  return
}",
    );
    let work = op_work(&module, find(&module, "stablehlo.exponential"));
    assert_eq!((work.flops, work.transcendentals, work.bytes), (0.0, 32.0, 256.0));
    for (name, bytes) in [
        ("stablehlo.reshape", 0.0),
        ("stablehlo.dynamic_update_slice", 64.0),
        ("stablehlo.slice", 64.0),
    ] {
        assert_eq!(bytes_accessed(&module, find(&module, name)), bytes, "{name}");
    }
}

/// A loop with a counter, whose start, comparison and step are given.
fn counted(before: &str, start: &str, cond: &str, step: &str) -> String {
    format!(
        "func.func @f(%x: tensor<4xf32>, %dynamic: tensor<i32>) -> tensor<4xf32> {{
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %c3 = stablehlo.constant dense<3> : tensor<i32>
  %c10 = stablehlo.constant dense<10> : tensor<i32>
  {before}
  %r:3 = stablehlo.while(%a = %x, %i = {start}, %n = %c10) : tensor<4xf32>, tensor<i32>, tensor<i32>
  cond {{
    {cond}
    stablehlo.return %p : tensor<i1>
  }} do {{
    {step}
    %b = stablehlo.add %a, %a : tensor<4xf32>
    stablehlo.return %b, %j, %n : tensor<4xf32>, tensor<i32>, tensor<i32>
  }}
  return %r#0 : tensor<4xf32>
}}"
    )
}

#[test]
fn loops_are_counted() {
    let lt =
        "%p = stablehlo.compare LT, %i, %c10, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>";
    let carried = "%p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>";
    let inside = "%k = stablehlo.constant dense<10> : tensor<i32> %p = stablehlo.compare GE, %k, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>";
    let ne = "%p = stablehlo.compare NE, %i, %c10 : (tensor<i32>, tensor<i32>) -> tensor<i1>";
    let unknown =
        "%p = stablehlo.compare LT, %i, %dynamic : (tensor<i32>, tensor<i32>) -> tensor<i1>";
    let gt = "%p = stablehlo.compare GT, %i, %c0 : (tensor<i32>, tensor<i32>) -> tensor<i1>";
    let one =
        "%s = stablehlo.constant dense<1> : tensor<i32> %j = stablehlo.add %i, %s : tensor<i32>";
    let three = "%j = stablehlo.add %c3, %i : tensor<i32>";
    let down = "%j = stablehlo.subtract %i, %c3 : tensor<i32>";
    let double = "%j = stablehlo.add %i, %i : tensor<i32>";
    for (start, cond, step, expected) in [
        ("%c0", lt, one, Some(10)),
        ("%c3", lt, one, Some(7)),
        ("%c0", lt, three, Some(4)),
        ("%c0", carried, three, Some(4)),
        ("%c0", inside, one, Some(11)),
        ("%c0", ne, one, Some(10)),
        ("%c0", ne, three, None),
        ("%c10", lt, one, Some(0)),
        ("%c10", gt, down, Some(4)),
        ("%c0", lt, down, None),
        ("%c0", lt, double, None),
        ("%c0", unknown, one, None),
        ("%dynamic", lt, one, None),
    ] {
        let module = read(&counted("", start, cond, step));
        let op = find(&module, "stablehlo.while");
        assert_eq!(trip_count(&module, op), expected, "{start} {cond} {step}");
    }
}

#[test]
fn loops_over_a_tuple_are_counted() {
    let tuple = "tuple<tensor<4xf32>, tensor<i32>>";
    let module = read(&format!(
        "func.func @f(%x: tensor<4xf32>) {{
  %c0 = stablehlo.constant dense<2> : tensor<i32>
  %t = stablehlo.tuple %x, %c0 : {tuple}
  %r = \"stablehlo.while\"(%t) ({{
  ^bb0(%s: {tuple}):
    %i = stablehlo.get_tuple_element %s[1] : ({tuple}) -> tensor<i32>
    %k = stablehlo.constant dense<8> : tensor<i32>
    %p = stablehlo.compare LT, %i, %k : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }}, {{
  ^bb0(%s: {tuple}):
    %i = stablehlo.get_tuple_element %s[1] : ({tuple}) -> tensor<i32>
    %a = stablehlo.get_tuple_element %s[0] : ({tuple}) -> tensor<4xf32>
    %k = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %k : tensor<i32>
    %n = stablehlo.tuple %a, %j : {tuple}
    stablehlo.return %n : {tuple}
  }}) : ({tuple}) -> {tuple}
  return
}}"
    ));
    assert_eq!(trip_count(&module, find(&module, "stablehlo.while")), Some(6));
}

#[test]
fn programs_count_loops_and_calls() {
    let callee = "func.func private @g(%x: tensor<4xf32>) -> tensor<4xf32> { %0 = stablehlo.multiply %x, %x : tensor<4xf32> return %0 : tensor<4xf32> }\n";
    let lt = "%p = stablehlo.compare LT, %i, %c10 : (tensor<i32>, tensor<i32>) -> tensor<i1>";
    let step = "%s = stablehlo.constant dense<1> : tensor<i32> %j = stablehlo.add %i, %s : tensor<i32> %y = func.call @g(%a) : (tensor<4xf32>) -> tensor<4xf32>";
    let text = counted("", "%c0", lt, step).replacen("func.func @f", "func.func @main", 1);
    let module = read(&format!("{callee}{text}"));
    let func = main_func(&module);
    let found = program::work(&module, func);
    // Ten times an addition of 4 and of 1, and the 4 of the call; the condition once more.
    assert_eq!(found.work.flops, 10.0 * (4.0 + 1.0 + 4.0) + 11.0);
    assert!(found.unknown_loops.is_empty() && found.unpriced.is_empty());
    let counts = program::counts(&module, func);
    let of = |name: &str| {
        let hits = counts.iter().filter(|(op, _)| module.op_name(*op) == name);
        hits.map(|(_, count)| *count).collect::<Vec<_>>()
    };
    assert_eq!(of("stablehlo.multiply"), [10]);
    assert_eq!(of("stablehlo.add"), [10, 10]);
    assert_eq!(of("stablehlo.while"), [1]);
}
