//! The program as the compiler left it: what runs, how often, and what it sends.

mod collective;
mod flops;
mod graph;
mod groups;
mod instruction;
mod shape;
#[cfg(test)]
mod tests;
mod times;
mod trip_count;

pub use collective::{Collective, CollectiveKind};
pub use instruction::{Instruction, SourceLine, Times};
pub use shape::Shape;

use prost::Message;

use crate::error::{DecodeError, Error};
use crate::ffi::ExecutableHandle;
use crate::proto;
use graph::Graph;

/// A compiled program: every instruction that runs, with the number of times it does.
#[derive(Clone, Debug, PartialEq)]
pub struct OptimizedModule {
    /// The module's name.
    pub name: String,
    /// Replicas that it runs on.
    pub num_replicas: u64,
    /// Partitions that it runs on.
    pub num_partitions: u64,
    /// The instructions of every computation that runs, in the compiler's order within a
    /// computation, the entry computation last.
    ///
    /// What is inside a fusion is listed too, marked [`Instruction::fused`]. The scalar
    /// computations that reductions, sorts and scatters apply to elements are not.
    pub instructions: Vec<Instruction>,
    collectives: Vec<Collective>,
}

/// The shapes of a compiled program's arguments on one device, where the plugin tells them.
pub(crate) fn arguments(executable: &ExecutableHandle) -> Result<Option<Vec<Shape>>, Error> {
    let (format, bytes) = executable.optimized_program()?;
    let signature = match format.as_str() {
        "hlo_with_config" => {
            proto::SignatureWithConfig::decode(bytes.as_slice()).map(|proto| proto.hlo_module)
        }
        "hlo" => proto::Signature::decode(bytes.as_slice()).map(Some),
        _ => return Ok(None),
    };
    let signature = signature.map_err(|reason| Error::decode(executable.api().path(), reason))?;
    let Some(shape) = signature.and_then(|signature| signature.host_program_shape) else {
        return Ok(None);
    };
    let mut shapes: Vec<Shape> = shape.parameters.iter().map(Shape::new).collect();
    // A compiler may take all arguments as one tuple.
    if let [Shape::Tuple(elements)] = shapes.as_mut_slice() {
        shapes = std::mem::take(elements);
    }
    Ok(Some(shapes))
}

/// A sum of the compiler's estimates of cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EstimatedCycles {
    /// The sum over all instructions that run and have an estimate, times their counts.
    pub cycles: u64,
    /// Instructions with an estimate.
    pub estimated: usize,
    /// Collectives, which have none: the sum leaves all communication out.
    pub collectives: usize,
    /// Whether every count is known: without, a loop of unknown length counts once, and each
    /// branch of a conditional counts.
    pub exact: bool,
}

impl OptimizedModule {
    pub(crate) fn of(executable: &ExecutableHandle) -> Result<Self, Error> {
        let (format, bytes) = executable.optimized_program()?;
        let module = match format.as_str() {
            "hlo_with_config" => OptimizedModule::decode_with_config(&bytes),
            "hlo" => OptimizedModule::decode(&bytes, 1, 1),
            _ => Err(DecodeError::Format(format)),
        };
        module.map_err(|reason| Error::decode(executable.api().path(), reason))
    }

    /// Reads a serialised `HloModuleProtoWithConfig`, as plugins return it.
    ///
    /// # Errors
    ///
    /// Where the bytes aren't one, or refer to what isn't there.
    pub fn decode_with_config(bytes: &[u8]) -> Result<Self, DecodeError> {
        let proto = proto::ModuleWithConfig::decode(bytes)?;
        let config = proto.config.unwrap_or_default();
        let count = |count: i64| u64::try_from(count).unwrap_or(1).max(1);
        let (replicas, partitions) = (count(config.replica_count), count(config.num_partitions));
        OptimizedModule::new(&proto.hlo_module.unwrap_or_default(), replicas, partitions)
    }

    /// Reads a serialised `HloModuleProto`, which doesn't say how many devices it is for.
    ///
    /// # Errors
    ///
    /// As [`OptimizedModule::decode_with_config`].
    pub fn decode(
        bytes: &[u8],
        num_replicas: u64,
        num_partitions: u64,
    ) -> Result<Self, DecodeError> {
        OptimizedModule::new(&proto::Module::decode(bytes)?, num_replicas, num_partitions)
    }

    fn new(
        module: &proto::Module,
        num_replicas: u64,
        num_partitions: u64,
    ) -> Result<Self, DecodeError> {
        let graph = Graph::new(module)?;
        let times = times::of_computations(&graph)?;
        let mut instructions = Vec::new();
        let mut collectives = Vec::new();
        for (computation, run) in times.iter().enumerate() {
            let Some(run) = run else { continue };
            for position in 0..graph.instructions(computation).len() {
                let node = graph::Node { computation, position };
                let instruction = instruction::read(&graph, node, run);
                let devices =
                    groups::Devices { replicas: num_replicas, partitions: num_partitions };
                collectives.extend(collective::read(&graph, node, &instruction, run, devices));
                instructions.push(instruction);
            }
        }
        Ok(OptimizedModule {
            name: String::from_utf8_lossy(&module.name).into_owned(),
            num_replicas,
            num_partitions,
            instructions,
            collectives,
        })
    }

    /// The collectives that run, in the order of [`OptimizedModule::instructions`].
    ///
    /// An asynchronous collective is listed once. TPU's fusion of an all-reduce with the slice
    /// that each device keeps of it is listed as the reduce-scatter that it is.
    pub fn collectives(&self) -> &[Collective] {
        &self.collectives
    }

    /// Bytes that a device sends in one run of the program, by [`Collective::wire_bytes`] times
    /// [`Collective::times`].
    pub fn wire_bytes(&self) -> u64 {
        self.collectives.iter().map(Collective::total_wire_bytes).fold(0, u64::saturating_add)
    }

    /// Floating-point operations that a device spends in dots and convolutions in one run of the
    /// program, each times the number of times it runs.
    ///
    /// Counted here from the shapes, since newer CPU plugins have no cost analysis, and
    /// everyone's counts a loop's body once. What a compiler hands to a library by a custom call
    /// isn't seen.
    pub fn contraction_flops(&self) -> u64 {
        self.instructions
            .iter()
            .map(|instruction| {
                instruction.contraction_flops.saturating_mul(instruction.times.count)
            })
            .fold(0, u64::saturating_add)
    }

    /// The compiler's estimates of cycles, summed over the instructions that run.
    ///
    /// TPU's compiler gives one to each fusion, copy and convolution, in the cycles of its core's
    /// clock, to choose between ways of compiling: they are estimates, not measured times, and
    /// communication has none. Other compilers give none at all (`estimated` is 0 then).
    pub fn estimated_cycles(&self) -> EstimatedCycles {
        let mut sum = EstimatedCycles { exact: true, ..EstimatedCycles::default() };
        for instruction in self.instructions.iter().filter(|instruction| !instruction.fused) {
            if let Some(cycles) = instruction.estimated_cycles {
                let cycles = cycles.saturating_mul(instruction.times.count);
                sum.cycles = sum.cycles.saturating_add(cycles);
                sum.estimated += 1;
                sum.exact &= instruction.times.exact;
            }
        }
        sum.collectives = self.collectives.len();
        sum
    }
}
