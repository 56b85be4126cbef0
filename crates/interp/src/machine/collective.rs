//! What collectives compute, once all devices of a group are there.

use shard_ir::OpId;
use shard_ir::ops::{Collective, CollectivePermute, Op};

use super::groups::{Ids, lists};
use super::{Program, World, blocks};
use crate::ops::movement;
use crate::site::Site;
use crate::{Fault, Tensor, Value};

/// The devices that take part together: each list by itself.
pub(super) struct Participants {
    /// The groups, in which no device is twice.
    pub groups: Vec<Vec<usize>>,
    /// Devices in no group get zeros in the place of results.
    pub others_get_zeros: bool,
}

/// Who takes part in a collective; `None` for ops that need nobody.
///
/// # Errors
/// If the groups name a device that isn't there, or one twice.
pub(super) fn participants(
    program: &Program<'_>,
    op: OpId,
    kind: &Collective,
) -> Result<Option<Participants>, Fault> {
    let world = program.world;
    let reduction = |groups, channel: &Option<shard_ir::Channel>, global: bool| {
        let channel = channel.map_or(0, |channel| channel.handle);
        let ids = Ids::of_reduction(groups, channel, global);
        (ids.groups(&lists(groups, program.module), world), false)
    };
    let exchange = |groups, channel: &Option<shard_ir::Channel>, zeros: bool| {
        let channel = channel.map_or(0, |channel| channel.handle);
        let ids = Ids::of_exchange(Some(groups), channel);
        (ids.groups(&lists(groups, program.module), world), zeros)
    };
    let (groups, others_get_zeros) = match kind {
        Collective::PartitionId | Collective::ReplicaId => return Ok(None),
        Collective::AllGather(op) => reduction(&op.groups, &op.channel, op.global_ids.0),
        Collective::AllReduce(op) => reduction(&op.groups, &op.channel, op.global_ids.0),
        Collective::ReduceScatter(op) => reduction(&op.groups, &op.channel, op.global_ids.0),
        Collective::AllToAll(op) => exchange(&op.groups, &op.channel, false),
        Collective::CollectiveBroadcast(op) => exchange(&op.groups, &op.channel, true),
        Collective::CollectivePermute(permute) => {
            let channel = permute.channel.map_or(0, |channel| channel.handle);
            let ids = Ids::of_exchange(None, channel);
            (senders_and_receivers(ids, permute, world), true)
        }
    };
    let groups = groups?;
    let mut seen = vec![false; world.devices()];
    for &device in groups.iter().flatten() {
        if std::mem::replace(&mut seen[device], true) {
            let name = program.module.op_name(op);
            return Err(Fault::invalid(format!(
                "device {device} is twice in the groups of {name}"
            )));
        }
    }
    Ok(Some(Participants { groups, others_get_zeros }))
}

/// The devices that send or receive, those that communicate by themselves in a group of their own.
fn senders_and_receivers(
    ids: Ids,
    permute: &CollectivePermute,
    world: World,
) -> Result<Vec<Vec<usize>>, Fault> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for pair in &permute.pairs.0 {
        for (set, ends) in ids.groups(&[pair.to_vec()], world)?.into_iter().enumerate() {
            groups.resize_with(groups.len().max(set + 1), Vec::new);
            groups[set].extend(ends);
        }
    }
    for group in &mut groups {
        group.sort_unstable();
        group.dedup();
    }
    Ok(groups)
}

