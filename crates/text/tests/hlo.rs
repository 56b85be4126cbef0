//! HLO text comes back as it was.

use shard_text::{ParseOptions, parse_hlo, print_hlo};

/// Reads a text without errors and prints it.
fn printed(text: &str) -> String {
    let parsed = parse_hlo(text, &ParseOptions::default());
    assert_eq!(parsed.diagnostics, [], "{text}");
    print_hlo(&parsed.module).expect("it came from HLO text")
}

/// An instruction in a program around it, whose parameters are `%a` and `%b`.
fn program(params: [&str; 2], result: &str, instruction: &str) -> String {
    format!(
        "HloModule m\n\nENTRY %e (a: {0}, b: {1}) -> {result} {{\n  %a = {0} parameter(0)\n  \
         %b = {1} parameter(1)\n  ROOT %r = {result} {instruction}\n}}\n",
        params[0], params[1]
    )
}

#[test]
fn instructions_come_back_word_for_word() {
    let cases: &[([&str; 2], &str, &str)] = &[
        (["f32[]", "f32[]"], "f32[]", "add(%a, %b)"),
        (["s32[]", "s32[]"], "pred[]", "compare(%a, %b), direction=LT, type=UNSIGNED"),
        (["f32[]", "f32[]"], "f32[2]{0}", "constant({0.1, -0.0})"),
        (["f32[]", "f32[]"], "f32[3]{0}", "constant({inf, -inf, nan})"),
        (["f32[]", "f32[]"], "f32[1]{0}", "constant({-nan(0x1234)})"),
        (["f32[]", "f32[]"], "bf16[2]{0}", "constant({1.5, 3.0040553e38})"),
        (["f32[]", "f32[]"], "s4[2,2]{1,0}", "constant({ {-8, 7}, {0, -1} })"),
        (["f32[]", "f32[]"], "c64[]", "constant((1, -2.5))"),
        (["f32[]", "f32[]"], "pred[0,2]{1,0}", "constant({  })"),
        (["f32[]", "f32[]"], "(f32[], s32[])", "constant((1, 2))"),
        (["f32[]", "f32[]"], "u8[7]{0}", "constant({...})"),
        (["f32[4]{0}", "f32[]"], "f32[2]{0}", "slice(%a), slice={[0:4:2]}"),
        (["f32[4]{0}", "f32[]"], "f32[9]{0}", "pad(%a, %b), padding=1_1_1"),
        (
            ["f32[4]{0}", "f32[]"],
            "f32[4]{0}",
            "all-gather(%a), channel_id=1, \
             replica_groups=mesh['x'=2,'y'=4] {'y'}, dimensions={0}, use_global_device_ids=true",
        ),
        (
            ["f32[4]{0}", "f32[]"],
            "f32[4]{0}",
            "all-gather(%a), channel_id=1, \
             replica_groups=[2,4]<=[4,2]T(1,0), dimensions={0}, use_global_device_ids=true",
        ),
        (
            ["f32[4]{0}", "f32[]"],
            "f32[4]{0}",
            "collective-permute(%a), \
             source_target_pairs={{0,1},{1,0}}",
        ),
        (
            ["f32[1,8,8,3]{3,2,1,0}", "f32[3,3,3,4]{3,2,1,0}"],
            "f32[1,4,4,4]{3,2,1,0}",
            "convolution(%a, %b), window={size=3x3 stride=2x2 pad=0_1x0_1}, \
             dim_labels=b01f_01io->b01f, operand_precision={highest,default}",
        ),
        (
            ["f32[2]{0:T(128)S(1)}", "f32[]"],
            "f32[2]{0}",
            "copy(%a), sharding={replicated}, \
             backend_config={\"a\":[1,\"}\"]}, control-predecessors={%b}",
        ),
        (
            ["(f32[], (s32[], token[]))", "f32[]"],
            "(s32[], token[])",
            "get-tuple-element(%a), index=1",
        ),
        (["f32[<=8]{0}", "f32[]"], "s32[]", "get-dimension-size(%a), dimensions={0}"),
        (
            ["f32[4]{0}", "f32[]"],
            "f32[4]{0}",
            "custom-call(%a), custom_call_target=\"f\\\"g\", \
             api_version=API_VERSION_TYPED_FFI, backend_config={x = 1 : i32}",
        ),
        (
            ["f32[4]{0}", "f32[]"],
            "f32[4]{0}",
            "negate(%a), metadata={op_name=\"jit(f)/neg\" \
             source_file=\"f.py\" source_line=3}",
        ),
        (["f32[4]{0}", "f32[]"], "f32[4]{0}", "negate(%a), frontend_attributes={k=\"v\"}"),
    ];
    for (params, result, instruction) in cases {
        let text = program(*params, result, instruction);
        let body = |text: &str| text.lines().skip(3).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(body(&printed(&text)), body(&text));
    }
}

