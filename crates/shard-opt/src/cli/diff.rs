//! `shard-opt diff`: what differs between two programs, or one under two sets of annotations.

use std::path::PathBuf;

use clap::Args;
use shard_ir::sharding::Mesh;
use shard_opt::Partitioned;
use shard_opt::diff::{Diff, Side};
use shard_opt::report::{Form, Report, ReportOptions};

use super::io::{self, InputArgs, Source};
use super::shared::{self, PartitionFlags, read_mesh, read_sharding};
use super::{Failure, Outcome};

/// Compares the sharding decisions and the collectives of two programs
///
/// Both are partitioned; values that they have in common (by source location, or by name where
/// there are no locations) are compared by their shardings, and collectives by kind, axes, place
/// and reason. With one program: as it is, and with the --new-... annotations.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    shard-opt diff before.mlir after.mlir\n  \
    shard-opt diff train.mlir --new-arg='w=P(\"model\",None)'\n  \
    shard-opt diff train.mlir --new-mesh=data=2,model=8 --report=json\n\n\
    Exit status: 0 no difference, 1 a difference, 2 the command line is wrong.")]
pub(crate) struct DiffArgs {
    #[command(flatten)]
    input: InputArgs,
    /// The second program; the first with other annotations where it is left out
    #[arg(value_name = "NEW")]
    new: Option<PathBuf>,
    #[command(flatten)]
    flags: PartitionFlags,
    /// The mesh of the second program
    #[arg(long, value_name = "AXES", value_parser = read_mesh)]
    new_mesh: Option<Mesh>,
    /// A sharding for an argument of the second program alone
    #[arg(long, value_name = "NAME_OR_INDEX=SHARDING", value_parser = read_sharding)]
    new_arg: Vec<(String, String)>,
    /// A sharding for a result of the second program alone
    #[arg(long, value_name = "NAME_OR_INDEX=SHARDING", value_parser = read_sharding)]
    new_result: Vec<(String, String)>,
    /// The form of the differences, on standard output
    #[arg(long, value_name = "text|json", default_value = "text")]
    report: Form,
    /// Show every change
    #[arg(long)]
    full: bool,
}

pub(crate) fn run(args: &DiffArgs) -> Outcome {
    let annotated =
        args.new_mesh.is_some() || !args.new_arg.is_empty() || !args.new_result.is_empty();
    if args.new.is_none() && !annotated {
        let message = "diff: name a second program, or say with --new-mesh, --new-arg or \
                       --new-result what is different in it";
        return Err(Failure::Usage(message.to_owned()));
    }
    let first = Source::read(&args.input)?;
    let second = match &args.new {
        Some(file) => Source::read(&InputArgs {
            file: Some(file.clone()),
            input_format: args.input.input_format,
            diagnostics: args.input.diagnostics,
        })?,
        None => Source::read(&args.input)?,
    };
    let before = partition(args, &first, false)?;
    let after = partition(args, &second, true)?;
    let diff = Diff::of(side(&before, &first), side(&after, &second));
    let text = match args.report {
        Form::Json => diff.to_json(),
        Form::Text => diff.to_text(io::output_width().unwrap_or(120), args.full),
    };
    io::write_result(None, text)?;
    if diff.is_empty() { Ok(()) } else { Err(Failure::Said) }
}

fn side<'a>(done: &'a (Partitioned, Report), source: &'a Source) -> Side<'a> {
    Side { program: &done.0, report: &done.1, input: Some(source.input()) }
}

fn partition(
    args: &DiffArgs,
    source: &Source,
    is_new: bool,
) -> Result<(Partitioned, Report), Failure> {
    let module = shared::parse_with_names(source)?;
    let mut options = args.flags.options(source, &module)?;
    if is_new {
        options.import.mesh = args.new_mesh.clone().or(options.import.mesh);
        options.import.arguments.extend(args.new_arg.iter().cloned());
        options.import.results.extend(args.new_result.iter().cloned());
    }
    let partitioned =
        shard_passes::pipeline::partition(module, &options).map_err(|error| source.fail(&error))?;
    let report_options = ReportOptions {
        topology: options.topology.clone(),
        memory_limit: args.flags.machine.memory_limit,
        mesh: None,
        input: Some(source.input()),
    };
    let report = Report::new(&partitioned, &report_options);
    Ok((partitioned, report))
}
