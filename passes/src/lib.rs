//! The passes.
//!
//! Only code in this crate changes a module; everything under `crates/` is data, analysis, text or
//! a back end.

pub mod local;
pub mod meshes;
mod numbers;
pub mod rewrite;
