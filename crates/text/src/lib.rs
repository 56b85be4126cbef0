//! Readers and printers of StableHLO text in MLIR's syntax.
//!
//! [`parse`] makes a [`Module`] of a text, [`print()`] makes the text that MLIR would print for it.
//! Reading what was printed gives the same module ([`equal()`] says so), and printing that gives the
//! same text.
//!
//! # How it reads
//! The grammar is read by recursive descent over a hand-written byte cursor, in one pass, without
//! tokens in memory: a train step has megabytes of text, most of it types and names that were seen
//! before, so a type or a sharding is looked up by its spelling and read in full only the first
//! time. Small grammars that stand for themselves (dimension numbers of a convolution, a format
//! such as `e5m10`, mesh axes, parts of axes, source positions) are `nom` parsers. Nesting has a
//! limit, so that no text exhausts the stack. After an error reading goes on at the next op, so
//! that one run reports several errors; what was understood is returned all the same.

pub mod equal;
mod float;
mod hlo;
mod mlir;
mod print;

pub use equal::equal;
pub use hlo::{is_hlo, parse_hlo, print_hlo};
pub use mlir::{Format, ParseOptions, Parsed, parse, parse_bytes, parse_shared, split_input};
pub use print::names::{Names, ValueName};
pub use print::{PrintOptions, print};

pub use shard_ir::Module;

/// The generic form of MLIR piece by piece: for readers and writers of something else than text.
pub mod generic {
    pub use crate::mlir::generic::{GenericOp, Parts, add_func, declare_mesh, place_mesh};
    pub use crate::mlir::pieces::{read_attr, read_mesh, read_type};
    pub use crate::print::generic::{GenericForm, NamedValues, Value};
}

/// Prints a program in the language whose form it has.
///
/// # Errors
/// As [`print_hlo`].
pub fn print_as_is(
    module: &Module,
    options: &PrintOptions,
) -> Result<String, shard_ir::Diagnostic> {
    match module.language {
        shard_ir::Language::StableHlo => Ok(print(module, options)),
        shard_ir::Language::Hlo => print_hlo(module),
    }
}
