//! Reading MLIR text.

mod attrs;
mod cursor;
mod dense;
mod dialect_attrs;
mod funcs;
pub(crate) mod generic;
mod locs;
mod ops;
mod parser;
pub(crate) mod pieces;
mod regions;
mod shardings;
mod small;
mod types;

use std::ops::Range;
use std::sync::Arc;

use shard_ir::{Diagnostic, Module, Severity};

use crate::{is_hlo, parse_hlo};
pub(crate) use cursor::unescape;
use parser::Parser;

/// A language that programs are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// StableHLO in MLIR's syntax.
    StableHlo,
    /// HLO text.
    Hlo,
}

/// How to read.
#[derive(Clone, Debug)]
pub struct ParseOptions {
    /// What the text is written in; found out from it where absent.
    pub format: Option<Format>,
    /// How many errors are reported before reading stops.
    pub max_errors: usize,
    /// How deep attributes, types, locations and regions may nest.
    pub max_depth: u32,
    /// Whether locations are kept.
    pub locations: bool,
    /// Whether names that say nothing, such as `%12` and `%cst_3`, are kept like others.
    pub all_names: bool,
}

impl Default for ParseOptions {
    fn default() -> Self {
        ParseOptions {
            format: None,
            max_errors: 20,
            max_depth: 256,
            locations: true,
            all_names: false,
        }
    }
}

/// What was read.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The program, as far as it was understood.
    pub module: Module,
    /// What is wrong with the text.
    pub diagnostics: Vec<Diagnostic>,
}

impl Parsed {
    /// Whether there is an error among the diagnostics.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// The module, or the errors.
    ///
    /// # Errors
    /// All diagnostics, if one of them is an error.
    pub fn into_result(self) -> Result<Module, Vec<Diagnostic>> {
        if self.has_errors() { Err(self.diagnostics) } else { Ok(self.module) }
    }
}

/// Reads a program in MLIR text or in HLO text.
pub fn parse(text: &str, options: &ParseOptions) -> Parsed {
    read(text, None, options)
}

/// Reads a program whose bytes may be invalid UTF-8, which is an error at its place.
pub fn parse_bytes(bytes: &[u8], options: &ParseOptions) -> Parsed {
    read_bytes(bytes, None, options)
}

/// Reads a part of a text that the module may share from then on: its big constants stay digits of
/// it, so that they take no memory of their own. Places are counted from the part's beginning.
///
/// # Panics
/// If the text has no such part.
pub fn parse_shared(text: &Arc<Vec<u8>>, part: Range<usize>, options: &ParseOptions) -> Parsed {
    let shared = (text.clone(), part.start);
    read_bytes(&text[part], Some(shared), options)
}

type Shared = Option<(Arc<Vec<u8>>, usize)>;

fn read(text: &str, shared: Shared, options: &ParseOptions) -> Parsed {
    let found = if is_hlo(text) { Format::Hlo } else { Format::StableHlo };
    match options.format.unwrap_or(found) {
        Format::StableHlo => Parser::new(text, shared, options).run(),
        Format::Hlo => parse_hlo(text, options),
    }
}

fn read_bytes(bytes: &[u8], shared: Shared, options: &ParseOptions) -> Parsed {
    match std::str::from_utf8(bytes) {
        Ok(text) => read(text, shared, options),
        Err(error) => {
            let at = error.valid_up_to();
            let len = error.error_len().unwrap_or(bytes.len() - at);
            let message = format!("the text isn't UTF-8: byte {:#04x}", bytes[at]);
            Parsed {
                module: Module::new(),
                diagnostics: vec![Diagnostic::error(message).at(at..at + len).help(
                    "the input must be MLIR or HLO text; is it MLIR bytecode or another \
                             file?",
                )],
            }
        }
    }
}

/// The parts of a text between lines `// -----`, each with the offset at which it begins.
pub fn split_input(text: &str) -> Vec<(usize, &str)> {
    let mut parts = Vec::new();
    let (mut start, mut at) = (0, 0);
    for line in text.split_inclusive('\n') {
        if line.trim_end().starts_with("// -----") {
            parts.push((start, &text[start..at]));
            start = at + line.len();
        }
        at += line.len();
    }
    parts.push((start, &text[start..]));
    parts
}
