//! Reads MLIR text and prints it again: `reprint [--generic] [--debug-info] [--check] FILE...`
//!
//! With `--check` it prints only what doesn't survive: each part of a file (between lines
//! `// -----`) is read, printed and read again, and both modules are compared.

use std::io::{self, Write};

use shard_text::{ParseOptions, PrintOptions, parse_bytes, print};

fn main() -> io::Result<()> {
    let mut options = PrintOptions::default();
    let mut check = false;
    let mut files = Vec::new();
    for arg in std::env::args().skip(1) {
        match arg.as_str() {
            "--generic" => options.generic = true,
            "--debug-info" => options.debug_info = true,
            "--check" => check = true,
            _ => files.push(arg),
        }
    }
    let mut out = io::stdout().lock();
    let (mut good, mut read, mut total) = (0, 0, 0);
    for file in &files {
        let bytes = std::fs::read(file)?;
        let text = String::from_utf8_lossy(&bytes);
        for (offset, part) in shard_text::split_input(&text) {
            total += 1;
            let line = text[..offset].matches('\n').count();
            let place = |at: usize| line + 1 + part[..at.min(part.len())].matches('\n').count();
            let parsed = parse_bytes(part.as_bytes(), &ParseOptions::default());
            for diagnostic in &parsed.diagnostics {
                let at = match &diagnostic.place {
                    shard_ir::Place::Text(range) => place(range.start),
                    _ => 0,
                };
                writeln!(out, "{file}:{at}: {diagnostic}")?;
            }
            if parsed.has_errors() {
                continue;
            }
            read += 1;
            let printed = print(&parsed.module, &options);
            if !check {
                out.write_all(printed.as_bytes())?;
                continue;
            }
            let again = shard_text::parse(&printed, &ParseOptions::default());
            let compare = shard_text::equal::Compare { locations: options.debug_info };
            if let Some(diagnostic) = again.diagnostics.first() {
                writeln!(out, "{file}:{}: printed text: {diagnostic}", line + 1)?;
                if let shard_ir::Place::Text(range) = &diagnostic.place {
                    let rest: String = printed[range.start..].chars().take(120).collect();
                    writeln!(out, "    {rest:?}")?;
                }
            } else if let Err(difference) = compare.modules(&parsed.module, &again.module) {
                writeln!(out, "{file}:{}: {difference}", line + 1)?;
            } else if print(&again.module, &options) != printed {
                writeln!(out, "{file}:{}: printed twice, the text differs", line + 1)?;
            } else {
                good += 1;
            }
        }
    }
    if check {
        writeln!(out, "{total} programs, {read} read, {good} survive")?;
    }
    Ok(())
}
