//! Diagnostics as text: MLIR's one-line form for files and pipes, the source with the place
//! underlined for terminals.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use shard_ir::{Diagnostic, Place, Severity};

/// The text that diagnostics point into.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// Name of the file; `<stdin>` where there is none.
    pub name: &'a str,
    /// Its bytes, which need not be UTF-8.
    pub bytes: &'a [u8],
}

/// How diagnostics look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// `file:line:col: error: message`, notes and remedy on lines of their own.
    Plain,
    /// A JSON object on a line of its own, with `severity`, `file`, `line`, `column`, `op`,
    /// `message`, `notes` and `help`; what isn't known is `null`.
    Json,
    /// The lines concerned with the place underlined.
    Terminal {
        /// Columns of the terminal.
        width: usize,
        /// With colours.
        color: bool,
    },
}

/// Line and column of a byte offset, both from 1; the column counts bytes, as MLIR's does.
pub fn line_and_column(bytes: &[u8], offset: usize) -> (usize, usize) {
    let before = &bytes[..offset.min(bytes.len())];
    let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
    let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    (line, 1 + before.len() - start)
}

/// A diagnostic as text, with a line break at its end.
pub fn render(diagnostic: &Diagnostic, input: Input<'_>, style: Style) -> String {
    match style {
        Style::Plain => plain(diagnostic, input),
        Style::Json => json(diagnostic, input),
        Style::Terminal { width, color } => terminal(diagnostic, input, width, color),
    }
}

/// The word for a severity.
pub fn severity_word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Remark => "remark",
    }
}

/// `file:line:col`, as far as it is known.
pub fn place_text(place: &Place, input: Input<'_>) -> String {
    match place {
        Place::Nowhere => input.name.to_owned(),
        Place::Text(range) => {
            let (line, col) = line_and_column(input.bytes, range.start);
            format!("{}:{line}:{col}", input.name)
        }
        Place::Source { file, line, col } => format!("{file}:{line}:{col}"),
    }
}

fn json(diagnostic: &Diagnostic, input: Input<'_>) -> String {
    let (file, place) = match &diagnostic.place {
        Place::Nowhere => (input.name, None),
        Place::Text(range) => (input.name, Some(line_and_column(input.bytes, range.start))),
        Place::Source { file, line, col } => (file.as_str(), Some((*line as usize, *col as usize))),
    };
    let object = serde_json::json!({
        "severity": severity_word(diagnostic.severity),
        "file": file,
        "line": place.map(|place| place.0),
        "column": place.map(|place| place.1),
        "op": diagnostic.op,
        "message": diagnostic.message,
        "notes": diagnostic.notes,
        "help": diagnostic.help,
    });
    format!("{object}\n")
}

fn message(diagnostic: &Diagnostic) -> String {
    match &diagnostic.op {
        Some(op) => format!("'{op}' op {}", diagnostic.message),
        None => diagnostic.message.clone(),
    }
}

fn plain(diagnostic: &Diagnostic, input: Input<'_>) -> String {
    let place = place_text(&diagnostic.place, input);
    let severity = severity_word(diagnostic.severity);
    let mut text = format!("{place}: {severity}: {}\n", message(diagnostic));
    for note in &diagnostic.notes {
        text.push_str(&format!("  note: {note}\n"));
    }
    if let Some(help) = &diagnostic.help {
        text.push_str(&format!("  help: {help}\n"));
    }
    printable(&text)
}

