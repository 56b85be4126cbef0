//! Every program of the test data goes to MLIR and back, by each way, and MLIR's verifier accepts
//! it.

mod common;

use common::{generic, programs, text};
use melior::Context;
use melior::ir::operation::OperationLike;
use shard_mlir::{from_melior, read_bytecode, to_melior, write_bytecode};

/// What MLIR says while `run` runs, beside its result.
fn said<T>(context: &Context, run: impl FnOnce() -> T) -> (T, String) {
    let said = std::rc::Rc::new(std::cell::RefCell::new(String::new()));
    let sink = said.clone();
    let handler = context.attach_diagnostic_handler(move |diagnostic| {
        sink.borrow_mut().push_str(&format!("{}: {diagnostic}\n", diagnostic.location()));
        true
    });
    let result = run();
    context.detach_diagnostic_handler(handler);
    let said = said.take();
    (result, said)
}

/// Runs `check` on every program, and reports all that fail.
fn each(check: impl Fn(&shard_ir::Module) -> Result<(), String>) {
    let programs = programs();
    let failed: Vec<String> = programs
        .iter()
        .filter_map(|(name, program)| Some(format!("{name}: {}", check(program).err()?)))
        .collect();
    assert!(
        failed.is_empty(),
        "{} of {} programs fail:\n{}",
        failed.len(),
        programs.len(),
        failed.join("\n")
    );
}

/// The first line in which two texts differ.
fn same(before: &str, after: &str) -> Result<(), String> {
    if before == after {
        return Ok(());
    }
    let differing = before.lines().zip(after.lines()).find(|(a, b)| a != b);
    Err(format!("the texts differ: {differing:#?}"))
}

#[test]
fn to_mlir_and_back() {
    each(|program| {
        let context = shard_mlir::context();
        let module = to_melior(&context, program).map_err(|error| error.to_string())?;
        let back = from_melior(&module).map_err(|error| error.to_string())?;
        same(&text(program), &text(&back))?;
        same(&generic(program), &generic(&back))?;
        shard_text::equal::Compare { locations: true }.modules(program, &back)
    });
}

#[test]
fn mlir_verifies() {
    each(|program| {
        let context = shard_mlir::context();
        let module = to_melior(&context, program).map_err(|error| error.to_string())?;
        let (valid, said) = said(&context, || module.as_operation().verify());
        if valid { Ok(()) } else { Err(said) }
    });
}

/// What MLIR reads of our text is what `to_melior` makes.
#[test]
fn by_mlirs_own_parser() {
    each(|program| {
        let context = shard_mlir::context();
        let (module, said) =
            said(&context, || melior::ir::Module::parse(&context, &generic(program)));
        let Some(module) = module else { return Err(said) };
        let back = from_melior(&module).map_err(|error| error.to_string())?;
        same(&generic(program), &generic(&back))?;
        let made = to_melior(&context, program).map_err(|error| error.to_string())?;
        same(&module.as_operation().to_string(), &made.as_operation().to_string())
    });
}

#[test]
fn by_bytecode() {
    each(|program| {
        let bytes = write_bytecode(program).map_err(|error| error.to_string())?;
        if !bytes.starts_with(shard_mlir::MAGIC) {
            return Err("this is no bytecode".to_owned());
        }
        let back = read_bytecode(&bytes).map_err(|error| error.to_string())?;
        same(&text(program), &text(&back))
    });
}
