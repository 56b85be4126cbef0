//! Devices, tiles, groups and permutes.

mod sharding_support;

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use shard_ir::*;
use sharding_support::*;

fn groups_on_mesh() -> impl Strategy<Value = (Mesh, AxisList)> {
    mesh().prop_flat_map(|mesh| {
        let list = axis_list(&mesh);
        (Just(mesh), list)
    })
}

/// The groups by comparing devices' coordinates one by one.
fn groups_by_hand(mesh: &Mesh, list: &[AxisRef]) -> BTreeSet<Vec<i64>> {
    let others = axes::complement(mesh, list);
    let value = |axis: &AxisRef, device: u64| {
        let at = mesh.coordinates(device).map_or(0, |c| c[axis.axis.index()]);
        let whole = mesh.axis_size(axis.axis).unwrap_or(1);
        at / (whole / (axis.pre * axis.size)) % axis.size
    };
    let mut groups: BTreeMap<Vec<u32>, Vec<(Vec<u32>, i64)>> = BTreeMap::new();
    for device in 0..mesh.device_count() {
        let key = others.iter().map(|axis| value(axis, device)).collect();
        let place = list.iter().map(|axis| value(axis, device)).collect();
        let id = mesh.device_id(device).map_or(-1, |id| id as i64);
        groups.entry(key).or_default().push((place, id));
    }
    let sorted = |mut group: Vec<(Vec<u32>, i64)>| {
        group.sort();
        group.into_iter().map(|(_, id)| id).collect()
    };
    groups.into_values().map(sorted).collect()
}

fn groups_of(groups: &Groups, mesh: &Mesh) -> Option<BTreeSet<Vec<i64>>> {
    let Groups::List { ids, group_size, .. } = groups.to_list(mesh)? else { return None };
    Some(ids.chunks(group_size as usize).map(<[i64]>::to_vec).collect())
}

