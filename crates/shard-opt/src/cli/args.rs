//! Command lines in mlir-opt's style, brought into a form that clap reads.

use std::ffi::OsString;

use shard_passes::registry::{find_pass, find_pipeline};

/// Makes `--pass=NAME=OPTIONS` of every flag that is the name of a pass, and two dashes of one
/// before a long option. Words of other commands than the pass runner stay as they are.
pub(super) fn normalize(words: Vec<OsString>, command: &clap::Command) -> Vec<OsString> {
    let is_command = |word: &OsString| {
        word.to_str().is_some_and(|word| {
            word == "help" || command.get_subcommands().any(|known| known.get_name() == word)
        })
    };
    if words.get(1).is_some_and(is_command) {
        return words;
    }
    let long: Vec<&str> = command.get_arguments().filter_map(|arg| arg.get_long()).collect();
    let mut literal = false;
    let mut normal = |word: OsString| {
        literal |= word == "--";
        let Some(text) = word.to_str().filter(|_| !literal) else { return word };
        let Some(body) = text.strip_prefix("--").or_else(|| text.strip_prefix('-')) else {
            return word;
        };
        let name = body.split('=').next().unwrap_or_default();
        if find_pass(name).is_some() || find_pipeline(name).is_some() {
            return format!("--pass={body}").into();
        }
        if long.contains(&name) || matches!(name, "help" | "version") {
            return format!("--{body}").into();
        }
        word
    };
    words
        .into_iter()
        .enumerate()
        .map(|(at, word)| if at == 0 { word } else { normal(word) })
        .collect()
}

/// What is wrong where the first word is meant as a command, but is none: it can't be a file.
pub(super) fn unknown_command(words: &[OsString], command: &clap::Command) -> Option<String> {
    let word = words.get(1)?.to_str()?;
    let is_word = word.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
    let known: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
    if word.starts_with('-')
        || word.is_empty()
        || !is_word
        || word == "help"
        || known.contains(&word)
        || std::path::Path::new(word).exists()
    {
        return None;
    }
    Some(format!(
        "there is no command '{word}', and no file of that name\n  help: the commands are {}; \
         without one, passes run over a file: shard-opt FILE --import --propagate",
        known.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::Cli;

    fn normal(line: &str) -> String {
        let words = line.split(' ').map(OsString::from).collect();
        let words = normalize(words, &Cli::command());
        words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_word_that_is_no_command() {
        let unknown = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            unknown_command(&words, &Cli::command())
        };
        assert!(unknown("shard-opt mend x.mlir").is_some_and(|said| said.contains("'mend'")));
        for line in ["shard-opt", "shard-opt x.mlir", "shard-opt -", "shard-opt partition x"] {
            assert_eq!(unknown(line), None, "{line}");
        }
    }

    #[test]
    fn passes_are_flags() {
        assert_eq!(
            normal("shard-opt -inline-calls --import=mesh=a=2 f -mlir-timing -o x"),
            "shard-opt --pass=inline-calls --pass=import=mesh=a=2 f --mlir-timing -o x"
        );
        assert_eq!(normal("shard-opt -help"), "shard-opt --help");
        assert_eq!(normal("shard-opt -- --import"), "shard-opt -- --import");
        assert_eq!(normal("shard-opt partition -import"), "shard-opt partition -import");
        assert_eq!(normal("shard-opt -"), "shard-opt -");
    }
}
