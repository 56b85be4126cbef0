//! HLO text as it is written: computations, instructions and attributes as slices of the text.
//!
//! Nothing is known here of what opcodes and attributes mean.

use std::ops::Range;

use memchr::{memchr, memrchr};
use shard_ir::{Diagnostic, Place};
use smallvec::SmallVec;

/// A whole text.
#[derive(Debug, Default)]
pub(super) struct Text<'a> {
    /// Name of the module; `None` for a text without a header.
    pub(super) name: Option<&'a str>,
    /// Attributes of the header.
    pub(super) attrs: Vec<Attribute<'a>>,
    /// The tables of file names and stack frames, whole.
    pub(super) tables: &'a str,
    /// Computations in the order of the text, those written inside attributes included.
    pub(super) computations: Vec<Computation<'a>>,
    /// Reading couldn't go on to the end, so computations may be missing.
    pub(super) stopped: bool,
}

/// `key=value`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attribute<'a> {
    pub(super) key: &'a str,
    /// The value's text, trimmed.
    pub(super) value: &'a str,
    /// Where the value begins.
    pub(super) at: usize,
    /// The computation that the value is, where it is written in place.
    pub(super) computation: Option<usize>,
}

/// A computation.
#[derive(Debug)]
pub(super) struct Computation<'a> {
    pub(super) name: &'a str,
    pub(super) entry: bool,
    pub(super) at: usize,
    pub(super) instructions: Vec<Instruction<'a>>,
    /// Names of instructions that couldn't be read.
    pub(super) broken: Vec<&'a str>,
    pub(super) attrs: Vec<Attribute<'a>>,
}

/// An instruction.
#[derive(Debug)]
pub(super) struct Instruction<'a> {
    pub(super) root: bool,
    /// Its name; empty where it is written as another's operand.
    pub(super) name: &'a str,
    /// Where the name, or the whole, begins.
    pub(super) at: usize,
    /// The text of its shape; `None` where that is to be inferred.
    pub(super) shape: Option<&'a str>,
    /// Where the shape begins, or what follows it.
    pub(super) shape_at: usize,
    pub(super) opcode: &'a str,
    pub(super) opcode_at: usize,
    pub(super) operands: Operands<'a>,
    pub(super) attrs: Vec<Attribute<'a>>,
}

