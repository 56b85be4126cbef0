//! The generated model programs survive, and are printed as JAX printed them.

mod support;

use shard_text::{PrintOptions, print};

#[test]
fn models_survive() {
    for (_, text) in support::models() {
        support::survives(&support::read(&text));
    }
}

#[test]
fn models_are_printed_as_mlir_prints_them() {
    let options = PrintOptions { debug_info: true, ..PrintOptions::default() };
    for (name, text) in support::models() {
        let printed = print(&support::read(&text), &options);
        let body: Vec<&str> = text.lines().skip_while(|line| line.starts_with("//")).collect();
        for (line, (ours, theirs)) in printed.lines().zip(&body).enumerate() {
            assert_eq!(ours, *theirs, "{name}, line {line}");
        }
        assert_eq!(printed.lines().count(), body.len(), "{name}");
    }
}
