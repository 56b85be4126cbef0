//! What must hold of every text. The fuzz targets and the test of their seeds share this.
//!
//! No text makes a reader, a printer, the verifier or a conversion panic, whatever is wrong with
//! it. A text without errors is printed as one that reads back as the same module, and that is
//! printed as the same text again.

use std::sync::Arc;

use shard_ir::{Language, Module};
use shard_text::equal::Compare;
use shard_text::{
    Format, ParseOptions, Parsed, PrintOptions, parse, parse_shared, print, print_hlo,
};

fn read(text: &str, format: Format) -> Parsed {
    parse(text, &ParseOptions { format: Some(format), ..ParseOptions::default() })
}

/// Reads back what was printed.
fn read_back(printed: &str, format: Format) -> Module {
    read(printed, format)
        .into_result()
        .unwrap_or_else(|errors| panic!("{errors:#?}\nin what was printed:\n{printed}"))
}

fn assert_same(before: &Module, after: &Module, locations: bool, printed: &str) {
    if let Err(difference) = (Compare { locations }).modules(before, after) {
        panic!("{difference}\nafter reading what was printed:\n{printed}");
    }
}

/// A text read as MLIR.
pub fn mlir(text: &str) {
    // The module shares the text; what is read back doesn't.
    let shared = Arc::new(text.as_bytes().to_vec());
    let options = ParseOptions { format: Some(Format::StableHlo), ..ParseOptions::default() };
    let parsed = parse_shared(&shared, 0..shared.len(), &options);
    // What was understood is whole, errors or not.
    shard_ir::verify(&parsed.module);
    if parsed.has_errors() {
        print(&parsed.module, &PrintOptions::default());
        return;
    }
    for (debug_info, generic) in [(false, false), (true, false), (true, true)] {
        let options = PrintOptions { debug_info, generic, ..PrintOptions::default() };
        let printed = print(&parsed.module, &options);
        let again = read_back(&printed, Format::StableHlo);
        assert_same(&parsed.module, &again, debug_info, &printed);
        assert_eq!(print(&again, &options), printed, "printed differently the second time");
    }
}

/// A text read as HLO.
pub fn hlo(text: &str) {
    let parsed = read(text, Format::Hlo);
    shard_ir::verify(&parsed.module);
    let printed = match print_hlo(&parsed.module) {
        Ok(printed) => printed,
        Err(_) if parsed.has_errors() => return,
        Err(diagnostic) => panic!("{diagnostic}\nof what HLO text was read as"),
    };
    if !parsed.has_errors() {
        let again = read_back(&printed, Format::Hlo);
        assert_same(&parsed.module, &again, false, &printed);
        let twice = print_hlo(&again).expect("it was printed before");
        assert_eq!(twice, printed, "printed differently the second time");
    }
}

/// A text of either language, converted to the other and back. A conversion may refuse a program;
/// what it makes can be printed and read.
pub fn convert(text: &str) {
    let Ok(mut module) = parse(text, &ParseOptions::default()).into_result() else { return };
    if has_errors(&module) {
        return;
    }
    for _ in 0..2 {
        let converted = match module.language {
            Language::Hlo => shard_passes::hlo_to_stablehlo::run(&mut module),
            Language::StableHlo => shard_passes::stablehlo_to_hlo::run(&mut module),
        };
        if converted.is_err() {
            return;
        }
        let printed = match module.language {
            Language::StableHlo => print(&module, &PrintOptions::default()),
            Language::Hlo => match print_hlo(&module) {
                Ok(printed) => printed,
                Err(_) => return,
            },
        };
        let format = match module.language {
            Language::StableHlo => Format::StableHlo,
            Language::Hlo => Format::Hlo,
        };
        module = read_back(&printed, format);
    }
}

/// Whether the verifier rejects a module, whose ops then promise nothing to passes.
fn has_errors(module: &Module) -> bool {
    let complaints = shard_ir::verify(module);
    complaints.iter().any(|found| found.severity == shard_ir::Severity::Error)
}
