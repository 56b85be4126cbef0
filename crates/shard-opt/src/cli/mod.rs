//! The command line: one file a command.
//!
//! Results go to standard output or the file of `-o`, diagnostics and tables to standard error.
//! The exit status is 0 where all went well, 1 where the input or a pass failed, 2 where the
//! command line is wrong.

mod args;
mod convert;
mod diff;
mod expected;
mod explain;
mod inputs;
mod io;
mod partition;
mod passes;
#[cfg(feature = "pjrt")]
mod plugins;
mod report;
mod run;
mod shared;
#[cfg(feature = "pjrt")]
mod time;
mod timing;
mod verify;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

/// Why a command ends early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The input or a pass failed, and diagnostics have said why.
    Said,
    /// The command line is wrong.
    Usage(String),
    /// A child process did the work, and exited with this status.
    #[cfg(feature = "pjrt")]
    Status(u8),
    /// Anything else: files that can't be read or written.
    Other(anyhow::Error),
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Failure {
        Failure::Other(error)
    }
}

/// What a command gives.
pub(crate) type Outcome = Result<(), Failure>;

#[derive(Debug, Parser)]
#[command(
    name = "shard-opt",
    version,
    about = "Shards, partitions and prices StableHLO programs for a mesh of devices",
    long_about = "Shards, partitions and prices StableHLO programs for a mesh of devices.\n\n\
        Without a command it runs passes over FILE, with mlir-opt's conventions: every pass of \
        --list-passes is a flag too, with one dash or two, and flags run in the order given.",
    after_long_help = "Examples:\n  \
        shard-opt partition train.mlir --mesh=data=4,model=2 --report=text -o local.mlir\n  \
        shard-opt train.mlir --sdy-propagation-pipeline\n  \
        shard-opt train.mlir --pass-pipeline='builtin.module(inline-calls,import,propagate)'\n  \
        shard-opt report local.mlir\n  \
        shard-opt explain train.mlir train.py:88\n\n\
        Exit status: 0 done, 1 the input or a pass failed, 2 the command line is wrong.",
    args_conflicts_with_subcommands = true
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    passes: passes::PassesArgs,
}

#[derive(Debug, Subcommand)]
enum Command {
    Partition(partition::PartitionArgs),
    Report(report::ReportArgs),
    Explain(explain::ExplainArgs),
    Diff(diff::DiffArgs),
    Convert(convert::ConvertArgs),
    Run(run::RunArgs),
    Verify(verify::VerifyArgs),
    #[cfg(feature = "pjrt")]
    Time(time::TimeArgs),
}

/// Reads the command line, runs the command, and gives the exit status.
pub(crate) fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    if let Some(message) = args::unknown_command(&words, &Cli::command()) {
        io::say(&format!("shard-opt: error: {message}\n"));
        return ExitCode::from(2);
    }
    let words = args::normalize(words, &Cli::command());
    let parsed = Cli::command()
        .try_get_matches_from(words)
        .and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are no errors; if they can't be printed, nobody reads them.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    let outcome = match cli.command {
        None => passes::run(&cli.passes),
        Some(Command::Partition(args)) => partition::run(&args),
        Some(Command::Report(args)) => report::run(&args),
        Some(Command::Explain(args)) => explain::run(&args),
        Some(Command::Diff(args)) => diff::run(&args),
        Some(Command::Convert(args)) => convert::run(&args),
        Some(Command::Run(args)) => run::run(&args),
        Some(Command::Verify(args)) => verify::run(&args),
        #[cfg(feature = "pjrt")]
        Some(Command::Time(args)) => time::run(&args),
    };
    if outcome.is_err() {
        io::progress_done();
    }
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Said) => ExitCode::from(1),
        #[cfg(feature = "pjrt")]
        Err(Failure::Status(status)) => ExitCode::from(status),
        Err(Failure::Usage(message)) => {
            io::say(&format!("shard-opt: error: {message}\n"));
            io::say("  help: 'shard-opt --help' shows the options and examples\n");
            ExitCode::from(2)
        }
        Err(Failure::Other(error)) => {
            io::say(&io::error_text(&error));
            ExitCode::from(1)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
