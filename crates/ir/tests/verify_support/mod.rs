//! Programs from text, and what the verifier says of them.

use shard_ir::{Module, verify};

/// Reads a program that the reader accepts.
#[allow(dead_code)]
pub fn read(text: &str) -> Module {
    let parsed = shard_text::parse(text, &shard_text::ParseOptions::default());
    let messages: Vec<String> = parsed.diagnostics.iter().map(ToString::to_string).collect();
    assert!(messages.is_empty(), "{text}\n{messages:#?}");
    parsed.module
}

/// What the reader says of a program, or where it accepts it, the verifier.
pub fn complaints(text: &str) -> Vec<String> {
    let parsed = shard_text::parse(text, &shard_text::ParseOptions::default());
    let found = if parsed.has_errors() { parsed.diagnostics } else { verify(&parsed.module) };
    found.iter().map(ToString::to_string).collect()
}

/// Reader or verifier complain in words that contain `expected`, or where that is empty, they don't.
pub fn expect(text: &str, expected: &str) {
    let found = complaints(text);
    if expected.is_empty() {
        assert!(found.is_empty(), "{text}\n{found:#?}");
    } else {
        let hit = found.iter().any(|message| message.contains(expected));
        assert!(hit, "{text}\nexpected: {expected}\nfound: {found:#?}");
    }
}

/// The same for one op in a function with the given arguments.
#[allow(dead_code)]
pub fn expect_ops(args: &str, cases: &[(&str, &str)]) {
    for (op, expected) in cases {
        expect(&format!("func.func @f({args}) {{\n  {op}\n  return\n}}"), expected);
    }
}
