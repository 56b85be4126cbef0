//! `shard-opt verify`: the whole program and the partitioned one, on the same inputs.

use std::path::PathBuf;

use clap::Args;
use shard_opt::verify::{self, Prepared, VerifyOptions, deletion};
use shard_pjrt::child::Work;

use super::io::{self, InputArgs, Source};
use super::plugins;
use super::shared::{self, PartitionFlags};
use super::timing::Timing;
use super::{Failure, Outcome};

/// Runs a program whole and partitioned on the same inputs and compares every result
///
/// The whole program runs on one device of the CPU plugin, the partitioned one on as many as the
/// mesh has; every result on every device is compared with its part of the whole, bit for bit
/// where arithmetic is exact. A result that isn't finite, or that no input changes, fails too.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    shard-opt verify train.mlir\n  \
    shard-opt verify train.mlir --mesh=data=2,model=4 --runs=3 --seed=7\n  \
    shard-opt verify train.mlir --delete-collectives\n\n\
    Exit status: 0 every result is equal, 1 one is not, or can't be told.")]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    flags: PartitionFlags,
    /// How many inputs are tried
    #[arg(long, value_name = "N", default_value = "2",
          value_parser = clap::value_parser!(u32).range(1..=1000))]
    runs: u32,
    /// What inputs are drawn from: the same number gives the same inputs
    #[arg(long, value_name = "N", default_value = "0")]
    seed: u64,
    /// How far floats may be apart, as a part of their size [default: by type, 1e-4 for f32]
    #[arg(long, value_name = "T", value_parser = read_tolerance)]
    tolerance: Option<f64>,
    /// Also run the program without each of its collectives: each must be noticed
    #[arg(long)]
    delete_collectives: bool,
    /// The CPU plugin [default: the one that tools/setup fetched]
    #[arg(long, value_name = "PATH")]
    plugin: Option<PathBuf>,
    /// The form of the findings: text on standard error, json on standard output
    #[arg(long, value_name = "text|json", default_value = "text")]
    report: shard_opt::report::Form,
}

fn read_tolerance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value >= 0.0 && value.is_finite() => Ok(value),
        _ => Err("expected a number such as 1e-4".to_owned()),
    }
}

pub(crate) fn run(args: &VerifyArgs) -> Outcome {
    plugins::in_child(Work::OfMachine)?;
    let source = Source::read(&args.input)?;
    let module = shared::parse(&source, &mut Timing::default())?;
    let options = args.flags.options(&source, &module)?;
    let partitioned = shard_passes::pipeline::partition(module.clone(), &options)
        .map_err(|error| source.fail(&error))?;
    source.say_all(&partitioned.warnings)?;

    let devices = shard_passes::meshes::main_mesh(&partitioned.whole)
        .map_or(1, |mesh| partitioned.whole.meshes[mesh].mesh.device_count());
    let client = plugins::cpu_client(args.plugin.as_deref(), devices)?;
    let checks =
        VerifyOptions { runs: args.runs as usize, seed: args.seed, tolerance: args.tolerance };
    let failed = |error: verify::VerifyError| match error {
        verify::VerifyError::Pass(diagnostic) => source.fail(&diagnostic),
        error => Failure::Other(error.into()),
    };
    io::progress(&format!(
        "compiling and running the program whole and on {devices} devices, {} times ...",
        args.runs
    ));
    let json = args.report == shard_opt::report::Form::Json;
    let width = io::table_width().unwrap_or(120);
    let passed = if args.delete_collectives {
        let prepared = Prepared::new(&partitioned, &module, &client, &checks).map_err(failed)?;
        let report =
            deletion::delete_collectives(&partitioned, &prepared, &client).map_err(failed)?;
        if json {
            io::write_result(None, report.to_json())?;
        } else {
            io::progress_done();
            io::say(&report.with_all.to_text(width));
            io::say(&report.to_text(width));
        }
        report.passed()
    } else {
        let report = verify::verify(&partitioned, &module, &client, &checks).map_err(failed)?;
        if json {
            io::write_result(None, report.to_json())?;
        } else {
            io::progress_done();
            io::say(&report.to_text(width));
        }
        report.passed()
    };
    if passed { Ok(()) } else { Err(Failure::Said) }
}
