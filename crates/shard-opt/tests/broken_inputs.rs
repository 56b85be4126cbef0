//! Broken inputs: each gives an error that says where and what, and exit status 1. None makes the
//! command panic, hang, or use the stack up.

use std::io::Write;
use std::process::{Command, Stdio};

/// Runs a command with a text on standard input: exit status, standard error.
fn run(arguments: &[&str], input: &[u8]) -> (i32, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_shard-opt"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || {
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let status = output.status.code().expect("the command was killed by a signal");
    (status, String::from_utf8(output.stderr).unwrap())
}

/// Every command that reads a program fails with status 1 and such an error.
fn fails(input: &[u8], place: &str, message: &str) {
    for arguments in [&["partition"] as &[&str], &["--inline-calls"], &["report"]] {
        let (status, said) = run(arguments, input);
        let first = said.lines().next().unwrap_or_default();
        assert_eq!(status, 1, "{arguments:?}: {said}");
        assert!(first.starts_with(place), "{arguments:?}: {first}");
        assert!(first.contains("error: "), "{arguments:?}: {first}");
        assert!(said.contains(message), "{arguments:?}: {said}");
    }
}

/// A program with an argument sharded as given; the sharding is in line 3.
fn sharded(sharding: &str) -> String {
    format!(
        "module @m {{\n  sdy.mesh @mesh = <[\"data\"=4, \"model\"=2]>\n  func.func public \
         @main(%x: tensor<8x16xf32> {{sdy.sharding = #sdy.sharding<@mesh, {sharding}>}}) -> \
         tensor<8x16xf32> {{\n    return %x : tensor<8x16xf32>\n  }}\n}}\n"
    )
}

#[test]
fn a_good_program_is_none_of_them() {
    let program = sharded("[{\"data\"}, {}]");
    assert_eq!(run(&["partition"], program.as_bytes()), (0, String::new()));
}

#[test]
fn truncated_file() {
    let program = sharded("[{\"data\"}, {}]");
    for len in [program.len() - 5, program.len() - 40, 100, 60, 9] {
        fails(&program.as_bytes()[..len], "<stdin>:", "");
    }
}

#[test]
fn unknown_axis() {
    fails(sharded("[{\"date\"}, {}]").as_bytes(), "<stdin>:3:", "\"date\"");
}

#[test]
fn mesh_axis_used_twice() {
    fails(sharded("[{\"data\"}, {\"data\"}]").as_bytes(), "<stdin>:3:", "\"data\"");
}

#[test]
fn mesh_axis_declared_twice() {
    let program = sharded("[{}, {}]").replace("\"model\"=2", "\"data\"=2");
    fails(program.as_bytes(), "<stdin>:2:", "\"data\"");
}

#[test]
fn rank_mismatch() {
    fails(sharded("[{\"data\"}, {}, {}]").as_bytes(), "<stdin>:3:", "rank");
}

#[test]
fn sharding_of_a_missing_argument() {
    let program = sharded("[{}, {}]");
    for name in ["2=[{\"data\"}, {}]", "weights=[{\"data\"}, {}]"] {
        let (status, said) = run(&["partition", "--arg", name], program.as_bytes());
        assert_eq!(status, 1, "{said}");
        assert!(said.starts_with("<stdin>"), "{said}");
        assert!(said.contains("--arg="), "{said}");
    }
    let (status, said) = run(&["partition", "--result", "1=[{}, {}]"], program.as_bytes());
    assert_eq!(status, 1, "{said}");
    assert!(said.contains("--result=1"), "{said}");
}

#[test]
fn invalid_utf8() {
    let mut program = sharded("[{}, {}]").into_bytes();
    program[30] = 0xff;
    fails(&program, "<stdin>:2:", "UTF-8");
    fails(b"\xff\xfe", "<stdin>:1:1", "UTF-8");
}

#[test]
fn deep_nesting() {
    let depth = 100_000;
    let nested = [
        "[".repeat(depth),
        "module @m attributes {a = ".to_owned() + &"[".repeat(depth),
        "func.func @main(%x: ".to_owned() + &"tuple<".repeat(depth),
        "module {".repeat(depth),
        "func.func @main() {\n".to_owned() + &"\"a.b\"() ({\n".repeat(depth),
        "#loc = ".to_owned() + &"loc(callsite(".repeat(depth),
    ];
    for program in nested {
        fails(program.as_bytes(), "<stdin>:", "");
    }
}

#[test]
fn overflow_in_a_shape() {
    for size in ["99999999999999999999", "9223372036854775808", "-4"] {
        let program = sharded("[{}, {}]").replace("8x16", &format!("{size}x16"));
        fails(program.as_bytes(), "<stdin>:3:", "");
    }
}

#[test]
fn shapes_whose_product_overflows_are_no_panic() {
    let program =
        sharded("[{\"data\"}, {}]").replace("8x16", "9223372036854775804x9223372036854775804");
    for arguments in [&["partition", "--report=text"] as &[&str], &["--partition-pipeline"]] {
        let (status, said) = run(arguments, program.as_bytes());
        assert!(status == 0 || status == 1, "{said}");
    }
}

