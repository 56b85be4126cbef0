//! The seeds of the fuzzers keep what the fuzzers check; so does what a fuzzer found once, which
//! becomes a seed.

#[path = "../../../fuzz/src/properties.rs"]
mod properties;

use std::path::Path;

/// Checks the texts of a folder, of which there are some.
fn check(folder: &str, property: fn(&str)) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/fuzz").join(folder);
    let mut checked = 0;
    for entry in std::fs::read_dir(&folder).expect("the folder is there") {
        let path = entry.expect("its entries can be read").path();
        let text = std::fs::read_to_string(&path).expect("a seed is UTF-8");
        property(&text);
        checked += 1;
    }
    assert!(checked > 5, "{} has {checked} seeds", folder.display());
}

#[test]
fn mlir_seeds() {
    check("mlir", properties::mlir);
}

#[test]
fn hlo_seeds() {
    check("hlo", properties::hlo);
}

#[test]
fn converted_seeds() {
    check("mlir", properties::convert);
    check("hlo", properties::convert);
}
