//! Reading inputs, writing results, and saying things on standard error.

use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use clap::{Args, ValueEnum};
use shard_ir::{Diagnostic, Severity};
use shard_opt::ParseOptions;
use shard_opt::render::{self, Style};

use super::Failure;

/// The formats of programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// StableHLO in MLIR text
    Stablehlo,
    /// HLO text
    Hlo,
}

impl Format {
    fn of_text(self) -> shard_text::Format {
        match self {
            Format::Stablehlo => shard_text::Format::StableHlo,
            Format::Hlo => shard_text::Format::Hlo,
        }
    }
}

/// How diagnostics are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiagnosticsFormat {
    /// As text, for people
    Text,
    /// An object a line, for programs
    Json,
}

/// Options of every command that reads a program.
#[derive(Debug, Args)]
pub(crate) struct InputArgs {
    /// The program; standard input where it is `-` or left out
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// The input's format, where its text doesn't tell (HLO text starts with HloModule)
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub input_format: Option<Format>,
    /// How diagnostics are written to standard error
    #[arg(long, value_name = "FORMAT", value_enum, default_value = "text")]
    pub diagnostics: DiagnosticsFormat,
}

/// A program's text as it was read.
#[derive(Debug)]
pub(crate) struct Source {
    /// Name for diagnostics.
    pub name: String,
    /// What it holds; the module shares it.
    pub bytes: Arc<Vec<u8>>,
    /// What it is written in, if that was stated.
    pub format: Option<shard_text::Format>,
    /// How what is wrong with it is written.
    pub diagnostics: DiagnosticsFormat,
}

impl Source {
    /// Reads the program of a command line.
    pub fn read(args: &InputArgs) -> Result<Source, Failure> {
        let file = args.file.as_deref().filter(|file| *file != Path::new("-"));
        let (name, bytes) = match file {
            Some(file) => {
                let bytes = std::fs::read(file)
                    .with_context(|| format!("can't read '{}'", file.display()))?;
                (file.display().to_string(), bytes)
            }
            None => {
                let mut bytes = Vec::new();
                io::stdin().lock().read_to_end(&mut bytes).context("can't read standard input")?;
                ("<stdin>".to_owned(), bytes)
            }
        };
        #[cfg(feature = "mlir")]
        let bytes = text_of(&name, bytes)?;
        let format = args.input_format.map(Format::of_text);
        Ok(Source { name, bytes: Arc::new(bytes), format, diagnostics: args.diagnostics })
    }

    /// What it is written in.
    pub fn found_format(&self) -> Format {
        let found = std::str::from_utf8(&self.bytes).is_ok_and(shard_text::is_hlo);
        match self.format {
            Some(shard_text::Format::Hlo) => Format::Hlo,
            None if found => Format::Hlo,
            Some(shard_text::Format::StableHlo) | None => Format::Stablehlo,
        }
    }

    /// How its text is to be read.
    pub fn options(&self) -> ParseOptions {
        ParseOptions { format: self.format, ..ParseOptions::default() }
    }

    /// The text for diagnostics to point into.
    pub fn input(&self) -> render::Input<'_> {
        render::Input { name: &self.name, bytes: &self.bytes }
    }

    /// Says a diagnostic on standard error.
    pub fn say(&self, diagnostic: &Diagnostic) {
        let style = match self.diagnostics {
            DiagnosticsFormat::Text => style(),
            DiagnosticsFormat::Json => Style::Json,
        };
        say(&render::render(diagnostic, self.input(), style));
    }

    /// Says all diagnostics; fails if one is an error.
    pub fn say_all<'d>(
        &self,
        diagnostics: impl IntoIterator<Item = &'d Diagnostic>,
    ) -> Result<(), Failure> {
        let mut failed = false;
        for diagnostic in diagnostics {
            self.say(diagnostic);
            failed |= diagnostic.severity == Severity::Error;
        }
        if failed { Err(Failure::Said) } else { Ok(()) }
    }

    /// Says an error and fails.
    pub fn fail(&self, diagnostic: &Diagnostic) -> Failure {
        self.say(diagnostic);
        Failure::Said
    }
}

/// The text of a program that is MLIR's bytecode, for diagnostics to point into.
#[cfg(feature = "mlir")]
fn text_of(name: &str, bytes: Vec<u8>) -> Result<Vec<u8>, Failure> {
    if !bytes.starts_with(shard_mlir::MAGIC) {
        return Ok(bytes);
    }
    let module = shard_mlir::read_bytecode(&bytes).with_context(|| format!("reading '{name}'"))?;
    let options = shard_text::PrintOptions { debug_info: true, ..Default::default() };
    Ok(shard_text::print(&module, &options).into_bytes())
}

