//! From HLO shardings to shardings over meshes, and back.

use cranelift_entity::packed_option::ReservedValue;
use smallvec::SmallVec;
use thiserror::Error;

use super::axes::{self, AxisList};
use super::axis::AxisRef;
use super::digits::{self, Digits};
use super::groups::MAX_LISTED_DEVICES;
use super::hlo::{
    HloSharding, HloShardingKind, NamedSharding, SubgroupKind, TileAssignment, TileDevices,
    TiledSharding,
};
use super::mesh::{Mesh, MeshAxis};
use super::tensor::{Combiner, DimSharding, TensorSharding};
use crate::MeshId;

/// Why a sharding can't be converted.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum HloShardingError {
    /// The number of tile dimensions isn't the rank.
    #[error("the sharding tiles {tiled} dimensions, but the tensor has rank {rank}")]
    RankMismatch {
        /// The dimensions that the sharding tiles.
        tiled: usize,
        /// The tensor's rank.
        rank: usize,
    },
    /// The sharding is of another number of devices.
    #[error("the sharding is for {devices} devices, but the program runs on {expected}")]
    DeviceCount {
        /// The devices of the sharding.
        devices: u64,
        /// The devices of the program or mesh.
        expected: u64,
    },
    /// A tuple of shardings where one is wanted.
    #[error("the sharding is a tuple; take the element that belongs to the tensor")]
    Tuple,
    /// A list of devices that isn't a permutation, or too long.
    #[error("the devices of the tile assignment aren't each of 0 to n - 1 once")]
    NotAPermutation,
    /// A mesh can't express it.
    #[error("no splitting of the mesh's axes gives this tiling")]
    NotOnMesh,
    /// Partial values that combine with max or min.
    #[error("HLO's tile shardings have no partial values but sums; reduce the value first")]
    Combiner,
    /// The sharding doesn't suit its mesh.
    #[error("the sharding doesn't suit its mesh: {0}")]
    Invalid(#[from] super::ShardingError),
}

/// A sharding over a mesh, with the axes along which the value is a device's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeshSharding {
    /// The mesh.
    pub mesh: Mesh,
    /// The sharding.
    pub sharding: TensorSharding,
    /// The manual axes.
    pub manual: AxisList,
}

/// The axes `"_axis_0"`, `"_axis_1"`, ... of the given sizes.
fn anonymous_mesh(sizes: impl IntoIterator<Item = u64>) -> Option<Mesh> {
    let axis = |(at, size)| {
        Some(MeshAxis { name: format!("_axis_{at}").into(), size: u32::try_from(size).ok()? })
    };
    let axes = sizes.into_iter().enumerate().map(axis).collect::<Option<_>>()?;
    Some(Mesh { axes, device_ids: None })
}

/// The axes of each dimension of a tile assignment, on a mesh.
fn axes_of_dims(tiles: &TileAssignment, mesh: &Mesh) -> Option<Vec<AxisList>> {
    let order = match &mesh.device_ids {
        None => tiles.digits()?,
        Some(ids) => {
            // The logical index at each tile.
            let mut logical_of = vec![None; ids.len()];
            for (at, &id) in ids.iter().enumerate() {
                *logical_of.get_mut(usize::try_from(id).ok()?)? = Some(at as u64);
            }
            let logical = |&id: &u64| *logical_of.get(usize::try_from(id).ok()?)?;
            let order = tiles.to_list()?.iter().map(logical).collect::<Option<Vec<u64>>>()?;
            if order.first() != Some(&0) {
                return None;
            }
            digits::raise(&order)?
        }
    };
    let runs = digits::cut(&order, &tiles.dims)?;
    runs.iter().map(|run| axes::from_digits(mesh, run)).collect()
}

/// Dimension and subgroup axes as a sharding.
fn assemble(
    id: MeshId,
    tiled: &TiledSharding,
    lists: &[AxisList],
) -> Option<(TensorSharding, AxisList)> {
    let rank = lists.len().checked_sub(tiled.subgroups.len())?;
    let dims = lists[..rank].iter().map(|axes| DimSharding::closed(axes));
    let of_kind = |kind| -> AxisList {
        let kinds = tiled.subgroups.iter().zip(&lists[rank..]);
        kinds.filter(|(found, _)| **found == kind).flat_map(|(_, axes)| axes).copied().collect()
    };
    let sharding = TensorSharding::from_dims(id, dims)
        .with_unreduced(&of_kind(SubgroupKind::Unreduced), Combiner::Sum);
    Some((sharding, axes::sorted(&of_kind(SubgroupKind::Manual))))
}

