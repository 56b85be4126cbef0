//! Plugins for the commands that execute programs.

use std::path::{Path, PathBuf};

use anyhow::Context;
use shard_pjrt::child::{self, Setup, Work};
use shard_pjrt::{ChildError, Client, Plugin};

use super::{Failure, io};

/// Lets a child process do all of the command's work, so that a plugin can't take the command
/// down: in the child it returns, in the parent it fails with the child's status, unless that is
/// 0, with which it exits.
pub(super) fn in_child(work: Work) -> Result<(), Failure> {
    in_child_or(work, None)
}

/// What else to try where the plugin ends its process.
pub(super) struct Retry {
    /// Arguments to add.
    pub arguments: &'static [&'static str],
    /// What is said before.
    pub message: &'static str,
}

/// As [`in_child`]; a child that a signal ends is followed by another one.
pub(super) fn in_child_or(work: Work, retry: Option<Retry>) -> Result<(), Failure> {
    if child::is_child() {
        return Ok(());
    }
    let columns = io::terminal_width().map(|width| width.to_string());
    let environment: Vec<(&str, &str)> =
        columns.iter().map(|columns| (io::COLUMNS, columns.as_str())).collect();
    let setup = Setup { arguments: &[], environment: &environment };
    let status = match (child::run_self(work, &setup), retry) {
        (Err(ChildError::Died(signal)), Some(retry)) => {
            io::say(&format!("shard-opt: warning: {signal}: {}\n", retry.message));
            child::run_self(work, &Setup { arguments: retry.arguments, ..setup })
        }
        (status, _) => status,
    };
    let status = status.context("the process that runs the plugin failed")?;
    Err(Failure::Status(u8::try_from(status).unwrap_or(1)))
}

/// A client of a CPU plugin.
pub(super) fn cpu_client(plugin: Option<&Path>, devices: u64) -> Result<Client, Failure> {
    let file = match plugin {
        Some(file) => file.to_owned(),
        None => Plugin::find_cpu().map_err(anyhow::Error::from)?,
    };
    let plugin = Plugin::load(&file).map_err(anyhow::Error::from)?;
    let devices = usize::try_from(devices).unwrap_or(usize::MAX);
    Ok(Client::cpu(&plugin, devices).map_err(anyhow::Error::from)?)
}

/// TPU's plugin.
pub(super) fn tpu_file(plugin: Option<&Path>) -> Result<PathBuf, Failure> {
    match plugin {
        Some(file) => Ok(file.to_owned()),
        None => Ok(Plugin::find_tpu().map_err(anyhow::Error::from)?),
    }
}

/// Whether this machine has TPU chips.
pub(super) fn has_tpu() -> bool {
    ["/dev/accel0", "/dev/vfio/0"].iter().any(|device| Path::new(device).exists())
}