proptest! {
    #[test]
    fn device_to_tile_and_back((mesh, sharding) in mesh_and_sharding()) {
        let map = sharding.tile_map(&mesh).ok_or_else(|| TestCaseError::fail("no map"))?;
        prop_assert_eq!(map.tile_counts(), sharding.shard_counts());
        prop_assert_eq!(map.copies() * sharding.tile_count(), mesh.device_count());
        for device in 0..mesh.device_count() {
            let tile = map.tile(device).unwrap_or_default();
            for (dim, &at) in tile.iter().enumerate() {
                prop_assert_eq!(sharding.tile_index(&mesh, device, dim), Some(at));
            }
            prop_assert_eq!(map.holder(&tile, map.copy_index(device)), Some(device));
            let holders: Vec<u64> = map.holders(&tile).collect();
            prop_assert_eq!(holders.len() as u64, map.copies());
            prop_assert!(holders.contains(&device));
            prop_assert!(holders.windows(2).all(|pair| pair[0] < pair[1]));
        }
        prop_assert_eq!(map.tile(mesh.device_count()), None);
        prop_assert_eq!(map.holder(&sharding.shard_counts(), 0).is_some(), sharding.rank() == 0);
    }

    #[test]
    fn coordinates_and_device_ids_round_trip(mesh in mesh()) {
        prop_assert_eq!(mesh.verify(), Ok(()));
        for device in 0..mesh.device_count() {
            let at = mesh.coordinates(device).unwrap_or_default();
            prop_assert_eq!(mesh.device_at(&at), Some(device));
            let id = mesh.device_id(device).unwrap_or(u64::MAX);
            prop_assert_eq!(mesh.logical_index(id), Some(device));
        }
        prop_assert_eq!(mesh.coordinates(mesh.device_count()), None);
    }

    #[test]
    fn tiles_cover_the_tensor(
        (mesh, sharding) in mesh_and_sharding(),
        sizes in prop::collection::vec(0i64..30, 3),
    ) {
        let global = &sizes[..sharding.rank()];
        let local = sharding.local_shape(global).unwrap_or_default();
        for (dim, (&local, &global)) in local.iter().zip(global).enumerate() {
            let shards = sharding.shard_count(dim) as i64;
            prop_assert!(local * shards >= global && (local - 1).max(0) * shards <= global);
        }
        let even: Vec<i64> =
            global.iter().enumerate().map(|(dim, g)| g * sharding.shard_count(dim) as i64).collect();
        prop_assert!(sharding.is_even(&even));
        prop_assert_eq!(sharding.local_shape(&even), Some(global.to_vec()));
        for device in 0..mesh.device_count() {
            let offsets = sharding.offsets(&mesh, device, &even).unwrap_or_default();
            for (dim, &offset) in offsets.iter().enumerate() {
                let at = sharding.tile_index(&mesh, device, dim).unwrap_or(99) as i64;
                prop_assert_eq!(offset, at * global[dim]);
            }
            let offsets = sharding.offsets(&mesh, device, global).unwrap_or_default();
            prop_assert!(offsets.iter().zip(global).all(|(offset, size)| offset <= size));
        }
    }

    #[test]
    fn random_shardings_are_accepted((mesh, sharding) in mesh_and_sharding()) {
        prop_assert_eq!(sharding.verify(&mesh, sharding.rank()), Ok(()));
        let normal = sharding.clone().normalized();
        prop_assert_eq!(normal.verify(&mesh, sharding.rank()), Ok(()));
        prop_assert!(normal.is_equivalent(&sharding));
        prop_assert_eq!(normal.tile_map(&mesh).map(|map| map.tile_counts()),
            sharding.tile_map(&mesh).map(|map| map.tile_counts()));
        prop_assert!(sharding.clone().closed().is_equivalent(&sharding));
        prop_assert_eq!(sharding.clone().closed().verify(&mesh, sharding.rank()), Ok(()));
    }

    #[test]
    fn groups_by_axes_are_the_lists_and_raise_back((mesh, list) in groups_on_mesh()) {
        let groups = Groups::along(mesh_id(), &list);
        let expected = groups_by_hand(&mesh, &list);
        prop_assert_eq!(groups.group_size() * groups.group_count(&mesh), mesh.device_count());
        prop_assert_eq!(groups_of(&groups, &mesh), Some(expected.clone()));

        let raised = groups.to_list(&mesh).and_then(|explicit| explicit.to_axes(&mesh, mesh_id()));
        let Some(Groups::Axes { axes: back, .. }) = &raised else {
            return Err(TestCaseError::fail("not raised"));
        };
        let merged = |list: &[AxisRef]| digits::merged(&axes::digits(&mesh, list).unwrap_or_default());
        prop_assert_eq!(merged(back), merged(&list));
        if let Some(iota) = groups.to_iota(&mesh) {
            prop_assert_eq!(groups_of(&iota, &mesh), Some(expected.clone()));
            let raised = iota.to_axes(&mesh, mesh_id());
            prop_assert_eq!(raised.and_then(|raised| groups_of(&raised, &mesh)), Some(expected));
        } else {
            prop_assert!(mesh.device_ids.is_some());
        }
    }

    #[test]
    fn members_and_positions_agree((mesh, list) in groups_on_mesh()) {
        let along = Groups::along(mesh_id(), &list);
        let forms = [Some(along.clone()), along.to_iota(&mesh), along.to_list(&mesh)];
        for groups in forms.into_iter().flatten() {
            let Some(Groups::List { ids, group_size, .. }) = groups.to_list(&mesh) else {
                return Err(TestCaseError::fail("no list"));
            };
            for (at, &id) in ids.iter().enumerate() {
                let (group, index) = (at as u64 / group_size, at as u64 % group_size);
                prop_assert_eq!(groups.member(&mesh, group, index), Some(id as u64));
                prop_assert_eq!(groups.position_of(&mesh, id as u64), Some((group, index)));
            }
            prop_assert_eq!(groups.member(&mesh, groups.group_count(&mesh), 0), None);
            prop_assert_eq!(groups.member(&mesh, 0, group_size), None);
        }
    }

    #[test]
    fn a_permute_brings_every_device_its_tile(
        ((mesh, from), choice) in (mesh_and_sharding(), any::<prop::sample::Index>())
    ) {
        // The same axes in another order: rotate the axes of each dimension, and swap equal ones.
        let mut to = from.clone();
        for dim in &mut to.dims {
            if !dim.axes.is_empty() {
                let by = choice.index(dim.axes.len());
                dim.axes.rotate_left(by);
            }
        }
        if let Some(dim) = to.dims.iter().position(|dim| !dim.axes.is_empty()) {
            let free = from.replication_axes(&mesh);
            let size = axes::product(&to.dims[dim].axes);
            if axes::product(&free) == size {
                to.dims[dim].axes = free;
            }
        }
        let Some(pairs) = from.permute_pairs(&mesh, &to) else {
            return Err(TestCaseError::fail("no pairs"));
        };
        let (before, after) = (from.tile_map(&mesh), to.tile_map(&mesh));
        let tile = |map: &Option<TileMap>, id: u64| {
            map.as_ref().and_then(|map| map.tile(mesh.logical_index(id)?))
        };
        let (mut sources, mut targets) = (BTreeSet::new(), BTreeSet::new());
        for (source, target) in pairs {
            prop_assert_eq!(tile(&before, source), tile(&after, target));
            sources.insert(source);
            targets.insert(target);
        }
        prop_assert_eq!(sources.len() as u64, mesh.device_count());
        prop_assert_eq!(sources, targets);
        if let Some(mut pairs) = from.permute_pairs(&mesh, &from) {
            prop_assert!(pairs.all(|(source, target)| source == target));
        }
    }
}

