//! What can go wrong, with the plugin and its own words.

use std::path::{Path, PathBuf};

/// Any failure of this crate.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No plugin was found where plugins are looked for.
    #[error(transparent)]
    NotFound(#[from] NotFound),
    /// A plugin was found but can't be used.
    #[error("cannot use the PJRT plugin {}: {reason}", path.display())]
    Load {
        /// The plugin's file.
        path: PathBuf,
        /// Why it can't be used.
        reason: LoadError,
    },
    /// The plugin reported an error.
    #[error("the PJRT plugin {} reports from {call}: {error}", path.display())]
    Plugin {
        /// The plugin's file.
        path: PathBuf,
        /// The entry of the C interface that reported, such as `PJRT_Client_Compile`.
        call: &'static str,
        /// What it reported.
        error: PluginError,
    },
    /// The plugin broke the rules of the interface, or lacks an entry that is needed.
    #[error("the PJRT plugin {} misbehaves in {call}: {what}", path.display())]
    Misbehaviour {
        /// The plugin's file.
        path: PathBuf,
        /// The entry of the C interface.
        call: &'static str,
        /// What is wrong.
        what: String,
    },
    /// The caller's arguments don't fit each other or the program.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The compiled program that the plugin returned can't be read.
    #[error("cannot read the compiled program of the PJRT plugin {}: {reason}", path.display())]
    Decode {
        /// The plugin's file.
        path: PathBuf,
        /// Why it can't be read.
        reason: DecodeError,
    },
    /// The child process that was to run the plugin failed.
    #[error(transparent)]
    Child(#[from] ChildError),
}

/// No plugin for a platform.
#[derive(Debug, thiserror::Error)]
#[error(
    "no PJRT plugin for {platform} found (looked at {}); \
     run `tools/setup {setup}`, or set {variable} to the plugin's file",
    places.join(", ")
)]
pub struct NotFound {
    /// The platform in words, such as `CPU`.
    pub platform: &'static str,
    /// The argument of `tools/setup` that fetches one.
    pub setup: &'static str,
    /// The environment variable that names one.
    pub variable: &'static str,
    /// Where it was looked for.
    pub places: Vec<String>,
}

/// Why a file can't be used as a plugin.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// There is no such file.
    #[error(
        "no such file; run `tools/setup cpu-plugins` (or `tools/setup libtpu`) to fetch plugins"
    )]
    Missing,
    /// The dynamic loader refuses it.
    #[error("the dynamic loader refuses it: {0}")]
    Open(String),
    /// It is a library, but not a plugin.
    #[error("it exports no GetPjrtApi, so it is not a PJRT plugin")]
    NotAPlugin,
    /// `GetPjrtApi` returned a null pointer.
    #[error("its GetPjrtApi returned a null pointer")]
    NullApi,
    /// Its version of the interface isn't known here.
    #[error("its PJRT API is {major}.{minor}; shard-opt works with 0.{lowest} and later 0.x")]
    Version {
        /// Its major version.
        major: i32,
        /// Its minor version.
        minor: i32,
        /// The lowest minor version that works.
        lowest: i32,
    },
    /// Its table of functions is shorter than its version promises.
    #[error("its table of functions has {found} bytes where at least {needed} are needed")]
    Table {
        /// Bytes that it says it has.
        found: usize,
        /// Bytes that are needed.
        needed: usize,
    },
}

/// An error in the plugin's own words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message} ({code})")]
pub struct PluginError {
    /// The kind of error.
    pub code: ErrorCode,
    /// The plugin's message.
    pub message: String,
}

/// Kinds of plugin errors: those of `absl::StatusCode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ErrorCode {
    Cancelled,
    InvalidArgument,
    DeadlineExceeded,
    NotFound,
    AlreadyExists,
    PermissionDenied,
    ResourceExhausted,
    FailedPrecondition,
    Aborted,
    OutOfRange,
    Unimplemented,
    Internal,
    Unavailable,
    DataLoss,
    Unauthenticated,
    Unknown,
}

