//! `shard-opt time`: what a compiled program costs, and how long it takes.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use shard_ir::{Attr, Diagnostic, Module};
use shard_opt::timing::{self, Runs, TimeOptions, TimingReport};
use shard_opt::verify::VerifyError;
use shard_passes::pipeline::Partitioned;
use shard_pjrt::child::Work;
use shard_pjrt::{Client, Plugin, Topology};

use super::io::{self, InputArgs, Source};
use super::plugins::{self, Retry};
use super::shared::{self, Mode, PartitionFlags};
use super::timing::Timing;
use super::{Failure, Outcome};

/// Compiles a program through PJRT, and times it
///
/// A program with a mesh is partitioned first, and timed beside the whole program on one device; a
/// program that is partitioned already is timed as it is. Where the machine has no TPU,
/// --backend=tpu compiles for the TPUs of --topology and shows what their compiler says.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    shard-opt time train.mlir\n  \
    shard-opt time train.mlir --versus=xla\n  \
    shard-opt time train.mlir --backend=tpu --topology=v4:2x2x2 --versus=xla\n  \
    shard-opt time local.mlir --runs=20")]
pub(crate) struct TimeArgs {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    flags: PartitionFlags,
    /// What compiles and runs it
    #[arg(long, value_name = "BACKEND", value_enum, default_value = "cpu")]
    backend: Backend,
    /// Also let XLA's own partitioner partition the program, and show the ratios
    #[arg(long, value_name = "xla", value_enum)]
    versus: Option<Versus>,
    /// How many steps are timed
    #[arg(long, value_name = "N", default_value = "7",
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    runs: u32,
    /// How many steps run before
    #[arg(long, value_name = "N", default_value = "2")]
    warm_up: u32,
    /// The plugin [default: the one that tools/setup fetched]
    #[arg(long, value_name = "PATH")]
    plugin: Option<PathBuf>,
    /// The form of the figures: text on standard error, json on standard output
    #[arg(long, value_name = "text|json", default_value = "text")]
    report: shard_opt::report::Form,
}

/// The values of --backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Backend {
    /// XLA's CPU plugin
    Cpu,
    /// The machine's TPUs, or TPU's compiler where there are none
    Tpu,
}

/// The values of --versus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Versus {
    /// XLA's own partitioner, with Shardy
    Xla,
}

/// A program to time.
enum Subject {
    Partitioned(Box<Partitioned>),
    Given,
}