/// The coarsest mesh, in the natural order of devices, on whose axes (and without sub-axes) each
/// of the tile assignments is expressed. `None` where there is none: assignments of different
/// sizes, lists in an order that isn't a transposition, or halves beside thirds. Shardings without
/// tiles fit any mesh and are passed over.
pub fn common_mesh<'a>(
    shardings: impl IntoIterator<Item = &'a HloSharding>,
    devices: u64,
) -> Option<Mesh> {
    let mut bounds = vec![1, devices];
    for sharding in shardings {
        let HloShardingKind::Tiled(tiled) = &sharding.kind else { continue };
        let order = tiled.tiles.digits()?;
        if digits::count(&order) != devices {
            return None;
        }
        for digit in digits::cut(&order, &tiled.tiles.dims)?.into_iter().flatten() {
            bounds.push(digit.stride);
            bounds.push(digit.stride.checked_mul(digit.size)?);
        }
    }
    bounds.sort_unstable();
    bounds.dedup();
    let mut sizes: SmallVec<[u64; 8]> = SmallVec::new();
    for pair in bounds.windows(2) {
        if pair[0] == 0 || !pair[1].is_multiple_of(pair[0]) {
            return None;
        }
        sizes.push(pair[1] / pair[0]);
    }
    anonymous_mesh(sizes.into_iter().rev())
}

impl HloSharding {
    /// The sharding over a mesh of its own, whose axes are called `"_axis_0"`, `"_axis_1"`, ...
    ///
    /// The mesh is the coarsest one in the natural order of devices where the tiling allows it,
    /// and otherwise has an axis for each tile dimension, and the devices in the order that the
    /// tiling lists them. Dimensions are closed; those of `{unknown}` are open.
    ///
    /// # Errors
    /// [`HloShardingError`]; the program's number of devices and the tensor's rank are checked.
    pub fn to_mesh(
        &self,
        id: MeshId,
        rank: usize,
        devices: u64,
    ) -> Result<MeshSharding, HloShardingError> {
        let mesh = match &self.kind {
            HloShardingKind::Maximal(device) => Mesh::maximal(*device),
            HloShardingKind::Named(named) => named.mesh.clone(),
            HloShardingKind::Tiled(tiled) => {
                let count = tiled.tiles.count();
                if count != devices {
                    return Err(HloShardingError::DeviceCount {
                        devices: count,
                        expected: devices,
                    });
                }
                match common_mesh([self], devices) {
                    Some(mesh) => mesh,
                    None => listed_mesh(&tiled.tiles)?,
                }
            }
            _ => {
                let sizes = (devices > 1).then_some(devices);
                anonymous_mesh(sizes).ok_or(HloShardingError::NotAPermutation)?
            }
        };
        let (sharding, manual) = self.on_mesh(&mesh, id, rank)?;
        Ok(MeshSharding { mesh, sharding, manual })
    }

    /// The sharding over the axes of a given mesh, and the manual axes.
    ///
    /// # Errors
    /// [`HloShardingError`], in particular where the mesh can't express the tiling.
    pub fn on_mesh(
        &self,
        mesh: &Mesh,
        id: MeshId,
        rank: usize,
    ) -> Result<(TensorSharding, AxisList), HloShardingError> {
        let all = || mesh.all_axes().collect::<AxisList>();
        let plain = |sharding| Ok((sharding, AxisList::new()));
        let replicated = TensorSharding::fully_replicated(id, rank);
        match &self.kind {
            HloShardingKind::Replicated => plain(replicated),
            HloShardingKind::Unknown => plain(TensorSharding::fully_open(id, rank)),
            HloShardingKind::Manual => Ok((replicated, all())),
            HloShardingKind::Unreduced => plain(replicated.with_unreduced(&all(), Combiner::Sum)),
            HloShardingKind::Maximal(device) => {
                if mesh.maximal_device() != Some(*device) {
                    return Err(HloShardingError::NotOnMesh);
                }
                plain(TensorSharding::fully_replicated(id, 0))
            }
            HloShardingKind::Tuple(_) => Err(HloShardingError::Tuple),
            HloShardingKind::Named(named) => named.on_mesh(mesh, id, rank),
            HloShardingKind::Tiled(tiled) => {
                let dims = tiled.tiles.dims.len().saturating_sub(tiled.subgroups.len());
                if dims != rank {
                    return Err(HloShardingError::RankMismatch { tiled: dims, rank });
                }
                let (count, expected) = (tiled.tiles.count(), mesh.device_count());
                if count != expected {
                    return Err(HloShardingError::DeviceCount { devices: count, expected });
                }
                let lists = axes_of_dims(&tiled.tiles, mesh).ok_or(HloShardingError::NotOnMesh)?;
                assemble(id, tiled, &lists).ok_or(HloShardingError::NotOnMesh)
            }
        }
    }

