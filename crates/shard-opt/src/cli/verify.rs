//! `shard-opt verify`: the whole program and the partitioned one, on the same inputs.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use shard_opt::verify::engine::{Engine, Interpreter};
use shard_opt::verify::{self, Inputs, Prepared, VerifyOptions, deletion, stages};
#[cfg(feature = "pjrt")]
use shard_pjrt::child::Work;

use super::inputs::{self, InputFile};
use super::io::{self, InputArgs, Source};
#[cfg(feature = "pjrt")]
use super::plugins;
use super::shared::{self, PartitionFlags};
use super::timing::Timing;
use super::{Failure, Outcome};

/// Runs a program whole and partitioned on the same inputs and compares every result
///
/// The whole program runs on one device, the partitioned one on as many as the mesh has, on the
/// embedded interpreter or on XLA's CPU plugin; every result on every device is compared with its part of the whole, bit for bit
/// where arithmetic is exact. A result that isn't finite, or that no input changes, fails too.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    shard-opt verify train.mlir\n  \
    shard-opt verify train.mlir --mesh=data=2,model=4 --runs=3 --seed=7\n  \
    shard-opt verify train.mlir --input=0:weights.npy --inputs=random\n  \
    shard-opt verify train.mlir --stage=all\n  \
    shard-opt verify train.mlir --delete-collectives\n\n\
    Exit status: 0 every result is equal, 1 one is not, or can't be told.")]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    flags: PartitionFlags,
    /// An argument: its number and a .npy file of the whole array. It is the same in every run; where
    /// all are given there is one run, and no result must change or be finite
    #[arg(long = "input", value_name = "NUMBER:FILE")]
    given: Vec<InputFile>,
    /// Which inputs are tried [default: all; random with --backend=cpu, since XLA may compile what
    /// makes NaN in two ways in the whole and in the partitioned program]
    #[arg(long, value_name = "WHICH", value_enum)]
    inputs: Option<InputsName>,
    /// How many random inputs are tried
    #[arg(long, value_name = "N", default_value = "2",
          value_parser = clap::value_parser!(u32).range(1..=1000))]
    runs: u32,
    /// What inputs are drawn from: the same number gives the same inputs
    #[arg(long, value_name = "N", default_value = "0")]
    seed: u64,
    /// How far floats may be apart, as a part of their size [default: by type, 1e-4 for f32]
    #[arg(long, value_name = "T", value_parser = read_tolerance)]
    tolerance: Option<f64>,
    /// Execute the program after every pass, and name the first pass and op that change a value
    #[arg(long, value_name = "WHICH", value_enum)]
    stage: Option<StageName>,
    /// Also run the program without each of its collectives: each must be noticed
    #[arg(long)]
    delete_collectives: bool,
    /// What executes the programs [default: interpreter; cpu where --plugin is given]
    #[arg(long, value_name = "NAME", value_enum)]
    backend: Option<Backend>,
    /// The CPU plugin [default: the one that tools/setup fetched]
    #[arg(long, value_name = "PATH")]
    plugin: Option<PathBuf>,
    /// The form of the findings: text on standard error, json on standard output
    #[arg(long, value_name = "text|json", default_value = "text")]
    report: shard_opt::report::Form,
}

/// The values of --stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum StageName {
    /// Every stage
    All,
}

/// The values of --inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum InputsName {
    /// Random numbers that keep results alive
    Random,
    /// Two runs at the edges: indices outside of what they index, extremes of integers, zeros; and
    /// NaN and infinities
    Edge,
    /// Both
    All,
}

/// The values of --backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Backend {
    /// The embedded interpreter
    Interpreter,
    /// XLA's CPU compiler, through a PJRT plugin
    Cpu,
}

fn read_tolerance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value >= 0.0 && value.is_finite() => Ok(value),
        _ => Err("expected a number such as 1e-4".to_owned()),
    }
}

