//! Collectives of the per-device program.

use rustc_hash::FxHashSet;

use crate::ops::{AllGather, AllReduce, AllToAll, Collective, Flag, Pairs, ReduceScatter};
use crate::sharding::{Groups, Mesh};
use crate::{Attr, Channel, DYNAMIC, ElementType, TensorType};

use super::InferredType;
use super::context::{Cx, Found, like, size, tensor};
use super::reducer::{Reduced, reducer};

pub(super) fn infer(cx: &mut Cx, kind: &Collective) -> Found {
    match kind {
        Collective::PartitionId | Collective::ReplicaId => {
            Some(vec![tensor(ElementType::UI32, [])])
        }
        Collective::AllGather(op) => all_gather(cx, op),
        Collective::AllReduce(op) => all_reduce(cx, op),
        Collective::ReduceScatter(op) => reduce_scatter(cx, op),
        Collective::AllToAll(op) => all_to_all(cx, op),
        Collective::CollectivePermute(op) => {
            let x = cx.tensor(0, "operand")?;
            pairs(cx, &op.pairs);
            like(x)
        }
        Collective::CollectiveBroadcast(op) => {
            distinct(cx, &op.groups, false);
            broadcast(cx)
        }
    }
}

/// Complains where a device is listed twice, is negative, or (where `all`) one is left out.
/// Returns the ids that were listed, with fillers.
fn distinct(cx: &mut Cx, groups: &Groups, all: bool) {
    let Groups::List { ids, .. } = groups else { return };
    let mut seen = FxHashSet::default();
    for &id in ids.iter().filter(|&&id| id != -1 || !all) {
        check!(cx, id >= 0, "replica_groups has id {id}, negative");
        check!(cx, seen.insert(id), "replica_groups has id {id} twice");
    }
    if all && cx.errors.is_empty() {
        let missing = (0..seen.len() as i64).find(|id| !seen.contains(id));
        if let Some(id) = missing {
            complain!(cx, "replica_groups has {} ids, but not {id}", seen.len());
        }
    }
}

/// The mesh that groups by axes are of; complains where it isn't there or lacks an axis.
fn mesh<'a>(cx: &mut Cx<'a>, groups: &Groups) -> Option<Option<&'a Mesh>> {
    let Groups::Axes { mesh, axes } = groups else { return Some(None) };
    let module = cx.module;
    let def = module.meshes.get(*mesh);
    require!(cx, def.is_some(), "replica_groups name a mesh that isn't there");
    let mesh = &def?.mesh;
    for axis in axes {
        require!(cx, axis.is_valid(mesh), "replica_groups name an axis that the mesh doesn't have");
    }
    require!(
        cx,
        crate::sharding::axes::is_disjoint_list(axes),
        "replica_groups name overlapping axes"
    );
    Some(Some(mesh))
}

/// Checks the groups. Returns the number of processes in a group, where it is known: without a
/// channel, or with global ids, that is the number of ids; otherwise all partitions of them.
fn groups(
    cx: &mut Cx,
    groups: &Groups,
    channel: Option<Channel>,
    global: Flag,
    same_size: bool,
) -> Option<Option<i64>> {
    mesh(cx, groups)?;
    if same_size && let Groups::List { ids, .. } = groups {
        require!(cx, !ids.contains(&-1), "replica_groups has groups of different sizes");
    }
    distinct(cx, groups, true);
    let count = i64::try_from(groups.group_size()).unwrap_or(i64::MAX);
    let empty = matches!(groups, Groups::List { ids, .. } if ids.is_empty());
    check!(cx, !(global.0 && empty), "replica_groups is empty, but use_global_device_ids is set");
    let handle = channel.map_or(0, |channel| channel.handle);
    check!(
        cx,
        !global.0 || handle > 0,
        "use_global_device_ids is set, but the channel is {handle}, not positive"
    );
    if empty || count == 0 {
        return Some(None);
    }
    if global.0 || handle <= 0 {
        return Some(Some(count));
    }
    let partitions = match cx.module.attr(cx.module.attrs, "mhlo.num_partitions") {
        Some(Attr::Int(n, _)) => i64::try_from(*n).ok(),
        _ => None,
    };
    // With a channel and replica ids, a group has all partitions of its replicas; programs that
    // give partition ids all the same (one replica) mean just these.
    Some(if partitions == Some(1) { Some(count) } else { None })
}

fn all_gather(cx: &mut Cx, op: &AllGather) -> Found {
    let inputs = cx.tensors(0..cx.operands.len(), "operand")?;
    let group = groups(cx, &op.groups, op.channel, op.global_ids, true)?;
    // A given result may be any multiple, as StableHLO takes it.
    let group = group.filter(|_| cx.declared.is_none());
    let mut found = Vec::new();
    for (at, x) in inputs.iter().enumerate() {
        let dim = cx.dim("all_gather_dim", op.dimension, x.rank())?;
        check!(cx, x.dims[dim] != 0, "dimension {dim} of operand {at} is 0, nothing to gather");
        found.push(scaled(cx, at, x, dim, group, true)?);
    }
    Some(found)
}

