//! The passes.
//!
//! Only code in this crate changes a module; everything under `crates/` is data, analysis, text or
//! a back end.

mod annotations;
pub mod chlo_legalize;
pub mod common_ops;
pub mod dead_code;
pub mod export;
mod finite;
pub mod hlo_to_stablehlo;
pub mod import;
pub mod inline_calls;
pub mod insert_reshards;
pub mod local;
pub mod meshes;
pub mod numbers;
pub mod pad_uneven;
pub mod pass_manager;
pub mod pipeline;
pub mod place_reductions;
pub mod propagate;
pub mod reasons;
pub mod registry;
pub mod reshard_to_collectives;
pub mod rewrite;
pub mod sdy;
pub mod sdy_round_trip;
pub mod shardings;
pub mod simplify;
pub mod split_constants;
pub mod split_reductions;
pub mod stablehlo_to_hlo;
pub mod strip_shardings;
pub mod swap_convolutions;
pub mod switch_collectives;
pub mod warnings;
