//! Attributes: constant data attached to ops, arguments and modules.

use smallvec::SmallVec;

use crate::ops::{
    AllToAllParams, AxisLists, ConvDims, DotDims, GatherDims, ManualAxes, MeshAxes, ScatterDims,
};
use crate::sharding::Groups;
use crate::{AttrsId, Blob, Dims, ElementType, ShardingId, Symbol, TypeId};

/// An attribute. What has no variant of its own is kept as text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Attr {
    /// `unit`, or a name without a value.
    Unit,
    /// `true` or `false`.
    Bool(bool),
    /// An integer with its type.
    Int(i128, TypeId),
    /// A float with its type; the bits of the `f64` value.
    Float(u64, TypeId),
    /// A string.
    String(Symbol),
    /// `[...]`.
    Array(Box<[Attr]>),
    /// `{...}`.
    Dict(AttrsId),
    /// A type.
    Type(TypeId),
    /// `@a::@b`.
    SymbolRef(Box<[Symbol]>),
    /// `dense<...> : type`.
    Dense(Dense),
    /// `array<T: ...>`, every element as an integer or the bits of an `f64`.
    DenseArray(ElementType, Dims),
    /// `#dialect<kind value>`, such as `#stablehlo<comparison_direction EQ>`.
    Enum {
        /// Dialect, such as `stablehlo`.
        dialect: Symbol,
        /// Kind, such as `comparison_direction`.
        kind: Symbol,
        /// Value, such as `EQ`.
        value: Symbol,
    },
    /// `#stablehlo.channel_handle<handle = 1, type = 1>`.
    Channel(Channel),
    /// `#stablehlo.dot<...>`.
    DotDims(Box<DotDims>),
    /// `#stablehlo.conv<...>`.
    ConvDims(Box<ConvDims>),
    /// `#stablehlo.gather<...>`.
    GatherDims(Box<GatherDims>),
    /// `#stablehlo.scatter<...>`.
    ScatterDims(Box<ScatterDims>),
    /// Replica groups written by mesh axes.
    Groups(Box<Groups>),
    /// `#sdy.sharding<...>`.
    Sharding(ShardingId),
    /// `#sdy.sharding_per_value<[...]>`.
    ShardingPerValue(Box<[ShardingId]>),
    /// `#sdy<manual_axes{...}>`.
    ManualAxes(ManualAxes),
    /// Axes of a mesh.
    AxisRefs(Box<MeshAxes>),
    /// Axes of a mesh for each dimension.
    AxisLists(Box<AxisLists>),
    /// Exchanges of an `sdy.all_to_all`.
    AllToAllParams(Box<AllToAllParams>),
    /// Any other attribute, kept as its text.
    Text(Symbol),
}

/// A communication channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Channel {
    /// Its number.
    pub handle: i64,
    /// Kind: 0 as exported, 1 device to device, 2 device to host, 3 host to device.
    pub kind: i64,
}

/// Elements of a constant tensor, row-major, little endian, sub-byte elements a byte each.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Dense {
    /// Type of the tensor (sometimes a vector), in the module's interner.
    pub ty: TypeId,
    /// The elements.
    pub data: DenseData,
}

/// How a constant's elements are held.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DenseData {
    /// Every element is the same; its bytes (at most 16).
    Splat(SmallVec<[u8; 16]>),
    /// All elements' bytes.
    Bytes(Blob),
    /// `dense_resource<name>`: a blob beside the program, perhaps gone (`__elided__`).
    Resource(Symbol),
    /// Strings, or anything else kept as the text between `dense<` and `>`.
    Text(Symbol),
}

impl DenseData {
    /// A splat of one element's bytes.
    pub fn splat(bytes: &[u8]) -> Self {
        DenseData::Splat(SmallVec::from_slice(bytes))
    }

    /// Data from all elements' bytes; becomes a splat if they are all equal.
    /// `width` is the number of bytes of an element.
    pub fn from_bytes(bytes: Vec<u8>, width: usize) -> Self {
        DenseData::from_blob(bytes.into(), width)
    }

    /// The same of bytes that may be shared.
    pub fn from_blob(blob: Blob, width: usize) -> Self {
        match blob.get(0..width) {
            Some(first) if width <= 16 && blob.repeats(width) => DenseData::Splat(first),
            _ => DenseData::Bytes(blob),
        }
    }

    /// The bytes of element `index`, where they are known. `width` is that of an element.
    pub fn element(&self, index: usize, width: usize) -> Option<SmallVec<[u8; 16]>> {
        match self {
            DenseData::Splat(bytes) => Some(bytes.clone()),
            DenseData::Bytes(bytes) => bytes.get(index * width..(index + 1) * width),
            DenseData::Resource(_) | DenseData::Text(_) => None,
        }
    }
}
