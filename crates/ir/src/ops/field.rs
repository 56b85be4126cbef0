//! Typed fields of ops, and how each is read from and written to an attribute.

use smallvec::SmallVec;

use crate::sharding::{AxisList, Combiner, Groups};
use crate::{
    Attr, Channel, Dense, DenseData, Dims, ElementType, Interner, MeshId, ShardingId, Symbol,
    TensorType, Type,
};

use super::{ConvDims, DotDims, GatherDims, ScatterDims};

/// Low and high padding, one pair a dimension.
pub type Padding = SmallVec<[[i64; 2]; 4]>;

/// Axes of a mesh, one list a dimension.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AxisLists {
    /// The mesh that the axes belong to.
    pub mesh: MeshId,
    /// The axes of each dimension, major to minor.
    pub dims: Box<[AxisList]>,
}

/// One exchange of an `sdy.all_to_all`: axes move from one dimension to another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AllToAllParam {
    /// The axes that move.
    pub axes: AxisList,
    /// The dimension they leave.
    pub src: u32,
    /// The dimension they join.
    pub dst: u32,
}

/// Why an attribute can't be read as a field.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum FieldError {
    /// The attribute isn't there.
    #[error("attribute '{0}' is missing")]
    Missing(&'static str),
    /// It has another form than the field needs.
    #[error("attribute '{name}' must be {expected}")]
    Form {
        /// Name of the attribute.
        name: &'static str,
        /// What it should be.
        expected: &'static str,
    },
}

/// A typed field of an op.
pub trait Field: Sized {
    /// What the attribute must be, for error messages.
    const EXPECTED: &'static str;

    /// Reads an attribute; `None` if it has another form.
    fn read(attr: &Attr, interner: &Interner) -> Option<Self>;

    /// The value where the attribute is absent; `None` if it must be there.
    fn absent() -> Option<Self> {
        None
    }

    /// A view of the value for printers; `None` where the attribute is left out.
    fn view(&self) -> Option<FieldRef<'_>>;
}