pub(crate) fn run(args: &VerifyArgs) -> Outcome {
    let backend = match (args.backend, &args.plugin) {
        (Some(backend), _) => backend,
        (None, Some(_)) => Backend::Cpu,
        (None, None) => Backend::Interpreter,
    };
    if backend == Backend::Cpu {
        go_to_child()?;
    }
    let source = Source::read(&args.input)?;
    let module = shared::parse(&source, &mut Timing::default())?;
    let mut options = args.flags.options(&source, &module)?;
    options.keep_stages = args.stage.is_some();
    if args.stage.is_some() && backend != Backend::Interpreter {
        let message = "--stage=all: stages are executed by the interpreter alone";
        return Err(Failure::Usage(message.to_owned()));
    }
    let partitioned = shard_passes::pipeline::partition(module.clone(), &options)
        .map_err(|error| source.fail(&error))?;
    source.say_all(&partitioned.warnings)?;

    let devices = shard_passes::meshes::main_mesh(&partitioned.whole)
        .map_or(1, |mesh| partitioned.whole.meshes[mesh].mesh.device_count());
    let engine: Box<dyn Engine> = match backend {
        Backend::Interpreter => Box::new(Interpreter),
        Backend::Cpu => cpu(args.plugin.as_deref(), devices)?,
    };
    let checks = VerifyOptions {
        runs: args.runs as usize,
        inputs: match args.inputs {
            Some(InputsName::Random) => Inputs::Random,
            Some(InputsName::Edge) => Inputs::Edge,
            Some(InputsName::All) => Inputs::All,
            None => match backend {
                Backend::Interpreter => Inputs::All,
                Backend::Cpu => Inputs::Random,
            },
        },
        given: inputs::read(&args.given, &source, &module)?,
        seed: args.seed,
        tolerance: args.tolerance,
    };
    let failed = |error: verify::VerifyError| match error {
        verify::VerifyError::Pass(diagnostic) => source.fail(&diagnostic),
        verify::VerifyError::Given(diagnostic) => source.fail(&diagnostic),
        verify::VerifyError::Run(diagnostic) => source.fail(&diagnostic),
        error => Failure::Other(error.into()),
    };
    io::progress(&format!("running the program whole and on {devices} devices ..."));
    let json = args.report == shard_opt::report::Form::Json;
    let width = io::table_width().unwrap_or(120);
    let prepared = Prepared::new(&partitioned, &module, &*engine, &checks).map_err(failed)?;
    let (passed, as_json, as_text) = if args.stage.is_some() {
        let report = stages::check_stages(&prepared, &partitioned.stages).map_err(failed)?;
        (report.passed(), report.to_json(), report.to_text(width))
    } else if args.delete_collectives {
        let report =
            deletion::delete_collectives(&partitioned, &prepared, &*engine).map_err(failed)?;
        let text = report.with_all.to_text(width) + &report.to_text(width);
        (report.passed(), report.to_json(), text)
    } else {
        let stage = "compiling the partitioned program";
        let loaded = engine.load(&partitioned.module, stage).map_err(failed)?;
        let report = prepared.check(&*loaded, &[]).map_err(failed)?;
        (report.passed(), report.to_json(), report.to_text(width))
    };
    if json {
        io::write_result(None, as_json)?;
    } else {
        io::progress_done();
        io::say(&as_text);
    }
    if passed { Ok(()) } else { Err(Failure::Said) }
}

#[cfg(feature = "pjrt")]
fn go_to_child() -> Outcome {
    plugins::in_child(Work::OfMachine)
}

#[cfg(feature = "pjrt")]
fn cpu(plugin: Option<&std::path::Path>, devices: u64) -> Result<Box<dyn Engine>, Failure> {
    Ok(Box::new(plugins::cpu_client(plugin, devices)?))
}

#[cfg(not(feature = "pjrt"))]
fn go_to_child() -> Outcome {
    Ok(())
}

#[cfg(not(feature = "pjrt"))]
fn cpu(_: Option<&std::path::Path>, _: u64) -> Result<Box<dyn Engine>, Failure> {
    Err(Failure::Usage("--backend=cpu: this build has no plugins (feature pjrt)".to_owned()))
}
