//! Snapshots of passes: every program in `passes/tests/*/*.mlir` or `*.hlo` with the command in its first line,
//! `// RUN: shard-opt %s --inline-calls`. The snapshot lies beside the program.
//!
//! `INSTA_UPDATE=always cargo test -p shard-opt --test passes` writes them anew; read what changed
//! before you commit it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../passes/tests")
}

fn sorted(folder: &Path) -> Vec<PathBuf> {
    let entries =
        std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// The words of a command line; single quotes keep blanks together.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in line.trim().chars() {
        match c {
            '\'' => quoted = !quoted,
            c if c.is_whitespace() && !quoted => words.push(String::new()),
            c => words.last_mut().unwrap().push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// What a command writes to standard output and standard error, and its exit status where it
/// isn't 0.
fn output_of(program: &Path) -> String {
    let text = std::fs::read_to_string(program).unwrap();
    let first = text.lines().next().unwrap_or_default();
    let Some(line) = first.strip_prefix("// RUN: shard-opt ") else {
        panic!("{}: the first line must be `// RUN: shard-opt ...`", program.display());
    };
    let name = program.file_name().unwrap().to_str().unwrap();
    let words = words(line).into_iter().map(|word| if word == "%s" { name.into() } else { word });
    let output = Command::new(env!("CARGO_BIN_EXE_shard-opt"))
        .args(words)
        .current_dir(program.parent().unwrap())
        .output()
        .unwrap();
    let mut shown = String::from_utf8(output.stdout).unwrap();
    if !output.stderr.is_empty() {
        let _ = write!(shown, "-- standard error\n{}", String::from_utf8_lossy(&output.stderr));
    }
    match output.status.code() {
        Some(0) => {}
        Some(status) => {
            let _ = writeln!(shown, "-- exit status {status}");
        }
        None => panic!("{}: the command was killed by a signal", program.display()),
    }
    shown
}

#[test]
fn snapshots() {
    let mut count = 0;
    let mut failed = Vec::new();
    for pass in sorted(&folder()) {
        for program in sorted(&pass) {
            if program.extension().is_none_or(|extension| extension != "mlir" && extension != "hlo")
            {
                continue;
            }
            count += 1;
            let stem = program.file_stem().unwrap().to_str().unwrap().to_owned();
            let outcome = std::panic::catch_unwind(|| {
                let mut settings = insta::Settings::clone_current();
                settings.set_snapshot_path(pass.canonicalize().unwrap());
                settings.set_prepend_module_to_snapshot(false);
                settings.set_omit_expression(true);
                settings.bind(|| insta::assert_snapshot!(stem, output_of(&program)));
            });
            if outcome.is_err() {
                failed.push(program);
            }
        }
    }
    assert!(count > 0, "there are no programs in {}", folder().display());
    assert!(failed.is_empty(), "{} of {count} snapshots differ: {failed:#?}", failed.len());
}

#[test]
fn every_pass_has_a_snapshot() {
    for pass in shard_opt::passes::registry::PASSES {
        assert!(folder().join(pass.name).is_dir(), "passes/tests/{} is missing", pass.name);
    }
}