/// The value of a field as a printer sees it; each variant is one spelling.
#[derive(Clone, Copy, Debug)]
pub enum FieldRef<'a> {
    /// An integer of the type.
    Int(i64, ElementType),
    /// `true` or `false`.
    Bool(bool),
    /// A name without a value.
    Unit,
    /// An `f32`; the bits of the `f64` value.
    F32(u64),
    /// `array<i64: ...>`.
    Dims(&'a [i64]),
    /// `array<i1: ...>`.
    Flags(&'a [bool]),
    /// `dense<...>` of pairs.
    Pairs(&'a [[i64; 2]]),
    /// Groups of devices.
    Groups(&'a Groups),
    /// A string.
    String(Symbol),
    /// A reference to a symbol.
    SymbolRef(Symbol),
    /// Any attribute.
    Attr(&'a Attr),
    /// A constant.
    Dense(&'a Dense),
    /// `#stablehlo.dot<...>`.
    DotDims(&'a DotDims),
    /// `#stablehlo.conv<...>`.
    ConvDims(&'a ConvDims),
    /// `#stablehlo.gather<...>`.
    GatherDims(&'a GatherDims),
    /// `#stablehlo.scatter<...>`.
    ScatterDims(&'a ScatterDims),
    /// A channel.
    Channel(Channel),
    /// `#stablehlo<kind VALUE>`.
    Enum {
        /// Kind, such as `comparison_direction`.
        kind: &'static str,
        /// Value, such as `EQ`.
        value: &'static str,
    },
    /// An array of `#stablehlo<precision ...>`.
    Precisions(&'a [super::Precision]),
    /// A sharding.
    Sharding(ShardingId),
    /// Shardings, one a value.
    Shardings(&'a [ShardingId]),
    /// Axes for each dimension.
    AxisLists(&'a AxisLists),
    /// Axes.
    Axes(&'a MeshAxes),
    /// Exchanges.
    AllToAll(&'a AllToAllParams),
    /// Manual axes.
    ManualAxes(&'a ManualAxes),
    /// How parts are combined.
    Combiner(Combiner),
}

/// Reads field `name` from a list, taking the attribute out of it.
pub(super) fn take<F: Field>(
    attrs: &mut Vec<(Symbol, Attr)>,
    name: &'static str,
    interner: &Interner,
) -> Result<F, FieldError> {
    let at = interner
        .find_symbol(name)
        .and_then(|symbol| attrs.iter().position(|(key, _)| *key == symbol));
    match at {
        None => F::absent().ok_or(FieldError::Missing(name)),
        Some(at) => match F::read(&attrs[at].1, interner) {
            Some(field) => {
                attrs.remove(at);
                Ok(field)
            }
            None => Err(FieldError::Form { name, expected: F::EXPECTED }),
        },
    }
}

impl Field for i64 {
    const EXPECTED: &'static str = "an i64 integer";
    fn read(attr: &Attr, _: &Interner) -> Option<Self> {
        match attr {
            Attr::Int(value, _) => i64::try_from(*value).ok(),
            _ => None,
        }
    }
    fn view(&self) -> Option<FieldRef<'_>> {
        Some(FieldRef::Int(*self, ElementType::I64))
    }
}

impl Field for i32 {
    const EXPECTED: &'static str = "an i32 integer";
    fn read(attr: &Attr, _: &Interner) -> Option<Self> {
        match attr {
            Attr::Int(value, _) => i32::try_from(*value).ok(),
            _ => None,
        }
    }
    fn view(&self) -> Option<FieldRef<'_>> {
        Some(FieldRef::Int((*self).into(), ElementType::I32))
    }
}

/// A flag that must be there; one that may be absent is an `Option`, since absent and `false` are
/// told apart in generic form.
impl Field for bool {
    const EXPECTED: &'static str = "a boolean";
    fn read(attr: &Attr, _: &Interner) -> Option<Self> {
        match attr {
            Attr::Bool(value) => Some(*value),
            Attr::Unit => Some(true),
            _ => None,
        }
    }
    fn view(&self) -> Option<FieldRef<'_>> {
        Some(FieldRef::Bool(*self))
    }
}

/// `use_global_device_ids`, a unit attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Flag(pub bool);

impl Field for Flag {
    const EXPECTED: &'static str = "a unit attribute";
    fn read(attr: &Attr, _: &Interner) -> Option<Self> {
        match attr {
            Attr::Unit => Some(Flag(true)),
            Attr::Bool(value) => Some(Flag(*value)),
            _ => None,
        }
    }
    fn absent() -> Option<Self> {
        Some(Flag(false))
    }
    fn view(&self) -> Option<FieldRef<'_>> {
        self.0.then_some(FieldRef::Unit)
    }
}

/// A 32-bit float (the epsilon of a batch normalisation), as its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FloatBits(pub u64);

impl Field for FloatBits {
    const EXPECTED: &'static str = "a float";
    fn read(attr: &Attr, _: &Interner) -> Option<Self> {
        match attr {
            Attr::Float(bits, _) => Some(FloatBits(*bits)),
            _ => None,
        }
    }
    fn view(&self) -> Option<FieldRef<'_>> {
        Some(FieldRef::F32(self.0))
    }
}

impl Field for Dims {
    const EXPECTED: &'static str = "an array of i64";
    fn read(attr: &Attr, interner: &Interner) -> Option<Self> {
        match attr {
            Attr::DenseArray(_, values) => Some(values.clone()),
            Attr::Dense(dense) => dense_i64(dense, interner),
            _ => None,
        }
    }
    fn view(&self) -> Option<FieldRef<'_>> {
        Some(FieldRef::Dims(self))
    }
}

/// Booleans, one a dimension.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Flags(pub SmallVec<[bool; 8]>);

impl Field for Flags {
    const EXPECTED: &'static str = "an array of booleans";
    fn read(attr: &Attr, _: &Interner) -> Option<Self> {
        match attr {
            Attr::DenseArray(_, values) => Some(Flags(values.iter().map(|v| *v != 0).collect())),
            _ => None,
        }
    }
    fn view(&self) -> Option<FieldRef<'_>> {
        Some(FieldRef::Flags(&self.0))
    }
}

impl Field for Padding {
    const EXPECTED: &'static str = "a dense tensor of i64 pairs";
    fn read(attr: &Attr, interner: &Interner) -> Option<Self> {
        let Attr::Dense(dense) = attr else { return None };
        let Type::Tensor(ty) = interner.ty(dense.ty) else { return None };
        let pairs = matches!(ty.dims[..], [_, 2]) || ty.dims[..] == [0];
        let flat = dense_i64(dense, interner)?;
        pairs.then(|| flat.chunks(2).map(|pair| [pair[0], pair[1]]).collect())
    }
    fn view(&self) -> Option<FieldRef<'_>> {
        Some(FieldRef::Pairs(self))
    }
}

/// Pairs of source and target devices of a collective permute.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Pairs(pub Vec<[i64; 2]>);

impl Field for Pairs {
    const EXPECTED: &'static str = "a dense tensor of i64 pairs";
    fn read(attr: &Attr, interner: &Interner) -> Option<Self> {
        Padding::read(attr, interner).map(|pairs| Pairs(pairs.to_vec()))
    }
    fn view(&self) -> Option<FieldRef<'_>> {
        Some(FieldRef::Pairs(&self.0))
    }
}

impl Field for Groups {
    const EXPECTED: &'static str = "a dense 2-D tensor of i64, or groups by mesh axes";
    fn read(attr: &Attr, interner: &Interner) -> Option<Self> {
        match attr {
            Attr::Groups(groups) => Some((**groups).clone()),
            Attr::Dense(dense) => {
                let Type::Tensor(ty) = interner.ty(dense.ty) else { return None };
                let &[rows, width] = &ty.dims[..] else { return None };
                let flat = dense_i64(dense, interner)?;
                Some(Groups::List {
                    ids: flat.as_slice().into(),
                    num_groups: rows.max(0) as u64,
                    group_size: width.max(0) as u64,
                })
            }
            _ => None,
        }
    }
    fn view(&self) -> Option<FieldRef<'_>> {
        Some(FieldRef::Groups(self))
    }
}

impl<F: Field> Field for Option<F> {
    const EXPECTED: &'static str = F::EXPECTED;
    fn read(attr: &Attr, interner: &Interner) -> Option<Self> {
        F::read(attr, interner).map(Some)
    }
    fn absent() -> Option<Self> {
        Some(None)
    }
    fn view(&self) -> Option<FieldRef<'_>> {
        self.as_ref().and_then(Field::view)
    }
}

impl Field for Symbol {
    const EXPECTED: &'static str = "a string or a symbol";
    fn read(attr: &Attr, _: &Interner) -> Option<Self> {
        match attr {
            Attr::String(text) => Some(*text),
            _ => None,
        }
    }
    fn view(&self) -> Option<FieldRef<'_>> {
        Some(FieldRef::String(*self))
    }
}

/// The name of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Callee(pub Symbol);

impl Field for Callee {
    const EXPECTED: &'static str = "the name of a function";
    fn read(attr: &Attr, _: &Interner) -> Option<Self> {
        match attr {
            Attr::SymbolRef(path) if path.len() == 1 => Some(Callee(path[0])),
            _ => None,
        }
    }
    fn view(&self) -> Option<FieldRef<'_>> {
        Some(FieldRef::SymbolRef(self.0))
    }
}

/// Any attribute, kept as it is.
impl Field for Attr {
    const EXPECTED: &'static str = "an attribute";
    fn read(attr: &Attr, _: &Interner) -> Option<Self> {
        Some(attr.clone())
    }
    fn view(&self) -> Option<FieldRef<'_>> {
        Some(FieldRef::Attr(self))
    }
}

impl Field for Dense {
    const EXPECTED: &'static str = "a dense constant";
    fn read(attr: &Attr, _: &Interner) -> Option<Self> {
        match attr {
            Attr::Dense(dense) => Some(dense.clone()),
            _ => None,
        }
    }
    fn view(&self) -> Option<FieldRef<'_>> {
        Some(FieldRef::Dense(self))
    }
}

