//! Random meshes, axis lists and shardings.
#![allow(dead_code, reason = "each test binary uses a part of it")]

use proptest::prelude::*;
use proptest::sample::select;
use shard_ir::*;

pub const MESH: u32 = 0;

pub fn mesh_id() -> MeshId {
    MeshId::from_u32(MESH)
}

fn shuffled(count: u64) -> impl Strategy<Value = Vec<u64>> {
    Just((0..count).collect::<Vec<u64>>()).prop_shuffle()
}

/// Up to three axes, at most 288 devices in their natural order.
pub fn natural_mesh() -> impl Strategy<Value = Mesh> {
    let size = select(vec![1u32, 2, 2, 3, 4, 4, 6, 8, 12]);
    prop::collection::vec(size, 0..4).prop_map(|mut sizes| {
        while sizes.iter().product::<u32>() > 288 {
            sizes.pop();
        }
        let names = ["x", "y", "z z"];
        let axes: Vec<(&str, u32)> = names.into_iter().zip(sizes).collect();
        Mesh::new(&axes)
    })
}

/// The same, sometimes in another order: shuffled, or transposed.
pub fn mesh() -> impl Strategy<Value = Mesh> {
    natural_mesh().prop_flat_map(|mesh| {
        let count = mesh.device_count();
        let other = mesh.clone();
        let reordered = shuffled(count).prop_map(move |ids| {
            if other.axes.is_empty() { other.clone() } else { other.clone().with_device_ids(&ids) }
        });
        let (a, b) = (mesh.axes.first().map_or(1, |axis| u64::from(axis.size)), count);
        let transposed: Vec<u64> = (0..b).map(|at| at % a * (b / a) + at / a).collect();
        let transposed = if mesh.axes.is_empty() {
            mesh.clone()
        } else {
            mesh.clone().with_device_ids(&transposed)
        };
        prop_oneof![3 => Just(mesh), 1 => reordered, 1 => Just(transposed)]
    })
}

/// A splitting of the mesh's axes into parts, shuffled.
pub fn parts(mesh: &Mesh) -> impl Strategy<Value = Vec<AxisRef>> + use<> {
    let all: Vec<AxisRef> = mesh.all_axes().collect();
    let choices = prop::collection::vec(any::<prop::sample::Index>(), all.len() * 4);
    choices.prop_flat_map(move |choices| {
        let mut parts = Vec::new();
        for (at, &axis) in all.iter().enumerate() {
            let mut rest = axis;
            for choice in &choices[at * 4..at * 4 + 4] {
                let divisors: Vec<u32> = (1..=rest.size).filter(|d| rest.size % d == 0).collect();
                let Some((major, minor)) = rest.split(*choice.get(&divisors)) else { break };
                parts.push(major);
                rest = minor;
            }
            parts.push(rest);
        }
        Just(parts).prop_shuffle()
    })
}

/// A sharding that suits the mesh.
pub fn sharding(mesh: &Mesh, rank: usize) -> impl Strategy<Value = TensorSharding> + use<> {
    let place = 0..rank + 4;
    let count = mesh.axes.len() * 5;
    let places = prop::collection::vec(place, count);
    let flags = prop::collection::vec((any::<bool>(), prop::option::of(0u32..3)), rank);
    let combiner = select(vec![Combiner::Sum, Combiner::Max, Combiner::Min]);
    (parts(mesh), places, flags, combiner).prop_map(move |(parts, places, flags, combiner)| {
        let mut dims = vec![Vec::new(); rank];
        let (mut replicated, mut unreduced) = (Vec::new(), Vec::new());
        for (part, place) in parts.into_iter().zip(places) {
            if let Some(dim) = dims.get_mut(place) {
                dim.push(part);
            } else if place == rank {
                replicated.push(part);
            } else if place == rank + 1 {
                unreduced.push(part);
            }
        }
        let dims = dims.into_iter().zip(flags).map(|(axes, (open, priority))| DimSharding {
            priority: priority.filter(|_| open || !axes.is_empty()),
            axes: axes::canonical(&axes),
            open,
        });
        TensorSharding::from_dims(mesh_id(), dims)
            .with_replicated(&replicated)
            .with_unreduced(&unreduced, combiner)
    })
}

pub fn mesh_and_sharding() -> impl Strategy<Value = (Mesh, TensorSharding)> {
    (mesh(), 0usize..4).prop_flat_map(|(mesh, rank)| {
        let sharding = sharding(&mesh, rank);
        (Just(mesh), sharding)
    })
}

/// Some disjoint parts of the mesh, in some order.
pub fn axis_list(mesh: &Mesh) -> impl Strategy<Value = AxisList> + use<> {
    (parts(mesh), 0usize..5)
        .prop_map(|(parts, count)| parts.into_iter().take(count).collect::<AxisList>())
}

/// Any part of any axis of the mesh.
pub fn any_part(mesh: &Mesh) -> impl Strategy<Value = AxisRef> + use<> {
    let mut all = Vec::new();
    for axis in mesh.all_axes() {
        let n = axis.size;
        for pre in (1..=n).filter(|pre| n % pre == 0) {
            let sizes = (2..=n / pre).filter(|size| (n / pre) % size == 0);
            all.extend(sizes.map(|size| AxisRef::sub(axis.axis, pre, size)));
        }
        if n == 1 {
            all.push(axis);
        }
    }
    select(if all.is_empty() { vec![AxisRef::sub(AxisIndex(0), 1, 2)] } else { all })
}
