//! Passes on melior's modules do what they do on text.

mod common;
#[path = "../examples/partition_melior.rs"]
#[allow(dead_code, reason = "what prints isn't called")]
mod example;

use common::{read, root, text};
use melior::Context;
use melior::ir::operation::OperationLike;
use shard_mlir::{from_melior, run_pipeline, to_melior};
use shard_passes::pass_manager::PassPipeline;
use shard_passes::registry::PassContext;

fn model(name: &str) -> shard_ir::Module {
    let path = root().join("testdata/models").join(name);
    read(&std::fs::read_to_string(path).unwrap())
}

#[test]
fn as_on_text() {
    for name in ["mlp.mlir", "gpt.mlir", "moe.mlir", "ring_attention.mlir"] {
        for pipeline in [
            "builtin.module(inline-calls,import,propagate)",
            "builtin.module(inline-calls,import,simplify,propagate,insert-reshards,pad-uneven,\
             reshard-to-collectives,global-to-local,export)",
        ] {
            let mut program = model(name);
            let context = shard_mlir::context();
            let mut module = to_melior(&context, &program).unwrap();
            let passes = PassPipeline::parse(pipeline).unwrap();
            let mut state = PassContext::default();
            passes.run(&mut program, &mut state, |_| Ok(())).unwrap();
            let warnings = run_pipeline(&mut module, pipeline).unwrap();
            assert_eq!(warnings.len(), state.fallbacks.len());
            assert!(module.as_operation().verify(), "{name} isn't valid after {pipeline}");
            assert_eq!(text(&program), text(&from_melior(&module).unwrap()), "{name}: {pipeline}");
        }
    }
}

/// Why contexts are prepared: a call inside of an op of a dialect that isn't loaded.
#[test]
fn symbols_are_found_from_inside_of_unknown_ops() {
    let program = model("ring_attention.mlir");
    let bare = Context::new();
    bare.set_allow_unregistered_dialects(true);
    let handler = bare.attach_diagnostic_handler(|_| true);
    assert!(!to_melior(&bare, &program).unwrap().as_operation().verify());
    bare.detach_diagnostic_handler(handler);
    let prepared = shard_mlir::context();
    assert!(to_melior(&prepared, &program).unwrap().as_operation().verify());
}

/// MLIR's verifier, of which the other tests ask whether programs are valid, finds what isn't.
#[test]
fn the_verifier_finds_faults() {
    let context = shard_mlir::context();
    let handler = context.attach_diagnostic_handler(|_| true);
    for wrong in [
        // The result has another type than the function states.
        "func.func @main(%a: tensor<4xf32>) -> tensor<5xf32> {\n  \"func.return\"(%a) : (tensor<4xf32>) -> ()\n}",
        // There is no such function.
        "func.func @main() {\n  \"func.call\"() <{callee = @gone}> : () -> ()\n  return\n}",
    ] {
        let module = to_melior(&context, &read(wrong)).unwrap();
        assert!(!module.as_operation().verify(), "{wrong}");
    }
    context.detach_diagnostic_handler(handler);
}

#[test]
fn the_example_runs() {
    let context = shard_mlir::context();
    let (module, warnings) = example::partition(&context).unwrap();
    assert_eq!(warnings, []);
    let shown = module.as_operation().to_string();
    let device = read(&shown);
    // Partial products are added up over "model", on shards of eight rows.
    assert!(shown.contains("stablehlo.all_reduce"), "{shown}");
    assert!(shown.contains("tensor<8x16xf32>"), "{shown}");
    assert_eq!(shard_ir::verify(&device), []);
}
