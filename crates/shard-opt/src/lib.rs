//! Sharding propagation, SPMD partitioning and collective optimisation over StableHLO.
//!
//! This crate is the whole toolkit behind one name, and the command `shard-opt`. The parts are
//! crates of their own, re-exported here: [`ir`] (programs and shardings), [`text`] (reading and
//! printing), [`passes`], [`cost`] (machines and prices).
//!
//! # From text to text
//! ```
//! use shard_opt::{PartitionOptions, partition_text};
//!
//! let program = r#"
//! module @example {
//!   sdy.mesh @mesh = <["data"=4]>
//!   func.func public @main(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>})
//!       -> tensor<8x16xf32> {
//!     %y = stablehlo.add %x, %x : tensor<8x16xf32>
//!     return %y : tensor<8x16xf32>
//!   }
//! }
//! "#;
//! let result = partition_text(program, &PartitionOptions::default()).map_err(|errors| {
//!     errors.into_iter().map(|error| error.to_string()).collect::<Vec<_>>().join("\n")
//! })?;
//! assert!(result.text.contains("tensor<2x16xf32>"));
//! # Ok::<(), String>(())
//! ```
//! Errors are [`Diagnostic`]s, which [`render::render`] shows with the place in the text, and
//! [`report::Report`] says what the result costs.

pub mod explain;
#[cfg(feature = "pjrt")]
pub mod peer;
pub mod render;
pub mod report;
pub mod run;
#[cfg(feature = "pjrt")]
pub mod timing;
pub mod verify;

pub use shard_cost as cost;
pub use shard_interp as interp;
pub use shard_ir as ir;
#[cfg(feature = "mlir")]
pub use shard_mlir as mlir;
pub use shard_passes as passes;
#[cfg(feature = "pjrt")]
pub use shard_pjrt as pjrt;
pub use shard_propagate as propagate;
pub use shard_text as text;

pub use shard_cost::Topology;
pub use shard_ir::{Diagnostic, Module};
pub use shard_passes::export::SpmdMode;
pub use shard_passes::import::ImportOptions;
pub use shard_passes::pipeline::{PartitionOptions, Partitioned, Stage};
pub use shard_text::{ParseOptions, PrintOptions};

/// A partitioned program and its text.
#[derive(Clone, Debug)]
pub struct PartitionedText {
    /// The program in memory, with what is worth saying about how it came about.
    pub partitioned: Partitioned,
    /// The text of its last stage, with locations.
    pub text: String,
}

/// Reads a program in StableHLO text, partitions it for the devices of its mesh, and prints what
/// each device runs.
///
/// # Errors
/// What is wrong with the text, all errors that one reading finds; or what the first failing pass
/// says. Places are in bytes of `text`, or in the user's own source where the program names it.
pub fn partition_text(
    text: &str,
    options: &PartitionOptions,
) -> Result<PartitionedText, Vec<Diagnostic>> {
    let module = shard_text::parse(text, &ParseOptions::default()).into_result()?;
    let partitioned =
        shard_passes::pipeline::partition(module, options).map_err(|error| vec![error])?;
    let print = PrintOptions { debug_info: true, ..PrintOptions::default() };
    let text = shard_text::print(&partitioned.module, &print);
    Ok(PartitionedText { partitioned, text })
}
