//! MLIR's bytecode, into the command and out of it.
#![cfg(feature = "mlir")]

use std::path::Path;
use std::process::{Command, Output};

fn run(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_shard-opt")).args(args).output().unwrap()
}

#[test]
fn a_program_goes_out_and_comes_back() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let model = format!("{root}/testdata/models/mlp.mlir");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (whole, device) = (folder.join("whole.mlirbc"), folder.join("device.mlirbc"));
    let (whole, device) = (whole.to_str().unwrap(), device.to_str().unwrap());

    assert!(run(&[&model, "--emit-bytecode", "-o", whole]).status.success());
    assert!(std::fs::read(whole).unwrap().starts_with(b"ML\xefR"));
    let locations = "--mlir-print-debuginfo";
    assert_eq!(run(&[whole, locations]).stdout, run(&[&model, locations]).stdout);

    let partition = ["partition", whole, "--emit-bytecode", "-o", device];
    assert!(run(&partition).status.success());
    let expected = run(&["partition", &model]).stdout;
    assert!(!expected.is_empty());
    assert_eq!(run(&[device, locations]).stdout, expected);
}

#[test]
fn what_mlir_refuses_is_said() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("broken.mlirbc");
    std::fs::write(&file, b"ML\xefR\x01broken").unwrap();
    let output = run(&[file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("MLIR refuses the bytecode"), "{said}");
}
