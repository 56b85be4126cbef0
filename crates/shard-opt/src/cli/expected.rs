//! `--verify-diagnostics`: comments that announce diagnostics.
//!
//! `// expected-error@+1 {{text}}` announces an error whose message contains `text` on the next
//! line; so do `expected-warning`, `expected-remark` and `expected-note`, with `@-N`, `@above`,
//! `@below` or `@unknown` for other places, and without any for the line of the comment. In
//! `expected-error-re` and the like, what stands between `{{` and `}}` inside of the text is a
//! regular expression.

use std::ops::Range;

use regex::Regex;
use shard_ir::{Diagnostic, Place, Severity};
use shard_opt::render::{line_and_column, severity_word};

use super::io::Source;

/// The diagnostics that a part of an input announces.
#[derive(Debug)]
pub(super) struct Expectations(Vec<Expected>);

#[derive(Debug)]
struct Expected {
    kind: &'static str,
    /// Line in the whole input, from 1; `None` for `@unknown`.
    line: Option<usize>,
    text: String,
    /// The text as a pattern, of `expected-error-re`.
    pattern: Option<Regex>,
    /// Where the comment stands in the whole input.
    offset: usize,
    met: bool,
}

const PREFIX: &str = "expected-";
const KINDS: [&str; 4] = ["error", "warning", "remark", "note"];

impl Expectations {
    /// Reads the comments in a range of an input.
    pub fn of(input: &[u8], range: Range<usize>) -> Expectations {
        let mut wanted = Vec::new();
        let (first, _) = line_and_column(input, range.start);
        let mut start = range.start;
        for (index, line) in input[range].split_inclusive(|&byte| byte == b'\n').enumerate() {
            if let Ok(text) = std::str::from_utf8(line) {
                for (at, _) in text.match_indices(PREFIX) {
                    let rest = &text[at + PREFIX.len()..];
                    if let Some(read) = read(rest, first + index) {
                        wanted.push(Expected { offset: start + at, ..read });
                    }
                }
            }
            start += line.len();
        }
        Expectations(wanted)
    }

    /// Compares with what was said; says what is missing and what is too much.
    pub fn check(mut self, said: &[Diagnostic], source: &Source) -> bool {
        let mut good = true;
        for diagnostic in said {
            let line = match &diagnostic.place {
                Place::Text(range) => Some(line_and_column(&source.bytes, range.start).0),
                Place::Nowhere | Place::Source { .. } => None,
            };
            let word = severity_word(diagnostic.severity);
            let message = match &diagnostic.op {
                Some(op) => format!("'{op}' op {}", diagnostic.message),
                None => diagnostic.message.clone(),
            };
            if !self.meet(word, line, &message) {
                let mut unexpected = diagnostic.clone();
                unexpected.severity = Severity::Error;
                unexpected.op = None;
                unexpected.message = format!("unexpected {word}: {message}");
                source.say(&unexpected);
                good = false;
            }
            for note in &diagnostic.notes {
                self.meet("note", line, note);
            }
        }
        for expected in self.0.iter().filter(|expected| !expected.met) {
            let message =
                format!("expected {} \"{}\" was not produced", expected.kind, expected.text);
            source.say(&Diagnostic::error(message).at(expected.offset..expected.offset));
            good = false;
        }
        good
    }

    fn meet(&mut self, kind: &str, line: Option<usize>, message: &str) -> bool {
        let found = self.0.iter_mut().find(|expected| {
            !expected.met
                && expected.kind == kind
                && expected.line == line
                && match &expected.pattern {
                    Some(pattern) => pattern.is_match(message),
                    None => message.contains(&expected.text),
                }
        });
        found.map(|expected| expected.met = true).is_some()
    }
}

/// What follows `expected-` in line `here`: the kind, the line meant, and the text. The text of a
/// pattern ends at the last `}}` of the line, any other at the first.
fn read(rest: &str, here: usize) -> Option<Expected> {
    let kind = KINDS.into_iter().find(|kind| rest.starts_with(kind))?;
    let rest = &rest[kind.len()..];
    let (is_pattern, rest) = match rest.strip_prefix("-re") {
        Some(rest) => (true, rest),
        None => (false, rest),
    };
    let (place, rest) = rest.split_once("{{")?;
    let (text, _) = if is_pattern { rest.rsplit_once("}}") } else { rest.split_once("}}") }?;
    let line = match place.trim() {
        "" => Some(here),
        "@above" => Some(here - 1),
        "@below" => Some(here + 1),
        "@unknown" => None,
        place => {
            let distance = place.strip_prefix('@')?.parse::<isize>().ok()?;
            Some(here.checked_add_signed(distance)?)
        }
    };
    let pattern = if is_pattern { Some(pattern(text)?) } else { None };
    Some(Expected { kind, line, text: text.to_owned(), pattern, offset: 0, met: false })
}

/// A text with regular expressions between `{{` and `}}`.
fn pattern(text: &str) -> Option<Regex> {
    let mut pattern = String::new();
    let mut rest = text;
    while let Some((literal, after)) = rest.split_once("{{") {
        let (expression, after) = after.split_once("}}")?;
        pattern.push_str(&regex::escape(literal));
        pattern.push_str(&format!("(?:{expression})"));
        rest = after;
    }
    pattern.push_str(&regex::escape(rest));
    Regex::new(&pattern).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match() {
        let found = read("error-re@+1 {{axis {{[a-z]+}} of (4) {{\\d+}}}} rest", 1).unwrap();
        assert_eq!((found.kind, found.line), ("error", Some(2)));
        let pattern = found.pattern.expect("a pattern");
        assert!(pattern.is_match("the axis data of (4) 12 devices"));
        assert!(!pattern.is_match("the axis 1 of (4) 12 devices"));
        assert!(read("error-re {{a {{(}} b}}", 1).is_none());
    }

    #[test]
    fn comments_are_read() {
        let text = "a\n// expected-error@+2 {{one}} expected-note {{two}}\n\
                    // expected-warning@-1{{three}}\n// expected-remark @unknown {{four}}\n\
                    // expected-error@above {{five}} expected-nothing {{x}} expected-error {{open";
        let found = Expectations::of(text.as_bytes(), 2..text.len());
        let found: Vec<_> = found.0.iter().map(|e| (e.kind, e.line, e.text.as_str())).collect();
        assert_eq!(
            found,
            [
                ("error", Some(4), "one"),
                ("note", Some(2), "two"),
                ("warning", Some(2), "three"),
                ("remark", None, "four"),
                ("error", Some(4), "five"),
            ]
        );
    }
}
