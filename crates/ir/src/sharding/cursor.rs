//! A cursor over a short text, for the parsers of sharding texts.

use thiserror::Error;

/// What a text of a sharding or mesh should have looked like, and where.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message} (at offset {offset})")]
pub struct ShardingTextError {
    /// The byte offset in the text.
    pub offset: usize,
    /// What is wrong, and what was expected.
    pub message: String,
}

pub(super) type Parsed<T> = Result<T, ShardingTextError>;

#[derive(Clone)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Cursor<'a> {
        Cursor { text, at: 0 }
    }

    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    /// Skips white space and `/* comments */`.
    fn skip(&mut self) {
        loop {
            let rest = self.rest();
            self.at += rest.len() - rest.trim_start().len();
            let Some(comment) = self.rest().strip_prefix("/*") else { return };
            self.at += comment.find("*/").map_or(comment.len() + 2, |end| end + 4);
        }
    }

    /// The offset of the next token.
    pub(super) fn offset(&mut self) -> usize {
        self.skip();
        self.at
    }

    pub(super) fn error<T>(&mut self, message: impl Into<String>) -> Parsed<T> {
        let offset = self.offset();
        self.error_at(offset, message)
    }

    pub(super) fn error_at<T>(&self, offset: usize, message: impl Into<String>) -> Parsed<T> {
        Err(ShardingTextError { offset, message: message.into() })
    }

    pub(super) fn peek(&mut self) -> Option<char> {
        self.skip();
        self.rest().chars().next()
    }

    /// Whether the next token begins with `token`, which is then skipped.
    pub(super) fn eat(&mut self, token: &str) -> bool {
        self.skip();
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    pub(super) fn expect(&mut self, token: &str, whence: &str) -> Parsed<()> {
        if self.eat(token) {
            return Ok(());
        }
        let found = self.found();
        self.error(format!("expected `{token}` {whence}, found {found}"))
    }

    /// The next character, for messages.
    pub(super) fn found(&mut self) -> String {
        self.peek().map_or_else(|| "the end".to_owned(), |found| format!("`{found}`"))
    }

    /// A bare word: letters, digits, `_`, `.`, `-`, `$`.
    pub(super) fn word(&mut self) -> Option<&'a str> {
        self.skip();
        let rest = self.rest();
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '$');
        let end = rest.find(|c| !plain(c)).unwrap_or(rest.len());
        if end == 0 {
            return None;
        }
        self.at += end;
        rest.get(..end)
    }

    /// The next bare word, if it is this one.
    pub(super) fn keyword(&mut self, keyword: &str) -> bool {
        let mut ahead = self.clone();
        if ahead.word() != Some(keyword) {
            return false;
        }
        *self = ahead;
        true
    }

    /// A string in the given quotes, unescaped as MLIR and HLO do: `\"`, `\\`, `\n`, `\t`, `\1F`.
    pub(super) fn string(&mut self, quote: char) -> Parsed<String> {
        let begin = self.offset();
        let mut bytes = Vec::new();
        let mut rest = self.rest().chars();
        if rest.next() != Some(quote) {
            return self.error(format!("expected a string in {quote}"));
        }
        loop {
            match rest.next() {
                None => return self.error_at(begin, "the string isn't closed"),
                Some(end) if end == quote => break,
                Some('\\') => match rest.next() {
                    Some('n') => bytes.push(b'\n'),
                    Some('t') => bytes.push(b'\t'),
                    Some(high) if high.is_ascii_hexdigit() => {
                        let low = rest.clone().next().and_then(|low| low.to_digit(16));
                        let Some((high, low)) = high.to_digit(16).zip(low) else {
                            return self.error_at(
                                begin,
                                "an escape in the string isn't \\ and two hexadecimal digits",
                            );
                        };
                        rest.next();
                        bytes.push((high * 16 + low) as u8);
                    }
                    Some(other) => push_char(&mut bytes, other),
                    None => return self.error_at(begin, "the string isn't closed"),
                },
                Some(other) => push_char(&mut bytes, other),
            }
        }
        self.at = self.text.len() - rest.as_str().len();
        String::from_utf8(bytes).or_else(|_| self.error_at(begin, "the string isn't UTF-8"))
    }

    /// An unsigned decimal number; `what` names it in messages.
    pub(super) fn number(&mut self, what: &str) -> Parsed<u64> {
        let begin = self.offset();
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let digits = rest.get(..end).unwrap_or("");
        if digits.is_empty() {
            let found = self.found();
            return self.error(format!("expected {what}, a number, found {found}"));
        }
        self.at += end;
        digits.parse().or_else(|_| self.error_at(begin, format!("{what} is beyond 64 bits")))
    }

    /// A number that fits 32 bits.
    pub(super) fn number32(&mut self, what: &str) -> Parsed<u32> {
        let begin = self.offset();
        let number = self.number(what)?;
        u32::try_from(number).or_else(|_| self.error_at(begin, format!("{what} is beyond 32 bits")))
    }

    /// Numbers separated by commas, up to `close`, which is skipped.
    pub(super) fn numbers(&mut self, what: &str, close: &str) -> Parsed<Vec<u64>> {
        let mut numbers = Vec::new();
        if self.eat(close) {
            return Ok(numbers);
        }
        loop {
            numbers.push(self.number(what)?);
            if self.eat(close) {
                return Ok(numbers);
            }
            self.expect(",", &format!("or `{close}`"))?;
        }
    }

    /// The text of a bracketed group that begins here, brackets included, strings skipped over.
    pub(super) fn balanced(&mut self) -> Parsed<&'a str> {
        let begin = self.offset();
        let rest = self.rest();
        let (mut depth, mut quoted, mut escaped) = (0usize, false, false);
        for (at, c) in rest.char_indices() {
            if quoted {
                quoted = escaped || c != '"';
                escaped = !escaped && c == '\\';
                continue;
            }
            match c {
                '"' => quoted = true,
                '{' | '[' | '(' => depth += 1,
                '}' | ']' | ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                let end = at + c.len_utf8();
                self.at += end;
                return Ok(rest.get(..end).unwrap_or(""));
            }
        }
        self.error_at(begin, "the bracket isn't closed")
    }

    pub(super) fn end(&mut self, what: &str) -> Parsed<()> {
        match self.peek() {
            None => Ok(()),
            Some(found) => self.error(format!("`{found}` follows the end of the {what}")),
        }
    }
}

fn push_char(bytes: &mut Vec<u8>, c: char) {
    bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
}