#[test]
fn short_forms_are_read() {
    let text = "HloModule m\nmax { x = f32[] parameter(0) y = f32[] parameter(1) \
                ROOT z = maximum(x, y) }\n\
                e { p = (f32[4], f32[]) parameter(0) \
                r = f32[] reduce(negate(p#0), p#1), dimensions={0}, to_apply=max }";
    let once = printed(text);
    assert!(once.contains("%p_0 = f32[4]{0} get-tuple-element(%p), index=0"), "{once}");
    assert!(once.contains("ROOT %r = f32[] reduce(%negate, %p_1)"), "{once}");
    assert_eq!(printed(&once), once);
}

#[test]
fn a_shared_computation_is_printed_once() {
    let text = "HloModule m\n\n%add (x: f32[], y: f32[]) -> f32[] {\n  %x = f32[] parameter(0)\n  \
                %y = f32[] parameter(1)\n  ROOT %z = f32[] add(%x, %y)\n}\n\nENTRY %e (a: f32[4], \
                b: f32[]) -> f32[] {\n  %a = f32[4]{0} parameter(0)\n  %b = f32[] parameter(1)\n  \
                %r = f32[] reduce(%a, %b), dimensions={0}, to_apply=%add\n  \
                ROOT %s = f32[] reduce(%a, %r), dimensions={0}, to_apply=%add\n}\n";
    assert_eq!(printed(text), text);
}

#[test]
fn several_errors_are_said() {
    let text = "HloModule m\nENTRY e {\n  a = f32[2] constant({1})\n  b = f32[2] add(a, c)\n  \
                ROOT d = f32[2] slice(a), slice={[0:2:1:1]}\n}";
    let parsed = parse_hlo(text, &ParseOptions::default());
    let messages: Vec<_> = parsed.diagnostics.iter().map(|found| &found.message[..]).collect();
    assert_eq!(messages.len(), 3, "{messages:?}");
    assert!(messages[0].contains("1 elements"), "{messages:?}");
    assert!(messages[1].contains("no instruction 'c'"), "{messages:?}");
    assert!(messages[2].contains("'slice' must be"), "{messages:?}");
}

#[test]
fn each_dimension_of_a_convolution_has_one_label() {
    for (labels, expected) in [
        ("b01f_01io->b01f", None),
        ("b01f_01.io->b01f", Some("must be dimensions such as")),
        ("b01f_01io->bb01f", Some("must be dimensions such as")),
        ("b01f_11io->b01f", Some("must be dimensions such as")),
        ("b01f_012io->b01f", Some("more labels than the 4 dimensions")),
        ("b0?f_0?io->b0?f", None),
    ] {
        let text = format!(
            "HloModule m\nENTRY e {{\n  a = f32[1,8,8,3] parameter(0)\n  w = f32[3,3,3,4] parameter(1)\n  \
             ROOT c = f32[1,6,6,4] convolution(a, w), window={{size=3x3}}, dim_labels={labels}\n}}"
        );
        let parsed = parse_hlo(&text, &ParseOptions::default());
        match (parsed.diagnostics.first(), expected) {
            (None, None) => {}
            (Some(found), Some(expected)) if found.message.contains(expected) => {}
            other => panic!("{labels}: {other:?}"),
        }
    }
}

#[test]
fn frontend_attributes_have_names() {
    let text = "HloModule m\nENTRY e {\n  ROOT a = f32[2] parameter(0), \
                frontend_attributes={k=\"v\",red[4]{0} \"x\"=1}\n}";
    let parsed = parse_hlo(text, &ParseOptions::default());
    let messages: Vec<_> = parsed.diagnostics.iter().map(|found| &found.message[..]).collect();
    assert!(
        messages[..].iter().any(|m| m.contains("'frontend_attributes' must be")),
        "{messages:?}"
    );
}

#[test]
fn computations_that_use_themselves_are_errors() {
    let text = "HloModule m\na { p = f32[] parameter(0) ROOT r = f32[] call(p), to_apply=b }\n\
                b { p = f32[] parameter(0) ROOT r = f32[] call(p), to_apply=a }";
    let parsed = parse_hlo(text, &ParseOptions::default());
    assert!(parsed.diagnostics[0].message.contains("uses itself"), "{:?}", parsed.diagnostics);
}

