//! Quantized values, attributes that are kept as text, and ops that are kept whole.

mod verify_support;

use verify_support::{expect, expect_ops};

#[test]
fn quantized_values() {
    let q = "tensor<2x3x!quant.uniform<i8:f32, 0.5:1>>";
    let a = "tensor<2x3x!quant.uniform<i8:f32:1, {0.5, 0.25, 1.0}>>";
    let t = "tensor<3x2x!quant.uniform<i8:f32:0, {0.5, 0.25, 1.0}>>";
    let t_wrong = "tensor<3x2x!quant.uniform<i8:f32:1, {0.5, 0.25}>>";
    let short = "tensor<2x3x!quant.uniform<i8:f32:1, {0.5, 0.25}>>";
    let wide = "tensor<2x3x!quant.uniform<i32:f32, 0.5:1>>";
    let half = "tensor<2x3x!quant.uniform<i8:f16, 0.5:1>>";
    let far = "tensor<2x3x!quant.uniform<i8:f32, 0.5:300>>";
    let cases = [
        (format!("\"stablehlo.negate\"(%q) : ({q}) -> {q}"), ""),
        (format!("\"stablehlo.negate\"(%a) : ({a}) -> {a}"), "which this op doesn't take"),
        (format!("\"stablehlo.add\"(%a, %a) : ({a}, {a}) -> {a}"), ""),
        (format!("\"stablehlo.add\"(%a, %a) : ({a}, {a}) -> {q}"), "the result isn't"),
        (format!("\"stablehlo.add\"(%q, %q) : ({q}, {q}) -> {wide}"), "stored differently"),
        (format!("\"stablehlo.add\"(%q, %q) : ({q}, {q}) -> {half}"), "stands for f32"),
        (format!("\"stablehlo.add\"(%q, %q) : ({q}, {q}) -> tensor<2x3xf32>"), "only some"),
        (format!("\"stablehlo.uniform_quantize\"(%f) : (tensor<2x3xf32>) -> {short}"), "2 scales"),
        (
            format!("\"stablehlo.uniform_quantize\"(%f) : (tensor<2x3xf32>) -> {far}"),
            "zero point 300",
        ),
        (format!("\"stablehlo.uniform_quantize\"(%f) : (tensor<2x3xf32>) -> {half}"), "meets f32"),
        (
            format!(
                "\"stablehlo.transpose\"(%a) <{{permutation = array<i64: 1, 0>}}> : ({a}) -> {t}"
            ),
            "",
        ),
        (
            format!(
                "\"stablehlo.transpose\"(%a) <{{permutation = array<i64: 1, 0>}}> : ({a}) -> {t_wrong}"
            ),
            "different scales",
        ),
        (
            format!("\"stablehlo.constant\"() <{{value = dense<1> : tensor<2x3xi8>}}> : () -> {q}"),
            "",
        ),
        (
            format!(
                "\"stablehlo.constant\"() <{{value = dense<1> : tensor<2x3xi16>}}> : () -> {q}"
            ),
            "expected tensor<2x3xi16>",
        ),
    ];
    let cases: Vec<(&str, &str)> = cases.iter().map(|(op, why)| (op.as_str(), *why)).collect();
    expect_ops(&format!("%q: {q}, %a: {a}, %f: tensor<2x3xf32>"), &cases);
    expect(
        "func.func private @f(tensor<2x!quant.uniform<i8:f32, 0.0>>)",
        "out of the range of f32",
    );
}

#[test]
fn dynamic_convolutions() {
    let conv = |padding: &str, strides: &str| {
        format!(
            "\"stablehlo.dynamic_conv\"(%x, %k, %{padding}) <{{batch_group_count = 1 : i64, \
             dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, \
             feature_group_count = 1 : i64, window_strides = array<i64: {strides}>}}> : \
             (tensor<1x8x4xf32>, tensor<3x4x2xf32>, tensor<{padding_type}xi32>) -> tensor<1x?x2xf32>",
            padding_type = if padding == "p" { "1x2" } else { "2x2" },
        )
    };
    let cases = [(conv("p", "1"), ""), (conv("w", "1"), "padding"), (conv("p", "0"), "0")];
    let cases: Vec<(&str, &str)> = cases.iter().map(|(op, why)| (op.as_str(), *why)).collect();
    expect_ops(
        "%x: tensor<1x8x4xf32>, %k: tensor<3x4x2xf32>, %p: tensor<1x2xi32>, %w: tensor<2x2xi32>",
        &cases,
    );
}

