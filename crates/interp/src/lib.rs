//! Reference interpreter of StableHLO: what a program means, without any plugin.
//!
//! A [`Machine`] executes a module on any number of devices in lock step. Every op is computed as
//! the specification says, on one core, with results that depend on nothing but the operands;
//! devices run in parallel and meet at collectives.
//!
//! Start reading at [`Machine`]; kernels are in `ops`, one file a family of ops, as everywhere.

mod fault;
mod machine;
mod matrix;
mod ops;
mod region;
mod site;
mod strided;
mod tensor;

pub use fault::Fault;
pub use machine::{Event, Machine, Outcome, RunError, RunOptions, Watch};
pub use strided::each_index;
pub use tensor::{Buffer, Lane, Tensor, Value};
