//! Shardings as HLO writes them: tile assignments, by list of devices (V1), by iota (V2) or over a
//! named mesh (V3).

use std::fmt;
use std::sync::Arc;

use smallvec::SmallVec;

use super::axes::{self, AxisList};
use super::axis::AxisRef;
use super::digits::{self, Digits};
use super::groups::{MAX_LISTED_DEVICES, iota_digits, iota_form};
use super::mesh::Mesh;
use super::tensor::{Combiner, DimSharding};

/// A sharding of an HLO value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HloSharding {
    /// What it says.
    pub kind: HloShardingKind,
    /// `shard_as` or `shard_like`, which tie values to one another.
    pub group: Option<ShardGroup>,
    /// The text of `metadata={...}`, braces included.
    pub metadata: Option<Arc<str>>,
}

/// What an [`HloSharding`] says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum HloShardingKind {
    /// `{replicated}`: every device has the whole value.
    Replicated,
    /// `{manual}`: the value is a device's own already.
    Manual,
    /// `{unreduced}`: every device has a partial value.
    Unreduced,
    /// `{unknown}`: nothing is said.
    Unknown,
    /// `{maximal device=3}`: one device has the value.
    Maximal(u64),
    /// `{devices=[2,1]<=[2]}` and alike.
    Tiled(TiledSharding),
    /// `{mesh['x'=2], [{'x'}]}` and alike.
    Named(Box<NamedSharding>),
    /// `{{...}, {...}}`: one sharding for each leaf of a tuple.
    Tuple(Vec<HloSharding>),
}

/// A tie between values that are to be sharded alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ShardGroup {
    /// `shard_as N`: exactly the same sharding.
    As(u64),
    /// `shard_like N`: compatible shardings.
    Like(u64),
}

/// Tiles and the devices that hold them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TiledSharding {
    /// The assignment: first the dimensions of the tensor, then one for each subgroup.
    pub tiles: TileAssignment,
    /// What the last dimensions of the assignment mean. `last_tile_dim_replicate` is one
    /// [`SubgroupKind::Replicated`].
    pub subgroups: SmallVec<[SubgroupKind; 2]>,
}

/// What devices that hold the same tile are to one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SubgroupKind {
    /// Each has its own value.
    Manual,
    /// Their values are partial.
    Unreduced,
    /// They have copies.
    Replicated,
}

/// An array of devices: the device at each tile.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TileAssignment {
    /// The shape of the array.
    pub dims: SmallVec<[u64; 6]>,
    /// The devices in it, row-major.
    pub devices: TileDevices,
}

/// The devices of a [`TileAssignment`], row-major.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TileDevices {
    /// `<=[reshape]T(perm)`: the numbers 0, 1, 2, ... in an array of shape `reshape`, transposed.
    Iota {
        /// The shape before the transposition.
        reshape: SmallVec<[u64; 4]>,
        /// Dimension `i` after the transposition is dimension `perm[i]` before it.
        perm: SmallVec<[u32; 4]>,
    },
    /// One device after another.
    List(Arc<[u64]>),
}

/// A sharding over a mesh that it spells out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct NamedSharding {
    /// The mesh.
    pub mesh: Mesh,
    /// What is said of the value as a whole, in place of dimension shardings.
    pub whole: Option<SubgroupKind>,
    /// The dimension shardings, where there are any.
    pub dims: Option<SmallVec<[DimSharding; 4]>>,
    /// Explicitly replicated axes.
    pub replicated: AxisList,
    /// Axes of partial values.
    pub unreduced: AxisList,
    /// How partial values combine.
    pub combiner: Combiner,
    /// Manual axes.
    pub manual: AxisList,
}

impl From<HloShardingKind> for HloSharding {
    fn from(kind: HloShardingKind) -> HloSharding {
        HloSharding { kind, group: None, metadata: None }
    }
}

impl TileAssignment {
    /// The devices in digits' order, in an array of the given shape: an iota where the digits are
    /// those of 0 to n - 1. `None` where they aren't.
    pub fn from_digits(dims: &[u64], order: &[digits::Digit]) -> Option<TileAssignment> {
        let (reshape, perm) = iota_form(order)?;
        let devices = TileDevices::Iota { reshape, perm };
        Some(TileAssignment { dims: dims.into(), devices })
    }

    /// The number of tiles, saturating.
    pub fn count(&self) -> u64 {
        self.dims.iter().fold(1, |count, &dim| count.saturating_mul(dim))
    }

    /// The digits of a device's number, major to minor in the order of the tiles; `None` where
    /// the devices follow no such order.
    pub fn digits(&self) -> Option<Digits> {
        let digits = match &self.devices {
            TileDevices::Iota { reshape, perm } => iota_digits(reshape, perm)?,
            TileDevices::List(ids) if ids.first() == Some(&0) => {
                let digits = digits::raise(ids)?;
                iota_form(&digits)?;
                digits
            }
            TileDevices::List(_) => return None,
        };
        (digits::count(&digits) == self.count()).then_some(digits)
    }