/// What is between an opcode's parentheses.
#[derive(Debug)]
pub(super) enum Operands<'a> {
    /// The text of a constant or the number of a parameter, and where it begins.
    Raw(&'a str, usize),
    /// Operands.
    Values(Vec<Operand<'a>>),
}

/// An operand.
#[derive(Debug)]
pub(super) enum Operand<'a> {
    /// The name of an instruction, where it stands, and elements of the tuple to take.
    Name(&'a str, usize, Vec<i64>),
    /// An instruction written in place.
    Nested(Box<Instruction<'a>>),
}

/// The keys whose value is a computation, by name or written in place.
pub(super) const COMPUTATION: &[&str] = &[
    "to_apply",
    "calls",
    "condition",
    "body",
    "select",
    "scatter",
    "true_computation",
    "false_computation",
];

/// How deep shapes, attributes and operands may nest.
const MAX_DEPTH: u32 = 200;

pub(super) type Read<T> = Result<T, Diagnostic>;

/// Reads a text as far as it can be understood, and what is wrong with it.
pub(super) fn read(text: &str, max_errors: usize) -> (Text<'_>, Vec<Diagnostic>) {
    let mut reader =
        Reader { text, pos: 0, depth: 0, out: Text::default(), errors: Vec::new(), max_errors };
    if let Err(error) = reader.module() {
        reader.out.stopped = true;
        reader.errors.push(error);
    }
    (reader.out, reader.errors)
}

struct Reader<'a> {
    text: &'a str,
    pos: usize,
    depth: u32,
    out: Text<'a>,
    errors: Vec<Diagnostic>,
    max_errors: usize,
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-')
}

impl<'a> Reader<'a> {
    fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    /// Skips white space and comments.
    fn skip(&mut self) {
        loop {
            match self.bytes().get(self.pos) {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.pos += 1,
                Some(b'/') => {
                    let rest = &self.text[self.pos..];
                    if rest.starts_with("/*") {
                        self.pos = rest.find("*/").map_or(self.text.len(), |n| self.pos + n + 2);
                    } else if rest.starts_with("//") {
                        self.pos = rest.find('\n').map_or(self.text.len(), |n| self.pos + n);
                    } else {
                        return;
                    }
                }
                _ => return,
            }
        }
    }

    fn peek(&mut self) -> Option<u8> {
        self.skip();
        self.bytes().get(self.pos).copied()
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        if found {
            self.pos += 1;
        }
        found
    }

    fn error<T>(&self, at: usize, message: impl Into<String>) -> Read<T> {
        let end = self.text[at..].chars().next().map_or(at, |c| at + c.len_utf8());
        Err(Diagnostic::error(message).at(at..end))
    }

    fn expected<T>(&mut self, what: &str) -> Read<T> {
        self.skip();
        let found = match self.text[self.pos..].chars().next() {
            None => "the end of the text".to_owned(),
            Some(c) => format!("'{c}'"),
        };
        self.error(self.pos, format!("expected {what}, found {found}"))
    }

    fn expect(&mut self, byte: u8, whence: &str) -> Read<()> {
        if self.eat(byte) {
            return Ok(());
        }
        self.expected(&format!("'{}' {whence}", char::from(byte)))
    }

    /// Letters, digits, `_`, `.` and `-`, not beginning with `-` or `.`.
    fn word(&mut self) -> Option<&'a str> {
        self.skip();
        let bytes = self.bytes();
        let start = self.pos;
        if !bytes.get(start).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_') {
            return None;
        }
        let mut end = start;
        while bytes.get(end).is_some_and(|b| is_name(*b))
            && !(bytes[end] == b'-' && bytes.get(end + 1) == Some(&b'>'))
        {
            end += 1;
        }
        self.pos = end;
        Some(&self.text[start..end])
    }

    /// The word that comes next, which is left there.
    fn ahead(&mut self) -> Option<&'a str> {
        self.skip();
        let start = self.pos;
        let word = self.word();
        self.pos = start;
        word
    }

    fn keyword(&mut self, keyword: &str) -> bool {
        let found = self.ahead() == Some(keyword);
        if found {
            self.pos += keyword.len();
        }
        found
    }

    /// A name, with or without `%`.
    fn name(&mut self, what: &str) -> Read<&'a str> {
        let percent = self.eat(b'%');
        match self.word() {
            Some(name) if percent || !name.as_bytes()[0].is_ascii_digit() => {
                // XLA takes a colon after any name.
                if self.bytes().get(self.pos) == Some(&b':') {
                    self.pos += 1;
                }
                Ok(name)
            }
            _ => self.expected(what),
        }
    }

    fn enter(&mut self) -> Read<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.error(self.pos, format!("nested deeper than {MAX_DEPTH} levels"));
        }
        Ok(())
    }

    fn module(&mut self) -> Read<()> {
        if self.keyword("HloModule") {
            let name = self.name("the name of the module")?;
            self.out.name = Some(name);
            while self.eat(b',') {
                let attr = self.attribute()?;
                self.out.attrs.push(attr);
            }
        }
        self.tables()?;
        if self.peek().is_none() {
            return self.expected("a computation");
        }
        while self.peek().is_some() {
            self.computation()?;
        }
        Ok(())
    }

    /// `FileNames`, `FunctionNames`, `FileLocations` and `StackFrames`.
    fn tables(&mut self) -> Read<()> {
        self.skip();
        let start = self.pos;
        while let Some("FileNames" | "FunctionNames" | "FileLocations" | "StackFrames") =
            self.ahead()
        {
            self.word();
            while self.peek().is_some_and(|b| b.is_ascii_digit()) {
                self.word();
                match self.peek() {
                    Some(b'"' | b'\'') => self.string()?,
                    Some(b'{') => self.balanced()?,
                    _ => return self.expected("a string or '{'"),
                }
            }
        }
        self.out.tables = self.text[start..self.pos].trim_end();
        Ok(())
    }

    fn computation(&mut self) -> Read<()> {
        self.skip();
        let start = self.pos;
        let entry = self.keyword("ENTRY");
        self.skip();
        let at = self.pos;
        let name = self.name("a computation")?;
        if self.peek() == Some(b'(') {
            self.balanced()?;
            self.skip();
            if !self.text[self.pos..].starts_with("->") {
                return self.expected("'->' and the shape of the result");
            }
            self.pos += 2;
            self.shape()?;
        }
        if entry && self.out.computations.iter().any(|c| c.entry) {
            return self.error(start, "there is more than one ENTRY computation");
        }
        let (instructions, broken) = self.instructions()?;
        let mut attrs = Vec::new();
        while self.eat(b',') {
            attrs.push(self.attribute()?);
        }
        self.out.computations.push(Computation { name, entry, at, instructions, broken, attrs });
        Ok(())
    }

    /// `{ ... }`: the instructions, and the names of those that couldn't be read.
    fn instructions(&mut self) -> Read<(Vec<Instruction<'a>>, Vec<&'a str>)> {
        self.expect(b'{', "before the instructions")?;
        self.enter()?;
        let depth = self.depth;
        let (mut list, mut broken) = (Vec::new(), Vec::new());
        while !self.eat(b'}') {
            let mut name = "";
            let start = self.pos;
            match self.statement(&mut name) {
                Ok(instruction) => list.push(instruction),
                Err(error) => {
                    if self.errors.len() + 1 >= self.max_errors || !self.recover(start, &error) {
                        return Err(error);
                    }
                    self.errors.push(error);
                    self.depth = depth;
                    broken.push(name);
                }
            }
        }
        self.depth -= 1;
        Ok((list, broken))
    }

    /// `ROOT %name = ...`; the name is known even if the rest can't be read.
    fn statement(&mut self, name: &mut &'a str) -> Read<Instruction<'a>> {
        self.skip();
        let mut at = self.pos;
        let root = self.keyword("ROOT");
        if root {
            self.skip();
            at = self.pos;
        }
        *name = self.name("an instruction or '}'")?;
        self.expect(b'=', "after the name of an instruction")?;
        self.instruction(root, name, at, true)
    }

    /// Moves from an error in a statement to the next line that begins another one or ends the
    /// computation: the line of the error itself, if the statement began before it.
    fn recover(&mut self, start: usize, error: &Diagnostic) -> bool {
        let bytes = self.bytes();
        if let Place::Text(range) = &error.place {
            let line = memrchr(b'\n', &bytes[start..range.start.max(start)]);
            self.pos = line.map_or(start, |at| start + at);
        }
        while let Some(len) = memchr(b'\n', &bytes[self.pos..]) {
            self.pos += len + 1;
            let line = self.pos;
            // An attribute on a line of its own has no space before the equals sign.
            let begins = self.peek() == Some(b'}')
                || self.keyword("ROOT")
                || self.name("").is_ok() && bytes[self.pos..].starts_with(b" =");
            self.pos = line;
            if begins {
                return true;
            }
        }
        false
    }

    fn instruction(
        &mut self,
        root: bool,
        name: &'a str,
        at: usize,
        with_attrs: bool,
    ) -> Read<Instruction<'a>> {
        self.skip();
        let shape_at = self.pos;
        let shape = self.optional_shape()?;
        self.skip();
        let opcode_at = self.pos;
        let Some(opcode) = self.word() else { return self.expected("an opcode") };
        self.expect(b'(', "before the operands")?;
        let operands = if matches!(opcode, "constant" | "parameter") {
            let start = self.pos;
            self.pos -= 1;
            self.balanced()?;
            let raw = &self.text[start..self.pos - 1];
            Operands::Raw(raw.trim(), start + raw.len() - raw.trim_start().len())
        } else {
            Operands::Values(self.operands()?)
        };
        let mut attrs = Vec::new();
        while with_attrs && self.eat(b',') {
            attrs.push(self.attribute()?);
        }
        Ok(Instruction { root, name, at, shape, shape_at, opcode, opcode_at, operands, attrs })
    }

    /// Up to the closing parenthesis.
    fn operands(&mut self) -> Read<Vec<Operand<'a>>> {
        let mut list = Vec::new();
        if self.eat(b')') {
            return Ok(list);
        }
        loop {
            list.push(self.operand()?);
            if self.eat(b')') {
                return Ok(list);
            }
            self.expect(b',', "or ')' after an operand")?;
        }
    }

    fn operand(&mut self) -> Read<Operand<'a>> {
        self.skip();
        let start = self.pos;
        self.optional_shape()?;
        self.skip();
        let at = self.pos;
        let name = self.name("an operand")?;
        if self.peek() != Some(b'(') {
            let mut path = Vec::new();
            while self.eat(b'#') {
                let index = self.word().and_then(|word| word.parse().ok());
                let Some(index) = index else { return self.expected("a number after '#'") };
                path.push(index);
            }
            return Ok(Operand::Name(name, at, path));
        }
        self.enter()?;
        self.pos = start;
        let nested = self.instruction(false, "", start, false)?;
        self.depth -= 1;
        Ok(Operand::Nested(Box::new(nested)))
    }

    /// A shape, if one is there: `f32[2,3]{1,0}`, `(f32[], s32[2])` or `b(...)`.
    fn optional_shape(&mut self) -> Read<Option<&'a str>> {
        let is_shape = match self.peek() {
            Some(b'(') => true,
            Some(b'%') | None => false,
            Some(_) => {
                let start = self.pos;
                let word = self.word();
                let next = self.bytes().get(self.pos).copied();
                self.pos = start;
                word.is_some() && next == Some(b'[') || word == Some("b") && next == Some(b'(')
            }
        };
        if is_shape { self.shape().map(Some) } else { Ok(None) }
    }

    fn shape(&mut self) -> Read<&'a str> {
        self.skip();
        let start = self.pos;
        if self.peek() == Some(b'(') {
            self.balanced()?;
            return Ok(&self.text[start..self.pos]);
        }
        let Some(word) = self.word() else { return self.expected("a shape") };
        if word == "b" && self.peek() == Some(b'(') {
            self.balanced()?;
            return Ok(&self.text[start..self.pos]);
        }
        if self.peek() != Some(b'[') {
            return self.expected("'[' after the element type");
        }
        self.balanced()?;
        let end = self.pos;
        // A brace after it is a layout if a number or a colon follows: else it begins a computation.
        if self.eat(b'{') {
            let layout = self.peek().is_some_and(|b| b.is_ascii_digit() || b == b':');
            self.pos = end;
            if layout {
                self.balanced()?;
                return Ok(&self.text[start..self.pos]);
            }
        }
        Ok(&self.text[start..end])
    }

    fn attribute(&mut self) -> Read<Attribute<'a>> {
        self.skip();
        let Some(key) = self.word() else { return self.expected("an attribute") };
        self.expect(b'=', "after the name of an attribute")?;
        self.skip();
        let at = self.pos;
        if COMPUTATION.contains(&key) && self.peek() == Some(b'{') {
            let (instructions, broken) = self.instructions()?;
            let value = &self.text[at..self.pos];
            let computation =
                Computation { name: "", entry: false, at, instructions, broken, attrs: vec![] };
            self.out.computations.push(computation);
            let computation = Some(self.out.computations.len() - 1);
            return Ok(Attribute { key, value, at, computation });
        }
        if key == "literal" {
            self.optional_shape()?;
            self.skip();
        }
        let start = self.pos;
        // The position may be inside of a character here, so bytes are compared.
        let bytes = self.bytes();
        loop {
            match bytes.get(self.pos) {
                Some(b'{' | b'[' | b'(') => self.balanced()?,
                Some(b'"' | b'\'') => self.string()?,
                Some(b'/') if bytes[self.pos..].starts_with(b"/*") => self.skip(),
                Some(b',' | b'}' | b')' | b']') | None => break,
                Some(b' ' | b'\t' | b'\n' | b'\r') => {
                    // A mesh has its axes, device ids or dimensions after it.
                    let end = self.pos;
                    let mesh = bytes[start..end].starts_with(b"mesh");
                    if !(mesh && self.peek() == Some(b'{')) {
                        self.pos = end;
                        break;
                    }
                }
                Some(_) => self.pos += 1,
            }
            let end = self.pos;
            if bytes[start..end].starts_with(b"mesh[")
                && !(self.eat(b',') && self.keyword("device_ids"))
            {
                self.pos = end;
            }
        }
        let value = self.text[at..self.pos].trim_end();
        if value.is_empty() {
            return self.expected(&format!("the value of '{key}'"));
        }
        Ok(Attribute { key, value, at, computation: None })
    }

    /// A string in quotes.
    fn string(&mut self) -> Read<()> {
        let start = self.pos;
        let bytes = self.bytes();
        let quote = bytes[start];
        let mut at = start + 1;
        loop {
            match bytes.get(at) {
                None => return self.error(start, "the string has no end"),
                Some(b'\\') => at += 2,
                Some(byte) if *byte == quote => break,
                Some(_) => at += 1,
            }
        }
        self.pos = at + 1;
        Ok(())
    }

    /// What stands between a bracket and the one that closes it.
    fn balanced(&mut self) -> Read<()> {
        let start = self.pos;
        let bytes = self.bytes();
        let mut open: SmallVec<[u8; 16]> = SmallVec::new();
        loop {
            match bytes.get(self.pos) {
                Some(b'(') => open.push(b')'),
                Some(b'[') => open.push(b']'),
                Some(b'{') => open.push(b'}'),
                Some(close @ (b')' | b']' | b'}')) if open.last() == Some(close) => {
                    open.pop();
                }
                None | Some(b')' | b']' | b'}') => {
                    let bracket = char::from(bytes[start]);
                    return self.error(start, format!("the '{bracket}' has no end"));
                }
                Some(b'"') => {
                    self.string()?;
                    continue;
                }
                Some(b'/') if matches!(bytes.get(self.pos + 1), Some(b'*' | b'/')) => {
                    self.skip();
                    continue;
                }
                Some(_) => {}
            }
            self.pos += 1;
            if open.is_empty() {
                return Ok(());
            }
        }
    }
}

/// The range of a slice of a text that begins at `at`.
pub(super) fn range(at: usize, value: &str) -> Range<usize> {
    at..at + value.len()
}
