//! Programs to test with.
#![allow(dead_code, reason = "each test uses some of it")]

use std::path::{Path, PathBuf};

use shard_ir::Module;
use shard_passes::pipeline::{PartitionOptions, partition};
use shard_text::PrintOptions;

/// The root of the repository.
pub fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|ext| ext == "mlir" || ext == "hlo") {
            found.push(path);
        }
    }
}

/// Every program of the test data, every input of a pass's test, in HLO's form as well, and what
/// `partition` makes of the models; each with its name. What is meant not to be read is left out.
pub fn programs() -> Vec<(String, Module)> {
    let mut found = Vec::new();
    for folder in ["testdata/models", "testdata/programs", "passes/tests"] {
        files(&root().join(folder), &mut found);
    }
    found.sort();
    let mut programs = Vec::new();
    for path in found {
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.strip_prefix(root()).unwrap().display().to_string();
        for (at, part) in shard_text::split_input(&text) {
            let Ok(mut module) = shard_text::parse(part, &Default::default()).into_result() else {
                continue;
            };
            if shard_passes::hlo_to_stablehlo::run(&mut module).is_err() {
                continue;
            }
            if name.starts_with("testdata/models") {
                let done = partition(module.clone(), &PartitionOptions::default()).unwrap();
                programs.push((format!("{name}, partitioned"), done.module));
            }
            programs.push((format!("{name} (byte {at})"), module));
        }
    }
    assert!(programs.len() >= 75, "only {} programs were found", programs.len());
    programs
}

/// Reads a text that must be right.
pub fn read(text: &str) -> Module {
    match shard_text::parse(text, &Default::default()).into_result() {
        Ok(module) => module,
        Err(errors) => panic!("{errors:?} in\n{text}"),
    }
}

/// The text with all that a module holds.
pub fn text(module: &Module) -> String {
    let options = PrintOptions { debug_info: true, ..PrintOptions::default() };
    shard_text::print(module, &options)
}

/// The same in generic form.
pub fn generic(module: &Module) -> String {
    let options = PrintOptions { debug_info: true, generic: true, ..PrintOptions::default() };
    shard_text::print(module, &options)
}
