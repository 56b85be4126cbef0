//! Small programs of every op family, with random shardings of arguments and results on several
//! meshes: partitioned, executed, and compared with the whole program.
//!
//! `SHARD_OPT_SWEEP=N` tries N shardings of each program on each mesh, `SHARD_OPT_SWEEP_SEED=N`
//! others, `SHARD_OPT_SWEEP_CASE=TEXT` only programs whose name has that in it.

#![cfg(feature = "pjrt")]
#![allow(clippy::print_stderr, reason = "what a test found is said")]

#[path = "common/cases.rs"]
mod cases;
mod common;

use std::collections::BTreeMap;
use std::fmt::Write;

use cases::{ARGS, CASES, Case, RESULTS};
use fastrand::Rng;

/// Axes of each mesh.
const MESHES: &[&[(&str, usize)]] =
    &[&[("x", 8)], &[("x", 2), ("y", 4)], &[("x", 4), ("y", 2)], &[("x", 2), ("y", 2), ("z", 2)]];

/// Programs that fail, with what is found.
const KNOWN_GAPS: &[(&str, &str)] = &[];

/// Dimensions of a type such as `16x8xf32`.
fn dims(ty: &str) -> Vec<usize> {
    ty.split('x').map_while(|size| size.parse().ok()).collect()
}

/// A sharding of a value: each axis splits some dimension, or none. Dimensions need not divide,
/// but have at least one element a shard.
fn sharding(ty: &str, mesh: &[(&str, usize)], rng: &mut Rng) -> String {
    let dims = dims(ty);
    let mut left = dims.clone();
    let mut split: Vec<Vec<&str>> = vec![Vec::new(); dims.len()];
    let mut axes: Vec<(&str, usize)> = mesh.to_vec();
    rng.shuffle(&mut axes);
    for (axis, size) in axes {
        // One time in four an axis splits nothing.
        if dims.is_empty() || rng.u8(0..4) == 0 {
            continue;
        }
        let dim = rng.usize(0..dims.len());
        if left[dim] >= size {
            left[dim] /= size;
            split[dim].push(axis);
        }
    }
    let lists: Vec<String> = split
        .iter()
        .map(|axes| {
            let axes: Vec<String> = axes.iter().map(|axis| format!("\"{axis}\"")).collect();
            format!("{{{}}}", axes.join(", "))
        })
        .collect();
    format!("{{sdy.sharding = #sdy.sharding<@mesh, [{}]>}}", lists.join(", "))
}

/// A case as a program, with shardings.
fn program(case: &Case, mesh: &[(&str, usize)], rng: &mut Rng) -> String {
    let axes: Vec<String> = mesh.iter().map(|(name, size)| format!("\"{name}\"={size}")).collect();
    let args: Vec<String> = case
        .args
        .iter()
        .zip(ARGS)
        .map(|(ty, name)| format!("%{name}: tensor<{ty}> {}", sharding(ty, mesh, rng)))
        .collect();
    let results: Vec<String> = case
        .results
        .iter()
        .map(|ty| match rng.u8(0..4) {
            // Propagation decides.
            0 => format!("tensor<{ty}>"),
            _ => format!("tensor<{ty}> {}", sharding(ty, mesh, rng)),
        })
        .collect();
    let count = case.results.len();
    let returned: Vec<String> = RESULTS[..count].iter().map(|name| format!("%{name}")).collect();
    let types: Vec<String> = case.results.iter().map(|ty| format!("tensor<{ty}>")).collect();
    let mut text = String::new();
    let _ = writeln!(text, "module {{\n  sdy.mesh @mesh = <[{}]>", axes.join(", "));
    let _ = writeln!(
        text,
        "  func.func public @main({}) -> ({}) {{",
        args.join(", "),
        results.join(", ")
    );
    for line in case.body.lines() {
        let _ = writeln!(text, "    {}", line.trim());
    }
    let _ = writeln!(text, "    return {} : {}", returned.join(", "), types.join(", "));
    text.push_str("  }\n}\n");
    text
}

fn number(variable: &str, otherwise: usize) -> usize {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

#[test]
fn small_programs_verify() {
    let client = common::eight_devices();
    let variants = number("SHARD_OPT_SWEEP", 1);
    let seed = number("SHARD_OPT_SWEEP_SEED", 0) as u64;
    let wanted = std::env::var("SHARD_OPT_SWEEP_CASE").unwrap_or_default();
    // What a plugin that aborts was doing.
    let current = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("sweep-current.mlir");
    let mut failures: BTreeMap<String, String> = BTreeMap::new();
    let (mut tried, mut failed) = (0, 0);
    for (number, case) in CASES.iter().enumerate() {
        if !case.name.contains(&wanted) {
            continue;
        }
        for (at, mesh) in MESHES.iter().enumerate() {
            for variant in 0..variants {
                let stream = (number * 64 + at) as u64 * 0x1_0000 + variant as u64;
                let mut rng = Rng::with_seed(seed << 48 ^ stream);
                let text = program(case, mesh, &mut rng);
                let _ = std::fs::write(&current, &text);
                tried += 1;
                let Some(message) = common::complaint(&text, &*client) else { continue };
                failed += 1;
                let message = format!("{text}\n{message}");
                let first = failures.entry(case.name.to_owned()).or_insert_with(|| message.clone());
                // The shortest is the simplest.
                if message.len() < first.len() {
                    *first = message;
                }
            }
        }
    }
    eprintln!("{failed} of {tried} programs fail, of {} cases", failures.len());
    let failures: Vec<(String, String)> = failures.into_iter().collect();
    common::expect_gaps(&failures, KNOWN_GAPS);
}