pub(crate) fn run(args: &TimeArgs) -> Outcome {
    let ahead = args.backend == Backend::Tpu && !plugins::has_tpu();
    if ahead && !args.flags.machine.topology.contains("x") {
        let message = "--backend=tpu on a machine without TPUs needs --topology=v4:2x2x2 or alike";
        return Err(Failure::Usage(message.to_owned()));
    }
    // Standard input can be read once.
    let again = args.input.file.as_deref().is_some_and(|file| file != Path::new("-"));
    let retry = (ahead && again && args.flags.spmd_mode.is_none()).then_some(Retry {
        arguments: &["--spmd-mode=replicas"],
        message: "TPU's compiler ended itself on the program with mhlo.num_partitions (its last \
                  message is above); trying the same program with --spmd-mode=replicas",
    });
    plugins::in_child_or(if ahead { Work::Ahead } else { Work::OfMachine }, retry)?;

    let source = Source::read(&args.input)?;
    let mut module = shared::parse(&source, &mut Timing::default())?;
    let (subject, devices) = subject(args, &source, &module)?;
    if matches!(subject, Subject::Given) && args.flags.spmd_mode == Some(Mode::Replicas) {
        shard_passes::export::as_replicas(&mut module);
    }
    let doing = if ahead { "compiling for" } else { "compiling and timing on" };
    io::progress(&format!("{doing} {devices} devices ..."));
    let runs = Runs { warm_up: args.warm_up as usize, timed: args.runs as usize };
    let report = if ahead {
        let file = plugins::tpu_file(args.plugin.as_deref())?;
        let plugin = Plugin::load_tpu(&file).map_err(anyhow::Error::from)?;
        let topology =
            plugin.tpu_topology(&args.flags.machine.topology).map_err(anyhow::Error::from)?;
        compile_ahead(args, &subject, &module, &plugin, &topology, devices)
    } else {
        let client = match args.backend {
            Backend::Cpu => plugins::cpu_client(args.plugin.as_deref(), devices)?,
            Backend::Tpu => {
                let file = plugins::tpu_file(args.plugin.as_deref())?;
                let plugin = Plugin::load(&file).map_err(anyhow::Error::from)?;
                Client::of_machine(&plugin).map_err(anyhow::Error::from)?
            }
        };
        match &subject {
            Subject::Partitioned(partitioned) => {
                let options = TimeOptions {
                    versus_xla: args.versus.is_some(),
                    whole: true,
                    runs: Some(runs),
                };
                timing::compare(partitioned, &module, &client, &options)
            }
            Subject::Given => timing::time_given(&module, &client, Some(runs)),
        }
    };
    let report = report.map_err(|error| match error {
        VerifyError::Pass(diagnostic) => source.fail(&diagnostic),
        error => Failure::Other(error.into()),
    })?;
    match args.report {
        shard_opt::report::Form::Json => io::write_result(None, report.to_json()),
        shard_opt::report::Form::Text => {
            io::progress_done();
            io::say(&report.to_text(io::table_width().unwrap_or(120)));
            Ok(())
        }
    }
}

fn compile_ahead(
    args: &TimeArgs,
    subject: &Subject,
    module: &Module,
    plugin: &Plugin,
    topology: &Topology,
    devices: u64,
) -> Result<TimingReport, VerifyError> {
    let found = topology.device_count().unwrap_or(0);
    let needed = usize::try_from(devices).unwrap_or(usize::MAX);
    if found != 0 && found != needed {
        return Err(VerifyError::Devices { needed, found });
    }
    match subject {
        Subject::Partitioned(partitioned) => {
            timing::compare_ahead(partitioned, module, plugin, topology, args.versus.is_some())
        }
        Subject::Given => timing::compile_given_ahead(module, plugin, topology),
    }
}

/// What there is to time: the program as it is where it has no mesh and names several devices,
/// else its partition.
fn subject(args: &TimeArgs, source: &Source, module: &Module) -> Result<(Subject, u64), Failure> {
    let named = devices_named(module);
    let has_mesh =
        shard_passes::meshes::main_mesh(module).is_some() || args.flags.annotations.mesh.is_some();
    let annotated = shard_passes::import::has_gspmd_annotations(module);
    if !has_mesh && !annotated && named > 1 {
        if args.versus.is_some() {
            let error = Diagnostic::error("the program is partitioned already")
                .help("give --versus=xla the program before it was partitioned");
            return Err(source.fail(&error));
        }
        return Ok((Subject::Given, named));
    }
    let options = args.flags.options(source, module)?;
    let partitioned = shard_passes::pipeline::partition(module.clone(), &options)
        .map_err(|error| source.fail(&error))?;
    source.say_all(&partitioned.warnings)?;
    let devices = shard_passes::meshes::main_mesh(&partitioned.whole)
        .map_or(1, |mesh| partitioned.whole.meshes[mesh].mesh.device_count());
    Ok((Subject::Partitioned(Box::new(partitioned)), devices))
}

/// Replicas times partitions.
fn devices_named(module: &Module) -> u64 {
    let count = |name: &str| match module.attr(module.attrs, name) {
        Some(Attr::Int(count, _)) => u64::try_from(*count).unwrap_or(1).max(1),
        _ => 1,
    };
    count("mhlo.num_partitions").saturating_mul(count("mhlo.num_replicas"))
}
