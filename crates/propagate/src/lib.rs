//! Sharding propagation: op sharding rules, and the engine that gives every value a sharding.
//!
//! Start at [`propagate`], which takes a module and returns a [`Propagation`]; the module stays as
//! it is. Three layers, from the bottom up:
//!
//! - [`rules`]: how the dimensions of an op's operands and results hang together, as *factors*;
//! - [`projection`]: shardings of dimensions as shardings of factors, and back;
//! - [`engine`]: which ops are looked at, in which order, and what a step may do.
//!
//! A program propagates here as it does in Shardy (that of jaxlib 0.12.0.1, which is newer than its
//! public sources); `tools/compare_propagation.py` and `tools/fuzz_propagation.py` hold us to it.
//!
//! # What goes before
//!
//! Shardy changes the module before it propagates. Here most of that is an analysis (see
//! [`engine`]). Three things are left to passes, since they are real changes:
//!
//! - **Constants** that several ops use would carry shardings from one user to the others. The pass
//!   `split_constants` gives each use its own copy. No analysis can stand in for it: what it makes
//!   are values with different shardings, and a module has one for each value.
//! - **Calls.** A function's parameters have one sharding for all callers here, as in Shardy with
//!   `dedup-functions-fully`. To let each call have its own, inline the calls or copy the functions.
//! - **Uses of constrained values.** A constraint on a loop variable, and the last of a chain of
//!   constraints, take over uses of their input: [`Propagation::rewired`] lists these, so that a
//!   pass can make the module say it.
//!
//! # Where it differs from Shardy, and why
//!
//! - `stablehlo.if` carries shardings like `case`; dimensions of unknown size are passed over, where
//!   Shardy refuses the program; tuples too.
//! - `stablehlo.map`, `chlo` ops and batch normalisations that compute statistics have rules.
//! - Explicitly replicated axes of a value in a sharding group stay.

pub mod engine;
pub mod explain;
pub mod projection;
pub mod rules;

pub use engine::{
    Direction, Log, Options, Placement, Propagation, SharedSharding, Strategy, Tracer, propagate,
    propagate_traced,
};
pub use projection::{FactorSharding, Projection, TensorFactors};
pub use rules::{
    DimMapping, Factor, FactorIndex, FactorKind, OpRule, Reducer, TensorMapping, rule, rule_with,
};
