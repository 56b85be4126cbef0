//! Reads many MLIR files in one run and prints each back; `tools/conformance` compares them.
//!
//!     cargo run -p shard-text --example reprint -- DIR
//!
//! For every `NAME.mlir` of DIR writes `NAME.said`, a line `LINE<tab>SEVERITY<tab>MESSAGE` for each
//! diagnostic, and where there was no error `NAME.pretty` (without locations) and `NAME.generic`
//! (with them). A file whose prints are read back as another program has a line that says so.

use std::fmt::Write as _;
use std::path::Path;

use shard_ir::{Diagnostic, Place, Severity};
use shard_text::equal::Compare;
use shard_text::{ParseOptions, PrintOptions, parse_bytes, print};

fn main() -> std::io::Result<()> {
    let Some(folder) = std::env::args_os().nth(1) else {
        return Err(std::io::Error::other("usage: reprint DIR"));
    };
    let mut files: Vec<_> = std::fs::read_dir(folder)?
        .map(|entry| entry.map(|e| e.path()))
        .collect::<Result<_, _>>()?;
    files.retain(|path| path.extension().is_some_and(|ext| ext == "mlir"));
    files.sort();
    for file in files {
        reprint(&file)?;
    }
    Ok(())
}

fn reprint(file: &Path) -> std::io::Result<()> {
    let bytes = std::fs::read(file)?;
    let options = ParseOptions { max_errors: 1000, ..ParseOptions::default() };
    // A panic is a finding like any other, and must not end the run.
    let result = std::panic::catch_unwind(|| {
        let parsed = parse_bytes(&bytes, &options);
        let mut said = parsed.diagnostics;
        said.extend(shard_ir::verify(&parsed.module));
        if said.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
            return (said, None);
        }
        let pretty = PrintOptions::default();
        let generic = PrintOptions { generic: true, debug_info: true, ..pretty.clone() };
        let texts = [&pretty, &generic].map(|options| print(&parsed.module, options));
        for (text, options) in texts.iter().zip([&pretty, &generic]) {
            let again = parse_bytes(text.as_bytes(), &ParseOptions::default());
            let form = if options.generic { "generic" } else { "pretty" };
            let compare = Compare { locations: options.debug_info };
            let fault = match again.diagnostics.first() {
                Some(diagnostic) => Some(format!("can't be read back: {diagnostic}")),
                None => compare
                    .modules(&parsed.module, &again.module)
                    .err()
                    .or_else(|| {
                        (print(&again.module, options) != *text).then(|| "prints differ".into())
                    })
                    .map(|difference| format!("is read back as another program: {difference}")),
            };
            if let Some(fault) = fault {
                said.push(Diagnostic::error(format!("FAULT: the {form} form {fault}")));
            }
        }
        (said, Some(texts))
    });
    let (said, texts) = result.unwrap_or_else(|_| (vec![Diagnostic::error("PANIC")], None));
    let mut lines = String::new();
    for diagnostic in &said {
        let line = match &diagnostic.place {
            Place::Text(range) => {
                1 + bytes[..range.start.min(bytes.len())].iter().filter(|b| **b == b'\n').count()
            }
            Place::Nowhere | Place::Source { .. } => 0,
        };
        let severity = match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Remark => "remark",
        };
        let op = diagnostic.op.as_deref().unwrap_or("");
        let message = diagnostic.message.replace(['\n', '\t'], " ");
        let _ = writeln!(lines, "{line}\t{severity}\t{op}: {message}");
    }
    std::fs::write(file.with_extension("said"), lines)?;
    if let Some([pretty, generic]) = texts {
        std::fs::write(file.with_extension("pretty"), pretty)?;
        std::fs::write(file.with_extension("generic"), generic)?;
    }
    Ok(())
}
