//! Reports as JSON.

use serde::Serialize;

/// A report with a line break at its end.
pub(crate) fn render(report: &impl Serialize) -> String {
    // Numbers that aren't finite are written as `null`; nothing else can go wrong.
    let mut text = serde_json::to_string_pretty(report).unwrap_or_default();
    text.push('\n');
    text
}
