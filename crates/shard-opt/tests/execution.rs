//! The models of `testdata/models`, executed: the whole program and the partitioned one give the
//! same results on every device, every collective matters, and TPU's compiler takes them.

#![cfg(feature = "pjrt")]
#![allow(clippy::print_stderr, reason = "what a test found is said")]

mod common;

use shard_opt::timing::Candidate;
use shard_opt::verify::{Prepared, VerifyOptions, deletion};

/// Models that don't verify, with what is found.
const VERIFY_GAPS: &[(&str, &str)] = &[];

/// Models with collectives whose removal nothing notices, with the reason.
const DELETION_GAPS: &[(&str, &str)] = &[];

/// Models that have a hundred collectives and more, each of which is a run: with
/// SHARD_OPT_TEST_ALL=1 only.
const LONG_DELETIONS: &[&str] = &["gpt_fsdp", "gpt_fsdp_tp", "gpt_sp"];

/// Models that TPU's compiler refuses.
const TPU_GAPS: &[(&str, &str)] = &[];

#[test]
fn models_verify_on_eight_devices() {
    let client = common::eight_devices();
    let mut failures = Vec::new();
    for (name, text) in common::models() {
        match common::verify(&text, &client) {
            Ok(report) => {
                let worst = report.worst().map_or(0.0, |result| result.worst);
                eprintln!("{name}: {} results, worst {worst:.3}", report.results.len());
                if !report.passed() {
                    failures.push((name, report.to_text(120)));
                }
            }
            Err(error) => failures.push((name, error)),
        }
    }
    common::expect_gaps(&failures, VERIFY_GAPS);
}

/// Programs that were once computed wrongly, or refused.
#[test]
fn small_programs_verify() {
    let client = common::eight_devices();
    let mut failures = Vec::new();
    for (name, text) in common::programs("testdata/programs") {
        match common::verify(&text, &client) {
            Ok(report) if report.passed() => {}
            Ok(report) => failures.push((name, report.to_text(120))),
            Err(error) => failures.push((name, error)),
        }
    }
    common::expect_gaps(&failures, &[]);
}

#[test]
fn every_collective_of_the_models_matters() {
    let client = common::eight_devices();
    let mut failures = Vec::new();
    let all = std::env::var_os("SHARD_OPT_TEST_ALL").is_some();
    for (name, text) in common::models() {
        if LONG_DELETIONS.contains(&name.as_str()) && !all {
            continue;
        }
        let run = || -> Result<(), String> {
            let (whole, partitioned) = common::partition(&text)?;
            let options = VerifyOptions::default();
            let said = |error: shard_opt::verify::VerifyError| error.to_string();
            let prepared = Prepared::new(&partitioned, &whole, &client, &options).map_err(said)?;
            let report = deletion::delete_collectives(&partitioned, &prepared, &client);
            let report = report.map_err(said)?;
            eprintln!(
                "{name}: {} of {} collectives unnoticed",
                report.unnoticed().count(),
                report.deleted.len()
            );
            if !report.with_all.passed() {
                return Err(report.with_all.to_text(120));
            }
            if report.unnoticed().next().is_some() { Err(report.to_text(160)) } else { Ok(()) }
        };
        if let Err(message) = run() {
            failures.push((name, message));
        }
    }
    common::expect_gaps(&failures, DELETION_GAPS);
}

#[test]
fn models_compile_for_tpu() {
    let plugin = common::libtpu();
    let topology = plugin.tpu_topology("v4:2x2x2").unwrap_or_else(|error| panic!("{error}"));
    let mut failures = Vec::new();
    for (name, text) in common::models() {
        let run = || -> Result<(), String> {
            let (_, partitioned) = common::partition(&text)?;
            let candidate = Candidate::partitioned(&partitioned.module);
            let (_, figures) =
                candidate.compile_ahead(&plugin, &topology).map_err(|error| error.to_string())?;
            let cycles = figures.cycles.map_or(0, |cycles| cycles.estimated_cycles);
            eprintln!("{name}: {cycles} cycles, {} bytes sent", figures.wire_bytes);
            if cycles == 0 { Err("no estimate of cycles".to_owned()) } else { Ok(()) }
        };
        if let Err(message) = run() {
            failures.push((name, message));
        }
    }
    common::expect_gaps(&failures, TPU_GAPS);
}