#[test]
fn copies_of_shared_computations_have_a_limit() {
    // Each uses the one before twice: without a limit there would be 2^40 copies.
    let mut text =
        "HloModule m\nc0 { x = f32[] parameter(0) ROOT r = f32[] negate(x) }\n".to_owned();
    for level in 1..40 {
        let inner = level - 1;
        text += &format!(
            "c{level} {{ x = f32[] parameter(0) y = f32[] map(x), dimensions={{}}, to_apply=c{inner} \
             ROOT r = f32[] map(y), dimensions={{}}, to_apply=c{inner} }}\n"
        );
    }
    let parsed = parse_hlo(&text, &ParseOptions::default());
    assert!(parsed.diagnostics[0].message.contains("too large"), "{:?}", parsed.diagnostics);
}

#[test]
fn attributes_end_where_the_line_does() {
    // The value of an attribute that isn't known may be a mesh, with its axes after a space.
    let text = "HloModule m\n\nENTRY %e (a: f32[4]) -> f32[4] {\n  %a = f32[4]{0} parameter(0)\n  \
                %b = f32[4]{0} negate(%a), groups=mesh['x'=2] {'x'}\n  \
                ROOT %c = f32[4]{0} abs(%b), name=é\n}\n";
    assert_eq!(printed(text), text);
}

#[test]
fn one_partition_is_what_absence_says() {
    let text =
        "HloModule m, num_partitions=1, replica_count=1\nENTRY e { ROOT a = f32[] constant(1) }";
    let module = parse_hlo(text, &ParseOptions::default()).into_result().expect("valid");
    assert!(module.attrs(module.attrs).is_empty());
}

#[test]
fn no_computation_is_lost() {
    // An opcode that isn't known has an attribute that names one.
    let text = "HloModule m\n\n%f (x: f32[]) -> f32[] {\n  ROOT %x = f32[] parameter(0)\n}\n\n\
                ENTRY %e (a: f32[]) -> f32[] {\n  %a = f32[] parameter(0)\n  \
                ROOT %b = f32[] frobnicate(%a), condition=%f\n}\n";
    assert_eq!(printed(text), text);
}

#[test]
fn one_number_for_many_elements() {
    let read = |constant: &str| {
        let text = format!("HloModule m\nENTRY e {{ ROOT a = {constant} }}");
        parse_hlo(&text, &ParseOptions::default()).into_result()
    };
    assert!(read("f32[3] constant(5)").is_ok());
    assert!(read("f32[99999999999] constant(0)").is_ok());
    let errors = read("f32[99999999999] constant(5)").expect_err("it takes 400 GB");
    assert!(errors[0].message.contains("one number for 99999999999 elements"), "{errors:?}");
}

#[test]
fn types_that_hlo_lacks_are_not_printed() {
    for ty in ["tensor<4xindex>", "!foo.bar<1>", "tuple<tensor<*xf32>>"] {
        let text = format!("func.func @f(%a: {ty}) {{ return }}");
        let parsed = shard_text::parse(&text, &ParseOptions::default());
        let error = print_hlo(&parsed.into_result().expect("valid")).expect_err(ty);
        assert!(error.message.contains(&format!("HLO has no type {ty}")), "{error}");
    }
}

#[test]
fn errors_of_syntax_and_of_meaning_are_said_in_order() {
    let text = "HloModule m\n\n%f (x: f32[]) -> f32[] {\n  %x = f32[] parameter(0)\n  \
                ROOT %y = f32[] !(%x)\n}\n\nENTRY %e (a: f32[2]) -> f32[2] {\n  \
                %a = f32[2] parameter(0)\n  %b = f32[2] add(%a, %nothing)\n  \
                %c = f32[2 negate(%a)\n  %d = f32[2] map(%a), to_apply=%f\n  \
                %g = negate(%c)\n  %h = abs(%g)\n  %i = f32[2] add(%a\n  \
                ROOT %j = f32[2] subtract(%h, %none)\n}\n";
    let parsed = parse_hlo(text, &ParseOptions::default());
    let places: Vec<_> = parsed
        .diagnostics
        .iter()
        .map(|found| match &found.place {
            shard_ir::Place::Text(range) => text[..range.start].lines().count(),
            place => panic!("{place:?}"),
        })
        .collect();
    // What uses something broken isn't reported again: lines 13, 14 and the last.
    assert_eq!(places, [5, 10, 11, 16], "{:#?}", parsed.diagnostics);
    // What was understood is there.
    let main = parsed.module.main_func().expect("a function");
    assert_eq!(parsed.module.args(main).len(), 1);
}

#[test]
fn shapes_have_bytes_that_can_be_counted() {
    let shape = "f32[4294967296,4294967296]";
    let text = program(["f32[]", "f32[]"], shape, "broadcast(%a), dimensions={}");
    let parsed = parse_hlo(&text, &ParseOptions::default());
    let found = parsed.diagnostics.first().expect("an error");
    assert!(found.message.contains("whose bytes 64 bits can count"), "{found:?}");
}
