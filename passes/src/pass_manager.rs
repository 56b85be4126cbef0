//! Pipelines as text, in MLIR's syntax, and running them.
//!
//! `builtin.module(inline-calls,import{mesh=data=4},func.func(simplify))`: passes separated by
//! commas, options in braces separated by spaces, nested in the op that they run on. All passes
//! here run on the module; a pass nested in `func.func` is run once, on all functions.

use std::fmt;
use std::time::{Duration, Instant};

use shard_ir::{Diagnostic, Module};

use crate::registry::{
    OptionInfo, PASSES, PIPELINES, PassContext, PassInfo, PassOptions, find_pass, find_pipeline,
};

/// Passes to be run one after another.
#[derive(Clone, Debug, Default)]
pub struct PassPipeline {
    /// The passes.
    pub steps: Vec<PassStep>,
}

/// A pass with its options.
#[derive(Clone, Debug)]
pub struct PassStep {
    /// The pass.
    pub pass: &'static PassInfo,
    /// Its options.
    pub options: PassOptions,
    /// The ops that it is nested in, `builtin.module` left out.
    pub nesting: Vec<String>,
}

/// Why a text isn't a pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PipelineError {
    /// What is wrong.
    pub message: String,
    /// Where in the text, in bytes.
    pub offset: usize,
}

impl fmt::Display for PipelineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at byte {} of the pipeline)", self.message, self.offset)
    }
}

impl std::error::Error for PipelineError {}

/// What a pass left: called after each one.
#[derive(Clone, Copy, Debug)]
pub struct AfterPass<'m> {
    /// The pass.
    pub step: &'m PassStep,
    /// The module as the pass left it, perhaps half done if it failed.
    pub module: &'m Module,
    /// What the pass took.
    pub duration: Duration,
    /// Whether the pass failed.
    pub failed: bool,
}

impl PassPipeline {
    /// Reads a pipeline: `builtin.module(a,b{k=v})`, or a plain list `a,b{k=v}`.
    ///
    /// # Errors
    /// What was expected, with its byte offset; an unknown pass comes with the nearest known one.
    pub fn parse(text: &str) -> Result<PassPipeline, PipelineError> {
        let mut reader = Reader { text, at: 0, nesting: Vec::new(), pipeline: Self::default() };
        reader.list(None)?;
        Ok(reader.pipeline)
    }

    /// Adds a pass, or the passes of a named pipeline.
    ///
    /// # Errors
    /// If there is no such pass, or it doesn't take such options. The message has no offset.
    pub fn push(&mut self, name: &str, options: PassOptions) -> Result<(), String> {
        self.push_nested(name, options, &[])
    }

    fn push_nested(
        &mut self,
        name: &str,
        options: PassOptions,
        nesting: &[String],
    ) -> Result<(), String> {
        let nesting = nesting.to_vec();
        if let Some(pass) = find_pass(name) {
            for (key, _) in &options.0 {
                if !pass.options.iter().any(|option| option.name == key) {
                    return Err(unknown_option("pass", name, pass.options, key));
                }
            }
            self.steps.push(PassStep { pass, options, nesting });
            return Ok(());
        }
        let Some(pipeline) = find_pipeline(name) else { return Err(unknown_pass(name)) };
        for (key, _) in &options.0 {
            if !pipeline.options.iter().any(|option| option.name == key) {
                return Err(unknown_option("pipeline", name, pipeline.options, key));
            }
        }
        for step in (pipeline.passes)(&options).map_err(|error| error.message)? {
            let (name, options) = step.split_once('{').unwrap_or((step, ""));
            let options = PassOptions::parse(options.trim_end_matches('}'))
                .map_err(|error| error.to_string())?;
            self.push_nested(name, options, &nesting)?;
        }
        Ok(())
    }

    /// Runs the passes in order on a module. `after` sees what each one left, also the one that
    /// failed, and may stop the run by an error of its own.
    ///
    /// # Errors
    /// The first that a pass or `after` gives.
    pub fn run(
        &self,
        module: &mut Module,
        context: &mut PassContext,
        mut after: impl FnMut(AfterPass<'_>) -> Result<(), Diagnostic>,
    ) -> Result<(), Diagnostic> {
        for step in &self.steps {
            context.options = step.options.clone();
            let begin = Instant::now();
            let result = (step.pass.run)(module, context);
            let duration = begin.elapsed();
            let failed = result.is_err();
            let seen = after(AfterPass { step, module, duration, failed });
            result.and(seen)?;
        }
        Ok(())
    }
}

/// The pipeline as [`PassPipeline::parse`] reads it.
impl fmt::Display for PassPipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("builtin.module(")?;
        let mut open: &[String] = &[];
        for (index, step) in self.steps.iter().enumerate() {
            let shared =
                open.iter().zip(&step.nesting).take_while(|(open, wanted)| open == wanted).count();
            f.write_str(&")".repeat(open.len() - shared))?;
            if index > 0 {
                f.write_str(",")?;
            }
            for anchor in &step.nesting[shared..] {
                write!(f, "{anchor}(")?;
            }
            open = &step.nesting;
            f.write_str(step.pass.name)?;
            if !step.options.0.is_empty() {
                let options: Vec<String> =
                    step.options.0.iter().map(|(key, value)| option_text(key, value)).collect();
                write!(f, "{{{}}}", options.join(" "))?;
            }
        }
        f.write_str(&")".repeat(open.len()))?;
        f.write_str(")")
    }
}