    /// The sharding as HLO tiles it: `{devices=...}` in the iota form where there is one, or one
    /// of the short forms. `manual` are the axes along which the value is a device's own.
    ///
    /// # Errors
    /// [`HloShardingError`] where the sharding doesn't suit the mesh, or has partial values that
    /// combine with max or min.
    pub fn from_mesh(
        sharding: &TensorSharding,
        mesh: &Mesh,
        manual: &[AxisRef],
    ) -> Result<HloSharding, HloShardingError> {
        sharding.verify(mesh, sharding.rank())?;
        if let Some(device) = mesh.maximal_device() {
            return Ok(HloShardingKind::Maximal(device).into());
        }
        let unreduced = axes::without_unit_axes(&sharding.unreduced);
        if !unreduced.is_empty() && sharding.combiner != Combiner::Sum {
            return Err(HloShardingError::Combiner);
        }
        let manual = axes::sorted(&axes::without_unit_axes(manual));
        let mut order: AxisList = sharding.dim_axes_in_order().collect();
        let mut dims: SmallVec<[u64; 6]> = sharding.shard_counts().into_iter().collect();
        let used: AxisList = order.iter().chain(&unreduced).chain(&manual).copied().collect();
        if !axes::is_disjoint_list(&axes::without_unit_axes(&used)) {
            return Err(HloShardingError::NotOnMesh);
        }
        let copies = axes::complement(mesh, &used);
        let split = dims.iter().any(|&dim| dim != 1);
        let mut subgroups: SmallVec<[SubgroupKind; 2]> = SmallVec::new();
        for (kind, list) in [
            (SubgroupKind::Manual, &manual),
            (SubgroupKind::Unreduced, &unreduced),
            (SubgroupKind::Replicated, &copies),
        ] {
            if !list.is_empty() {
                subgroups.push(kind);
                dims.push(axes::product(list));
                order.extend(list.iter().copied());
            }
        }
        if !split && subgroups.len() <= 1 {
            return Ok(match subgroups.first() {
                Some(SubgroupKind::Manual) => HloShardingKind::Manual.into(),
                Some(SubgroupKind::Unreduced) => HloShardingKind::Unreduced.into(),
                Some(SubgroupKind::Replicated) | None => HloSharding::replicated(),
            });
        }
        let order = axes::digits(mesh, &order).ok_or(HloShardingError::NotOnMesh)?;
        let tiles = match &mesh.device_ids {
            None => TileAssignment::from_digits(&dims, &order),
            Some(_) => listed_tiles(mesh, &dims, &order, subgroups.last()),
        };
        let tiles = tiles.ok_or(HloShardingError::NotOnMesh)?;
        Ok(HloShardingKind::Tiled(TiledSharding { tiles, subgroups }).into())
    }
}

/// The tile assignment over a mesh that lists its devices: as an iota where the list is one.
fn listed_tiles(
    mesh: &Mesh,
    dims: &SmallVec<[u64; 6]>,
    order: &Digits,
    last: Option<&SubgroupKind>,
) -> Option<TileAssignment> {
    let count = digits::count(order);
    if count != mesh.device_count() {
        return None;
    }
    let id = |at| mesh.device_id(digits::device(order, at));
    let mut ids = (0..count).map(id).collect::<Option<Vec<u64>>>()?;
    if last == Some(&SubgroupKind::Replicated) {
        // Copies have no order; XLA sorts them.
        let copies = usize::try_from(*dims.last()?).ok()?;
        ids.chunks_mut(copies.max(1)).for_each(<[u64]>::sort_unstable);
    }
    let raised = if ids.first() == Some(&0) { digits::raise(&ids) } else { None };
    let iota = raised.and_then(|order| TileAssignment::from_digits(dims, &order));
    Some(iota.unwrap_or_else(|| TileAssignment {
        dims: dims.clone(),
        devices: TileDevices::List(ids.into()),
    }))
}

