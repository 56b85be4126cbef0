//! Partitioned models cost no more than XLA's own partition of them, by one plugin in one run.

#![cfg(feature = "pjrt")]
#![allow(clippy::print_stderr, reason = "what a test found is said")]

mod common;

use shard_opt::timing::{self, Figures, TimeOptions};

/// A figure, how many times XLA's it may be, and how it is read.
type Limit = (&'static str, f64, fn(&Figures) -> f64);

/// What may not be more than XLA's, and by how much.
const LIMITS: &[Limit] = &[
    ("contraction FLOPs", 1.02, |figures| figures.contraction_flops as f64),
    ("temporary memory", 1.1, |f| f.memory.map_or(0.0, |memory| memory.temporaries as f64)),
    ("bytes sent", 1.0, |figures| figures.wire_bytes as f64),
];

/// Figures beyond their limit, as `model: figure`, with the ratio.
const KNOWN_GAPS: &[(&str, &str)] = &[];

#[test]
fn models_cost_no_more_than_xlas_partition() {
    let client = common::eight_devices();
    let mut table = String::new();
    let mut failures = Vec::new();
    let options = TimeOptions { versus_xla: true, ..TimeOptions::default() };
    for (name, text) in common::models() {
        let compared = common::partition(&text).and_then(|(whole, partitioned)| {
            timing::compare(&partitioned, &whole, &client, &options).map_err(|e| e.to_string())
        });
        let report = match compared {
            Ok(report) => report,
            Err(error) => {
                failures.push((name, error));
                continue;
            }
        };
        let (ours, xla) = (&report.programs[0], &report.programs[1]);
        for (figure, limit, read) in LIMITS {
            let (our, other) = (read(ours), read(xla));
            let line = format!(
                "{name:16} {figure:18} {our:>12} {other:>12} {:6.3} (limit {limit})",
                our / other
            );
            table.push_str(&line);
            table.push('\n');
            if our > limit * other {
                failures.push((format!("{name}: {figure}"), line));
            }
        }
        for program in [ours, xla] {
            let kinds: Vec<String> = program
                .collectives
                .iter()
                .map(|one| format!("{} {} ({} B)", one.count, one.kind, one.wire_bytes))
                .collect();
            table.push_str(&format!("    {:10} {}\n", program.label, kinds.join(", ")));
        }
    }
    eprintln!("{table}");
    common::expect_gaps(&failures, KNOWN_GAPS);
}