#[test]
fn a_million_devices_cost_nothing() -> Result<(), ShardingError> {
    let mesh = Mesh::new(&[("x", 1024), ("y", 1024)]);
    let axes: Vec<AxisRef> = mesh.all_axes().collect();
    let sharding = TensorSharding::closed_over(mesh_id(), &[&[axes[1]], &[axes[0]]]);
    sharding.verify(&mesh, 2)?;
    assert_eq!(sharding.tile_index(&mesh, 1_048_575, 0), Some(1023));
    let groups = Groups::along(mesh_id(), &axes[..1]);
    assert_eq!(groups.member(&mesh, 5, 7), Some(7 * 1024 + 5));
    assert_eq!(groups.position_of(&mesh, 7 * 1024 + 5), Some((5, 7)));
    let text = HloSharding::from_mesh(&sharding, &mesh, &[]).map(|sharding| sharding.to_string());
    assert_eq!(text.as_deref(), Ok("{devices=[1024,1024]<=[1024,1024]T(1,0)}"));
    Ok(())
}

#[test]
fn ragged_groups_keep_their_fillers() {
    let mesh = Mesh::new(&[("x", 4)]);
    let groups = Groups::list([&[0i64, 1, 2][..], &[3]]);
    assert_eq!(groups.member(&mesh, 1, 0), Some(3));
    assert_eq!(groups.member(&mesh, 1, 1), None);
    assert_eq!(groups.position_of(&mesh, 2), Some((0, 2)));
    assert_eq!(groups.to_axes(&mesh, mesh_id()), None);
    assert_eq!(groups.to_iota(&mesh), None);
}

#[test]
fn groups_in_any_order_raise() {
    let mesh = Mesh::new(&[("x", 2), ("y", 4)]);
    let axes: Vec<AxisRef> = mesh.all_axes().collect();
    let along_x = Some(Groups::along(mesh_id(), &axes[..1]));
    let groups = Groups::list([&[3i64, 7][..], &[0, 4], &[2, 6], &[1, 5]]);
    assert_eq!(groups.to_axes(&mesh, mesh_id()), along_x);
    // Backwards, mixed, and with a device twice: not along axes.
    for groups in [
        [[7i64, 3], [0, 4], [2, 6], [1, 5]],
        [[0, 4], [1, 2], [5, 6], [3, 7]],
        [[0, 4], [0, 4], [2, 6], [1, 5]],
        [[0, 4], [3, 9], [2, 6], [1, 5]],
    ] {
        let groups = Groups::list(groups.iter().map(|group| &group[..]));
        assert_eq!(groups.to_axes(&mesh, mesh_id()), None);
    }
}
