//! Collectives that two programs have for the same reason.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::report::{CollectiveEntry, Report};

/// How the collectives for one reason changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// Only the second program has them.
    New,
    /// Only the first has them.
    Gone,
    /// They send more.
    Grew,
    /// They send less.
    Shrank,
    /// They send as many bytes in another number of runs.
    Regrouped,
}

/// Collectives of one kind, along the same axes, for one reason at one place.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CollectiveChange {
    /// What happened.
    pub change: Change,
    /// The kind, such as `all_gather`.
    pub op: String,
    /// The mesh axes that its groups run along; `null` where they don't follow the mesh.
    pub axes: Option<Vec<String>>,
    /// The source line that it serves.
    pub location: Option<String>,
    /// Why it is there.
    pub reason: Option<String>,
    /// Runs in the first program.
    pub runs_before: u64,
    /// Runs in the second.
    pub runs_after: u64,
    /// Bytes that a device sends in the first program.
    pub bytes_before: u64,
    /// Bytes that a device sends in the second.
    pub bytes_after: u64,
}

type Key = (String, Option<Vec<String>>, Option<String>, Option<String>);

/// Runs and bytes, of the first program and of the second.
#[derive(Clone, Copy, Default)]
struct Sums {
    runs: [u64; 2],
    bytes: [u64; 2],
}

pub(super) fn compare(before: &Report, after: &Report) -> Vec<CollectiveChange> {
    let mut sums: BTreeMap<Key, Sums> = BTreeMap::new();
    for (side, report) in [before, after].into_iter().enumerate() {
        for entry in &report.collectives {
            let CollectiveEntry { op, axes, location, reason, count, wire_bytes, .. } = entry;
            let key = (op.clone(), axes.clone(), location.clone(), reason.clone());
            let sum = sums.entry(key).or_default();
            sum.runs[side] += count;
            sum.bytes[side] += count.saturating_mul(*wire_bytes);
        }
    }
    let mut changes: Vec<CollectiveChange> = sums
        .into_iter()
        .filter_map(|((op, axes, location, reason), Sums { runs, bytes })| {
            let change = match (runs, bytes) {
                ([0, _], _) => Change::New,
                ([_, 0], _) => Change::Gone,
                (_, [a, b]) if b > a => Change::Grew,
                (_, [a, b]) if b < a => Change::Shrank,
                ([a, b], _) if a != b => Change::Regrouped,
                _ => return None,
            };
            Some(CollectiveChange {
                change,
                op,
                axes,
                location,
                reason,
                runs_before: runs[0],
                runs_after: runs[1],
                bytes_before: bytes[0],
                bytes_after: bytes[1],
            })
        })
        .collect();
    changes.sort_by_key(|c| std::cmp::Reverse(c.bytes_before.abs_diff(c.bytes_after)));
    changes
}