/// How diagnostics look on this standard error.
fn style() -> Style {
    let colors = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    match terminal_width() {
        Some(width) => Style::Terminal { width, color: colors },
        None => Style::Plain,
    }
}

/// Tells a child whose standard error goes through its parent the width of the parent's terminal.
pub(crate) const COLUMNS: &str = "SHARD_OPT_COLUMNS";

/// Columns of the terminal that standard error is.
pub(crate) fn terminal_width() -> Option<usize> {
    if let Some(columns) = std::env::var_os(COLUMNS) {
        return columns.to_str()?.parse().ok();
    }
    if !io::stderr().is_terminal() {
        return None;
    }
    let size = terminal_size::terminal_size_of(io::stderr());
    Some(size.map_or_else(unknown_width, |(width, _)| usize::from(width.0)))
}

/// Columns that tables on standard error may take where it is no terminal: what `COLUMNS` says.
pub(crate) fn table_width() -> Option<usize> {
    terminal_width().or_else(columns)
}

/// Columns of a terminal that doesn't say how wide it is.
fn unknown_width() -> usize {
    columns().unwrap_or(80)
}

fn columns() -> Option<usize> {
    std::env::var("COLUMNS").ok()?.parse().ok()
}

/// Shows what is being done in a line that the next text takes the place of, on a terminal.
pub(crate) fn progress(what: &str) {
    if let Some(width) = terminal_width() {
        let text: String = what.chars().take(width.saturating_sub(1)).collect();
        say(&format!("{text}\x1b[K\r"));
    }
}

/// Takes the line of [`progress`] away.
pub(crate) fn progress_done() {
    if terminal_width().is_some() {
        say("\x1b[K\r");
    }
}

/// An error with its causes, each said once, and what to do about it where that is known.
pub(crate) fn error_text(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain() {
        let cause = cause.to_string();
        if !text.contains(&cause) {
            let colon = if text.is_empty() { "" } else { ": " };
            text.push_str(colon);
            text.push_str(&cause);
        }
    }
    let missing = text.split_once("No FFI handler registered for ").map(|(_, rest)| {
        rest.split_whitespace().next().unwrap_or_default().trim_matches(':').to_owned()
    });
    let help = missing.map(|call| {
        format!(
            "  help: this plugin has no code for the custom call @{call} (JAX brings its own), so \
             the program can't run here; 'partition' and 'report' need no plugin, and --plugin \
             takes one that has it\n"
        )
    });
    format!("shard-opt: error: {text}\n{}", help.unwrap_or_default())
}

/// Writes text to standard error, which nobody may read.
pub(crate) fn say(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Writes a result to a file, or to standard output where it is `-` or `None`.
pub(crate) fn write_result(file: Option<&Path>, content: impl AsRef<[u8]>) -> Result<(), Failure> {
    match file.filter(|file| *file != Path::new("-")) {
        Some(file) => std::fs::write(file, content)
            .with_context(|| format!("can't write '{}'", file.display()))
            .map_err(Failure::from),
        None => {
            let mut out = io::stdout().lock();
            match out.write_all(content.as_ref()).and_then(|()| out.flush()) {
                // Whoever reads has read enough.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
                result => result.context("can't write to standard output").map_err(Failure::from),
            }
        }
    }
}

/// Columns of the terminal that standard output is.
pub(crate) fn output_width() -> Option<usize> {
    if !io::stdout().is_terminal() {
        return columns();
    }
    let size = terminal_size::terminal_size_of(io::stdout());
    Some(size.map_or_else(unknown_width, |(width, _)| usize::from(width.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_said_once_and_missing_code_has_help() {
        let error = anyhow::anyhow!("No FFI handler registered for lapack_spotrf_ffi on Host")
            .context("compiling: No FFI handler registered for lapack_spotrf_ffi on Host")
            .context("verify");
        let text = error_text(&error);
        assert!(text.starts_with("shard-opt: error: verify: compiling: No FFI"), "{text}");
        assert_eq!(text.matches("No FFI handler").count(), 1, "{text}");
        assert!(text.contains("custom call @lapack_spotrf_ffi (JAX"), "{text}");
    }
}