fn option_text(key: &str, value: &str) -> String {
    if value.is_empty() || value.contains([' ', '{', '}', '\'', '"']) {
        format!("{key}={{{value}}}")
    } else {
        format!("{key}={value}")
    }
}

fn unknown_option(what: &str, name: &str, options: &[OptionInfo], key: &str) -> String {
    let known: Vec<&str> = options.iter().map(|option| option.name).collect();
    let known = if known.is_empty() {
        "it takes none".to_owned()
    } else {
        format!("it takes {}", known.join(", "))
    };
    format!("{what} '{name}' has no option '{key}': {known}")
}

fn unknown_pass(name: &str) -> String {
    let names = PASSES.iter().map(|pass| pass.name).chain(PIPELINES.iter().map(|p| p.name));
    let near = names.map(|known| (distance(name, known), known)).min();
    match near {
        Some((distance, known)) if distance <= 1 + name.len() / 3 => {
            format!("unknown pass '{name}'; did you mean '{known}'?")
        }
        _ => format!("unknown pass '{name}'; --list-passes shows those that there are"),
    }
}

/// The number of edits between two words.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let above = row[j + 1];
            row[j + 1] = (corner + usize::from(x != y)).min(above + 1).min(row[j] + 1);
            corner = above;
        }
    }
    row[b.len()]
}

impl PassOptions {
    /// Reads `k=v k2={v w} k3="v w"`, without braces around it.
    ///
    /// # Errors
    /// What was expected, with its byte offset.
    pub fn parse(text: &str) -> Result<PassOptions, PipelineError> {
        let mut reader =
            Reader { text, at: 0, nesting: Vec::new(), pipeline: PassPipeline::default() };
        let options = reader.options()?;
        if reader.at < text.len() {
            return Err(reader.error("expected an option, such as `key=value`"));
        }
        Ok(options)
    }
}

/// How deep a pipeline may nest.
const MAX_NESTING: usize = 32;

struct Reader<'t> {
    text: &'t str,
    at: usize,
    nesting: Vec<String>,
    pipeline: PassPipeline,
}

