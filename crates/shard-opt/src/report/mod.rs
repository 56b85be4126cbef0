//! What a partitioned program costs: the data, and its two forms.
//!
//! [`Report::new`] describes what [`shard_passes::pipeline::partition`] made; [`Report::of_local`]
//! any per-device program, also another partitioner's. [`render`] makes text of either.

mod build;
mod collectives;
mod compute;
mod fallback;
mod interface;
pub(crate) mod json;
mod model;
pub(crate) mod place;
pub(crate) mod table;
mod text;
pub mod units;

use std::str::FromStr;

pub use build::memory_warning;
pub use fallback::{describe_fallbacks, fallbacks};
pub use model::*;

pub(crate) use collectives::axis_names;
pub(crate) use fallback::partition_spec;

/// The form of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Tables for a terminal.
    Text,
    /// Data, by the schema of [`SCHEMA_VERSION`].
    Json,
}

impl FromStr for Form {
    type Err = String;

    fn from_str(text: &str) -> Result<Form, String> {
        match text {
            "text" => Ok(Form::Text),
            "json" => Ok(Form::Json),
            other => Err(format!("'{other}' is no form of a report; there are text and json")),
        }
    }
}

/// Columns of a table where the terminal's are not known.
pub const DEFAULT_WIDTH: usize = 100;

/// A report in one of its forms; `width` is the number of columns that tables may take
/// ([`DEFAULT_WIDTH`] where it is `None`).
pub fn render(report: &Report, form: Form, width: Option<usize>) -> String {
    match form {
        Form::Text => text::render(report, width.unwrap_or(DEFAULT_WIDTH)),
        Form::Json => json::render(report),
    }
}
