//! The op table: every op once, with its names, typed fields, arity and traits.
//!
//! [`Op`] has two levels: a family, and the kind inside it, so that a treatment that fits a family
//! is written once. Dispatchers match on it without a catch-all arm.

mod dims;
mod enums;
mod families;
mod field;
mod table;

pub use dims::{ConvDims, DotDims, GatherDims, RaggedDims, ScatterDims};
pub use enums::*;
pub use families::*;
pub use field::*;
pub use table::*;

use crate::sharding::{Combiner, Groups};
use crate::{Attr, Channel, Dense, Dims, Interner, ShardingId, Symbol};

/// How many operands, results or regions an op has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arity {
    /// Just so many.
    Exactly(usize),
    /// So many or more.
    AtLeast(usize),
}

impl Arity {
    /// Whether `count` fits.
    pub fn fits(self, count: usize) -> bool {
        match self {
            Arity::Exactly(n) => count == n,
            Arity::AtLeast(n) => count >= n,
        }
    }
}

/// Properties of an op that many passes ask for, as a set of bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traits(u16);

impl Traits {
    /// No property.
    pub const NONE: Traits = Traits(0);
    /// The operands may be swapped.
    pub const COMMUTATIVE: Traits = Traits(1);
    /// Devices communicate.
    pub const COLLECTIVE: Traits = Traits(2);
    /// The result depends on which device runs it or where a shard lies.
    pub const POSITION: Traits = Traits(4);
    /// Ends a block.
    pub const TERMINATOR: Traits = Traits(8);
    /// Must not be removed or duplicated even if its results are unused.
    pub const EFFECT: Traits = Traits(16);
    /// Regions see no values from outside.
    pub const ISOLATED: Traits = Traits(32);

    /// Both sets.
    pub const fn and(self, other: Traits) -> Traits {
        Traits(self.0 | other.0)
    }

    /// Whether every bit of `other` is set.
    pub const fn has(self, other: Traits) -> bool {
        self.0 & other.0 == other.0
    }
}

/// One row of the op table.
#[derive(Clone, Copy, Debug)]
pub struct OpInfo {
    /// Name in MLIR text, such as `stablehlo.add`.
    pub name: &'static str,
    /// Opcode in HLO text, or empty where HLO has no such op.
    pub hlo: &'static str,
    /// Number of operands.
    pub operands: Arity,
    /// Number of results.
    pub results: Arity,
    /// Number of regions.
    pub regions: Arity,
    /// Properties.
    pub traits: Traits,
}

/// An op that the table doesn't know: kept with everything it had.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Opaque {
    /// Its name, such as `foo.bar`.
    pub name: Symbol,
    /// Attributes between `<{` and `}>`.
    pub properties: Vec<(Symbol, Attr)>,
    /// Successor blocks, by number in the region.
    pub successors: Vec<u32>,
}

impl Op {
    /// The name in MLIR text.
    pub fn name<'a>(&self, interner: &'a Interner) -> &'a str {
        match self {
            Op::Opaque(op) => interner.str(op.name),
            op => op.info().name,
        }
    }

    /// Whether the op ends a block.
    pub fn is_terminator(&self) -> bool {
        self.info().traits.has(Traits::TERMINATOR)
    }
}

impl Collective {
    /// The channel, of those that can have one.
    pub fn channel(&self) -> Option<Option<Channel>> {
        match self {
            Collective::AllGather(op) => Some(op.channel),
            Collective::AllReduce(op) => Some(op.channel),
            Collective::ReduceScatter(op) => Some(op.channel),
            Collective::AllToAll(op) => Some(op.channel),
            Collective::CollectivePermute(op) => Some(op.channel),
            Collective::CollectiveBroadcast(op) => Some(op.channel),
            Collective::PartitionId | Collective::ReplicaId => None,
        }
    }

    /// The channel, of those that have one.
    pub fn channel_mut(&mut self) -> Option<&mut Option<Channel>> {
        match self {
            Collective::AllGather(op) => Some(&mut op.channel),
            Collective::AllReduce(op) => Some(&mut op.channel),
            Collective::ReduceScatter(op) => Some(&mut op.channel),
            Collective::AllToAll(op) => Some(&mut op.channel),
            Collective::CollectivePermute(op) => Some(&mut op.channel),
            Collective::CollectiveBroadcast(op) => Some(&mut op.channel),
            Collective::PartitionId | Collective::ReplicaId => None,
        }
    }
}

impl Sdy {
    /// The sharding that the op states for its result. Such an op changes nothing but where its
    /// operand lies.
    pub fn result_sharding(&self) -> Option<ShardingId> {
        match self {
            Sdy::ShardingConstraint(op) => Some(op.sharding),
            Sdy::Reshard(op) => Some(op.sharding),
            Sdy::DataFlowEdge(op) => op.sharding,
            Sdy::SdyAllGather(op) => Some(op.out),
            Sdy::SdyAllSlice(op) => Some(op.out),
            Sdy::SdyAllToAll(op) => Some(op.out),
            Sdy::SdyCollectivePermute(op) => Some(op.out),
            Sdy::SdyAllReduce(op) => Some(op.out),
            Sdy::SdyReduceScatter(op) => Some(op.out),
            Sdy::ShardedToUnreduced(op) => Some(op.out),
            Sdy::ReplicatedToUnreduced(op) => Some(op.out),
            Sdy::ManualComputation(_)
            | Sdy::NamedComputation(_)
            | Sdy::ShardingGroup(_)
            | Sdy::SdyConstant(_)
            | Sdy::FuncDataFlowEdge
            | Sdy::PropagationBarrier(_) => None,
        }
    }
}
