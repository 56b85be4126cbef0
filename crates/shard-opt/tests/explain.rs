//! Explanations: every axis of every value of a train step has a way back to an annotation, and
//! what stopped others is said.

use std::path::Path;

use shard_opt::explain::{Program, What, subjects};
use shard_opt::ir::ValueId;
use shard_opt::render::Input;
use shard_opt::{ImportOptions, ParseOptions, text};

fn program(source: &str) -> Program {
    let options = ParseOptions { all_names: true, ..ParseOptions::default() };
    let module =
        text::parse(source, &options).into_result().unwrap_or_else(|errors| panic!("{errors:?}"));
    Program::new(module, &ImportOptions::default()).unwrap_or_else(|error| panic!("{error:?}"))
}

fn model(name: &str) -> Program {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/models").join(name);
    let source = std::fs::read_to_string(&file).expect("it can be read");
    program(&source)
}

/// Every axis of every value ends at an annotation, and every axis that a value hasn't has a reason.
#[test]
fn every_axis_of_a_train_step_has_a_reason() {
    for name in ["gpt.mlir", "gpt_scan.mlir", "gpt_sp.mlir", "moe.mlir", "ring_attention.mlir"] {
        let program = model(name);
        let values: Vec<_> =
            (0..program.module.value_count() as u32).map(ValueId::from_u32).collect();
        let asked: Vec<_> =
            values.into_iter().map(shard_opt::propagate::explain::Subject::Value).collect();
        let answers = program.explain(&asked, None).answers;
        let mut axes = 0;
        for answer in &answers {
            for why in &answer.axes {
                axes += 1;
                assert_ne!(why.origin.by, "stated elsewhere", "{name}: {answer:?}");
            }
            for missing in &answer.missing {
                assert!(!missing.reason.is_empty() && !missing.remedy.is_empty(), "{answer:?}");
            }
        }
        assert!(axes > 5, "{name} has {axes} axes");
    }
}

/// Cases that teach: the answer is the whole text.
#[test]
fn instructive_cases() {
    let source = include_str!("explain/cases.mlir");
    let program = program(source);
    let input = Some(Input { name: "cases.mlir", bytes: source.as_bytes() });
    let asked: Vec<What> = [
        "%product",
        "%summed",
        "%closed",
        "%conflict",
        "%elsewhere",
        "%blocked",
        "%stopped",
        "%loop#1",
        "%piece",
        "%mine",
        "arg:c",
        "arg:x",
        "result:0",
        "%alone",
    ]
    .iter()
    .map(|what| what.parse().expect("it is a question"))
    .collect();
    let asked = subjects(&program.module, &asked, input).expect("they are there");
    insta::assert_snapshot!(program.explain(&asked, input).to_text(false));
    insta::assert_snapshot!("picture", program.dot(&asked[..2], input));
}