/// A mesh with an axis for each tile dimension, and the devices in the order of the tiles.
fn listed_mesh(tiles: &TileAssignment) -> Result<Mesh, HloShardingError> {
    let sizes = tiles.dims.iter().copied().filter(|&dim| dim != 1);
    let ids = tiles.to_list().filter(|ids| ids.len() as u64 <= MAX_LISTED_DEVICES);
    let mesh = anonymous_mesh(sizes).zip(ids).map(|(mesh, ids)| mesh.with_device_ids(&ids));
    mesh.filter(|mesh| mesh.verify().is_ok()).ok_or(HloShardingError::NotAPermutation)
}

impl NamedSharding {
    fn on_mesh(
        &self,
        mesh: &Mesh,
        id: MeshId,
        rank: usize,
    ) -> Result<(TensorSharding, AxisList), HloShardingError> {
        if *mesh != self.mesh {
            return self.on_other_mesh(mesh, id, rank);
        }
        let rank = if mesh.is_maximal() { 0 } else { rank };
        let mut dims = self.dims.clone().unwrap_or_default();
        if dims.len() > rank {
            return Err(HloShardingError::RankMismatch { tiled: dims.len(), rank });
        }
        dims.resize(rank, DimSharding::default());
        let mut sharding = TensorSharding::from_dims(id, dims)
            .with_replicated(&self.replicated)
            .with_unreduced(&self.unreduced, self.combiner);
        let mut manual = self.manual.clone();
        let all: AxisList = mesh.all_axes().collect();
        match self.whole {
            None | Some(SubgroupKind::Replicated) => {}
            Some(SubgroupKind::Manual) => manual = all,
            Some(SubgroupKind::Unreduced) => {
                sharding = sharding.with_unreduced(&all, self.combiner);
            }
        }
        sharding.verify(mesh, rank)?;
        Ok((sharding, manual))
    }

    /// By way of the tiles; what is said of the whole value holds on any mesh.
    fn on_other_mesh(
        &self,
        mesh: &Mesh,
        id: MeshId,
        rank: usize,
    ) -> Result<(TensorSharding, AxisList), HloShardingError> {
        let whole = match self.whole {
            Some(SubgroupKind::Replicated) => HloShardingKind::Replicated,
            Some(SubgroupKind::Manual) => HloShardingKind::Manual,
            Some(SubgroupKind::Unreduced) => HloShardingKind::Unreduced,
            None => {
                let (own, manual) = self.on_mesh(&self.mesh, id, rank)?;
                HloSharding::from_mesh(&own, &self.mesh, &manual)?.kind
            }
        };
        HloSharding::from(whole).on_mesh(mesh, id, rank)
    }

    /// The sharding over its mesh spelled out, with the given manual axes.
    pub fn from_mesh(sharding: &TensorSharding, mesh: &Mesh, manual: &[AxisRef]) -> NamedSharding {
        let mut named = NamedSharding { mesh: mesh.clone(), ..NamedSharding::default() };
        let all: AxisList = mesh.all_axes().collect();
        let plain = sharding.dims.iter().all(|dim| dim.axes.is_empty() && !dim.open);
        let whole = plain && sharding.replicated.is_empty();
        if mesh.is_maximal() {
            return named;
        }
        if whole && sharding.unreduced.is_empty() && manual.is_empty() {
            named.whole = Some(SubgroupKind::Replicated);
        } else if whole && sharding.unreduced.is_empty() && *manual == *all {
            named.whole = Some(SubgroupKind::Manual);
        } else if whole
            && manual.is_empty()
            && sharding.unreduced == all
            && sharding.combiner == Combiner::Sum
        {
            named.whole = Some(SubgroupKind::Unreduced);
        } else {
            named.dims = Some(sharding.dims.clone()).filter(|dims| !dims.is_empty());
            named.replicated = sharding.replicated.clone();
            named.unreduced = sharding.unreduced.clone();
            named.combiner = sharding.combiner;
            named.manual = manual.into();
        }
        named
    }
}

/// A mesh id that stands for no mesh: for shardings that carry their mesh with them.
pub fn no_mesh() -> MeshId {
    MeshId::reserved_value()
}
