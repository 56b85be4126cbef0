//! Broken texts give located errors, and nothing panics.

mod support;

use shard_ir::Place;
use shard_text::{ParseOptions, parse, parse_bytes};

/// The first error of a text: the text it points to, and all that it says.
fn first_error(text: &str) -> (String, String) {
    let parsed = parse(text, &ParseOptions::default());
    assert!(parsed.has_errors(), "no error in {text}");
    let diagnostic = &parsed.diagnostics[0];
    let Place::Text(range) = &diagnostic.place else { panic!("{diagnostic} has no place") };
    (text[range.clone()].to_owned(), diagnostic.to_string())
}

fn main_with(body: &str) -> String {
    format!(
        "sdy.mesh @mesh = <[\"x\"=4, \"y\"=2]>\n\
         func.func @main(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {{\n{body}\n}}\n"
    )
}

#[track_caller]
fn expect(text: &str, at: &str, parts: &[&str]) {
    let (place, message) = first_error(text);
    assert_eq!(place, at, "{message}");
    for part in parts {
        assert!(message.contains(part), "{message:?} doesn't say {part:?}");
    }
}

#[test]
fn truncated_text() {
    let text = main_with("%0 = stablehlo.add %arg0, %arg0 : tensor<8x4");
    expect(text.trim_end_matches(['\n', '}']), "", &["the text ends"]);
}

#[test]
fn unknown_axis() {
    let text =
        main_with("%0 = sdy.sharding_constraint %arg0 <@mesh, [{\"z\"}, {}]> : tensor<8x4xf32>");
    expect(&text, "\"z\"", &["@mesh has no axis \"z\"", "\"x\" (4), \"y\" (2)"]);
}

#[test]
fn unknown_mesh() {
    let text = main_with("%0 = sdy.sharding_constraint %arg0 <@m, [{}, {}]> : tensor<8x4xf32>");
    expect(&text, "@m", &["no mesh @m", "the meshes are @mesh"]);
}

#[test]
fn axis_used_twice() {
    let sharding = "<@mesh, [{\"x\"}, {\"x\"}]>";
    let text =
        main_with(&format!("%0 = sdy.sharding_constraint %arg0 {sharding} : tensor<8x4xf32>"));
    expect(&text, sharding, &["\"x\" is used twice"]);
}

#[test]
fn rank_of_a_sharding() {
    let text = main_with("%0 = sdy.sharding_constraint %arg0 <@mesh, [{\"x\"}]> : tensor<8x4xf32>");
    expect(&text, "<@mesh, [{\"x\"}]>", &["1 dimension shardings", "rank 2"]);
    let text = "sdy.mesh @mesh = <[\"x\"=4]>\n\
                func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, []>}) {\n return\n}";
    let (_, message) = first_error(text);
    assert!(message.contains("rank 1"), "{message}");
}

#[test]
fn invalid_utf8() {
    let parsed = parse_bytes(b"module {\n\xff\n}", &ParseOptions::default());
    assert_eq!(parsed.diagnostics[0].place, Place::Text(9..10));
}