impl<'t> Reader<'t> {
    fn error(&self, message: impl Into<String>) -> PipelineError {
        PipelineError { message: message.into(), offset: self.at }
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn skip_space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn eat(&mut self, token: char) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len_utf8();
        }
        found
    }

    /// A list of passes, up to the end of the text or the closing parenthesis of `anchor`.
    fn list(&mut self, anchor: Option<&str>) -> Result<(), PipelineError> {
        loop {
            self.skip_space();
            let end = match anchor {
                None => self.rest().is_empty(),
                Some(_) => self.eat(')'),
            };
            if end {
                return Ok(());
            }
            self.item()?;
            self.skip_space();
            if self.eat(',') {
                continue;
            }
            let end = match anchor {
                None => self.rest().is_empty(),
                Some(_) => self.eat(')'),
            };
            return match (end, anchor) {
                (true, _) => Ok(()),
                (false, Some(anchor)) => {
                    Err(self.error(format!("expected `,`, or `)` at the end of `{anchor}(`")))
                }
                (false, None) => Err(self.error("expected `,` or the end of the pipeline")),
            };
        }
    }

    fn item(&mut self) -> Result<(), PipelineError> {
        let begin = self.at;
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let name = self.rest().split(|c: char| !is_name(c)).next().unwrap_or_default();
        if name.is_empty() {
            return Err(self.error("expected the name of a pass"));
        }
        self.at += name.len();
        if self.eat('(') {
            if self.nesting.len() == MAX_NESTING {
                return Err(self.error("the pipeline nests too deep"));
            }
            let outermost = self.nesting.is_empty() && name == "builtin.module";
            if !outermost {
                self.nesting.push(name.to_owned());
            }
            self.list(Some(name))?;
            if !outermost {
                self.nesting.pop();
            }
            return Ok(());
        }
        let mut options = PassOptions::default();
        if self.eat('{') {
            options = self.options()?;
            if !self.eat('}') {
                return Err(self.error(format!("expected `}}` after the options of '{name}'")));
            }
        }
        let nesting = self.nesting.clone();
        self.pipeline
            .push_nested(name, options, &nesting)
            .map_err(|message| PipelineError { message, offset: begin })
    }

    fn options(&mut self) -> Result<PassOptions, PipelineError> {
        let mut options = PassOptions::default();
        loop {
            self.skip_space();
            if self.rest().is_empty() || self.rest().starts_with('}') {
                return Ok(options);
            }
            let end = self.rest().find(|c: char| c == '=' || c == '}' || c.is_whitespace());
            let key = &self.rest()[..end.unwrap_or(self.rest().len())];
            if key.is_empty() {
                return Err(self.error("expected the name of an option before `=`"));
            }
            self.at += key.len();
            // A name alone is a flag.
            let value = if self.eat('=') { self.value()? } else { "true".to_owned() };
            options.0.push((key.to_owned(), value));
        }
    }

    /// A value: quoted, in braces, or up to the next space or closing brace.
    fn value(&mut self) -> Result<String, PipelineError> {
        for quote in ['"', '\''] {
            if self.rest().starts_with(quote) {
                let Some(end) = self.rest()[1..].find(quote) else {
                    return Err(self.error("the quote isn't closed"));
                };
                let value = &self.rest()[1..=end];
                self.at += end + 2;
                return Ok(value.to_owned());
            }
        }
        let braced = self.rest().starts_with('{');
        let mut depth = 0usize;
        for (index, c) in self.rest().char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth == 0 => return Ok(self.take_value(index)),
                '}' => {
                    depth -= 1;
                    if braced && depth == 0 {
                        let value = self.rest()[1..index].to_owned();
                        self.at += index + 1;
                        return Ok(value);
                    }
                }
                c if depth == 0 && c.is_whitespace() => return Ok(self.take_value(index)),
                _ => {}
            }
        }
        if depth > 0 {
            return Err(self.error("the brace isn't closed"));
        }
        Ok(self.take_value(self.rest().len()))
    }

    fn take_value(&mut self, len: usize) -> String {
        let value = self.rest()[..len].to_owned();
        self.at += len;
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(text: &str) -> String {
        PassPipeline::parse(text).map_or_else(|error| error.to_string(), |p| p.to_string())
    }

    #[test]
    fn pipelines_print_as_they_read() {
        for text in [
            "builtin.module()",
            "builtin.module(inline-calls,import,propagate)",
            "builtin.module(import{mesh=data=4,model=2},func.func(simplify,dead-code),export)",
            "builtin.module(func.func(simplify),export{mode=replicas})",
            "builtin.module(import{mesh={<[\"a b\"=4]>}})",
        ] {
            assert_eq!(round_trip(text), text);
        }
    }

    #[test]
    fn other_spellings_are_read() {
        assert_eq!(round_trip(" import , simplify "), "builtin.module(import,simplify)");
        assert_eq!(
            round_trip("builtin.module( import{ mesh='a=2' } )"),
            "builtin.module(import{mesh=a=2})"
        );
        let pipeline = round_trip("sdy-propagation-pipeline{dedup-functions-fully=true}");
        assert!(pipeline.starts_with("builtin.module(symbol-dce,sdy-lift-inlined-meshes,"));
        assert!(pipeline.contains(",sdy-user-priority-propagate{keep-sharding-rules=true},"));
    }

    #[test]
    fn errors_say_where() {
        for (text, message) in [
            ("builtin.module(imprt)", "did you mean 'import'? (at byte 15"),
            ("builtin.module(import", "expected `,`, or `)` at the end of `builtin.module(`"),
            ("import{mesh=a=2", "expected `}` after the options of 'import'"),
            ("import{mode=x}", "has no option 'mode': it takes mesh"),
            ("dead-code{x=1}", "it takes none"),
            ("import{mesh=\"a}", "the quote isn't closed"),
            ("import)", "expected `,` or the end"),
            ("a b", "unknown pass 'a'"),
        ] {
            let found = round_trip(text);
            assert!(found.contains(message), "{text}: {found}");
        }
    }

    #[test]
    fn every_row_can_be_found() {
        for (index, pass) in PASSES.iter().enumerate() {
            assert!(!PASSES[..index].iter().any(|other| other.name == pass.name));
            assert!(!pass.description.ends_with('.'));
        }
        for pipeline in PIPELINES {
            assert!(find_pass(pipeline.name).is_none());
            let passes = (pipeline.passes)(&PassOptions::default()).unwrap();
            for step in passes {
                let name = step.split('{').next().unwrap_or_default();
                assert!(find_pass(name).is_some(), "{name} of {}", pipeline.name);
            }
        }
    }
}
