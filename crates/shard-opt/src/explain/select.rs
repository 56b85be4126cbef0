//! What a user asks about.

use std::str::FromStr;

use shard_ir::{Diagnostic, Module, Place, ValueId, place_of};
use shard_propagate::explain::Subject;

use crate::render::{Input, line_and_column};

/// What a user asks about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// `%name` or `%name#1`: the values that the program calls so.
    Name(String, Option<usize>),
    /// `arg:2` or `arg:w`: an argument of the main function, by number or name.
    Argument(String),
    /// `result:0`: a result of the main function, by number or name.
    Result(String),
    /// `train.py:88`: the values of ops that come from a source line; without a file, or with that
    /// of the program, from a line of its text.
    Line(String, usize),
}

impl FromStr for What {
    type Err = String;

    fn from_str(text: &str) -> Result<What, String> {
        let expected = || {
            format!(
                "'{text}' is none of %name, arg:2, arg:name, result:0, result:name, and file:line \
                 as in train.py:88"
            )
        };
        if let Some(name) = text.strip_prefix('%') {
            return match name.split_once('#') {
                Some((name, index)) => {
                    let index = index.parse().map_err(|_| expected())?;
                    Ok(What::Name(name.to_owned(), Some(index)))
                }
                None if name.is_empty() => Err(expected()),
                None => Ok(What::Name(name.to_owned(), None)),
            };
        }
        if let Some(name) = text.strip_prefix("arg:") {
            return Ok(What::Argument(name.to_owned()));
        }
        if let Some(name) = text.strip_prefix("result:") {
            return Ok(What::Result(name.to_owned()));
        }
        let (file, line) = text.rsplit_once(':').unwrap_or(("", text));
        match line.parse() {
            Ok(line) if line > 0 => Ok(What::Line(file.to_owned(), line)),
            _ => Err(expected()),
        }
    }
}

/// The values that a user asks about. Those of all arguments and results where nothing is named.
///
/// # Errors
/// If the program has no such value; says what it has instead.
pub fn subjects(
    module: &Module,
    what: &[What],
    input: Option<Input<'_>>,
) -> Result<Vec<Subject>, Diagnostic> {
    let Some(main) = module.main_func() else {
        return Err(Diagnostic::error("the program has no function"));
    };
    let arguments = || module.args(main).iter().copied().map(Subject::Value);
    let count = module.funcs[main].results.len();
    let results = || (0..count).map(|index| Subject::Result(main, index));
    if what.is_empty() {
        return Ok(arguments().chain(results()).collect());
    }
    let mut found = Vec::new();
    for what in what {
        let before = found.len();
        match what {
            What::Name(name, index) => found.extend(named(module, name, *index)),
            What::Argument(name) => {
                found.extend(arguments().enumerate().filter_map(|(index, subject)| {
                    let names = shard_passes::import::argument_names(module, main, index);
                    let is = *name == index.to_string() || names.contains(name);
                    is.then_some(subject)
                }))
            }
            What::Result(name) => {
                found.extend(results().enumerate().filter_map(|(index, subject)| {
                    let is = *name == index.to_string() || result_name(module, index) == *name;
                    is.then_some(subject)
                }))
            }
            What::Line(file, line) => found.extend(of_line(module, file, *line, input)),
        }
        if found.len() == before {
            return Err(nothing(module, what));
        }
    }
    let mut seen = std::collections::HashSet::new();
    found.retain(|subject| seen.insert(*subject));
    Ok(found)
}

/// The name of a result of the main function; empty if it has none.
pub(super) fn result_name(module: &Module, index: usize) -> String {
    let result = module.main_func().and_then(|main| module.funcs[main].results.get(index));
    match result.and_then(|result| module.attr(result.attrs, "jax.result_info")) {
        Some(shard_ir::Attr::String(name)) => module.str(*name).to_owned(),
        _ => String::new(),
    }
}

