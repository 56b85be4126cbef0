//! Values of HLO attributes.

use shard_ir::Dims;

/// A text behind white space and comments.
pub(super) fn skip(mut text: &str) -> &str {
    loop {
        text = text.trim_start();
        let comment = match text.strip_prefix("//") {
            Some(line) => Some(line.split_once('\n').map_or("", |(_, after)| after)),
            None => {
                text.strip_prefix("/*").and_then(|c| c.split_once("*/")).map(|(_, after)| after)
            }
        };
        let Some(after) = comment else { return text };
        text = after;
    }
}

/// What is between an opening and a closing bracket that are first and last.
pub(super) fn inside(text: &str, open: char, close: char) -> Option<&str> {
    text.trim().strip_prefix(open)?.strip_suffix(close)
}

/// The parts of a list, cut at the commas that no bracket or string encloses.
pub(super) fn list(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut depth = 0i32;
    let mut start = 0;
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'{' | b'(' | b'[' => depth += 1,
            b'}' | b')' | b']' => depth -= 1,
            b'"' => {
                at += 1;
                while at < bytes.len() && bytes[at] != b'"' {
                    at += 1 + usize::from(bytes[at] == b'\\');
                }
            }
            b',' if depth == 0 => {
                parts.push(skip(&text[start..at]).trim_end());
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    let last = skip(&text[start.min(text.len())..]).trim_end();
    if !last.is_empty() || !parts.is_empty() {
        parts.push(last);
    }
    parts
}

/// `{1,2,3}`
pub(super) fn ints(text: &str) -> Option<Dims> {
    list(inside(text, '{', '}')?).into_iter().map(|part| part.parse().ok()).collect()
}

/// `{{0,1},{2,3}}`
pub(super) fn lists(text: &str) -> Option<Vec<Dims>> {
    list(inside(text, '{', '}')?).into_iter().map(ints).collect()
}

/// `3x3`
fn by_x(text: &str) -> Option<Dims> {
    text.split('x').map(|part| part.parse().ok()).collect()
}

/// Numbers joined by `_`, one group a dimension: `0_1x2_2` or `0_1_0x2_2_1`.
pub(super) fn paddings(text: &str) -> Option<Vec<Dims>> {
    text.split('x').map(|dim| dim.split('_').map(|part| part.parse().ok()).collect()).collect()
}

/// A window: `{size=3x3 stride=2x2 pad=1_1x1_1 lhs_dilate=1x1 rhs_dilate=1x1 rhs_reversal=1x1}`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) size: Dims,
    pub(super) stride: Option<Dims>,
    pub(super) padding: Option<Vec<Dims>>,
    pub(super) lhs_dilate: Option<Dims>,
    pub(super) rhs_dilate: Option<Dims>,
    pub(super) reversal: Option<Dims>,
}

/// Reads a window.
pub(super) fn window(text: &str) -> Option<Window> {
    let mut window = Window::default();
    for part in inside(text, '{', '}')?.split_whitespace() {
        let (key, value) = part.split_once('=')?;
        match key {
            "size" => window.size = by_x(value)?,
            "stride" => window.stride = Some(by_x(value)?),
            "pad" => window.padding = Some(paddings(value)?),
            "lhs_dilate" => window.lhs_dilate = Some(by_x(value)?),
            "rhs_dilate" => window.rhs_dilate = Some(by_x(value)?),
            "rhs_reversal" => window.reversal = Some(by_x(value)?),
            _ => return None,
        }
    }
    let rank = window.size.len();
    let fits = |dims: &Option<Dims>| dims.as_ref().is_none_or(|dims| dims.len() == rank);
    let padding = window
        .padding
        .as_ref()
        .is_none_or(|pads| pads.len() == rank && pads.iter().all(|pad| pad.len() == 2));
    let all = [&window.stride, &window.lhs_dilate, &window.rhs_dilate, &window.reversal];
    (padding && all.into_iter().all(fits)).then_some(window)
}

/// The content of a string in quotes, its escapes resolved as C does.
pub(super) fn unquote(text: &str) -> Option<String> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let inner = inside(text, quote, quote)?;
    if !inner.contains('\\') {
        return Some(inner.to_owned());
    }
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner.bytes().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let escaped = rest.next()?;
        bytes.push(match escaped {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'a' => 7,
            b'b' => 8,
            b'f' => 12,
            b'v' => 11,
            b'x' | b'X' => {
                let mut value = 0u32;
                while let Some(digit) = rest.peek().and_then(|b| char::from(*b).to_digit(16)) {
                    value = (value << 4 | digit) & 0xff;
                    rest.next();
                }
                value as u8
            }
            b'0'..=b'7' => {
                let mut value = u32::from(escaped - b'0');
                for _ in 0..2 {
                    let Some(digit) = rest.peek().and_then(|b| char::from(*b).to_digit(8)) else {
                        break;
                    };
                    value = value << 3 | digit;
                    rest.next();
                }
                value as u8
            }
            other => other,
        });
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Appends a string in quotes, escaped as C does.
pub(super) fn quote(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\'' => out.push_str("\\'"),
            c if (c as u32) < 32 || c as u32 == 127 => {
                out.push_str(&format!("\\{:03o}", c as u32));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// The fields of `{a="x" b=2, c={...}}`: keys and the text of their values.
pub(super) fn fields(text: &str) -> Option<Vec<(&str, &str)>> {
    let mut rest = inside(text, '{', '}')?;
    let mut found = Vec::new();
    loop {
        rest = skip(rest);
        rest = skip(rest.strip_prefix(',').unwrap_or(rest));
        if rest.is_empty() {
            return Some(found);
        }
        let (key, after) = rest.split_once('=')?;
        rest = skip(after);
        let end = value_end(rest);
        found.push((key.trim(), rest[..end].trim_end()));
        rest = &rest[end..];
    }
}

/// Where a value ends: at white space or a comma outside of brackets and strings.
fn value_end(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut depth = 0i32;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'{' | b'(' | b'[' => depth += 1,
            b'}' | b')' | b']' => depth -= 1,
            quote @ (b'"' | b'\'') => {
                at += 1;
                while at < bytes.len() && bytes[at] != quote {
                    at += 1 + usize::from(bytes[at] == b'\\');
                }
            }
            b',' | b' ' | b'\t' | b'\n' | b'\r' if depth == 0 => return at,
            _ => {}
        }
        at += 1;
    }
    text.len()
}
