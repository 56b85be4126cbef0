//! Collectives that run, and the bytes that they send.

use std::fmt;

use shard_ir::ElementType;

use super::graph::{Graph, Node};
use super::groups::{self, Devices};
use super::instruction::{self, Instruction, SourceLine, Times};
use super::shape::Shape;
use super::times::Run;

/// What a collective does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CollectiveKind {
    /// Every device gets the reduction of all.
    AllReduce,
    /// Every device gets the concatenation of all.
    AllGather,
    /// Every device gets its part of the reduction of all.
    ReduceScatter,
    /// Every device sends a part to each.
    AllToAll,
    /// As all-to-all, with parts of unequal sizes; counted as if they were equal.
    RaggedAllToAll,
    /// Devices send to other devices, at most one each.
    CollectivePermute,
    /// One device sends to all of its group.
    CollectiveBroadcast,
    /// One device sends to another, as a pair of instructions of its own.
    Send,
}

impl fmt::Display for CollectiveKind {
    /// HLO's name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CollectiveKind::AllReduce => "all-reduce",
            CollectiveKind::AllGather => "all-gather",
            CollectiveKind::ReduceScatter => "reduce-scatter",
            CollectiveKind::AllToAll => "all-to-all",
            CollectiveKind::RaggedAllToAll => "ragged-all-to-all",
            CollectiveKind::CollectivePermute => "collective-permute",
            CollectiveKind::CollectiveBroadcast => "collective-broadcast",
            CollectiveKind::Send => "send",
        })
    }
}

/// A collective of a compiled program.
#[derive(Clone, Debug, PartialEq)]
pub struct Collective {
    /// What it does.
    pub kind: CollectiveKind,
    /// The instruction's name.
    pub name: String,
    /// The type of the elements that are sent. Compilers change it: XLA's CPU compiler makes f32
    /// of a bf16 reduction.
    pub element_type: Option<ElementType>,
    /// Bytes of its operands on one device; of its result for an all-gather.
    pub payload_bytes: u64,
    /// Devices that take part in it together.
    pub group_size: u64,
    /// Bytes that one device sends in one run, as a ring sends them.
    ///
    /// For a group of g devices and a payload of N bytes: 2(g−1)/g·N for an all-reduce, (g−1)/g·N
    /// for an all-gather, reduce-scatter, all-to-all and broadcast, N for a permute and a send;
    /// fractions are rounded up.
    pub wire_bytes: u64,
    /// How often it runs.
    pub times: Times,
    /// The framework's name of the operation that it comes from; empty if there is none.
    pub op_name: String,
    /// The source line that it comes from.
    pub source: Option<SourceLine>,
}

impl Collective {
    /// Bytes that one device sends in one run of the program.
    pub fn total_wire_bytes(&self) -> u64 {
        self.wire_bytes.saturating_mul(self.times.count)
    }
}

/// The collective that the instruction is, if it is one that counts.
pub(super) fn read(
    graph: &Graph<'_>,
    node: Node,
    instruction: &Instruction,
    run: &Run,
    devices: Devices,
) -> Option<Collective> {
    let proto = graph.get(node);
    let mut kind = match instruction.opcode.as_str() {
        "all-reduce" | "all-reduce-start" => CollectiveKind::AllReduce,
        "all-gather" | "all-gather-start" => CollectiveKind::AllGather,
        "reduce-scatter" => CollectiveKind::ReduceScatter,
        "all-to-all" => CollectiveKind::AllToAll,
        "ragged-all-to-all" => CollectiveKind::RaggedAllToAll,
        "collective-permute" | "collective-permute-start" => CollectiveKind::CollectivePermute,
        "collective-broadcast" => CollectiveKind::CollectiveBroadcast,
        "send" if !proto.is_host_transfer => CollectiveKind::Send,
        // The done half of each was counted with its start.
        _ => return None,
    };
    let group_size = groups::size(proto, devices).max(1);
    if kind == CollectiveKind::AllReduce
        && let Some(fusion) = run.fusion
        && is_reduce_scatter(graph, fusion, instruction, group_size)
    {
        kind = CollectiveKind::ReduceScatter;
    }
    // What a compiler puts into a fusion may have lost its origin; the fusion still has one.
    let outer = run.fusion.filter(|_| instruction.op_name.is_empty());
    let outer = outer.map(|fusion| instruction::read(graph, fusion, run));
    let named = outer.as_ref().unwrap_or(instruction);
    let operands = sent(kind, &instruction.operands);
    let bytes = operands.iter().fold(0u64, |sum, shape| sum.saturating_add(shape.bytes()));
    let payload_bytes = match kind {
        // The start's result holds the operands too, so the result's size is derived.
        CollectiveKind::AllGather => bytes.saturating_mul(group_size),
        _ => bytes,
    };
    Some(Collective {
        kind,
        name: instruction.name.clone(),
        element_type: operands.iter().find_map(Shape::element_type),
        payload_bytes,
        group_size,
        wire_bytes: wire_bytes(kind, payload_bytes, group_size),
        times: instruction.times,
        op_name: named.op_name.clone(),
        source: named.source.clone(),
    })
}

/// Whether an all-reduce in a fusion is TPU's reduce-scatter: of its result each device keeps its
/// own slice, so that the slices of the group together are the whole. (`kind=kCustom`, with a
/// computation named `all-reduce-scatter` or an emitter of such a name.)
fn is_reduce_scatter(
    graph: &Graph<'_>,
    fusion: Node,
    reduction: &Instruction,
    group_size: u64,
) -> bool {
    const EMITTER: &[u8] = b"AllReduceScatter";
    let named = reduction.computation.starts_with("all-reduce-scatter");
    let config = graph.backend_config(fusion);
    let emitted = config.windows(EMITTER.len()).any(|window| window == EMITTER);
    let kept = graph.get(fusion).shape.as_ref().map_or(Shape::Opaque, Shape::new).bytes();
    (named || emitted) && kept.checked_mul(group_size) == Some(reduction.shape.bytes())
}

/// The operands that are sent: some also take offsets, sizes or a token.
fn sent(kind: CollectiveKind, operands: &[Shape]) -> &[Shape] {
    match kind {
        CollectiveKind::RaggedAllToAll | CollectiveKind::Send => &operands[..operands.len().min(1)],
        // In place, with input and output buffers and their offsets.
        CollectiveKind::CollectivePermute if operands.len() == 4 => &operands[..1],
        _ => operands,
    }
}

/// Bytes that one device sends: see [`Collective::wire_bytes`].
fn wire_bytes(kind: CollectiveKind, payload: u64, group: u64) -> u64 {
    let share = |times: u128| {
        let bytes = (times * u128::from(group - 1) * u128::from(payload)).div_ceil(group.into());
        u64::try_from(bytes).unwrap_or(u64::MAX)
    };
    match kind {
        CollectiveKind::AllReduce => share(2),
        CollectiveKind::AllGather
        | CollectiveKind::ReduceScatter
        | CollectiveKind::AllToAll
        | CollectiveKind::RaggedAllToAll
        | CollectiveKind::CollectiveBroadcast => share(1),
        CollectiveKind::CollectivePermute | CollectiveKind::Send => payload,
    }
}