impl std::fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let words = match self {
            ErrorCode::Cancelled => "cancelled",
            ErrorCode::InvalidArgument => "invalid argument",
            ErrorCode::DeadlineExceeded => "deadline exceeded",
            ErrorCode::NotFound => "not found",
            ErrorCode::AlreadyExists => "already exists",
            ErrorCode::PermissionDenied => "permission denied",
            ErrorCode::ResourceExhausted => "resource exhausted",
            ErrorCode::FailedPrecondition => "failed precondition",
            ErrorCode::Aborted => "aborted",
            ErrorCode::OutOfRange => "out of range",
            ErrorCode::Unimplemented => "unimplemented",
            ErrorCode::Internal => "internal",
            ErrorCode::Unavailable => "unavailable",
            ErrorCode::DataLoss => "data loss",
            ErrorCode::Unauthenticated => "unauthenticated",
            ErrorCode::Unknown => "unknown",
        };
        f.write_str(words)
    }
}

/// Arguments that don't fit.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum InputError {
    /// An array whose bytes and shape don't fit.
    #[error(transparent)]
    Array(#[from] shard_ir::HostArrayError),
    /// An element type that PJRT can't carry.
    #[error("PJRT has no buffers of element type {0}")]
    ElementType(String),
    /// Inputs for another number of devices.
    #[error("the program runs on {expected} devices; inputs were given for {found}")]
    Devices {
        /// Devices that the program runs on.
        expected: usize,
        /// Devices that inputs were given for.
        found: usize,
    },
    /// Devices with different numbers of inputs.
    #[error("device 0 has {first} inputs, device {device} has {found}")]
    Uneven {
        /// Inputs of device 0.
        first: usize,
        /// The device that differs.
        device: usize,
        /// Its inputs.
        found: usize,
    },
    /// Another number of arguments than the program has.
    #[error("the program has {expected} arguments; {found} inputs were given for each device")]
    Arguments {
        /// The program's arguments on one device.
        expected: usize,
        /// Inputs given.
        found: usize,
    },
    /// An argument of another shape or element type.
    #[error("argument {argument} is a {expected} on each device; device {device} got a {found}")]
    Argument {
        /// The argument's position.
        argument: usize,
        /// The device.
        device: usize,
        /// The argument's shape on one device, such as `f32[4,8]`.
        expected: String,
        /// The input's shape.
        found: String,
    },
    /// Buffers that belong to another client.
    #[error("the buffers of device {device} belong to another client than the program")]
    OtherClient {
        /// The first device with such buffers.
        device: usize,
    },
    /// A device assignment with the wrong number of entries.
    #[error("the device assignment names {found} devices where {expected} are needed")]
    Assignment {
        /// Replicas times partitions.
        expected: usize,
        /// Entries given.
        found: usize,
    },
    /// More devices than a client can have, or none.
    #[error("{0} is not a number of devices")]
    DeviceCount(usize),
    /// A topology's name that can't be read.
    #[error("`{0}` is not the name of a TPU topology such as v4:2x2x2")]
    Topology(String),
}

/// Why a compiled program can't be read.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// The plugin returned another format.
    #[error("its format is `{0}`, not `hlo_with_config` or `hlo`")]
    Format(String),
    /// The bytes aren't the protocol buffer that they should be.
    #[error("its bytes are malformed: {0}")]
    Bytes(#[from] prost::DecodeError),
    /// A reference to something that isn't there.
    #[error("{0}")]
    Dangling(String),
}

/// What can go wrong with a child process.
#[derive(Debug, thiserror::Error)]
pub enum ChildError {
    /// It can't be started or waited for.
    #[error("cannot run this program as a child of itself: {0}")]
    Io(#[from] std::io::Error),
    /// It was ended by a signal: the plugin aborted, or ran out of memory.
    #[error(
        "the process that ran the PJRT plugin was ended by {0}; \
         its last messages above are the plugin's"
    )]
    Died(String),
}

impl From<shard_ir::HostArrayError> for Error {
    fn from(error: shard_ir::HostArrayError) -> Self {
        Error::Input(error.into())
    }
}

impl Error {
    /// The plugin's own error, where that is what went wrong.
    pub fn plugin_error(&self) -> Option<&PluginError> {
        match self {
            Error::Plugin { error, .. } => Some(error),
            _ => None,
        }
    }

    pub(crate) fn load(path: &Path, reason: LoadError) -> Error {
        Error::Load { path: path.to_owned(), reason }
    }

    pub(crate) fn decode(path: &Path, reason: impl Into<DecodeError>) -> Error {
        Error::Decode { path: path.to_owned(), reason: reason.into() }
    }
}
