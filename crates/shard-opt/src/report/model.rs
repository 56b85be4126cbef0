//! The data of a report, as the JSON form has it.
//!
//! Sizes are in bytes and times in seconds, a device and a step of the program, unless said
//! otherwise. What isn't known is `null`.

use serde::Serialize;
use shard_cost::Topology;
use shard_ir::Place;
use shard_ir::sharding::Mesh;

use crate::render::Input;

/// The version of the JSON form: it grows when a field goes or changes its meaning; further
/// fields may come without.
pub const SCHEMA_VERSION: u32 = 1;

/// What a report is about, beside the program.
#[derive(Clone, Debug, Default)]
pub struct ReportOptions<'a> {
    /// The machine that times are for.
    pub topology: Topology,
    /// The memory that a device's program may use; the topology's where it is `None`.
    pub memory_limit: Option<u64>,
    /// The mesh of a program that names none.
    pub mesh: Option<Mesh>,
    /// The program's text, into which locations point that aren't the user's own source.
    pub input: Option<Input<'a>>,
}

/// What a partitioned program costs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Report {
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Name of the module.
    pub program: String,
    /// The device mesh.
    pub mesh: MeshInfo,
    /// What times are for.
    pub topology: TopologyInfo,
    /// Arguments of the program.
    pub parameters: Vec<InterfaceEntry>,
    /// Results of the program.
    pub results: Vec<InterfaceEntry>,
    /// Every collective op of the per-device program, in program order.
    pub collectives: Vec<CollectiveEntry>,
    /// Sums over the collectives.
    pub totals: Totals,
    /// Places where operands had to be gathered for want of a better way.
    pub fallbacks: Vec<FallbackEntry>,
    /// Work.
    pub compute: Compute,
    /// Memory of a device.
    pub memory: Memory,
}

/// A device mesh.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct MeshInfo {
    /// The axes, major to minor.
    pub axes: Vec<AxisInfo>,
    /// The number of devices.
    pub devices: u64,
}

/// An axis of a mesh.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct AxisInfo {
    /// Its name.
    pub name: String,
    /// The number of devices along it.
    pub size: u32,
}

/// What the cost model assumes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct TopologyInfo {
    /// The topology's name.
    pub name: String,
    /// One device.
    pub device: String,
    /// Bytes a second that a device (or one of its links) sends.
    pub bandwidth: f64,
    /// The least time of a collective, or the delay of a hop.
    pub latency: f64,
    /// Whether the program's mesh has as many devices as the topology; where not, times are those
    /// of the topology `even`.
    pub fits: bool,
}

/// An argument or result.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct InterfaceEntry {
    /// Its number, from 0.
    pub index: usize,
    /// What the source calls it; may be empty.
    pub name: String,
    /// Sizes of the whole; dynamic ones are -1. `null` where only the per-device program is known.
    pub global_shape: Option<Vec<i64>>,
    /// Sizes of one device's part, padding included; dynamic ones are -1.
    pub local_shape: Vec<i64>,
    /// Type of the elements, as MLIR writes it.
    pub element_type: String,
    /// How it lies on the mesh, in sdy syntax.
    pub sharding: Option<String>,
    /// Bytes of one device's part.
    pub local_bytes: u64,
    /// Whether every device holds the whole.
    pub replicated: Option<bool>,
}

/// A collective op.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct CollectiveEntry {
    /// `all_gather`, `all_reduce`, `reduce_scatter`, `all_to_all`, `collective_permute` or
    /// `collective_broadcast`.
    pub op: String,
    /// The mesh axes that its groups run along; `null` where they don't follow the mesh.
    pub axes: Option<Vec<String>>,
    /// The devices of a group.
    pub group_size: u64,
    /// Type of the payload: the result of an all-gather, the operand otherwise.
    pub payload_type: String,
    /// Bytes of the payload, for one run.
    pub payload_bytes: u64,
    /// Bytes that a device sends in one run: 2(g-1)/g of the payload for an all-reduce, (g-1)/g
    /// for an all-gather, reduce-scatter and all-to-all, all of it for a permute.
    pub wire_bytes: u64,
    /// How often it runs in a step: the product of the trip counts of the loops around it.
    pub count: u64,
    /// Whether a loop around it has a trip count that isn't known, and is taken for 1.
    pub count_unknown: bool,
    /// The source line that it serves, `file:line:column`.
    pub location: Option<String>,
    /// Why it is there.
    pub reason: Option<String>,
    /// Time of one run.
    pub estimated_seconds: f64,
}

/// Sums over collectives.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Totals {
    /// Runs.
    pub count: u64,
    /// Bytes of payloads.
    pub payload_bytes: u64,
    /// Bytes that a device sends.
    pub wire_bytes: u64,
    /// Time, one collective after another.
    pub estimated_seconds: f64,
    /// The same for each kind of op, longest time first.
    pub by_op: Vec<OpTotal>,
}

/// Sums over collectives of one kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct OpTotal {
    /// The kind.
    pub op: String,
    /// Runs.
    pub count: u64,
    /// Bytes of payloads.
    pub payload_bytes: u64,
    /// Bytes that a device sends.
    pub wire_bytes: u64,
    /// Time.
    pub estimated_seconds: f64,
}

/// A place where an operand had to be gathered.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct FallbackEntry {
    /// Name of the op.
    pub op: String,
    /// The operand, from 0.
    pub operand: usize,
    /// The dimension that had to be whole.
    pub dim: usize,
    /// The axes that it was split over.
    pub axes: Vec<String>,
    /// Bytes that each device receives, for all of these ops.
    pub bytes: u64,
    /// How many ops of this place gather so.
    pub count: u64,
    /// The source line, `file:line:column`.
    pub location: Option<String>,
    /// What happened, in words.
    pub message: String,
    /// The annotation that avoids it, or why none does.
    pub remedy: String,
    /// The place, for diagnostics.
    #[serde(skip)]
    #[cfg_attr(feature = "schemars", schemars(skip))]
    pub place: Place,
}

/// Work.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Compute {
    /// FLOP of the whole program; `null` where only the per-device program is known.
    pub whole_flops: Option<f64>,
    /// FLOP of one device.
    pub device_flops: f64,
    /// What a device computes over an even share of the whole: 1 where nothing is repeated.
    pub ratio_to_even: Option<f64>,
    /// Ops of which a device computes more than its share, the largest excess first.
    pub repeated: Vec<RepeatedWork>,
}

/// Ops at one source line of which a device computes more than its share.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct RepeatedWork {
    /// Name of the op.
    pub op: String,
    /// The source line, `file:line:column`.
    pub location: Option<String>,
    /// FLOP of the whole.
    pub whole_flops: f64,
    /// FLOP of one device.
    pub device_flops: f64,
    /// FLOP of one device beyond an even share.
    pub excess_flops: f64,
}

/// Memory of a device.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Memory {
    /// Bytes of all arguments.
    pub arguments_bytes: u64,
    /// Bytes of all results.
    pub results_bytes: u64,
    /// The most that is alive at once, in program order.
    pub peak_bytes: u64,
    /// What a device's program may use.
    pub limit_bytes: u64,
    /// Numbers of the arguments that are large and whole on every device, the largest first.
    pub large_replicated: Vec<usize>,
}