    /// The device at a row-major position; `None` where there is none.
    pub fn device(&self, position: u64) -> Option<u64> {
        match &self.devices {
            TileDevices::Iota { reshape, perm } => {
                let digits = iota_digits(reshape, perm)?;
                (position < digits::count(&digits)).then(|| digits::device(&digits, position))
            }
            TileDevices::List(ids) => ids.get(usize::try_from(position).ok()?).copied(),
        }
    }

    /// The row-major position of a device; `None` where it isn't in the array.
    pub fn position(&self, device: u64) -> Option<u64> {
        match &self.devices {
            TileDevices::Iota { reshape, perm } => {
                let digits = iota_digits(reshape, perm)?;
                (device < digits::count(&digits)).then(|| digits::position(&digits, device))
            }
            TileDevices::List(ids) => ids.iter().position(|&id| id == device).map(|at| at as u64),
        }
    }

    /// The index of a device in the array, one coordinate a dimension.
    pub fn index_of(&self, device: u64) -> Option<SmallVec<[u64; 6]>> {
        let mut rest = self.position(device)?;
        let mut index: SmallVec<[u64; 6]> = SmallVec::from_elem(0, self.dims.len());
        for (at, &dim) in index.iter_mut().zip(&self.dims).rev() {
            *at = rest.checked_rem(dim)?;
            rest /= dim;
        }
        (rest == 0).then_some(index)
    }

    /// The devices written out, row-major; `None` where there are more than
    /// [`MAX_LISTED_DEVICES`].
    pub fn to_list(&self) -> Option<Arc<[u64]>> {
        match &self.devices {
            TileDevices::List(ids) => Some(ids.clone()),
            TileDevices::Iota { reshape, perm } => {
                let digits = iota_digits(reshape, perm)?;
                let count = digits::count(&digits);
                let list = || (0..count).map(|at| digits::device(&digits, at)).collect();
                (count <= MAX_LISTED_DEVICES).then(list)
            }
        }
    }
}

impl HloSharding {
    /// `{replicated}`.
    pub fn replicated() -> HloSharding {
        HloShardingKind::Replicated.into()
    }

    /// `{manual}`.
    pub fn manual() -> HloSharding {
        HloShardingKind::Manual.into()
    }

    /// The index, along each of `rank` dimensions, of the tile that a device (by its id) holds.
    /// Zeros for a replicated value; `None` where the device has no tile, or it isn't known.
    pub fn tile_of(&self, rank: usize, device: u64) -> Option<SmallVec<[u64; 4]>> {
        match &self.kind {
            HloShardingKind::Replicated => Some(SmallVec::from_elem(0, rank)),
            HloShardingKind::Maximal(only) => {
                (*only == device).then(|| SmallVec::from_elem(0, rank))
            }
            HloShardingKind::Tiled(tiled) => {
                let index = tiled.tiles.index_of(device)?;
                Some(index.get(..rank)?.into())
            }
            HloShardingKind::Named(named) => match named.whole {
                Some(SubgroupKind::Replicated) => Some(SmallVec::from_elem(0, rank)),
                Some(_) => None,
                None => {
                    let logical = named.mesh.logical_index(device)?;
                    let axes = |dim: usize| named.dims.as_ref()?.get(dim).map(|dim| &dim.axes[..]);
                    let position = |dim| {
                        let digits = axes::digits(&named.mesh, axes(dim).unwrap_or(&[]))?;
                        Some(digits::position(&digits, logical))
                    };
                    (0..rank).map(position).collect()
                }
            },
            _ => None,
        }
    }
}

impl fmt::Display for SubgroupKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SubgroupKind::Manual => "manual",
            SubgroupKind::Unreduced => "unreduced",
            SubgroupKind::Replicated => "replicated",
        })
    }
}

/// Numbers separated by commas.
struct Commas<'a, T>(&'a [T]);

impl<T: fmt::Display> fmt::Display for Commas<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, item) in self.0.iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            write!(f, "{comma}{item}")?;
        }
        Ok(())
    }
}

impl fmt::Display for TileAssignment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}]", Commas(&self.dims))?;
        match &self.devices {
            TileDevices::Iota { .. } => write!(f, "<={}", self.devices),
            TileDevices::List(_) => write!(f, "{}", self.devices),
        }
    }
}