macro_rules! boxed_field {
    ($($ty:ident = $expected:literal;)*) => {$(
        impl Field for $ty {
            const EXPECTED: &'static str = $expected;
            fn read(attr: &Attr, _: &Interner) -> Option<Self> {
                match attr {
                    Attr::$ty(value) => Some((**value).clone()),
                    _ => None,
                }
            }
            fn view(&self) -> Option<FieldRef<'_>> {
                Some(FieldRef::$ty(self))
            }
        }
    )*};
}

boxed_field! {
    DotDims = "#stablehlo.dot<...>";
    ConvDims = "#stablehlo.conv<...>";
    GatherDims = "#stablehlo.gather<...>";
    ScatterDims = "#stablehlo.scatter<...>";
}

impl Field for Channel {
    const EXPECTED: &'static str = "#stablehlo.channel_handle<...>";
    fn read(attr: &Attr, _: &Interner) -> Option<Self> {
        match attr {
            Attr::Channel(channel) => Some(*channel),
            _ => None,
        }
    }
    fn view(&self) -> Option<FieldRef<'_>> {
        Some(FieldRef::Channel(*self))
    }
}

impl Field for ShardingId {
    const EXPECTED: &'static str = "#sdy.sharding<...>";
    fn read(attr: &Attr, _: &Interner) -> Option<Self> {
        match attr {
            Attr::Sharding(sharding) => Some(*sharding),
            _ => None,
        }
    }
    fn view(&self) -> Option<FieldRef<'_>> {
        Some(FieldRef::Sharding(*self))
    }
}

/// One sharding a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct ShardingList(pub Vec<ShardingId>);

impl Field for ShardingList {
    const EXPECTED: &'static str = "#sdy.sharding_per_value<[...]>";
    fn read(attr: &Attr, _: &Interner) -> Option<Self> {
        match attr {
            Attr::ShardingPerValue(list) => Some(ShardingList(list.to_vec())),
            _ => None,
        }
    }
    fn view(&self) -> Option<FieldRef<'_>> {
        Some(FieldRef::Shardings(&self.0))
    }
}

