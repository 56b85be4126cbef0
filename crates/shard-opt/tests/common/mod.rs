//! What the tests that execute programs share.

#![allow(dead_code, reason = "each test uses a part of it")]
#![allow(clippy::print_stderr, reason = "what a test found is said")]

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use shard_opt::ir::Module;
use shard_opt::pjrt::{Client, Plugin};
use shard_opt::verify::engine::{Engine, Interpreter};
use shard_opt::verify::{Inputs, VerifyOptions, VerifyReport};
use shard_opt::{ParseOptions, PartitionOptions, Partitioned};

/// The repository's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Goes to the repository's root, below which plugins are looked for.
fn go_to_root() {
    static ONCE: OnceLock<()> = OnceLock::new();
    ONCE.get_or_init(|| std::env::set_current_dir(root()).expect("the repository's root exists"));
}

/// The CPU plugin.
pub fn cpu() -> Plugin {
    go_to_root();
    let file = Plugin::find_cpu().unwrap_or_else(|error| panic!("{error}"));
    Plugin::load(&file).unwrap_or_else(|error| panic!("{error}"))
}

/// TPU's compiler.
pub fn libtpu() -> Plugin {
    go_to_root();
    let file = Plugin::find_tpu().unwrap_or_else(|error| panic!("{error}"));
    Plugin::load_tpu(&file).unwrap_or_else(|error| panic!("{error}"))
}

/// Eight devices, for one test at a time: programs on few cores only slow each other down, and
/// collectives wait for all of their devices.
pub fn eight_devices() -> MutexGuard<'static, Client> {
    static CLIENT: OnceLock<Mutex<Client>> = OnceLock::new();
    let client = CLIENT.get_or_init(|| {
        Mutex::new(Client::cpu(&cpu(), 8).unwrap_or_else(|error| panic!("{error}")))
    });
    client.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The programs of `testdata/models`, by name, in order.
pub fn models() -> Vec<(String, String)> {
    programs("testdata/models")
}

/// The programs of a folder, by name, in order.
pub fn programs(folder: &str) -> Vec<(String, String)> {
    let folder = root().join(folder);
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .flatten()
        .map(|entry| entry.path())
        .filter(|file| {
            file.extension().is_some_and(|extension| extension == "mlir" || extension == "hlo")
        })
        .collect();
    files.sort();
    // SHARD_OPT_TEST_MODELS=gpt,moe tries these only.
    let wanted = std::env::var("SHARD_OPT_TEST_MODELS").ok();
    let wanted: Option<Vec<&str>> = wanted.as_deref().map(|list| list.split(',').collect());
    files
        .into_iter()
        .map(|file| {
            let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let text = std::fs::read_to_string(&file).expect("it can be read");
            (name, text)
        })
        .filter(|(name, _)| wanted.as_ref().is_none_or(|list| list.contains(&name.as_str())))
        .collect()
}

/// Reads a program; HLO text becomes StableHLO.
pub fn parse(text: &str) -> Result<Module, String> {
    let parsed = shard_opt::text::parse(text, &ParseOptions::default()).into_result();
    let mut module = parsed.map_err(|errors| {
        errors.iter().map(|error| format!("{error:?}")).collect::<Vec<_>>().join("\n")
    })?;
    shard_opt::passes::hlo_to_stablehlo::run(&mut module).map_err(|error| format!("{error:?}"))?;
    Ok(module)
}

/// Reads and partitions a program.
pub fn partition(text: &str) -> Result<(Module, Partitioned), String> {
    let whole = parse(text)?;
    let partitioned =
        shard_opt::passes::pipeline::partition(whole.clone(), &PartitionOptions::default())
            .map_err(|error| format!("partition: {error:?}"))?;
    Ok((whole, partitioned))
}

/// Reads, partitions and verifies a program.
pub fn verify(text: &str, engine: &dyn Engine, inputs: Inputs) -> Result<VerifyReport, String> {
    let (whole, partitioned) = partition(text)?;
    let options = VerifyOptions { inputs, ..VerifyOptions::default() };
    shard_opt::verify::verify(&partitioned, &whole, engine, &options)
        .map_err(|error| format!("verify: {error}"))
}

/// What is wrong with a program, on the interpreter with all inputs, and on a client.
pub fn complaint(text: &str, client: &dyn Engine) -> Option<String> {
    let engines = [(&Interpreter as &dyn Engine, Inputs::All), (client, Inputs::Random)];
    engines.into_iter().find_map(|(engine, inputs)| {
        let attempt = std::panic::AssertUnwindSafe(|| verify(text, engine, inputs));
        match std::panic::catch_unwind(attempt) {
            Ok(Ok(report)) if report.passed() => None,
            Ok(Ok(report)) => Some(report.to_text(160)),
            Ok(Err(error)) => Some(error),
            Err(_) => Some("it panics".to_owned()),
        }
    })
}

/// Compares failures with a list of those that are known, so that a new failure and a mended one
/// both fail the test.
pub fn expect_gaps(failures: &[(String, String)], known: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (name, message) in failures {
        if !known.iter().any(|(gap, _)| gap == name) {
            wrong.push(format!("{name} fails:\n{message}"));
        }
    }
    for (gap, figure) in known {
        if !failures.iter().any(|(name, _)| name == gap) {
            wrong.push(format!("{gap} passes now: take it off the list of gaps ({figure})"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
