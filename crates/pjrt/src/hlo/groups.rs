//! Sizes of the groups of devices that a collective works on.

use crate::proto;

/// Devices that a program runs on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Devices {
    pub replicas: u64,
    pub partitions: u64,
}

/// Devices in a collective's group; in the largest, where groups differ.
pub(super) fn size(instruction: &proto::Instruction, devices: Devices) -> u64 {
    let Devices { replicas, partitions } = devices;
    // XLA's `GetCollectiveOpGroupMode`: what the ids in the groups stand for.
    let has_channel = instruction.channel_id > 0;
    let knows_global_ids = ["all-reduce", "all-gather", "reduce-scatter"].iter().any(|name| {
        instruction.opcode.strip_suffix("-start").unwrap_or(&instruction.opcode) == *name
    });
    // Devices when no groups are given, and devices that one id stands for.
    let (all, each) = match (has_channel, knows_global_ids, instruction.use_global_device_ids) {
        // Replicas, each partition on its own.
        (false, _, _) => (replicas, 1),
        // Global ids.
        (true, _, true) => (replicas.saturating_mul(partitions), 1),
        // Replicas, with all partitions of each.
        (true, true, false) => (replicas.saturating_mul(partitions), partitions),
        // Partitions, each replica on its own.
        (true, false, false) => (partitions, 1),
    };
    listed(instruction).map_or(all, |size| size.saturating_mul(each))
}

/// The largest group in the lists that the instruction has, in whichever form.
fn listed(instruction: &proto::Instruction) -> Option<u64> {
    let iota = |list: &proto::IotaReplicaGroupList| u64::try_from(list.num_devices_per_group).ok();
    let lists = |groups: &[proto::ReplicaGroup]| {
        groups.iter().map(|group| group.replica_ids.len() as u64).max().filter(|size| *size > 0)
    };
    if let Some(list) = &instruction.iota_collective_device_list {
        return iota(list).filter(|size| *size > 0);
    }
    if let Some(list) = &instruction.mesh_axes_replica_group_list {
        return mesh_axes(list);
    }
    if let Some(list) = &instruction.collective_device_list {
        if let Some(size) = list.iota_replica_group_list.as_ref().and_then(iota) {
            return Some(size).filter(|size| *size > 0);
        }
        if let Some(size) = lists(&list.replica_groups) {
            return Some(size);
        }
    }
    lists(&instruction.replica_groups)
}

fn mesh_axes(list: &proto::MeshAxesReplicaGroupList) -> Option<u64> {
    let mesh = list.mesh.as_ref()?;
    list.axes.iter().try_fold(1u64, |product, axis| {
        let size = match &axis.sub_axis_info {
            Some(sub_axis) => sub_axis.size,
            None => mesh.axes.get(usize::try_from(axis.mesh_axis_index).ok()?)?.size,
        };
        product.checked_mul(u64::try_from(size).ok()?)
    })
}