impl Field for AxisLists {
    const EXPECTED: &'static str = "a list of axes for each dimension";
    fn read(attr: &Attr, _: &Interner) -> Option<Self> {
        match attr {
            Attr::AxisLists(lists) => Some((**lists).clone()),
            _ => None,
        }
    }
    fn view(&self) -> Option<FieldRef<'_>> {
        Some(FieldRef::AxisLists(self))
    }
}

/// Axes of a mesh.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MeshAxes {
    /// The mesh that the axes belong to.
    pub mesh: MeshId,
    /// The axes, major to minor.
    pub axes: AxisList,
}

impl Field for MeshAxes {
    const EXPECTED: &'static str = "a list of axes";
    fn read(attr: &Attr, _: &Interner) -> Option<Self> {
        match attr {
            Attr::AxisRefs(axes) => Some((**axes).clone()),
            _ => None,
        }
    }
    fn view(&self) -> Option<FieldRef<'_>> {
        Some(FieldRef::Axes(self))
    }
}

/// The exchanges of an `sdy.all_to_all`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AllToAllParams {
    /// The mesh that the axes belong to.
    pub mesh: MeshId,
    /// The exchanges.
    pub params: Vec<AllToAllParam>,
}

impl Field for AllToAllParams {
    const EXPECTED: &'static str = "a list of all-to-all parameters";
    fn read(attr: &Attr, _: &Interner) -> Option<Self> {
        match attr {
            Attr::AllToAllParams(params) => Some((**params).clone()),
            _ => None,
        }
    }
    fn view(&self) -> Option<FieldRef<'_>> {
        Some(FieldRef::AllToAll(self))
    }
}

/// The axes along which a manual computation is local, in mesh order.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct ManualAxes(pub SmallVec<[Symbol; 4]>);

impl Field for ManualAxes {
    const EXPECTED: &'static str = "#sdy<manual_axes{...}>";
    fn read(attr: &Attr, _: &Interner) -> Option<Self> {
        match attr {
            Attr::ManualAxes(axes) => Some(axes.clone()),
            _ => None,
        }
    }
    fn view(&self) -> Option<FieldRef<'_>> {
        Some(FieldRef::ManualAxes(self))
    }
}

impl Field for Combiner {
    const EXPECTED: &'static str = "#sdy<reduction_op ...>";
    fn read(attr: &Attr, interner: &Interner) -> Option<Self> {
        match attr {
            Attr::Enum { value, .. } => match interner.str(*value) {
                "sum" => Some(Combiner::Sum),
                "max" => Some(Combiner::Max),
                "min" => Some(Combiner::Min),
                _ => None,
            },
            // The generic form has the number of the case.
            Attr::Int(0, _) => Some(Combiner::Sum),
            Attr::Int(1, _) => Some(Combiner::Max),
            Attr::Int(2, _) => Some(Combiner::Min),
            _ => None,
        }
    }
    fn absent() -> Option<Self> {
        Some(Combiner::Sum)
    }
    fn view(&self) -> Option<FieldRef<'_>> {
        (*self != Combiner::Sum).then_some(FieldRef::Combiner(*self))
    }
}

/// The 64-bit (or narrower) integers of a dense constant.
pub fn dense_i64(dense: &Dense, interner: &Interner) -> Option<Dims> {
    let Type::Tensor(ty) = interner.ty(dense.ty) else { return None };
    let width = ty.element.storage_bytes();
    let count = usize::try_from(ty.elements()).ok()?;
    // What takes few bytes of text mustn't take many of memory.
    let most = if matches!(dense.data, DenseData::Splat(_)) { 1 << 16 } else { 1 << 24 };
    if width > 8 || count > most {
        return None;
    }
    let signed =
        !matches!(ty.element.kind(), crate::NumberKind::Unsigned | crate::NumberKind::Bool);
    (0..count)
        .map(|index| {
            let bytes = dense.data.element(index, width)?;
            let mut wide = [0u8; 8];
            wide[..width].copy_from_slice(&bytes);
            if signed && bytes[width - 1] & 0x80 != 0 {
                wide[width..].fill(0xff);
            }
            Some(i64::from_le_bytes(wide))
        })
        .collect()
}

/// A dense `i64` constant of the given shape.
pub fn dense_from_i64(
    values: &[i64],
    dims: impl IntoIterator<Item = i64>,
    interner: &mut Interner,
) -> Dense {
    let ty = interner.type_id(Type::Tensor(TensorType::new(ElementType::I64, dims)));
    let bytes = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    Dense { ty, data: DenseData::from_bytes(bytes, 8) }
}
