//! PJRT plugins for shard-opt: find, load, compile, run, and compile ahead of time.

mod ahead;
mod array;
pub mod child;
mod client;
mod error;
mod executable;
mod ffi;
mod find;
pub mod hlo;
mod options;
mod plugin;
mod proto;
mod stats;

pub use ahead::{AheadExecutable, Topology};
pub use array::HostArray;
pub use client::Client;
pub use error::{
    ChildError, DecodeError, Error, ErrorCode, InputError, LoadError, NotFound, PluginError,
};
pub use executable::{DeviceBuffers, Executable};
pub use hlo::{
    Collective, CollectiveKind, EstimatedCycles, Instruction, OptimizedModule, Shape, SourceLine,
    Times,
};
pub use options::{CompileOptions, FlagValue, Program};
pub use plugin::Plugin;
pub use stats::{CostAnalysis, MemoryStats};
