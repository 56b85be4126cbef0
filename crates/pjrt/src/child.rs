//! Working in a child process, so that a plugin can't take the tool down with it.
//!
//! A plugin is a C++ compiler and runtime in the process of its user. On some programs it aborts
//! (libtpu's compiler does where only some ops of a program are marked `{manual}`), throws a C++
//! exception that Rust can't catch (the CPU plugin of API 0.81), or is killed for its memory.
//! libtpu also takes its settings from the environment of its process.
//!
//! So a command runs itself again as a child before it loads a plugin, and lets the child do all
//! of its work:
//!
//! ```no_run
//! # fn main() -> Result<(), shard_pjrt::ChildError> {
//! if !shard_pjrt::child::is_child() {
//!     // Standard input, output and error are the child's.
//!     let status = shard_pjrt::child::run_self(shard_pjrt::child::Work::Ahead)?;
//!     std::process::exit(status);
//! }
//! // Load a plugin and use it.
//! # Ok(())
//! # }
//! ```

use std::process::{Command, ExitStatus};

use crate::error::ChildError;
use crate::plugin::TPU_ENVIRONMENT;

/// The variable that tells a child that it is one.
const MARK: &str = "SHARD_OPT_PJRT_CHILD";

/// Keeps the plugins' informational messages off standard error; errors are still shown.
const QUIET: (&str, &str) = ("TF_CPP_MIN_LOG_LEVEL", "2");

/// What the child does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// It runs programs on the machine's devices.
    OfMachine,
    /// It compiles ahead of time for TPUs, and doesn't use one if there is one.
    Ahead,
}

/// Whether this process is a child made by [`run_self`].
pub fn is_child() -> bool {
    std::env::var_os(MARK).is_some()
}

/// Runs this program with the same arguments as a child process, with the environment that
/// plugins want, waits for it, and returns its exit status.
///
/// # Errors
///
/// Where the child can't be run, or is ended by a signal.
pub fn run_self(work: Work) -> Result<i32, ChildError> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(std::env::args_os().skip(1));
    run(command, work)
}

/// Runs another command as [`run_self`] runs this one.
///
/// # Errors
///
/// As [`run_self`].
pub fn run(mut command: Command, work: Work) -> Result<i32, ChildError> {
    command.env(MARK, "1");
    let settings = match work {
        Work::OfMachine => &[],
        Work::Ahead => TPU_ENVIRONMENT,
    };
    for (name, value) in settings.iter().chain([&QUIET]) {
        if std::env::var_os(name).is_none() {
            command.env(name, value);
        }
    }
    let status = command.status()?;
    status.code().ok_or_else(|| ChildError::Died(signal(status)))
}

#[cfg(unix)]
fn signal(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match status.signal() {
        Some(6) => "signal 6 (aborted)".to_owned(),
        Some(9) => "signal 9 (killed; the machine may be out of memory)".to_owned(),
        Some(11) => "signal 11 (segmentation fault)".to_owned(),
        Some(number) => format!("signal {number}"),
        None => status.to_string(),
    }
}

#[cfg(not(unix))]
fn signal(status: ExitStatus) -> String {
    status.to_string()
}
