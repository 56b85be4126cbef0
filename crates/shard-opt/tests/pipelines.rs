//! The pipeline of the registry is that of the command.

use shard_opt::passes::registry::{PASSES, PassContext, PassOptions, find_pipeline};
use shard_opt::{ParseOptions, PartitionOptions, PrintOptions, partition_text};
use shard_passes::pass_manager::PassPipeline;

const MODEL: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/models/mlp.mlir"));

#[test]
fn partition_pipeline_does_what_partition_does() {
    let made = partition_text(MODEL, &PartitionOptions::default()).unwrap();
    let ran: Vec<&str> = made.partitioned.timing.iter().map(|(name, _)| *name).collect();
    let pipeline = find_pipeline("partition-pipeline").unwrap();
    assert_eq!(ran, (pipeline.passes)(&PassOptions::default()).unwrap());

    let mut module = shard_opt::text::parse(MODEL, &ParseOptions::default()).into_result().unwrap();
    let pipeline = PassPipeline::parse("builtin.module(partition-pipeline)").unwrap();
    pipeline.run(&mut module, &mut PassContext::default(), |_| Ok(())).unwrap();
    let print = PrintOptions { debug_info: true, ..PrintOptions::default() };
    assert_eq!(shard_opt::text::print(&module, &print), made.text);
}

#[test]
fn every_pass_of_partition_is_in_the_registry() {
    let made = partition_text(MODEL, &PartitionOptions::default()).unwrap();
    for (name, _) in &made.partitioned.timing {
        assert!(PASSES.iter().any(|pass| pass.name == *name), "{name}");
    }
}
