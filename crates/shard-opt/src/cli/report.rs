//! `shard-opt report`: the tables of a program that is partitioned already.

use std::path::PathBuf;

use clap::Args;
use shard_ir::sharding::Mesh;
use shard_opt::report::{self, Report, ReportOptions};

use super::Outcome;
use super::io::{self, InputArgs, Source};
use super::shared::{self, MachineFlags};
use super::timing::Timing;

/// Shows what a partitioned program communicates, computes and keeps in memory
///
/// FILE is what each device runs, made by `shard-opt partition` or by another partitioner. Groups
/// of devices are shown as mesh axes where the mesh is known: state it with --mesh.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    shard-opt report local.mlir\n  \
    shard-opt report local.mlir --mesh=data=4,model=2 --topology=v4:2x2x2\n  \
    shard-opt report local.mlir --format=json -o report.json")]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    input: InputArgs,
    /// The device mesh, such as 'data=4,model=2' [default: one axis of all devices]
    #[arg(long, value_name = "AXES", value_parser = shared::read_mesh)]
    mesh: Option<Mesh>,
    #[command(flatten)]
    machine: MachineFlags,
    /// The form: text for a table, json for data
    #[arg(long, value_name = "text|json", default_value = "text")]
    format: report::Form,
    /// Where the report goes; standard output where it is `-` or left out
    #[arg(short, long = "output", value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: &ReportArgs) -> Outcome {
    let source = Source::read(&args.input)?;
    let module = shared::parse(&source, &mut Timing::default())?;
    let options = ReportOptions {
        topology: args.machine.topology()?,
        memory_limit: args.machine.memory_limit,
        mesh: args.mesh.clone(),
        input: Some(source.input()),
    };
    let report = Report::of_local(&module, &options).map_err(|error| source.fail(&error))?;
    let width = if args.output.is_none() { io::output_width() } else { None };
    io::write_result(args.output.as_deref(), report::render(&report, args.format, width))
}
