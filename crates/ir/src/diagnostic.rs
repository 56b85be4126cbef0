//! What is said to the user: one type for errors, warnings and remarks.

use std::fmt;
use std::ops::Range;

use crate::{Loc, LocId, Module, OpId};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The input can't be processed.
    Error,
    /// The result is right, but not what the user may expect.
    Warning,
    /// Information.
    Remark,
}

/// Where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Nowhere in particular.
    Nowhere,
    /// A range of bytes of the text that was read.
    Text(Range<usize>),
    /// A line of the user's own source, by the program's location attributes.
    Source {
        /// File.
        file: String,
        /// Line, from 1.
        line: u32,
        /// Column, from 1.
        col: u32,
    },
}

/// A message with its place, op and remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in one sentence.
    pub message: String,
    /// Where.
    pub place: Place,
    /// Name of the op concerned.
    pub op: Option<String>,
    /// More facts.
    pub notes: Vec<String>,
    /// What to do about it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error without a place.
    pub fn error(message: impl Into<String>) -> Self {
        Diagnostic {
            severity: Severity::Error,
            message: message.into(),
            place: Place::Nowhere,
            op: None,
            notes: Vec::new(),
            help: None,
        }
    }

    /// A warning without a place.
    pub fn warning(message: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Warning, ..Self::error(message) }
    }

    /// The same, at a range of the text.
    pub fn at(mut self, range: Range<usize>) -> Self {
        self.place = Place::Text(range);
        self
    }

    /// The same, at a location of the program.
    pub fn at_loc(mut self, module: &Module, loc: LocId) -> Self {
        self.place = place_of(module, loc);
        self
    }

    /// The same, at an op, whose name it states.
    pub fn at_op(self, module: &Module, op: OpId) -> Self {
        let name = module.op_name(op).to_owned();
        let mut this = self.at_loc(module, module.op(op).loc);
        this.op = Some(name);
        this
    }

    /// The same with one more fact.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// The same with a remedy.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// The place that a location names: the innermost source line outside of the framework's own
/// files, else the offset in the text.
pub fn place_of(module: &Module, loc: LocId) -> Place {
    let mut fallback = Place::Nowhere;
    let mut stack = vec![loc];
    let mut steps = 0;
    while let Some(id) = stack.pop() {
        steps += 1;
        if steps > 10_000 {
            break;
        }
        match module.loc(id) {
            Loc::Unknown => {}
            Loc::Input(offset) => {
                let offset = offset as usize;
                if fallback == Place::Nowhere {
                    fallback = Place::Text(offset..offset);
                }
            }
            Loc::File { file, line, col, .. } => {
                let file = module.str(file).to_owned();
                let place = Place::Source { line, col, file };
                if !is_framework(&place) {
                    return place;
                }
                fallback = place;
            }
            Loc::Name { child, .. } => stack.push(child),
            Loc::CallSite { callee, caller } => {
                stack.push(caller);
                stack.push(callee);
            }
            Loc::Fused { locs, .. } => stack.extend(locs.iter().rev()),
        }
    }
    fallback
}

fn is_framework(place: &Place) -> bool {
    match place {
        Place::Source { file, .. } => {
            file.contains("site-packages") || file.starts_with("jax/") || file.starts_with('<')
        }
        Place::Text(_) | Place::Nowhere => false,
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Place::Source { file, line, col } = &self.place {
            write!(f, "{file}:{line}:{col}: ")?;
        }
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Remark => "remark",
        };
        write!(f, "{severity}: ")?;
        if let Some(op) = &self.op {
            write!(f, "'{op}' op ")?;
        }
        f.write_str(&self.message)?;
        for note in &self.notes {
            write!(f, "\n  note: {note}")?;
        }
        if let Some(help) = &self.help {
            write!(f, "\n  help: {help}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostic {}