#[test]
fn deep_nesting() {
    const DEEP: usize = 100_000;
    let texts = [
        format!("module attributes {{a = {}}} {{}}", "[".repeat(DEEP)),
        format!("module attributes {{a = {}1{}}} {{}}", "[".repeat(DEEP), "]".repeat(DEEP)),
        format!("module attributes {{{}", "a = {".repeat(DEEP)),
        format!("func.func @f(%a: {}tensor<f32>", "tuple<".repeat(DEEP)),
        format!("func.func @f(%a: {}", "(".repeat(DEEP)),
        format!("module {{}} loc({}", "callsite(".repeat(DEEP)),
        format!("module {{}} loc({}", "\"a\"(".repeat(DEEP)),
        format!("func.func @f() {{ {}", "\"a.b\"() ({".repeat(DEEP)),
        format!("func.func @f() {{ {}", "stablehlo.while() cond {".repeat(DEEP)),
    ];
    for text in texts {
        let (_, message) = first_error(&text);
        assert!(message.contains("nesting is deeper than"), "{message}");
    }
    // Brackets that are kept as text don't nest for the reader.
    let kept =
        format!("module attributes {{a = #a.b{}{}}} {{}}", "<".repeat(DEEP), ">".repeat(DEEP));
    support::read(&kept);
    // Nor do lists of elements, which have the rank of their tensor.
    let (_, message) = first_error(&format!(
        "func.func @f() {{ %0 = stablehlo.constant dense<{}> : tensor<1xi32>",
        "[".repeat(DEEP)
    ));
    assert!(message.contains("deeper than the rank"), "{message}");
    // A chain of aliases is as deep as it is long, but each is read by itself.
    let mut chain = String::from("#loc = loc(unknown)\n");
    for number in 1..DEEP {
        let before = if number == 1 { String::new() } else { (number - 1).to_string() };
        chain += &format!("#loc{number} = loc(\"a\"(#loc{before}))\n");
    }
    chain += &format!("module {{}} loc(#loc{})", DEEP - 1);
    let module = support::read(&chain);
    let options = shard_text::PrintOptions { debug_info: true, ..Default::default() };
    let _ = shard_text::print(&module, &options);
}

#[test]
fn shape_overflow() {
    let text = main_with("%0 = stablehlo.iota dim = 0 : tensor<99999999999999999999xi32>");
    expect(&text, "99999999999999999999", &["doesn't fit into 64 bits"]);
    let ty = "tensor<4294967296x4294967296xf32>";
    let text = main_with(&format!("%0 = stablehlo.iota dim = 0 : {ty}"));
    expect(&text, ty, &["more bytes than 64 bits can count"]);
}

#[test]
fn values() {
    expect(&main_with("return %5 : tensor<8x4xf32>"), "%5", &["'%5' isn't defined"]);
    let twice = "%0 = stablehlo.add %arg0, %arg0 : tensor<8x4xf32>\n";
    expect(&main_with(&twice.repeat(2)), "%0", &["defined twice"]);
    let (_, message) =
        first_error(&main_with("%0 = stablehlo.add %arg0, %arg0#3 : tensor<8x4xf32>"));
    assert!(message.contains("no number 3"), "{message}");
    let (_, message) = first_error(&main_with("%0:2 = stablehlo.abs %arg0 : tensor<8x4xf32>"));
    assert!(message.contains("2 results are named"), "{message}");
    let (_, message) = first_error(&main_with("%0 = stablehlo.abs %arg0 : tensor<4x8xf32>"));
    assert!(
        message.contains("tensor<8x4xf32>") && message.contains("tensor<4x8xf32>"),
        "{message}"
    );
}

#[test]
fn ops() {
    let (_, message) = first_error(&main_with("%0 = stablehlo.add %arg0 : tensor<8x4xf32>"));
    assert!(message.contains("'stablehlo.add' op needs 2 operands, but has 1"), "{message}");
    let text =
        main_with("%0 = \"stablehlo.transpose\"(%arg0) : (tensor<8x4xf32>) -> tensor<4x8xf32>");
    let (_, message) = first_error(&text);
    assert!(message.contains("attribute 'permutation' is missing"), "{message}");
    expect(&main_with("%0 = stablehlo.frobnicate %arg0"), "stablehlo.frobnicate", &["isn't known"]);
    let (_, message) =
        first_error(&main_with("%0 = stablehlo.constant dense<[1, 2]> : tensor<3xi32>"));
    assert!(message.contains("has 2 items, but the shape asks for 3"), "{message}");
    let (_, message) =
        first_error(&main_with("%0 = stablehlo.constant dense<300> : tensor<3xui8>"));
    assert!(message.contains("out of the range of ui8"), "{message}");
    let (_, message) =
        first_error(&main_with("%0 = stablehlo.constant dense<\"0x0011\"> : tensor<3xi32>"));
    assert!(message.contains("2 bytes"), "{message}");
}

