//! HLO text, as XLA prints and reads it.
//!
//! A computation that an instruction uses as a body (`to_apply`, `calls`, `condition`, ...) becomes
//! a region of the op; one that is called becomes a function. Each instruction stays one op with
//! one result, tuples included: conversion to StableHLO is a pass. What has no place in the op
//! table is kept as attributes named `hlo.KEY` with the value's text, `mhlo.sharding` and
//! `mhlo.frontend_attributes`; metadata is the op's location.

mod attrs;
mod literal;
mod locs;
mod ops;
mod read;
mod shape;
mod syntax;
mod write;

pub use read::parse_hlo;
pub use write::print_hlo;

/// Whether a text is HLO: its first word is `HloModule`.
pub fn is_hlo(text: &str) -> bool {
    let mut rest = text.trim_start();
    while let Some(comment) = rest.strip_prefix("//") {
        rest = comment.split_once('\n').map_or("", |(_, after)| after).trim_start();
    }
    rest.starts_with("HloModule")
}

/// Prefix of attributes that hold the text of an HLO attribute.
const KEPT: &str = "hlo.";
/// A sharding, as HLO writes it.
const SHARDING: &str = "mhlo.sharding";
/// Frontend attributes, a dictionary of strings.
const FRONTEND: &str = "mhlo.frontend_attributes";
/// The shape as it was written, where its layouts aren't the default ones.
const SHAPE: &str = "hlo.shape";
/// The instruction only begins what a later one ends.
const ASYNC: &str = "hlo.async";
/// Where among the instructions a parameter stands, if not in front in order.
const PLACE: &str = "hlo.place";
/// The tables of source locations.
const TABLES: &str = "hlo.stack_frames";
