//! The lowest level: a position in the text, classes of bytes, and the tokens that all grammars
//! share. Nothing here allocates.

use memchr::{memchr, memchr3};

const SPACE: u8 = 1;
const IDENT_START: u8 = 2;
const IDENT: u8 = 4;
const SUFFIX: u8 = 8;
const DIGIT: u8 = 16;

/// The class bits of every byte.
static CLASS: [u8; 256] = {
    let mut table = [0u8; 256];
    let mut byte = 0;
    while byte < 256 {
        let b = byte as u8;
        let mut class = 0;
        if matches!(b, b' ' | b'\t' | b'\r' | b'\n') {
            class |= SPACE;
        }
        if b.is_ascii_alphabetic() || b == b'_' {
            class |= IDENT_START;
        }
        if b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.') {
            class |= IDENT;
        }
        if b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.' | b'-') {
            class |= SUFFIX;
        }
        if b.is_ascii_digit() {
            class |= DIGIT;
        }
        table[byte] = class;
        byte += 1;
    }
    table
};

/// A position in a text. All reading functions skip white space and comments first.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<'a> {
    text: &'a str,
    bytes: &'a [u8],
    pos: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Cursor { text, bytes: text.as_bytes(), pos: 0 }
    }

    pub(crate) fn text(&self) -> &'a str {
        self.text
    }

    pub(crate) fn pos(&self) -> usize {
        self.pos
    }

    pub(crate) fn set_pos(&mut self, pos: usize) {
        self.pos = pos;
    }

    /// The text from `start` to here; empty where that isn't a range of characters.
    pub(crate) fn slice_from(&self, start: usize) -> &'a str {
        self.text.get(start..self.pos).unwrap_or("")
    }

    /// What follows.
    pub(crate) fn rest(&self) -> &'a str {
        self.text.get(self.pos..).unwrap_or("")
    }

    pub(crate) fn rest_bytes(&self) -> &'a [u8] {
        &self.bytes[self.pos.min(self.bytes.len())..]
    }

    fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }

    /// The byte here, without skipping anything; 0 at the end.
    #[inline]
    pub(crate) fn here(&self) -> u8 {
        self.byte(self.pos)
    }

    #[inline]
    pub(crate) fn skip_space(&mut self) {
        loop {
            while CLASS[usize::from(self.here())] & SPACE != 0 {
                self.pos += 1;
            }
            if self.here() != b'/' || self.byte(self.pos + 1) != b'/' {
                return;
            }
            self.pos = match memchr(b'\n', &self.bytes[self.pos..]) {
                Some(at) => self.pos + at,
                None => self.bytes.len(),
            };
        }
    }

    /// The next byte that isn't space; 0 at the end.
    #[inline]
    pub(crate) fn peek(&mut self) -> u8 {
        self.skip_space();
        self.here()
    }

    pub(crate) fn at_end(&mut self) -> bool {
        self.skip_space();
        self.pos >= self.bytes.len()
    }

    /// Takes `byte` if it comes next.
    #[inline]
    pub(crate) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == byte;
        self.pos += usize::from(found);
        found
    }

    /// Takes `text` if it comes next, whatever follows it.
    pub(crate) fn eat_str(&mut self, text: &str) -> bool {
        self.skip_space();
        let found = self.rest_bytes().starts_with(text.as_bytes());
        if found {
            self.pos += text.len();
        }
        found
    }

    /// Takes the identifier `word` if it comes next.
    pub(crate) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.pos += word.len();
        }
        found
    }

    /// Whether the identifier `word` comes next.
    pub(crate) fn is_word(&mut self, word: &str) -> bool {
        self.skip_space();
        self.rest_bytes().starts_with(word.as_bytes())
            && CLASS[usize::from(self.byte(self.pos + word.len()))] & IDENT == 0
    }

    /// An identifier, or the empty string.
    #[inline]
    pub(crate) fn ident(&mut self) -> &'a str {
        self.skip_space();
        let start = self.pos;
        if CLASS[usize::from(self.here())] & IDENT_START == 0 {
            return "";
        }
        while CLASS[usize::from(self.here())] & IDENT != 0 {
            self.pos += 1;
        }
        self.slice_from(start)
    }

    /// What may follow `%`, `^`, `@`, `#` or `!`; or the empty string. Skips no space.
    #[inline]
    pub(crate) fn suffix(&mut self) -> &'a str {
        let start = self.pos;
        if CLASS[usize::from(self.here())] & DIGIT != 0 {
            while CLASS[usize::from(self.here())] & DIGIT != 0 {
                self.pos += 1;
            }
            // `%0abc` isn't MLIR, but some writers have names that begin with a digit.
        }
        while CLASS[usize::from(self.here())] & SUFFIX != 0 {
            // A minus that begins an arrow belongs to the arrow.
            if self.here() == b'-' && self.byte(self.pos + 1) == b'>' {
                break;
            }
            self.pos += 1;
        }
        self.slice_from(start)
    }

    /// The digits here, without skipping space; or the empty string.
    pub(crate) fn digits(&mut self) -> &'a str {
        let start = self.pos;
        while CLASS[usize::from(self.here())] & DIGIT != 0 {
            self.pos += 1;
        }
        self.slice_from(start)
    }

    /// The contents of a string literal, still escaped, the cursor being at the opening quote.
    /// `None` if it doesn't end on its line.
    pub(crate) fn raw_string(&mut self) -> Option<&'a str> {
        let start = self.pos + 1;
        let mut at = start;
        loop {
            at += memchr3(b'"', b'\\', b'\n', self.bytes.get(at..)?)?;
            match self.bytes[at] {
                b'"' => {
                    self.pos = at + 1;
                    return self.text.get(start..at);
                }
                b'\\' => at += 2,
                _ => return None,
            }
        }
    }

    /// Skips brackets with all that they contain, the cursor being at the opening one. Strings may
    /// contain anything; `->` closes nothing. `None` if they don't match.
    pub(crate) fn skip_balanced(&mut self) -> Option<()> {
        let mut open: Vec<u8> = Vec::new();
        while self.pos < self.bytes.len() {
            match self.here() {
                b'<' => open.push(b'>'),
                b'[' => open.push(b']'),
                b'(' => open.push(b')'),
                b'{' => open.push(b'}'),
                b'-' if self.byte(self.pos + 1) == b'>' => self.pos += 1,
                close @ (b'>' | b']' | b')' | b'}') => {
                    if open.pop() != Some(close) {
                        return None;
                    }
                    if open.is_empty() {
                        self.pos += 1;
                        return Some(());
                    }
                }
                b'"' => {
                    self.raw_string()?;
                    continue;
                }
                _ => {}
            }
            self.pos += 1;
        }
        None
    }

    /// Moves to where reading can go on after an error in an op that began at `start`: behind the
    /// end of the line (outside of brackets that opened since) after which something begins that
    /// looks like an op, or before the bracket that ends the region.
    pub(crate) fn recover(&mut self, start: usize) {
        let failed = self.pos;
        let mut depth = 0usize;
        self.pos = start;
        while self.pos < self.bytes.len() {
            match self.here() {
                b'"' => {
                    if self.raw_string().is_none() {
                        self.pos += 1;
                    }
                    continue;
                }
                b'/' if self.byte(self.pos + 1) == b'/' => {
                    self.skip_space();
                    continue;
                }
                b'{' => depth += 1,
                b'}' => {
                    if depth == 0 && self.pos >= failed {
                        return;
                    }
                    depth = depth.saturating_sub(1);
                }
                b'\n' if depth == 0 && self.pos >= failed => {
                    let line = self.pos;
                    self.skip_space();
                    if self.looks_like_op() {
                        return;
                    }
                    self.pos = line;
                }
                _ => {}
            }
            self.pos += 1;
        }
    }

    fn looks_like_op(&self) -> bool {
        match self.here() {
            b'%' | b'}' | b'"' | b'^' => true,
            _ => {
                let mut ahead = self.clone();
                let word = ahead.ident();
                word.contains('.') || matches!(word, "return" | "call" | "module")
            }
        }
    }
}

/// Undoes the escapes of a string literal; `None` where the bytes aren't UTF-8.
pub(crate) fn unescape(raw: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(raw.len());
    let mut rest = raw.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let first = rest.next()?;
        match first {
            b'n' => bytes.push(b'\n'),
            b't' => bytes.push(b'\t'),
            b'"' | b'\\' => bytes.push(first),
            _ => {
                let high = char::from(first).to_digit(16)?;
                let low = char::from(rest.next()?).to_digit(16)?;
                bytes.push((high * 16 + low) as u8);
            }
        }
    }
    String::from_utf8(bytes).ok()
}
