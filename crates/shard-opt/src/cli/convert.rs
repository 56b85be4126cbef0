//! `shard-opt convert`: between the two text formats.

use clap::Args;
use shard_ir::{Diagnostic, Severity};

use super::Outcome;
use super::io::{Format, InputArgs, Source};
use super::shared::{self, PrintFlags};
use super::timing::Timing;

/// Converts a program between HLO text and StableHLO
///
/// To StableHLO, tuples become several values and fusions the ops in them; layouts and schedules
/// are left behind. To HLO, several values become tuples. Shardings go both ways: tiles become
/// meshes with named axes, and these the frontend attributes and tiles that XLA reads.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    shard-opt convert module_0001.jit_step.before_optimizations.txt --to=stablehlo -o step.mlir\n  \
    shard-opt convert step.mlir --to=hlo")]
pub(crate) struct ConvertArgs {
    #[command(flatten)]
    input: InputArgs,
    /// The format of the result
    #[arg(long, value_name = "FORMAT", value_enum)]
    to: Format,
    #[command(flatten)]
    print: PrintFlags,
}

pub(crate) fn run(args: &ConvertArgs) -> Outcome {
    let mut timing = Timing::default();
    let source = Source::read(&args.input)?;
    let mut module = shared::parse(&source, &mut timing)?;
    if args.to == Format::Stablehlo
        && let Err(error) = shard_passes::import::import_tiles(&mut module)
    {
        // Exact all the same, but for GSPMD's readers only.
        source.say(&Diagnostic { severity: Severity::Warning, ..error }.note(
            "the annotations stay as they are: mhlo.sharding instead of meshes with named axes",
        ));
    }
    shared::write_module(&source, module, args.to, &args.print, &mut timing)?;
    if args.print.mlir_timing {
        timing.say();
    }
    Ok(())
}