/// Control characters, which names in a program may have, would reach the terminal.
fn printable(text: &str) -> String {
    let escape = |c: char| c.is_control() && c != '\n' && c != '\t';
    if !text.contains(escape) {
        return text.to_owned();
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if escape(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

fn terminal(diagnostic: &Diagnostic, input: Input<'_>, width: usize, color: bool) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Remark => Level::INFO.with_name("remark"),
    };
    let mut group = Group::with_title(level.primary_title(printable(&message(diagnostic))));
    match &diagnostic.place {
        Place::Nowhere => group = group.element(Origin::path(input.name)),
        Place::Source { file, line, col } => {
            let origin = Origin::path(file.as_str()).line(*line as usize);
            group = group.element(origin.char_column(*col as usize));
        }
        Place::Text(range) => {
            let (line, col) = line_and_column(input.bytes, range.start);
            match excerpt(input.bytes, range.clone()) {
                Some((source, span)) => {
                    let annotation = AnnotationKind::Primary.span(span);
                    let snippet = Snippet::source(source).line_start(line).path(input.name);
                    group = group.element(snippet.annotation(annotation));
                }
                None => {
                    let origin = Origin::path(input.name).line(line).char_column(col);
                    group = group.element(origin);
                }
            }
        }
    }
    for note in &diagnostic.notes {
        group = group.element(Level::NOTE.message(printable(note)));
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(printable(help)));
    }
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let mut text = renderer.term_width(width).render(&[group]);
    text.push('\n');
    text
}

/// The line in which a range begins, and the range in it; `None` where it isn't UTF-8.
fn excerpt(bytes: &[u8], range: Range<usize>) -> Option<(&str, Range<usize>)> {
    let begin = range.start.min(bytes.len());
    let start = bytes[..begin].iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let line = bytes[start..].split(|&byte| byte == b'\n').next().unwrap_or_default();
    let line = std::str::from_utf8(line).ok()?;
    let mut from = begin - start;
    let mut to = range.end.clamp(begin, start + line.len()) - start;
    while !line.is_char_boundary(from) {
        from -= 1;
    }
    while !line.is_char_boundary(to) {
        to += 1;
    }
    // An empty range is shown as the character at it.
    if from == to {
        to += line[to..].chars().next().map_or(0, char::len_utf8);
    }
    Some((line, from..to))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "first\n  second line\nthird";

    fn input(text: &str) -> Input<'_> {
        Input { name: "a.mlir", bytes: text.as_bytes() }
    }

    #[test]
    fn offsets_become_lines_and_columns() {
        for (offset, place) in [(0, (1, 1)), (5, (1, 6)), (6, (2, 1)), (8, (2, 3)), (99, (3, 6))] {
            assert_eq!(line_and_column(TEXT.as_bytes(), offset), place);
        }
        assert_eq!(line_and_column(b"", 0), (1, 1));
    }

    #[test]
    fn plain_form_is_mlir_s() {
        let mut diagnostic = Diagnostic::error("is wrong").at(8..14).note("a fact").help("mend it");
        diagnostic.op = Some("stablehlo.add".to_owned());
        assert_eq!(
            render(&diagnostic, input(TEXT), Style::Plain),
            "a.mlir:2:3: error: 'stablehlo.add' op is wrong\n  note: a fact\n  help: mend it\n"
        );
        let diagnostic = Diagnostic::warning("odd \u{1b}[31m");
        let text = render(&diagnostic, input(TEXT), Style::Plain);
        assert_eq!(text, "a.mlir: warning: odd \\u{1b}[31m\n");
    }

    #[test]
    fn terminal_form_underlines_the_place() {
        let style = Style::Terminal { width: 80, color: false };
        let diagnostic = Diagnostic::error("is wrong").at(8..14).help("mend it");
        let text = render(&diagnostic, input(TEXT), style);
        assert!(text.contains("a.mlir:2:3"), "{text}");
        assert!(text.contains("^^^^^^"), "{text}");
        assert!(text.contains("help: mend it"), "{text}");
    }

    #[test]
    fn json_form_is_an_object_a_line() {
        let mut diagnostic = Diagnostic::error("is \"wrong\"").at(8..14).note("a fact");
        diagnostic.op = Some("stablehlo.add".to_owned());
        let text = render(&diagnostic, input(TEXT), Style::Json);
        assert_eq!(text.matches('\n').count(), 1);
        let object: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!((object["line"].as_u64(), object["column"].as_u64()), (Some(2), Some(3)));
        assert_eq!(object["message"], "is \"wrong\"");
        assert_eq!(object["notes"][0], "a fact");
        assert!(object["help"].is_null());
    }

    #[test]
    fn no_range_is_out_of_bounds() {
        let texts = ["", "é\né", TEXT];
        for text in texts {
            for start in 0..text.len() + 3 {
                for end in 0..text.len() + 3 {
                    let diagnostic = Diagnostic::error("x").at(start..end);
                    for style in [Style::Plain, Style::Terminal { width: 20, color: true }] {
                        render(&diagnostic, input(text), style);
                    }
                }
            }
        }
        let bytes = Input { name: "b", bytes: b"a\n\xff\xfe" };
        let style = Style::Terminal { width: 20, color: false };
        assert!(render(&Diagnostic::error("x").at(2..3), bytes, style).contains("b:2:1"));
    }
}
