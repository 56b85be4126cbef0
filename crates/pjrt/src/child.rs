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
//! use shard_pjrt::child::{self, Setup, Work};
//!
//! if !child::is_child() {
//!     // Standard input, output and error are the child's.
//!     let status = child::run_self(Work::Ahead, &Setup::default())?;
//!     std::process::exit(status);
//! }
//! // Load a plugin and use it.
//! # Ok(())
//! # }
//! ```

use std::io::{Read, Write};
use std::process::{Command, ExitStatus, Stdio};

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

/// What a child gets beside this process's arguments and environment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Setup<'a> {
    /// Arguments after this process's own.
    pub arguments: &'a [&'a str],
    /// Variables and their values.
    pub environment: &'a [(&'a str, &'a str)],
}

/// Runs this program with the same arguments as a child process, with the environment that
/// plugins want, waits for it, and returns its exit status.
///
/// What the child says on standard error comes out on this process's, but for the noise that
/// libtpu makes there (its warnings about huge pages, stack traces when it aborts). So the child's
/// standard error isn't a terminal, even where this process's is one.
///
/// # Errors
///
/// Where the child can't be run, or is ended by a signal.
pub fn run_self(work: Work, setup: &Setup<'_>) -> Result<i32, ChildError> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(std::env::args_os().skip(1)).args(setup.arguments);
    command.envs(setup.environment.iter().copied());
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
    let mut child = command.stderr(Stdio::piped()).spawn()?;
    if let Some(said) = child.stderr.take() {
        // What can't be passed on is lost, and the child goes on.
        let _ = pass_on(said, std::io::stderr());
    }
    let status = child.wait()?;
    status.code().ok_or_else(|| ChildError::Died(signal(status)))
}

/// Copies lines as they come, but for noise. A carriage return ends a line, too, so that what
/// shows progress by them comes out at once.
fn pass_on(mut from: impl Read, mut to: impl Write) -> std::io::Result<()> {
    let mut chunk = [0u8; 4096];
    let mut line: Vec<u8> = Vec::new();
    // libtpu says what it dies of twice.
    let mut fatal: Vec<u8> = Vec::new();
    loop {
        let count = from.read(&mut chunk)?;
        for &byte in &chunk[..count] {
            line.push(byte);
            if matches!(byte, b'\n' | b'\r') {
                if !is_noise(&line) && line != fatal {
                    to.write_all(&line)?;
                }
                if line.first() == Some(&b'F') {
                    fatal.clone_from(&line);
                }
                line.clear();
            }
        }
        if count == 0 {
            to.write_all(&line)?;
            return to.flush();
        }
        to.flush()?;
    }
}

/// Whether a line is one that libtpu writes whatever the level of its log, and of no use to who
/// runs a tool.
fn is_noise(line: &[u8]) -> bool {
    let line = String::from_utf8_lossy(line);
    // A log line begins with its level and date, as in `E1130 22:16:07.707927`.
    let logged = line.get(..5).is_some_and(|head| {
        head.starts_with(['E', 'F', 'I', 'W']) && head[1..].bytes().all(|b| b.is_ascii_digit())
    });
    (logged && line.contains("] RAW: "))
        || line.starts_with("    @ ")
        || line.starts_with("*** Check failure stack trace: ***")
        || line.starts_with("*** SIG")
        || line.starts_with("WARNING: All log messages before absl::InitializeLog()")
        || line.starts_with("https://symbolize.")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_noise_is_kept_back() {
        let said = "E1130 22:16:07.707927   15197 hugepage_text.cc:373] RAW: File offset\n\
            F1130 22:16:07.820747   15214 hlo_sharding_util.cc:1093] Check failed: a == b\n\
            *** Check failure stack trace: ***\n    @     0x7fe5f03fd5e4  absl::Flush()\n\
            Every result is equal.\ncompiling\r    @home is indented\nno newline";
        let mut shown = Vec::new();
        pass_on(said.as_bytes(), &mut shown).expect("writes to memory");
        assert_eq!(
            String::from_utf8_lossy(&shown),
            "F1130 22:16:07.820747   15214 hlo_sharding_util.cc:1093] Check failed: a == b\n\
             Every result is equal.\ncompiling\r    @home is indented\nno newline"
        );
    }
}