#[test]
fn hlo_text() {
    fails(b"\n  HloModule jit_f, entry", "<stdin>:2:25", "expected '='");
    fails(b"HloModule f\n\nENTRY e {\n  ROOT x = f32[2] add(y, y)\n}", "<stdin>:4:23", "'y'");
    fails(
        b"HloModule f\n\nENTRY e {\n  ROOT x = f33[2] constant({1, 2})\n}",
        "<stdin>:4:12",
        "f33",
    );
    fails(
        b"HloModule f\nENTRY e { ROOT x = f32[2] constant({1, 2, 3}) }",
        "<stdin>:2:36",
        "3 elements",
    );
    let nested = format!("HloModule f\nENTRY e {{ x = {}f32[]", "(".repeat(100_000));
    fails(nested.as_bytes(), "<stdin>:2:", "");
    let operands = format!("HloModule f\nENTRY e {{ x = {}", "add(".repeat(100_000));
    fails(operands.as_bytes(), "<stdin>:2:", "deep");
    let tuple = format!(
        "HloModule f\nENTRY e {{ x = {}{} parameter(0) }}",
        "(".repeat(10_000),
        ")".repeat(10_000)
    );
    fails(tuple.as_bytes(), "<stdin>:2:", "nests less deep");
}

#[test]
fn an_op_whose_location_names_no_place() {
    let text = "module {\n  func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n    \
                %0 = stablehlo.tanh %x : tensor<4xf32> loc(\"f\")\n    \
                return %0, %x : tensor<4xf32>, tensor<4xf32> loc(unknown)\n  }\n}\n";
    fails(text.as_bytes(), "<stdin>:4:5", "returns 2 values");
}

#[test]
fn empty_input() {
    let (status, said) = run(&["partition"], b"");
    assert_eq!(status, 1, "{said}");
    assert!(said.contains("error: "), "{said}");
}

#[test]
fn wrong_command_lines_have_status_2() {
    for arguments in [
        &["--no-such-option"] as &[&str],
        &["partition", "--mesh=data"],
        &["partition", "--mesh=data=2,data=4"],
        &["partition", "--arg=x"],
        &["partition", "--report=pdf"],
        &["partition", "--topology=v9:1"],
        &["partition", "--stop-after=nowhere"],
        &["partition", "--stop-after=import", "--report=text"],
        &["partition", "--memory-limit=much"],
        &["--pass-pipeline=builtin.module(no-such-pass)"],
        &["--pass-pipeline=builtin.module(import{a=b})"],
        &["--pass-pipeline=import", "--import"],
        &["--import=x"],
    ] {
        let (status, said) = run(arguments, sharded("[{}, {}]").as_bytes());
        assert_eq!(status, 2, "{arguments:?}: {said}");
        assert!(said.contains("error: "), "{arguments:?}: {said}");
    }
    let (status, said) = run(&["partition", "/no/such/file"], b"");
    assert_eq!(status, 1);
    assert!(said.contains("/no/such/file"), "{said}");
}

#[cfg(feature = "pjrt")]
#[test]
fn missing_plugin_and_a_library_that_is_none() {
    let program = sharded("[{\"data\"}, {}]");
    for plugin in ["no/such/plugin.so", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")] {
        let (status, said) = run(&["verify", "--plugin", plugin], program.as_bytes());
        assert_eq!(status, 1, "{said}");
        assert!(said.contains("error: ") && said.contains(plugin), "{said}");
    }
}

#[test]
fn random_numbers_that_differ_between_devices() {
    let program = "module @m {\n  sdy.mesh @mesh = <[\"x\"=4]>\n  func.func public @main(%a: \
                   tensor<f32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, \
                   [{\"x\"}]>}) {\n    %s = stablehlo.constant dense<8> : tensor<1xi64>\n    %r = \
                   stablehlo.rng %a, %a, %s, distribution = UNIFORM : (tensor<f32>, tensor<f32>, \
                   tensor<1xi64>) -> tensor<8xf32>\n    return %r : tensor<8xf32>\n  }\n}\n";
    let (status, said) = run(&["partition"], program.as_bytes());
    assert_eq!(status, 1, "{said}");
    assert!(said.starts_with("<stdin>:5:5: error: 'stablehlo.rng' op"), "{said}");
}

/// HLO text with two errors: one of syntax in line 4, one of meaning in line 3.
const HLO: &str = "HloModule m\nENTRY %e (a: f32[2]) -> f32[2] {\n  %b = f32[2] abs(%none)\n  \
                   %c = f32[2] !(%b)\n  ROOT %a = f32[2] parameter(0)\n}\n";

#[test]
fn errors_of_hlo_text_are_objects_of_json_too() {
    let (status, said) = run(&["report", "--diagnostics=json"], HLO.as_bytes());
    assert_eq!(status, 1);
    let lines: Vec<serde_json::Value> =
        said.lines().map(|line| serde_json::from_str(line).expect("an object a line")).collect();
    let found: Vec<_> = lines.iter().map(|object| object["line"].as_u64()).collect();
    assert_eq!(found, [Some(3), Some(4)], "{said}");
}

#[test]
fn expected_errors_are_met_in_both_languages() {
    let hlo = HLO
        .replacen("\n  %b", "\n  // expected-error@+1 {{no instruction 'none'}}\n  %b", 1)
        .replacen("\n  %c", "\n  // expected-error@+1 {{expected an opcode}}\n  %c", 1);
    let mlir = "func.func @f(%a: tensor<f32>) {\n// expected-error@+1 {{'%b' isn't defined}}\n\
                %0 = stablehlo.abs %b : tensor<f32>\n// expected-error@+1 {{isn't known}}\n\
                %1 = foo.bar %a\nreturn\n}\n";
    for text in [&hlo, mlir] {
        assert_eq!(run(&["--verify-diagnostics"], text.as_bytes()), (0, String::new()));
        let other = text.replacen("expected-error", "expected-warning", 1);
        assert_eq!(run(&["--verify-diagnostics"], other.as_bytes()).0, 1);
    }
}
