//! Which device holds which tile, and where a tile begins.

use smallvec::SmallVec;

use super::axes;
use super::digits::{self, Digits};
use super::mesh::Mesh;
use super::tensor::TensorSharding;

/// The map between the devices of a mesh and the tiles of a sharded tensor.
///
/// A tile is named by its index along each dimension. Devices are logical indices of the mesh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TileMap {
    dims: SmallVec<[Digits; 4]>,
    free: Digits,
    devices: u64,
}

impl TensorSharding {
    /// The map between devices and tiles; `None` where the sharding has axes that the mesh
    /// doesn't have, or parts that don't divide them.
    pub fn tile_map(&self, mesh: &Mesh) -> Option<TileMap> {
        let dims = self.dims.iter().map(|dim| axes::digits(mesh, &dim.axes)).collect::<Option<_>>();
        let used: axes::AxisList = self.dim_axes_in_order().collect();
        let free = axes::digits(mesh, &axes::complement(mesh, &used))?;
        Some(TileMap { dims: dims?, free, devices: mesh.device_count() })
    }

    /// The index, along one dimension, of the tile that a device holds.
    pub fn tile_index(&self, mesh: &Mesh, device: u64, dim: usize) -> Option<u64> {
        if device >= mesh.device_count() {
            return None;
        }
        Some(digits::position(&axes::digits(mesh, &self.dims.get(dim)?.axes)?, device))
    }

    /// Where a device's tile begins in each dimension of a tensor of the given shape: tile index
    /// times the rounded-up tile size, at most the dimension's size (a tile may be padding only).
    ///
    /// `None` where the rank differs, a split dimension is dynamic (negative), or the device is
    /// out of range.
    pub fn offsets(&self, mesh: &Mesh, device: u64, global: &[i64]) -> Option<Vec<i64>> {
        let tile = self.tile_map(mesh)?.tile(device)?;
        if global.len() != self.rank() {
            return None;
        }
        let offset = |((dim, &size), &at): ((&super::DimSharding, &i64), &u64)| {
            if at == 0 && (size >= 0 || dim.shard_count() == 1) {
                return Some(0);
            }
            let begin = u64::try_from(dim.local_size(size)).ok()?.saturating_mul(at);
            let limit = u64::try_from(size).ok()?;
            i64::try_from(begin.min(limit)).ok()
        };
        self.dims.iter().zip(global).zip(&tile).map(offset).collect()
    }
}

impl TileMap {
    /// The number of tiles along each dimension.
    pub fn tile_counts(&self) -> SmallVec<[u64; 4]> {
        self.dims.iter().map(|dim| digits::count(dim)).collect()
    }

    /// The tile that a device holds; `None` where the device is out of range.
    pub fn tile(&self, device: u64) -> Option<SmallVec<[u64; 4]>> {
        let tile = || self.dims.iter().map(|dim| digits::position(dim, device)).collect();
        (device < self.devices).then(tile)
    }

    /// The number of devices that hold each tile.
    pub fn copies(&self) -> u64 {
        digits::count(&self.free)
    }

    /// Which of the holders of its tile a device is: its position in [`TileMap::holders`].
    pub fn copy_index(&self, device: u64) -> u64 {
        digits::position(&self.free, device)
    }

    /// The `copy`-th device that holds a tile; `None` where there is no such tile or copy.
    pub fn holder(&self, tile: &[u64], copy: u64) -> Option<u64> {
        if tile.len() != self.dims.len() || copy >= self.copies() {
            return None;
        }
        let mut device = digits::device(&self.free, copy);
        for (dim, &at) in self.dims.iter().zip(tile) {
            if at >= digits::count(dim) {
                return None;
            }
            device = device.checked_add(digits::device(dim, at))?;
        }
        Some(device)
    }

    /// The devices that hold a tile: one, and its copies along the other axes, in the order of
    /// the mesh. Empty where there is no such tile.
    pub fn holders<'a>(&'a self, tile: &'a [u64]) -> impl Iterator<Item = u64> + 'a {
        let copies = if self.holder(tile, 0).is_some() { self.copies() } else { 0 };
        (0..copies).filter_map(move |copy| self.holder(tile, copy))
    }
}
