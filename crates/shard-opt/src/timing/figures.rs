//! What is known of a compiled program, as data.

use std::time::Duration;

use serde::Serialize;
use shard_pjrt::{EstimatedCycles, MemoryStats, OptimizedModule};

/// Version of the JSON form.
const SCHEMA_VERSION: u32 = 1;

/// Collectives of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CollectiveFigures {
    /// HLO's name of the kind.
    pub kind: String,
    /// How often they run, all together.
    pub count: u64,
    /// Bytes that one device sends by them.
    pub wire_bytes: u64,
}

/// Bytes of memory of one device, by the compiler's plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Memory {
    /// Arguments.
    pub arguments: u64,
    /// Results.
    pub results: u64,
    /// Values in between.
    pub temporaries: u64,
    /// The most that is in use at any time, where the plugin says so.
    pub peak: Option<u64>,
}

impl From<MemoryStats> for Memory {
    fn from(stats: MemoryStats) -> Self {
        Memory {
            arguments: stats.arguments,
            results: stats.results,
            temporaries: stats.temporaries,
            peak: stats.peak,
        }
    }
}

/// The compiler's estimates of cycles, communication left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Cycles {
    /// Their sum.
    pub estimated_cycles: u64,
    /// Whether it is known how often everything runs.
    pub exact: bool,
}

impl From<EstimatedCycles> for Cycles {
    fn from(cycles: EstimatedCycles) -> Self {
        Cycles { estimated_cycles: cycles.cycles, exact: cycles.exact }
    }
}

/// How long a step takes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct StepTime {
    /// The median of the runs.
    pub median_seconds: f64,
    /// The fastest run.
    pub fastest_seconds: f64,
    /// How many runs were timed.
    pub runs: usize,
}

/// What is known of a compiled program.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figures {
    /// What it is called in tables.
    pub label: &'static str,
    /// Devices that it runs on.
    pub devices: usize,
    /// How long compiling took.
    pub compile_seconds: f64,
    /// Its collectives by kind, in the optimised program.
    pub collectives: Vec<CollectiveFigures>,
    /// Bytes that one device sends.
    pub wire_bytes: u64,
    /// Floating-point operations of dots and convolutions on one device.
    pub contraction_flops: u64,
    /// All floating-point operations, as the compiler counts them.
    pub estimated_flops: Option<f64>,
    /// Memory of one device.
    pub memory: Option<Memory>,
    /// Bytes of machine code.
    pub code_bytes: Option<u64>,
    /// The compiler's estimates of cycles.
    pub cycles: Option<Cycles>,
    /// How long a step takes, where it ran.
    pub step: Option<StepTime>,
}

impl Figures {
    pub(super) fn new(label: &'static str, devices: usize, compile: Duration) -> Figures {
        Figures {
            label,
            devices,
            compile_seconds: compile.as_secs_f64(),
            collectives: Vec::new(),
            wire_bytes: 0,
            contraction_flops: 0,
            estimated_flops: None,
            memory: None,
            code_bytes: None,
            cycles: None,
            step: None,
        }
    }

    pub(super) fn read_program(&mut self, program: &OptimizedModule) {
        let mut kinds: Vec<_> = program.collectives().iter().map(|one| one.kind).collect();
        kinds.sort_unstable();
        kinds.dedup();
        self.collectives = kinds
            .into_iter()
            .map(|kind| {
                let same = || program.collectives().iter().filter(|one| one.kind == kind);
                CollectiveFigures {
                    kind: kind.to_string(),
                    count: same().map(|one| one.times.count).sum(),
                    wire_bytes: same().map(|one| one.total_wire_bytes()).sum(),
                }
            })
            .collect();
        self.wire_bytes = program.wire_bytes();
        self.contraction_flops = program.contraction_flops();
    }
}

/// Programs beside each other: ours first, what it is compared with after it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TimingReport {
    /// Version of this form.
    pub schema_version: u32,
    /// The platform, such as `cpu`.
    pub platform: String,
    /// The programs.
    pub programs: Vec<Figures>,
}

impl TimingReport {
    pub(super) fn new(platform: &str) -> TimingReport {
        TimingReport {
            schema_version: SCHEMA_VERSION,
            platform: platform.to_owned(),
            programs: Vec::new(),
        }
    }

    /// The figures of a program.
    pub fn program(&self, label: &str) -> Option<&Figures> {
        self.programs.iter().find(|program| program.label == label)
    }

    /// As JSON.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }
}
