//! Plugins for the commands that execute programs.

use std::path::{Path, PathBuf};

use anyhow::Context;
use shard_pjrt::child::{self, Work};
use shard_pjrt::{Client, Plugin};

use super::Failure;

/// Lets a child process do all of the command's work, so that a plugin can't take the command
/// down: in the child it returns, in the parent it fails with the child's status, unless that is
/// 0, with which it exits.
pub(super) fn in_child(work: Work) -> Result<(), Failure> {
    if child::is_child() {
        return Ok(());
    }
    let status = child::run_self(work).context("the process that runs the plugin failed")?;
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
