//! PJRT plugins for shard-opt: find, load, compile, run, and compile ahead of time.
//!
//! A PJRT plugin is a shared library with one of XLA's compilers and, where its devices are
//! there, their runtime. Two kinds are used: XLA's CPU plugin, which gives any number of devices
//! on one machine, and libtpu, which compiles for TPUs that aren't there.
//!
//! ```no_run
//! use shard_ir::ElementType;
//! use shard_pjrt::{Client, CompileOptions, HostArray, Plugin, Program};
//!
//! # fn main() -> Result<(), shard_pjrt::Error> {
//! # let text = "";
//! let plugin = Plugin::load(&Plugin::find_cpu()?)?;
//! let client = Client::cpu(&plugin, 8)?;
//! // A program that is partitioned already, with `mhlo.num_partitions = 8`.
//! let program = client.compile(&Program::Mlir(text), &CompileOptions::partitions(8))?;
//! let input = HostArray::new(ElementType::F32, vec![2], vec![0; 8])?;
//! let results = program.execute(&vec![vec![input]; 8])?;
//! for collective in program.optimized()?.collectives() {
//!     let (kind, count) = (collective.kind, collective.times.count);
//!     // ...
//! }
//!
//! let libtpu = Plugin::load_tpu(&Plugin::find_tpu()?)?;
//! let topology = libtpu.tpu_topology("v4:2x2x2")?;
//! let ahead = libtpu.compile_ahead(&topology, &Program::Mlir(text), &CompileOptions::partitions(8))?;
//! let cycles = ahead.estimated_cycles()?;
//! # Ok(())
//! # }
//! ```
//!
//! # Errors and crashes
//!
//! What a plugin reports is an [`Error`] with its file and its words. But a plugin is C++ in this
//! process: it can abort it. A tool that must not die runs itself as a child: see [`child`].
//!
//! # Versions
//!
//! Plugins of the PJRT interface 0.54 and later 0.x load; 0.81, 0.106 and 0.115 are tested. The
//! bindings are `pjrt-sys` 0.2 (API 0.54). Newer plugins refuse its argument structs as too
//! short, so each is passed at the start of a zeroed kilobyte. The `pjrt` crate on top of it is
//! not used: it makes the structs itself, so that most of its functions are refused, and its
//! execution on several devices, cost analysis and topologies crash; what would be left of it are
//! a few getters. Nor are the protocol buffers of `pjrt-sys`: newer plugins changed fields'
//! types, which makes its decoder refuse whole modules.
//!
//! Building `pjrt-sys` takes `protoc` and `libclang`; running needs neither.

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
pub use shard_ir::HostArray;
pub use stats::{CostAnalysis, MemoryStats};