#[test]
fn algorithms_accuracies_and_aliases() {
    let dot = |types: &str, steps: i64| {
        format!(
            "\"stablehlo.dot_general\"(%x, %x) <{{algorithm = #stablehlo.dot_algorithm<\
             lhs_precision_type = {types}, rhs_precision_type = {types}, accumulation_type = f32, \
             lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = {steps}, \
             allow_imprecise_accumulation = false>, dot_dimension_numbers = #stablehlo.dot<\
             lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}}> : \
             (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>"
        )
    };
    let accuracy = |mode: &str| {
        format!(
            "\"stablehlo.tanh\"(%x) <{{result_accuracy = #stablehlo.result_accuracy<atol = 1.0, \
             mode = #stablehlo.result_accuracy_mode<{mode}>>}}> : (tensor<4x4xf32>) -> \
             tensor<4x4xf32>"
        )
    };
    let call = |rest: &str| {
        format!("\"stablehlo.custom_call\"(%x) <{{{rest}}}> : (tensor<4x4xf32>) -> tensor<4x4xf32>")
    };
    let alias = |operand: usize| {
        call(&format!(
            "call_target_name = \"f\", output_operand_aliases = [#stablehlo.output_operand_alias<\
             output_tuple_indices = [], operand_index = {operand}, operand_tuple_indices = []>]"
        ))
    };
    let config = |version: i64, config: &str| {
        call(&format!(
            "api_version = {version} : i32, backend_config = {config}, call_target_name = \"f\""
        ))
    };
    let cases = [
        (dot("bf16", 6), ""),
        (dot("bf16", 5), "no machine is known"),
        (dot("bf16", 0), "num_primitive_operations is 0"),
        (accuracy("TOLERANCE"), ""),
        (accuracy("HIGHEST"), "can't have tolerances"),
        (alias(0), ""),
        (alias(1), "operand 1 of 1"),
        (config(4, "{a = 1 : i32}"), ""),
        (config(4, "\"a\""), "must be a dictionary"),
        (config(3, "{a = 1 : i32}"), "must be text"),
    ];
    let cases: Vec<(&str, &str)> = cases.iter().map(|(op, why)| (op.as_str(), *why)).collect();
    expect_ops("%x: tensor<4x4xf32>", &cases);
}

#[test]
fn futures_and_types() {
    expect("func.func private @f(!stablehlo.future<tensor<2xf32>>)", "");
    expect("func.func private @f(!stablehlo.future<f32>)", "a future holds tensors");
    expect("func.func private @f(!stablehlo.foo)", "there is no type 'foo'");
    expect("func.func private @f(tensor<?x?xf32, #stablehlo.bounds<3>>)", "1 bounds for 2");
    let start = |ty: &str, inner: &str| {
        format!(
            "\"stablehlo.async_start\"(%x) ({{\n^bb0(%a: {ty}):\n%r = {inner} : ({ty}) -> {ty}\n\
             \"stablehlo.return\"(%r) : ({ty}) -> ()\n}}) : (tensor<4xf32>) -> \
             !stablehlo.future<tensor<4xf32>>"
        )
    };
    let permute = "\"stablehlo.collective_permute\"(%a) <{source_target_pairs = dense<[[0, 1]]> : \
                   tensor<1x2xi64>}>";
    let cases = [
        (start("tensor<4xf32>", permute), ""),
        (start("tensor<4xi32>", permute), "parameters of the region"),
        (start("tensor<4xf32>", "\"stablehlo.negate\"(%a)"), "neither a collective nor a slice"),
        (
            "\"chlo.mulhi\"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>".to_owned(),
            "lhs has element type f32",
        ),
        (
            "\"chlo.broadcast_add\"(%x, %i) : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>"
                .to_owned(),
            "operands have elements of f32 and of i32",
        ),
        (
            "\"chlo.constant_like\"(%x) <{value = 1 : i32}> : (tensor<4xf32>) -> tensor<4xf32>"
                .to_owned(),
            "the value has type i32",
        ),
    ];
    let cases: Vec<(&str, &str)> = cases.iter().map(|(op, why)| (op.as_str(), *why)).collect();
    expect_ops("%x: tensor<4xf32>, %i: tensor<4xi32>", &cases);
}
