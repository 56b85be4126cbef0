//! `shard-opt explain`: why values are sharded as they are.

use clap::{Args, ValueEnum};
use shard_opt::explain::{Program, What, subjects};

use super::Outcome;
use super::io::{self, InputArgs, Source};
use super::shared;

/// Says why a value is sharded as it is, and what stopped the axes that it hasn't
///
/// For each axis of a value the way is shown back to the annotation that it comes from, op by op;
/// for each axis of the mesh that it hasn't, the place at which it stopped, why, what was in the
/// way, and the annotation that would get it there. Without WHAT: a table of all arguments and
/// results.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    shard-opt explain train.mlir\n  \
    shard-opt explain train.mlir %12\n  \
    shard-opt explain train.mlir train.py:88 arg:0 result:0\n  \
    shard-opt explain train.mlir %12 --format=dot | dot -Tsvg > why.svg")]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    input: InputArgs,
    /// Values: by name (%12), by number or name of an argument or result (arg:0, result:loss), or
    /// by source line (train.py:88, or 88 for a line of the program's text)
    #[arg(value_name = "WHAT")]
    what: Vec<What>,
    #[command(flatten)]
    annotations: shared::AnnotationFlags,
    /// The form of the answer
    #[arg(long, value_name = "FORMAT", value_enum, default_value = "text")]
    format: Form,
    /// Show every step of long chains
    #[arg(long)]
    full: bool,
}

/// The values of --format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    /// Text
    Text,
    /// Data
    Json,
    /// A picture in Graphviz's language
    Dot,
}

pub(crate) fn run(args: &ExplainArgs) -> Outcome {
    let source = Source::read(&args.input)?;
    let module = shared::parse_with_names(&source)?;
    let program =
        Program::new(module, &args.annotations.import()).map_err(|error| source.fail(&error))?;
    let input = Some(source.input());
    let asked =
        subjects(&program.module, &args.what, input).map_err(|error| source.fail(&error))?;
    let text = match args.format {
        Form::Dot => program.dot(&asked, input),
        Form::Json => program.explain(&asked, input).to_json(),
        Form::Text => {
            let answers = program.explain(&asked, input);
            match args.what.is_empty() {
                true => answers.to_table(io::output_width().unwrap_or(120)),
                false => answers.to_text(args.full),
            }
        }
    };
    io::write_result(None, text)
}