/// `[4,2]T(1,0)`, `[8]`, or `0,2,1,3`.
impl fmt::Display for TileDevices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TileDevices::Iota { reshape, perm } => {
                write!(f, "[{}]", Commas(reshape))?;
                if perm.len() > 1 { write!(f, "T({})", Commas(perm)) } else { Ok(()) }
            }
            TileDevices::List(ids) => write!(f, "{}", Commas(ids)),
        }
    }
}

/// A name in single quotes.
struct Single<'a>(&'a str);

impl fmt::Display for Single<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}'", self.0.replace('\\', "\\\\").replace('\'', "\\'"))
    }
}

impl NamedSharding {
    fn write_axes(&self, f: &mut fmt::Formatter<'_>, axes: &[AxisRef]) -> fmt::Result {
        for (at, &axis) in axes.iter().enumerate() {
            let comma = if at > 0 { ", " } else { "" };
            write!(f, "{comma}{}", Single(self.mesh.axis_name(axis.axis).unwrap_or("?")))?;
            if !axis.is_whole(&self.mesh) {
                write!(f, ":({}){}", axis.pre, axis.size)?;
            }
        }
        Ok(())
    }

    fn write_mesh(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(device) = self.mesh.maximal_device() {
            return write!(f, "maximal_mesh[device_id={device}]");
        }
        f.write_str("mesh[")?;
        for (at, axis) in self.mesh.axes.iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            write!(f, "{comma}{}={}", Single(&axis.name), axis.size)?;
        }
        f.write_str("]")?;
        let Some(ids) = &self.mesh.device_ids else { return Ok(()) };
        let raised = (ids.first() == Some(&0)).then(|| digits::raise(ids)).flatten();
        match raised.and_then(|order| iota_form(&order)) {
            Some((reshape, perm)) => {
                write!(f, ", device_ids=({})", TileDevices::Iota { reshape, perm })
            }
            None => write!(f, ", device_ids=({})", Commas(ids)),
        }
    }
}

impl fmt::Display for NamedSharding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_mesh(f)?;
        if let Some(whole) = self.whole {
            write!(f, ", {whole}")?;
        }
        if let Some(dims) = &self.dims {
            f.write_str(", [")?;
            for (at, dim) in dims.iter().enumerate() {
                f.write_str(if at > 0 { ", {" } else { "{" })?;
                self.write_axes(f, &dim.axes)?;
                f.write_str(match (dim.open, dim.axes.is_empty()) {
                    (true, true) => "?}",
                    (true, false) => ", ?}",
                    (false, _) => "}",
                })?;
            }
            f.write_str("]")?;
        }
        let combiner = match self.combiner {
            Combiner::Sum => "",
            Combiner::Max => "max",
            Combiner::Min => "min",
        };
        let lists = [
            ("replicated=", "", &self.replicated),
            ("unreduced=", combiner, &self.unreduced),
            ("manual=", "", &self.manual),
        ];
        for (name, combiner, list) in lists {
            if !list.is_empty() {
                write!(f, ", {name}{combiner}{{")?;
                self.write_axes(f, list)?;
                f.write_str("}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for TiledSharding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "devices={}", self.tiles)?;
        match &self.subgroups[..] {
            [] => Ok(()),
            [SubgroupKind::Replicated] => f.write_str(" last_tile_dim_replicate"),
            kinds => {
                let kinds: Vec<String> = kinds.iter().map(SubgroupKind::to_string).collect();
                write!(f, " last_tile_dims={{{}}}", kinds.join(", "))
            }
        }
    }
}

/// The sharding as HLO writes it, braces included.
impl fmt::Display for HloSharding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        match &self.kind {
            HloShardingKind::Replicated => f.write_str("replicated")?,
            HloShardingKind::Manual => f.write_str("manual")?,
            HloShardingKind::Unreduced => f.write_str("unreduced")?,
            HloShardingKind::Unknown => f.write_str("unknown")?,
            HloShardingKind::Maximal(device) => write!(f, "maximal device={device}")?,
            HloShardingKind::Tiled(tiled) => write!(f, "{tiled}")?,
            HloShardingKind::Named(named) => write!(f, "{named}")?,
            HloShardingKind::Tuple(elements) => {
                for (at, element) in elements.iter().enumerate() {
                    match at {
                        0 => {}
                        at if at % 5 == 0 => write!(f, ", /*index={at}*/")?,
                        _ => f.write_str(", ")?,
                    }
                    write!(f, "{element}")?;
                }
            }
        }
        match self.group {
            Some(ShardGroup::As(id)) => write!(f, " shard_as {id}")?,
            Some(ShardGroup::Like(id)) => write!(f, " shard_like {id}")?,
            None => {}
        }
        if let Some(metadata) = &self.metadata {
            let comma = if matches!(self.kind, HloShardingKind::Named(_)) { "," } else { "" };
            write!(f, "{comma} metadata={metadata}")?;
        }
        f.write_str("}")
    }
}