/// The results of each device of a group, in its order. `operands` are each device's.
///
/// # Errors
/// If shapes don't fit.
pub(super) fn results(
    program: &Program<'_>,
    site: &Site<'_>,
    group: &[usize],
    operands: &[&[Value]],
) -> Result<Vec<Vec<Value>>, Fault> {
    let Op::Collective(kind) = site.kind() else {
        return Err(Fault::invalid("no collective"));
    };
    let count = site.module.results(site.op).len();
    // One list of results an operand, each with one tensor a device.
    let mut columns: Vec<Vec<Tensor>> = Vec::with_capacity(count);
    for index in 0..count {
        let parts = parts(operands, index)?;
        if parts.iter().any(|part| part.dims() != parts[0].dims()) {
            return Err(Fault::invalid("devices bring operands of different shapes"));
        }
        columns.push(match kind {
            Collective::AllGather(op) => {
                let dim = dimension(op.dimension, parts[0])?;
                vec![joined(&parts, dim)?; group.len()]
            }
            Collective::AllReduce(_) => vec![reduced(site, &parts)?; group.len()],
            Collective::ReduceScatter(op) => {
                let dim = dimension(op.dimension, parts[0])?;
                blocks::split(&reduced(site, &parts)?, dim, group.len())?
            }
            Collective::AllToAll(op) => {
                if usize::try_from(op.count) != Ok(group.len()) {
                    return Err(Fault::invalid(format!(
                        "{} blocks for a group of {} devices",
                        op.count,
                        group.len()
                    )));
                }
                let (from, to) = (dimension(op.split, parts[0])?, dimension(op.concat, parts[0])?);
                let sent = parts
                    .iter()
                    .map(|part| blocks::split(part, from, group.len()))
                    .collect::<Result<Vec<_>, _>>()?;
                (0..group.len())
                    .map(|device| {
                        let received: Vec<&Tensor> = sent.iter().map(|to| &to[device]).collect();
                        joined(&received, to)
                    })
                    .collect::<Result<Vec<_>, _>>()?
            }
            Collective::CollectiveBroadcast(_) => {
                let source = root(operands, count, index)?;
                let sent = parts.get(source).ok_or_else(|| {
                    Fault::invalid(format!("the root {source} isn't in the group"))
                })?;
                vec![(*sent).clone(); group.len()]
            }
            Collective::CollectivePermute(op) => {
                let channel = op.channel.map_or(0, |channel| channel.handle);
                let ids = Ids::of_exchange(None, channel);
                let mut received: Vec<Option<Tensor>> = vec![None; group.len()];
                let position = |device: &usize| group.iter().position(|member| member == device);
                for pair in &op.pairs.0 {
                    for end in ids.groups(&[pair.to_vec()], program.world)? {
                        let (Some(source), Some(target)) =
                            (end.first().and_then(position), end.get(1).and_then(position))
                        else {
                            continue;
                        };
                        if received[target].replace(parts[source].clone()).is_some() {
                            return Err(Fault::invalid(format!(
                                "device {} receives twice",
                                end[1]
                            )));
                        }
                    }
                }
                let zeros = || super::device::zeros_like(parts[0]);
                received.into_iter().map(|part| part.unwrap_or_else(zeros)).collect()
            }
            Collective::PartitionId | Collective::ReplicaId => Vec::new(),
        });
    }
    Ok((0..group.len())
        .map(|device| columns.iter().map(|column| Value::from(column[device].clone())).collect())
        .collect())
}

/// The position in the group of the device that has or gets the value: the first, unless operands
/// behind the `count` values state it (`has_dynamic_root`).
pub(super) fn root(operands: &[&[Value]], count: usize, index: usize) -> Result<usize, Fault> {
    let Some(roots) = operands.first().and_then(|list| list.get(count)) else { return Ok(0) };
    let roots = roots.tensor()?;
    if !roots.element().is_integer() {
        return Err(Fault::invalid("a root that is no integer"));
    }
    let roots = roots.integers();
    let root = roots.get(index).or(roots.first()).and_then(|root| usize::try_from(*root).ok());
    root.ok_or_else(|| Fault::invalid("a root that is no device"))
}

/// The operand of that number, of each device.
pub(super) fn parts<'v>(operands: &[&'v [Value]], index: usize) -> Result<Vec<&'v Tensor>, Fault> {
    let part = |list: &&'v [Value]| match list.get(index) {
        Some(value) => value.tensor(),
        None => Err(Fault::invalid("an operand is missing")),
    };
    operands.iter().map(part).collect()
}

/// Parts of several devices combined by the region of an op, in the order of the group.
///
/// # Errors
/// Those of the region.
pub(super) fn reduced(site: &Site<'_>, parts: &[&Tensor]) -> Result<Tensor, Fault> {
    let region = site.region(0)?;
    let (first, rest) =
        parts.split_first().ok_or_else(|| Fault::invalid("nobody takes part in the reduction"))?;
    let mut sum = (*first).clone();
    for part in rest {
        let combined = region.apply(&[sum, (*part).clone()])?;
        let [combined] = <[Tensor; 1]>::try_from(combined)
            .map_err(|_| Fault::invalid("a reducer with several results"))?;
        sum = combined.reshaped(shard_ir::Dims::from_slice(first.dims()));
    }
    Ok(sum)
}

fn joined(parts: &[&Tensor], dim: usize) -> Result<Tensor, Fault> {
    let parts: Vec<Tensor> = parts.iter().map(|part| (*part).clone()).collect();
    movement::concatenate(&parts, dim as i64)
}

fn dimension(dim: i64, tensor: &Tensor) -> Result<usize, Fault> {
    usize::try_from(dim)
        .ok()
        .filter(|dim| *dim < tensor.rank())
        .ok_or_else(|| Fault::invalid(format!("there is no dimension {dim}")))
}
