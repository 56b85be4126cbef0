//! Work of a program, and what devices repeat.

use std::collections::BTreeMap;

use cranelift_entity::SecondaryMap;
use shard_cost::liveness::{MemoryOptions, memory};
use shard_cost::program::{counts, work};
use shard_ir::sharding::Groups;
use shard_ir::{LocId, Module, OpId};
use shard_passes::reasons::without_reason;

use super::model::{Compute, RepeatedWork};
use super::place::Places;

/// An op with the number of times that it runs in a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// The op.
    pub op: OpId,
    /// How often it runs.
    pub count: u64,
    /// Whether a loop around it has an unknown trip count, taken for 1.
    pub unknown: bool,
}

/// Every op of the main function and of those it calls, with the number of times that it runs.
pub(super) fn runs(module: &Module) -> Vec<Run> {
    let Some(main) = module.main_func() else { return Vec::new() };
    let mut unknown: SecondaryMap<OpId, bool> = SecondaryMap::new();
    for op in work(module, main).unknown_loops {
        for &region in module.regions(op) {
            module.walk(region, |inner| unknown[inner] = true);
        }
    }
    counts(module, main)
        .into_iter()
        .map(|(op, count)| Run { op, count, unknown: unknown[op] })
        .collect()
}

/// FLOP of a program's main function.
fn flops(module: &Module) -> f64 {
    module.main_func().map_or(0.0, |main| work(module, main).work.flops)
}

/// The work of a per-device program alone.
pub(super) fn of_local(local: &Module) -> Compute {
    Compute { device_flops: flops(local), ..Compute::default() }
}

/// The work of a per-device program beside that of the whole. Ops are compared by their names and
/// source lines, which passes keep.
pub(super) fn compare(
    whole: &Module,
    local: &Module,
    devices: u64,
    places: &Places<'_>,
) -> Compute {
    let (whole_flops, device_flops) = (flops(whole), flops(local));
    let share = devices.max(1) as f64;
    let ratio = (whole_flops > 0.0).then(|| device_flops * share / whole_flops);

    let before = by_source(whole);
    let mut repeated = Vec::new();
    for ((name, loc), after) in by_source(local) {
        let Some(&before) = before.get(&(name.clone(), loc)) else { continue };
        let excess = after - before / share;
        // What is less than half a hundredth of all isn't worth a line.
        if excess > 1e-9 * before && excess * 200.0 >= device_flops {
            repeated.push(RepeatedWork {
                op: name,
                location: places.text(local, loc),
                whole_flops: before,
                device_flops: after,
                excess_flops: excess,
            });
        }
    }
    repeated.sort_by(|a, b| b.excess_flops.total_cmp(&a.excess_flops));
    Compute { whole_flops: Some(whole_flops), device_flops, ratio_to_even: ratio, repeated }
}

/// FLOP by the name of the op and its location. Both modules come from one, so that locations of
/// one are valid in the other.
fn by_source(module: &Module) -> BTreeMap<(String, LocId), f64> {
    let mut sums = BTreeMap::new();
    for run in runs(module) {
        let flops = shard_cost::ops::flops(module, run.op) * run.count as f64;
        if flops > 0.0 {
            let name = module.op_name(run.op);
            let name = name.split_once('.').map_or(name, |(_, short)| short).to_owned();
            let loc = without_reason(module, module.op(run.op).loc);
            *sums.entry((name, loc)).or_insert(0.0) += flops;
        }
    }
    sums
}

/// The number of devices that a per-device program's collectives name, where it doesn't state any.
pub(super) fn devices_named(module: &Module) -> u64 {
    use shard_ir::ops::{Collective, Op};
    let mut most = 1;
    for run in runs(module) {
        let Op::Collective(op) = module.kind(run.op) else { continue };
        let highest = match op {
            Collective::AllGather(op) => highest(&op.groups),
            Collective::AllReduce(op) => highest(&op.groups),
            Collective::ReduceScatter(op) => highest(&op.groups),
            Collective::AllToAll(op) => highest(&op.groups),
            Collective::CollectiveBroadcast(op) => highest(&op.groups),
            Collective::CollectivePermute(op) => {
                op.pairs.0.iter().flatten().filter_map(|&id| u64::try_from(id).ok()).max()
            }
            Collective::PartitionId | Collective::ReplicaId => None,
        };
        most = most.max(highest.map_or(1, |id| id.saturating_add(1)));
    }
    most
}

fn highest(groups: &Groups) -> Option<u64> {
    match groups {
        Groups::Axes { .. } => None,
        Groups::Iota { num_groups, group_size, .. } => {
            num_groups.checked_mul(*group_size)?.checked_sub(1)
        }
        Groups::List { ids, .. } => ids.iter().filter_map(|&id| u64::try_from(id).ok()).max(),
    }
}

/// The most bytes alive at once in the main function, in program order.
pub(super) fn peak_bytes(module: &Module) -> u64 {
    let options = MemoryOptions::default();
    module.main_func().map_or(0, |main| memory(module, main, &options).peak)
}
