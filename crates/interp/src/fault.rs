//! Why an op can't be executed.

use thiserror::Error;

use crate::RunError;

/// Why an op can't be executed. The machine adds which op that is.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Fault {
    /// The program asks for what has no meaning, such as a negative size.
    #[error("{0}")]
    Invalid(String),
    /// The interpreter doesn't know what that means.
    #[error("{0} is not supported by the interpreter")]
    Unsupported(String),
    /// A program that the op runs can't be executed.
    #[error("{0}")]
    Within(Box<RunError>),
}

impl Fault {
    /// What has no meaning.
    pub fn invalid(what: impl Into<String>) -> Fault {
        Fault::Invalid(what.into())
    }

    /// What isn't known: a noun phrase, such as `a call of @foo`.
    pub fn unsupported(what: impl Into<String>) -> Fault {
        Fault::Unsupported(what.into())
    }
}
