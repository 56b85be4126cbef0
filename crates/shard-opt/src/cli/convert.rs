//! `shard-opt convert`: between the two text formats.

use clap::Args;
use shard_ir::Diagnostic;

use super::Outcome;
use super::io::{Format, InputArgs, Source};
use super::shared::{self, PrintFlags};
use super::timing::Timing;

/// Converts a program from HLO text to StableHLO
///
/// Tuples become several values, fusions the ops in them; layouts and schedules are left behind.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    shard-opt convert module_0001.jit_step.before_optimizations.txt --to=stablehlo -o step.mlir")]
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
    if args.to == Format::Hlo {
        let error = Diagnostic::error("HLO text can't be made of StableHLO yet")
            .help("hlo-translate --stablehlo-to-hlo-text does it");
        return Err(source.fail(&error));
    }
    let module = shared::parse(&source, &mut timing)?;
    let locations = shared::has_locations(&source);
    shared::write_module(&module, &args.print, locations, &mut timing)?;
    if args.print.mlir_timing {
        timing.say();
    }
    Ok(())
}
