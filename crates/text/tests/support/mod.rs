//! What the tests share.
#![allow(dead_code, reason = "each test uses a part")]

use shard_ir::{Module, Place};
use shard_text::equal::Compare;
use shard_text::{ParseOptions, PrintOptions, parse, print};

/// Reads a text that has no errors.
pub fn read(text: &str) -> Module {
    let parsed = parse(text, &ParseOptions::default());
    if let Some(diagnostic) = parsed.diagnostics.first() {
        let at = match &diagnostic.place {
            Place::Text(range) => &text[range.start..],
            _ => "",
        };
        let at: String = at.chars().take(80).collect();
        panic!("{diagnostic}\nat {at:?}\nin\n{text}");
    }
    parsed.module
}

/// Checks that a module survives printing in every form.
pub fn survives(module: &Module) {
    for (debug_info, generic) in [(false, false), (true, false), (false, true), (true, true)] {
        let options = PrintOptions { debug_info, generic, ..PrintOptions::default() };
        let printed = print(module, &options);
        let again = read(&printed);
        let compare = Compare { locations: debug_info };
        if let Err(difference) = compare.modules(module, &again) {
            panic!("{difference}\nafter\n{printed}");
        }
        assert_eq!(print(&again, &options), printed);
    }
}

/// The models of `testdata`, with their names.
pub fn models() -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/models");
    let mut models: Vec<(String, String)> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "mlir"))
        .map(|path| {
            let text = std::fs::read_to_string(&path).expect("a readable file");
            (path.display().to_string(), text)
        })
        .collect();
    models.sort();
    models
}
