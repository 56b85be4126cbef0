//! Plugins: finding and loading them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::Error;
use crate::ffi::{self, Api};
use crate::find;

/// A loaded PJRT plugin: a compiler, and a runtime where its devices are there.
///
/// A plugin stays loaded until the process ends. Loading it again gives the same one.
#[derive(Clone, Debug)]
pub struct Plugin {
    pub(crate) api: Arc<Api>,
}

impl Plugin {
    /// Loads the plugin in `path` and initialises it.
    ///
    /// The file's code is run, so it is to be one that the user chose.
    ///
    /// # Errors
    ///
    /// Where the file isn't there, isn't a plugin, or is one of another version of the interface
    /// than 0.54 or a later 0.x.
    pub fn load(path: &Path) -> Result<Plugin, Error> {
        Ok(Plugin { api: ffi::load(path)? })
    }

    /// Loads libtpu for compiling without a TPU.
    ///
    /// libtpu takes settings from the environment only. This sets those that make it not look
    /// for a TPU (`TPU_SKIP_MDS_QUERY`, `TPU_ACCELERATOR_TYPE`, `TPU_WORKER_HOSTNAMES`,
    /// `TPU_WORKER_ID`), not refuse to be loaded by two processes at once
    /// (`ALLOW_MULTIPLE_LIBTPU_LOAD`; else the second finds `/tmp/libtpu_lockfile` taken), and
    /// not write logs (`TPU_LOG_DIR`), where they aren't set, in this process, so call it early, while no other
    /// thread's C code reads the environment; or use [`crate::child::run_self`], which
    /// gives them to a child process only.
    ///
    /// # Errors
    ///
    /// As [`Plugin::load`].
    pub fn load_tpu(path: &Path) -> Result<Plugin, Error> {
        ffi::set_unless_set(TPU_ENVIRONMENT);
        Plugin::load(path)
    }

    /// The plugin's file.
    pub fn path(&self) -> &Path {
        self.api.path()
    }

    /// Major and minor version of the PJRT interface that the plugin was built with.
    pub fn api_version(&self) -> (i32, i32) {
        self.api.version()
    }

    /// The CPU plugin to use: what `SHARD_OPT_CPU_PLUGIN` or `PJRT_PLUGIN_LIBRARY_PATH` names,
    /// else one that `tools/setup` fetched: in `pjrt` of the folder `SHARD_OPT_CACHE`, or in
    /// `.cache/pjrt` of the current folder or of a folder above the executable.
    ///
    /// # Errors
    ///
    /// Where there is none; the message says how to get one.
    pub fn find_cpu() -> Result<PathBuf, Error> {
        Ok(Plugin::list_cpu()?.swap_remove(0))
    }

    /// Every CPU plugin that is found, the one of [`Plugin::find_cpu`] first; those that
    /// `SHARD_OPT_CPU_PLUGINS` lists are among them.
    ///
    /// # Errors
    ///
    /// Where there is none.
    pub fn list_cpu() -> Result<Vec<PathBuf>, Error> {
        Ok(find::find(&find::CPU)?)
    }

    /// The TPU plugin to use: what `SHARD_OPT_TPU_PLUGIN` or `TPU_LIBRARY_PATH` names, else
    /// `libtpu.so` in `.cache/pjrt` as for [`Plugin::find_cpu`].
    ///
    /// # Errors
    ///
    /// Where there is none; the message says how to get one.
    pub fn find_tpu() -> Result<PathBuf, Error> {
        Ok(find::find(&find::TPU)?.swap_remove(0))
    }
}

/// What makes libtpu compile on a machine without a TPU. The accelerator type only has to be one
/// that exists: programs are compiled for the topology that is asked for.
pub(crate) const TPU_ENVIRONMENT: &[(&str, &str)] = &[
    ("TPU_SKIP_MDS_QUERY", "1"),
    ("TPU_ACCELERATOR_TYPE", "v4-16"),
    ("TPU_WORKER_HOSTNAMES", "localhost"),
    ("TPU_WORKER_ID", "0"),
    ("ALLOW_MULTIPLE_LIBTPU_LOAD", "1"),
    ("TPU_LOG_DIR", "disabled"),
];
