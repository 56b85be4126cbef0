//! The models of `testdata/models`, executed: the whole program and the partitioned one give the
//! same results on every device, every collective matters, and TPU's compiler takes them.

#![cfg(feature = "pjrt")]
#![allow(clippy::print_stderr, reason = "what a test found is said")]

mod common;

use shard_opt::timing::Candidate;
use shard_opt::verify::{Inputs, Prepared, VerifyOptions, deletion};

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
        match common::verify(&text, &*client, Inputs::Random) {
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

/// Programs that were once computed wrongly, or refused, or blamed for what they leave open.
#[test]
fn small_programs_verify() {
    let client = common::eight_devices();
    let mut failures = Vec::new();
    for (name, text) in common::programs("testdata/programs") {
        failures.extend(common::complaint(&text, &*client).map(|message| (name, message)));
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
            let options = VerifyOptions { inputs: Inputs::Random, ..VerifyOptions::default() };
            let said = |error: shard_opt::verify::VerifyError| error.to_string();
            let prepared = Prepared::new(&partitioned, &whole, &*client, &options).map_err(said)?;
            let report = deletion::delete_collectives(&partitioned, &prepared, &*client);
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

/// GSPMD's annotations: tilings that fit one mesh, an order of devices of its own, a constraint
/// with an open dimension.
const GSPMD: &str = r#"
module attributes {mhlo.num_partitions = 8 : i32} {
  func.func public @main(%x: tensor<16x64xf32> {mhlo.sharding = "X"}, %w: tensor<64x32xf32> {mhlo.sharding = "W"}) -> (tensor<16x32xf32>, tensor<32xf32> {mhlo.sharding = "{replicated}"}) {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<16x64xf32>, tensor<64x32xf32>) -> tensor<16x32xf32>
    %1 = stablehlo.custom_call @Sharding(%0) {backend_config = "unspecified_dims=[0]", mhlo.sharding = "{replicated}"} : (tensor<16x32xf32>) -> tensor<16x32xf32>
    %2 = stablehlo.tanh %1 : tensor<16x32xf32>
    %3 = stablehlo.constant dense<0.0> : tensor<f32>
    %4 = stablehlo.reduce(%2 init: %3) applies stablehlo.add across dimensions = [0] : (tensor<16x32xf32>, tensor<f32>) -> tensor<32xf32>
    return %2, %4 : tensor<16x32xf32>, tensor<32xf32>
  }
}
"#;

#[test]
fn annotations_of_gspmd_verify() {
    let client = common::eight_devices();
    for (x, w) in [
        ("{devices=[4,2]<=[8]}", "{devices=[2,1,4]<=[4,2]T(1,0) last_tile_dim_replicate}"),
        ("{devices=[4,2]<=[2,4]T(1,0)}", "{devices=[2,4]<=[8]}"),
        ("{devices=[4,2]0,1,3,2,6,7,5,4}", "{replicated}"),
        ("{devices=[2,1,4]0,1,2,3,4,5,6,7 last_tile_dim_replicate}", "{devices=[1,8]<=[8]}"),
    ] {
        let text =
            GSPMD.replace("\"X\"", &format!("\"{x}\"")).replace("\"W\"", &format!("\"{w}\""));
        let (whole, partitioned) =
            common::partition(&text).unwrap_or_else(|error| panic!("{error}"));
        let local = |index: usize| {
            let ty = partitioned.parameters[index].local;
            partitioned.module.ty(ty).as_tensor().map(|ty| ty.dims.iter().product::<i64>())
        };
        let parts = match x {
            _ if x.contains("last_tile") => 2,
            _ => 8,
        };
        assert_eq!(local(0), Some(16 * 64 / parts), "{x}");
        let options = VerifyOptions { inputs: Inputs::Random, ..VerifyOptions::default() };
        let report = shard_opt::verify::verify(&partitioned, &whole, &*client, &options)
            .unwrap_or_else(|error| panic!("{x}: {error}"));
        assert!(report.passed(), "{x}: {}", report.to_text(120));
        // XLA gets the same annotations.
        let xla = Candidate::xla(&whole, &partitioned, 8);
        xla.compile(&client).unwrap_or_else(|error| panic!("{x}: {error}"));
    }
}

/// A transposed convolution and its gradients, whose operands TPU's compiler would swap.
const TRANSPOSED: &str = r#"
module {
  sdy.mesh @mesh = <["x"=8]>
  func.func public @main(%x: tensor<16x8x8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}, {}]>}, %g: tensor<16x16x16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}, {}]>}) -> tensor<3x3x32x32xf32> {
    %0 = stablehlo.convolution(%x, %g) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[2, 1], [2, 1]], lhs_dilate = [2, 2], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<16x8x8x32xf32>, tensor<16x16x16x32xf32>) -> tensor<3x3x32x32xf32>
    return %0 : tensor<3x3x32x32xf32>
  }
}
"#;

#[test]
fn gradients_of_transposed_convolutions_compile_for_tpu() {
    let plugin = common::libtpu();
    let topology = plugin.tpu_topology("v4:2x2x2").unwrap_or_else(|error| panic!("{error}"));
    let (_, partitioned) = common::partition(TRANSPOSED).unwrap_or_else(|error| panic!("{error}"));
    let (_, figures) = Candidate::partitioned(&partitioned.module)
        .compile_ahead(&plugin, &topology)
        .unwrap_or_else(|error| panic!("{error}"));
    assert!(figures.cycles.is_some_and(|cycles| cycles.estimated_cycles > 0));
}