/// The type of an operand with one dimension multiplied or divided by the group's size. Where
/// that isn't known the given result type is only checked to be a multiple or a part.
fn scaled(
    cx: &mut Cx,
    at: usize,
    x: &TensorType,
    dim: usize,
    group: Option<i64>,
    grow: bool,
) -> Option<InferredType> {
    let from = x.dims[dim];
    let mut ty = x.clone();
    ty.encoding = None;
    if let Some(group) = group {
        ty.dims[dim] = match from {
            DYNAMIC => DYNAMIC,
            _ if grow => from.saturating_mul(group),
            _ => {
                require!(
                    cx,
                    from % group == 0,
                    "dimension {dim} of operand {at} is {from}, not a multiple of the group size \
                     {group}"
                );
                from / group
            }
        };
        return Some(InferredType::Tensor(ty));
    }
    let Some(result) = cx.declared_tensor(at) else { return Some(InferredType::Given) };
    ty.dims[dim] = DYNAMIC;
    if let Some(&to) = result.dims.get(dim)
        && from != DYNAMIC
        && to != DYNAMIC
    {
        let (big, small) = if grow { (to, from) } else { (from, to) };
        check!(
            cx,
            small != 0 && big % small == 0,
            "dimension {dim} of operand {at} is {}, of the result {}: {big} isn't a multiple of \
             {small}",
            size(from),
            size(to)
        );
    }
    Some(InferredType::Tensor(ty))
}

fn all_reduce(cx: &mut Cx, op: &AllReduce) -> Found {
    let inputs = cx.tensors(0..cx.operands.len(), "operand")?;
    groups(cx, &op.groups, op.channel, op.global_ids, false)?;
    let mut found = Vec::new();
    for x in inputs {
        let element = body(cx, x)?;
        found.push(InferredType::Tensor(TensorType { element, ..x.clone() }));
    }
    Some(found)
}

/// The body combines two scalars.
fn body(cx: &mut Cx, x: &TensorType) -> Option<ElementType> {
    let reduced = [Reduced { input: x.element, init: x.element }];
    reducer(cx, 0, &reduced, &[])?.pop()
}

fn reduce_scatter(cx: &mut Cx, op: &ReduceScatter) -> Found {
    let x = cx.tensor(0, "operand")?;
    let group = groups(cx, &op.groups, op.channel, op.global_ids, true)?;
    let element = body(cx, x)?;
    let dim = cx.dim("scatter_dimension", op.dimension, x.rank())?;
    check!(cx, x.dims[dim] != 0, "dimension {dim} of operand is 0, nothing to scatter");
    let x = TensorType { element, ..x.clone() };
    Some(vec![scaled(cx, 0, &x, dim, group, false)?])
}

fn all_to_all(cx: &mut Cx, op: &AllToAll) -> Found {
    let inputs = cx.tensors(0..cx.operands.len(), "operand")?;
    require!(cx, op.count > 0, "split_count is {}, not positive", op.count);
    // Without channel ids the members are those listed.
    groups(cx, &op.groups, None, Flag(false), true)?;
    let listed = op.groups.group_size();
    let empty = matches!(&op.groups, Groups::List { ids, .. } if ids.is_empty());
    // The size of axes isn't compared, as StableHLO does.
    let by_axes = matches!(&op.groups, Groups::Axes { .. });
    require!(
        cx,
        !empty && (by_axes || u64::try_from(op.count) == Ok(listed)),
        "split_count is {}, but the group size is {listed}",
        op.count
    );
    let mut found = Vec::new();
    for (at, x) in inputs.iter().enumerate() {
        let split = cx.dim("split_dimension", op.split, x.rank())?;
        let concat = cx.dim("concat_dimension", op.concat, x.rank())?;
        let mut dims = x.dims.clone();
        if dims[split] != DYNAMIC {
            require!(
                cx,
                dims[split] % op.count == 0,
                "dimension {split} of operand {at} is {}, not a multiple of split_count {}",
                dims[split],
                op.count
            );
            dims[split] /= op.count;
        }
        if dims[concat] != DYNAMIC {
            dims[concat] = dims[concat].saturating_mul(op.count);
        }
        found.push(tensor(x.element, dims));
    }
    Some(found)
}

/// Results are the operands; one operand more than results is the roots, an index for each.
fn broadcast(cx: &mut Cx) -> Found {
    let count = cx.operands.len();
    let results = cx.declared.map_or(count, <[_]>::len);
    require!(
        cx,
        results == count || results + 1 == count,
        "has {results} results for {count} operands"
    );
    if results < count {
        let roots = cx.tensor(results, "the last operand")?;
        let fits = roots.element == ElementType::I32
            && super::compatible_dims(&roots.dims, &[results as i64]);
        require!(
            cx,
            fits,
            "the last operand has type {}, not that of {results} roots of i32",
            cx.show_tensor(roots)
        );
    }
    let inputs = cx.tensors(0..results, "operand")?;
    Some(inputs.into_iter().map(|ty| InferredType::Tensor(ty.clone())).collect())
}

/// Each device sends and receives at most once.
fn pairs(cx: &mut Cx, pairs: &Pairs) {
    let (mut sources, mut targets) = (FxHashSet::default(), FxHashSet::default());
    for &[source, target] in &pairs.0 {
        check!(
            cx,
            source >= 0 && target >= 0,
            "source_target_pairs has [{source}, {target}], negative"
        );
        check!(cx, sources.insert(source), "source_target_pairs has source {source} twice");
        check!(cx, targets.insert(target), "source_target_pairs has target {target} twice");
    }
}
