//! Options of passes, as command lines write them.

use shard_ir::Diagnostic;

use crate::registry::PassOptions;

/// An option that is on or off.
pub(super) fn flag(options: &PassOptions, name: &str, default: bool) -> Result<bool, Diagnostic> {
    match options.get(name) {
        None => Ok(default),
        Some("true" | "True" | "TRUE" | "1") => Ok(true),
        Some("false" | "False" | "FALSE" | "0") => Ok(false),
        Some(other) => Err(Diagnostic::error(format!(
            "option '{name}' is '{other}'; it can be 'true' or 'false'"
        ))),
    }
}