#[test]
fn algorithms_of_dots() {
    let ty = "(tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>";
    let algorithm = "<lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, \
                     lhs_component_count = 0, rhs_component_count = 1, \
                     num_primitive_operations = 1, allow_imprecise_accumulation = false>";
    let text = main_with(&format!(
        "%0 = stablehlo.dot_general %arg0, %arg0, contracting_dims = [1] x [1], \
         algorithm = {algorithm} : {ty}"
    ));
    expect(&text, algorithm, &["lhs_component_count is 0"]);
}

#[test]
fn several_errors_in_one_run() {
    let text = main_with(
        "%0 = stablehlo.add %arg0, %nothing : tensor<8x4xf32>\n\
         %1 = stablehlo.abs %0 : tensor<8x4xf32>\n\
         %2 = stablehlo.frobnicate %arg0 {a = {b = 1}} : tensor<8x4xf32>\n\
         %3 = stablehlo.abs %arg0 : tensor<8x4xf32>\n\
         %4 = stablehlo.while(%iterArg = %bad) : tensor<i32>\n\
         cond {\n stablehlo.return %iterArg : tensor<i32>\n} do {\n stablehlo.return\n}\n\
         return %7 : tensor<8x4xf32>",
    );
    let parsed = parse(&text, &ParseOptions::default());
    let messages: Vec<String> = parsed.diagnostics.iter().map(ToString::to_string).collect();
    // What depends on a broken op isn't reported again.
    assert_eq!(messages.len(), 4, "{messages:#?}");
    assert!(messages[3].contains("'%7'"));
    let entry = parsed.module.func_entry(parsed.module.main_func().expect("what was understood"));
    assert_eq!(parsed.module.block_ops(entry).len(), 1);
}

#[test]
fn cyclic_aliases() {
    for text in [
        "#loc = loc(\"a\"(#loc1))\n#loc1 = loc(\"b\"(#loc))\nmodule {} loc(#loc)",
        "!a = tuple<!b>\n!b = tuple<!a>\nfunc.func @f(%a: !a)",
        "#a = [#b]\n#b = [#a]\nmodule attributes {a = #a} {}",
    ] {
        let (_, message) = first_error(text);
        assert!(message.contains("is defined by itself"), "{message}");
    }
}

/// A small generator, so that a failure can be repeated.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit.max(1)
    }
}

#[test]
fn damaged_models_are_read_without_panic() {
    let mut random = Random(1);
    for (name, text) in support::models() {
        // The time is that of the text, so the bigger the text, the fewer the runs.
        let runs = (6_000_000 / text.len()).clamp(8, 200);
        for _ in 0..runs {
            let mut at = random.below(text.len());
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            let _ = parse(&text[..at], &ParseOptions::default());
        }
        for _ in 0..runs {
            let mut bytes = text.clone().into_bytes();
            for _ in 0..1 + random.below(20) {
                let at = random.below(bytes.len());
                match random.below(4) {
                    0 => bytes[at] = b"{}[]()<>\"%#@!:,=-0x?/ \n"[random.below(23)],
                    1 => bytes[at] = random.below(256) as u8,
                    2 => {
                        let end = (at + random.below(40)).min(bytes.len());
                        bytes.drain(at..end);
                    }
                    _ => {
                        let end = (at + random.below(200)).min(bytes.len());
                        let copy = bytes[at..end].to_vec();
                        let to = random.below(bytes.len());
                        bytes.splice(to..to, copy);
                    }
                }
            }
            let parsed = parse_bytes(&bytes, &ParseOptions::default());
            // What was read can be printed, whatever it is.
            if !parsed.has_errors() {
                let printed = shard_text::print(&parsed.module, &Default::default());
                let again = parse(&printed, &ParseOptions::default());
                assert!(!again.has_errors(), "{name}: {:?}", again.diagnostics);
            }
        }
    }
}
