//! Instructions that run.

use serde_json::Value;

use super::flops;
use super::graph::{Graph, Node};
use super::shape::Shape;
use super::times::Run;

/// How many times an instruction runs in one run of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// The number.
    pub count: u64,
    /// Whether it is known: a loop of unknown length counts as one iteration, and every branch
    /// of a conditional counts as taken.
    pub exact: bool,
}

/// A line of the source that a program was made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLine {
    /// The file.
    pub file: String,
    /// The line, counted from 1.
    pub line: u32,
}

/// An instruction of a compiled program.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    /// Its name, such as `all-reduce.3`.
    pub name: String,
    /// Its operation, such as `all-reduce`.
    pub opcode: String,
    /// The computation that it is in.
    pub computation: String,
    /// How often it runs.
    pub times: Times,
    /// Whether it is inside a fusion, as a part of another instruction.
    pub fused: bool,
    /// Its result.
    pub shape: Shape,
    /// Its operands.
    pub operands: Vec<Shape>,
    /// Floating-point operations of one run if it is a dot or a convolution (two for a multiply
    /// and an add), else 0. See [`super::OptimizedModule::contraction_flops`].
    pub contraction_flops: u64,
    /// The framework's name of the operation that it comes from, such as
    /// `jit(step)/jvp()/dot_general`; empty if there is none.
    pub op_name: String,
    /// The source line that it comes from: the innermost that the framework recorded.
    pub source: Option<SourceLine>,
    /// The cycles that the compiler thinks one run takes: an estimate, not a measurement.
    pub estimated_cycles: Option<u64>,
}

pub(super) fn read(graph: &Graph<'_>, node: Node, run: &Run) -> Instruction {
    let proto = graph.get(node);
    let shape = |node: Node| graph.get(node).shape.as_ref().map_or(Shape::Opaque, Shape::new);
    let op_name = proto.metadata.as_ref().map(|metadata| text(&metadata.op_name));
    Instruction {
        name: text(&proto.name),
        opcode: proto.opcode.clone(),
        computation: text(&graph.computation(node.computation).name),
        times: run.times,
        fused: run.fused,
        shape: shape(node),
        operands: graph.operands(node).map(shape).collect(),
        contraction_flops: flops::of(graph, node),
        op_name: op_name.unwrap_or_default(),
        source: source(graph, node),
        estimated_cycles: estimated_cycles(graph.backend_config(node)),
    }
}

/// Older compilers write the line into the instruction, newer ones into a table of stack frames.
fn source(graph: &Graph<'_>, node: Node) -> Option<SourceLine> {
    let metadata = graph.get(node).metadata.as_ref()?;
    let line = |line: i32| u32::try_from(line).ok().filter(|line| *line > 0);
    if !metadata.source_file.is_empty() {
        let line = line(metadata.source_line)?;
        return Some(SourceLine { file: text(&metadata.source_file), line });
    }
    let index = graph.module().stack_frame_index.as_ref()?;
    let frame = counted_from_1(&index.stack_frames, metadata.stack_frame_id)?;
    let location = counted_from_1(&index.file_locations, frame.file_location_id)?;
    let file = counted_from_1(&index.file_names, location.file_name_id)?;
    Some(SourceLine { file: text(file), line: line(location.line)? })
}

fn counted_from_1<T>(list: &[T], id: i32) -> Option<&T> {
    list.get(usize::try_from(id).ok()?.checked_sub(1)?)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// TPU's configuration has `"window_config": {"estimated_cycles": "8560", ...}`.
fn estimated_cycles(config: &[u8]) -> Option<u64> {
    const KEY: &str = "estimated_cycles";
    // Most configurations have none and needn't be parsed.
    if !config.windows(KEY.len()).any(|window| window == KEY.as_bytes()) {
        return None;
    }
    let config: Value = serde_json::from_slice(config).ok()?;
    let cycles = config.get(KEY).or_else(|| config.get("window_config")?.get(KEY));
    let cycles = cycles.or_else(|| config.as_object()?.values().find_map(|part| part.get(KEY)))?;
    number(cycles).filter(|cycles| *cycles > 0)
}

/// A number, which XLA's JSON writes as a text where it has 64 bits.
pub(super) fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}
