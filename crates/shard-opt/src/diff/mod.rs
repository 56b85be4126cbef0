//! What differs between two partitioned programs, or one program under two sets of annotations:
//! `shard-opt diff`.

mod collectives;
mod text;
mod values;

use serde::Serialize;
use shard_passes::pipeline::Partitioned;

use crate::render::Input;
use crate::report::{Report, json};

pub use collectives::{Change, CollectiveChange};
pub use values::ValueChange;

/// The version of the JSON that [`Diff::to_json`] writes.
pub const SCHEMA_VERSION: u32 = 1;

/// One side of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// The program; read with all names, more of its values are recognised.
    pub program: &'a Partitioned,
    /// What it costs.
    pub report: &'a Report,
    /// Its text.
    pub input: Option<Input<'a>>,
}

/// What a program costs, in one number each.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Costs {
    /// Bytes that a device sends.
    pub wire_bytes: u64,
    /// Runs of collectives.
    pub collectives: u64,
    /// Seconds that collectives take, one after another.
    pub communication_seconds: f64,
    /// FLOP of a device.
    pub device_flops: f64,
    /// Bytes of memory that a device needs at once.
    pub peak_bytes: u64,
}

/// What differs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Diff {
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Values that both have.
    pub common_values: usize,
    /// Of these, those whose sharding changed, in program order.
    pub values: Vec<ValueChange>,
    /// Values that only the first has.
    pub gone_values: usize,
    /// Values that only the second has.
    pub new_values: usize,
    /// Collectives that came, went, grew or shrank; what changed most is first.
    pub collectives: Vec<CollectiveChange>,
    /// What the first costs.
    pub before: Costs,
    /// What the second costs.
    pub after: Costs,
}

impl Diff {
    /// Compares two programs.
    pub fn of(before: Side<'_>, after: Side<'_>) -> Diff {
        let values = values::compare(before, after);
        Diff {
            schema_version: SCHEMA_VERSION,
            common_values: values.common,
            values: values.changed,
            gone_values: values.gone,
            new_values: values.new,
            collectives: collectives::compare(before.report, after.report),
            before: costs(before.report),
            after: costs(after.report),
        }
    }

    /// Whether nothing differs that was compared.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
            && self.gone_values == 0
            && self.new_values == 0
            && self.collectives.is_empty()
            && self.before == self.after
    }

    /// As data.
    pub fn to_json(&self) -> String {
        json::render(self)
    }

    /// As tables; only the first of many changes are shown unless `full`.
    pub fn to_text(&self, width: usize, full: bool) -> String {
        text::text(self, width, full)
    }
}

fn costs(report: &Report) -> Costs {
    Costs {
        wire_bytes: report.totals.wire_bytes,
        collectives: report.totals.count,
        communication_seconds: report.totals.estimated_seconds,
        device_flops: report.compute.device_flops,
        peak_bytes: report.memory.peak_bytes,
    }
}
