//! What can go wrong on the way between the two forms.

use std::cell::RefCell;
use std::rc::Rc;

use melior::Context;
use melior::ir::Location;
use shard_ir::{Diagnostic, Place};

/// Why a program can't go from one form to the other, or a pipeline can't run on it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// MLIR's module isn't a program that shard-opt can hold.
    #[error("{0}")]
    Program(Diagnostic),
    /// MLIR refused something, or what it read isn't valid: what it said.
    #[error("MLIR refuses {what}{}", lines(said))]
    Mlir {
        /// What it refused.
        what: String,
        /// Its messages; there may be none.
        said: Vec<Diagnostic>,
    },
    /// The program has HLO's form, which MLIR has no dialect for.
    #[error("the program is in HLO's form: convert it first, with the pass 'hlo-to-stablehlo'")]
    Hlo,
    /// The context takes no op of a dialect that it doesn't know.
    #[error("the context allows no unregistered dialects: see shard_mlir::prepare")]
    Context,
    /// The text isn't a pipeline of passes.
    #[error("{0}")]
    Pipeline(#[from] shard_passes::pass_manager::PipelineError),
    /// A pass failed.
    #[error("{0}")]
    Pass(Diagnostic),
}

impl Error {
    /// The error's messages with their places.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        match self {
            Error::Program(diagnostic) | Error::Pass(diagnostic) => vec![diagnostic.clone()],
            Error::Mlir { said, .. } if !said.is_empty() => said.clone(),
            Error::Mlir { .. } | Error::Hlo | Error::Context | Error::Pipeline(_) => {
                vec![Diagnostic::error(self.to_string())]
            }
        }
    }
}

impl From<Diagnostic> for Error {
    fn from(diagnostic: Diagnostic) -> Self {
        Error::Program(diagnostic)
    }
}

fn lines(said: &[Diagnostic]) -> String {
    said.iter().map(|diagnostic| format!("\n{diagnostic}")).collect()
}

/// Runs `run`, and gives what MLIR says meanwhile beside its result. Nothing of that reaches
/// standard error.
pub(crate) fn listening<T>(context: &Context, run: impl FnOnce() -> T) -> (T, Vec<Diagnostic>) {
    let said = Rc::new(RefCell::new(Vec::new()));
    let sink = Rc::clone(&said);
    let handler = context.attach_diagnostic_handler(move |diagnostic| {
        let mut message = Diagnostic::error(diagnostic.to_string());
        message.place = place(diagnostic.location());
        sink.borrow_mut().push(message);
        true
    });
    let result = run();
    context.detach_diagnostic_handler(handler);
    let said = said.take();
    (result, said)
}

fn place(location: Location<'_>) -> Place {
    if !location.is_file_line_col_range() {
        return Place::Nowhere;
    }
    let name = location.file_line_col_range_filename();
    Place::Source {
        file: name.as_string_ref().as_str().unwrap_or_default().to_owned(),
        line: location.file_line_col_range_start_line() as u32,
        col: location.file_line_col_range_start_column() as u32,
    }
}
