//! `shard-opt partition`: the program that each device runs.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use shard_opt::Stage;
use shard_opt::report::{self, Report, ReportOptions};

use super::io::{Format, InputArgs, Source};
use super::shared::{self, PartitionFlags, PrintFlags};
use super::timing::Timing;
use super::{Failure, Outcome, io};

/// Partitions a program: writes what each device of the mesh runs
///
/// Annotations in the program (sdy.sharding, constraints, manual computations) and those of --arg
/// and --result are propagated to every value; operands and results are resharded where they
/// disagree, at least cost on the topology; global shapes become those of one device.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    shard-opt partition train.mlir -o local.mlir --report=text\n  \
    shard-opt partition train.mlir --mesh=data=4,model=2 --arg='x=[{\"data\"},{}]' -o local.mlir\n  \
    shard-opt partition train.mlir --topology=v4:2x2x2 --report=json:report.json -o local.mlir\n  \
    shard-opt partition train.mlir --stop-after=propagate")]
pub(crate) struct PartitionArgs {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    flags: PartitionFlags,
    /// Stop after a stage and print the program as it is then
    #[arg(long, value_name = "STAGE", value_enum)]
    stop_after: Option<StopAfter>,
    /// The output's format [default: the input's]
    #[arg(long, value_name = "FORMAT", value_enum)]
    format: Option<Format>,
    /// What was decided and what it costs, as a table (text) or as data (json), on standard error
    /// or in a file
    #[arg(long, value_name = "text|json[:FILE]", value_parser = read_report)]
    report: Option<ReportTo>,
    #[command(flatten)]
    print: PrintFlags,
}

/// The values of --stop-after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum StopAfter {
    /// Calls are inlined, annotations are shardings over one mesh
    Import,
    /// Every value has a sharding
    Propagate,
    /// Operands and results of every op agree; reshards are explicit
    Reshards,
    /// Reshards are sequences of sdy collectives
    Collectives,
    /// Shapes are those of one device; groups of devices are mesh axes
    Local,
}

/// A report's form and file.
#[derive(Clone, Debug)]
struct ReportTo {
    form: report::Form,
    file: Option<PathBuf>,
}

fn read_report(text: &str) -> Result<ReportTo, String> {
    let (form, file) = match text.split_once(':') {
        Some((_, "")) => return Err("expected the name of a file after ':'".to_owned()),
        Some((form, file)) => (form, Some(PathBuf::from(file))),
        None => (text, None),
    };
    let form = form.parse::<report::Form>()?;
    Ok(ReportTo { form, file })
}

pub(crate) fn run(args: &PartitionArgs) -> Outcome {
    if args.report.is_some() && args.stop_after.is_some_and(|stage| stage != StopAfter::Local) {
        let message = "--report needs the whole way: leave out --stop-after";
        return Err(Failure::Usage(message.to_owned()));
    }
    let mut timing = Timing::default();
    let source = Source::read(&args.input)?;
    let module = shared::parse(&source, &mut timing)?;
    let mut options = args.flags.options(&source, &module)?;
    options.stop_after = args.stop_after.map(|stage| match stage {
        StopAfter::Import => Stage::Import,
        StopAfter::Propagate => Stage::Propagate,
        StopAfter::Reshards => Stage::Reshards,
        StopAfter::Collectives => Stage::Collectives,
        StopAfter::Local => Stage::Local,
    });
    let done =
        shard_passes::pipeline::partition(module, &options).map_err(|error| source.fail(&error))?;
    for &(pass, duration) in &done.timing {
        timing.add(pass, duration);
    }
    source.say_all(&done.warnings)?;
    if options.stop_after.is_none_or(|stage| stage == Stage::Local) {
        let topology = options.topology.device.memory_bytes.value as u64;
        let limit = args.flags.machine.memory_limit.unwrap_or(topology);
        source.say_all(&report::memory_warning(&done.module, limit))?;
    }

    if let Some(to) = &args.report {
        let report = timing.time("report", || {
            let options = ReportOptions {
                topology: options.topology.clone(),
                memory_limit: args.flags.machine.memory_limit,
                mesh: None,
                input: Some(source.input()),
            };
            Report::new(&done, &options)
        });
        let text = report::render(&report, to.form, io::table_width());
        match &to.file {
            Some(file) => io::write_result(Some(file), &text)?,
            None => io::say(&text),
        }
    } else {
        for fallback in report::fallbacks(&done) {
            source.say(&fallback.diagnostic());
        }
    }
    let format = args.format.unwrap_or_else(|| source.found_format());
    shared::write_module(&source, done.module, format, &args.print, &mut timing)?;
    if args.print.mlir_timing {
        timing.say();
    }
    Ok(())
}