/// Every value that is in the program: what passes have left behind isn't.
fn values(module: &Module) -> Vec<ValueId> {
    let mut values = Vec::new();
    for func in module.func_ids().filter(|&func| !module.funcs[func].is_declaration) {
        values.extend_from_slice(module.args(func));
        module.walk(module.funcs[func].body, |op| {
            values.extend_from_slice(module.results(op));
            for &region in module.regions(op) {
                for &block in &module.region(region).blocks {
                    values.extend_from_slice(module.params(block));
                }
            }
        });
    }
    values
}

fn named<'a>(
    module: &'a Module,
    name: &'a str,
    index: Option<usize>,
) -> impl Iterator<Item = Subject> + 'a {
    let is = move |value: &ValueId| {
        let own = module.value_names[*value].expand();
        let at = match module.value_def(*value) {
            shard_ir::ValueDef::Result(_, at) => at as usize,
            shard_ir::ValueDef::Param(..) => 0,
        };
        own.is_some_and(|own| module.str(own) == name) && index.is_none_or(|index| index == at)
    };
    values(module).into_iter().filter(is).map(Subject::Value)
}

fn of_line<'a>(
    module: &'a Module,
    file: &'a str,
    line: usize,
    input: Option<Input<'a>>,
) -> impl Iterator<Item = Subject> + 'a {
    let ends = |whole: &str, end: &str| {
        whole.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with(['/', '\\']))
    };
    let is = move |value: &ValueId| {
        let Some(op) = module.defining_op(*value) else { return false };
        match place_of(module, module.op(op).loc) {
            Place::Source { file: found, line: at, .. } => {
                !file.is_empty() && at as usize == line && ends(&found, file)
            }
            Place::Text(range) => input.is_some_and(|input| {
                (file.is_empty() || ends(input.name, file))
                    && line_and_column(input.bytes, range.start).0 == line
            }),
            Place::Nowhere => false,
        }
    };
    values(module).into_iter().filter(is).map(Subject::Value)
}

fn nothing(module: &Module, what: &What) -> Diagnostic {
    let message = match what {
        What::Name(name, None) => format!("no value is called %{name}"),
        What::Name(name, Some(index)) => format!("no value is called %{name}#{index}"),
        What::Argument(name) => format!("the main function has no argument '{name}'"),
        What::Result(name) => format!("the main function has no result '{name}'"),
        What::Line(file, line) if file.is_empty() => {
            format!("no op comes from line {line} of the program's text")
        }
        What::Line(file, line) => format!("no op comes from {file}:{line}"),
    };
    let main = module.main_func();
    let help = match (what, main) {
        (What::Argument(_), Some(main)) => {
            format!("its arguments are 0 to {}", module.args(main).len().saturating_sub(1))
        }
        (What::Result(_), Some(main)) => {
            format!("its results are 0 to {}", module.funcs[main].results.len().saturating_sub(1))
        }
        (What::Line(..), _) => "lines are those of locations where the program has them; \
                                constants and ops that do nothing may be gone"
            .to_owned(),
        _ => "names are those of the program's text, after '%'; ops that do nothing may be gone, \
              and 'file:line' finds values too"
            .to_owned(),
    };
    Diagnostic::error(message).help(help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_read() {
        let read = |text: &str| text.parse::<What>();
        assert_eq!(read("%12"), Ok(What::Name("12".to_owned(), None)));
        assert_eq!(read("%s#1"), Ok(What::Name("s".to_owned(), Some(1))));
        assert_eq!(read("arg:p['w']"), Ok(What::Argument("p['w']".to_owned())));
        assert_eq!(read("result:0"), Ok(What::Result("0".to_owned())));
        assert_eq!(read("a/train.py:88"), Ok(What::Line("a/train.py".to_owned(), 88)));
        assert_eq!(read("88"), Ok(What::Line(String::new(), 88)));
        for text in ["%", "", "x", "train.py:0", "%a#b"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
