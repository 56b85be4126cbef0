//! The structure of a partitioned train step doesn't depend on its depth or on the number of
//! devices: twice the layers have exactly twice the collectives a layer, and 64 devices the same
//! ones as 8.
//!
//! The programs are made by `tools/gen`, which needs Python with jax: run `tools/setup python`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use shard_opt::report::{Report, ReportOptions};
use shard_opt::{PartitionOptions, partition_text};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Makes a program and returns its text.
fn generate(folder: &str, arguments: &[&str]) -> String {
    let root = root();
    let python = std::env::var_os("SHARD_OPT_PYTHON")
        .map_or_else(|| root.join(".venv/bin/python"), PathBuf::from);
    let out = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(folder);
    let result = Command::new(&python)
        .args(["-m", "gen", "--out"])
        .arg(&out)
        .args(arguments)
        .env("PYTHONPATH", root.join("tools"))
        .output();
    let output = result.unwrap_or_else(|error| {
        panic!("{}: {error}; run 'tools/setup python' first", python.display())
    });
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let file = std::fs::read_dir(&out)
        .expect("the generator makes the folder")
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .find(|path| path.extension().is_some_and(|end| end == "mlir"))
        .expect("the generator writes one program");
    std::fs::read_to_string(file).expect("the program is readable")
}

/// How often each kind of collective runs, by what it is for.
fn collectives(program: &str, per_device: bool) -> BTreeMap<(String, String, String), u64> {
    let done = partition_text(program, &PartitionOptions::default()).expect("it partitions");
    let report = Report::new(&done.partitioned, &ReportOptions::default());
    let mut found = BTreeMap::new();
    for entry in report.collectives {
        let payload = if per_device { String::new() } else { entry.payload_type };
        let what = format!(
            "{} {} {payload}",
            entry.location.unwrap_or_default(),
            entry.reason.unwrap_or_default()
        );
        *found.entry((entry.op, entry.axes.unwrap_or_default().join(","), what)).or_default() +=
            entry.count;
    }
    found
}

#[test]
fn twice_the_layers_have_twice_the_collectives_a_layer() {
    let of = |layers: u32| {
        let text = generate(
            &format!("layers-{layers}"),
            &["--only", "gpt", "--layers", &layers.to_string()],
        );
        collectives(&text, false)
    };
    let (two, four, eight) = (of(2), of(4), of(8));
    assert_eq!(two.keys().collect::<Vec<_>>(), four.keys().collect::<Vec<_>>());
    assert_eq!(four.keys().collect::<Vec<_>>(), eight.keys().collect::<Vec<_>>());
    for (key, count) in &four {
        let layer_pair = count - two[key];
        assert_eq!(eight[key], count + 2 * layer_pair, "{key:?}");
    }
    // Megatron: two all-reduces forward and two backward in each layer, besides gradients.
    let of_activations = |all: &BTreeMap<(String, String, String), u64>| -> u64 {
        let model = |key: &&(String, String, String)| key.1 == "model" && key.2.contains("x64xf32");
        all.keys().filter(model).map(|key| all[key]).sum()
    };
    assert_eq!(of_activations(&four) - of_activations(&two), 2 * 4);
}

#[test]
fn sixty_four_devices_have_the_structure_of_eight() {
    for model in ["gpt", "gpt_fsdp", "moe"] {
        let of = |devices: &str| {
            let folder = format!("{model}-{devices}-devices");
            collectives(&generate(&folder, &["--only", model, "--devices", devices]), true)
        };
        assert_eq!(of("8"), of("64"), "{model}");
    }
}
