//! Mutations of partitioned programs: what a partitioner may get wrong, one op at a time.

pub mod edit;

use edit::{
    before, bypass, combiner, constant, dims, is_integer, is_zero, plus, replace, resized, skip,
    splat,
};
use shard_opt::ir::ops::{
    Collective, Compare, Concatenate, Convolution, Creation, Direction, Dot, Elementwise, Indexing,
    Movement, Op, Padding, Pairs, Reduction, Slice,
};
use shard_opt::ir::sharding::{AxisIndex, AxisList, AxisRef, Groups, axes, digits};
use shard_opt::ir::{ElementType, Module, OpId, ValueId};
use shard_opt::passes::numbers::encode;

/// A mutation: a name, and what changes an op, or leaves the program as it is and says no.
#[derive(Clone, Copy)]
pub struct Mutation {
    pub name: &'static str,
    pub apply: fn(&mut Module, OpId) -> bool,
}

macro_rules! mutations {
    ($($name:literal $apply:expr;)*) => {
        pub const MUTATIONS: &[Mutation] = &[$(Mutation { name: $name, apply: $apply }),*];
    };
}

mutations! {
    // Who communicates with whom.
    "all-reduce along another axis" |m, op| is_all_reduce(m, op) && other_axis(m, op);
    "all-gather along another axis" |m, op| is_all_gather(m, op) && other_axis(m, op);
    "reduce-scatter along another axis" |m, op| is_reduce_scatter(m, op) && other_axis(m, op);
    "all-to-all along another axis" |m, op| is_all_to_all(m, op) && other_axis(m, op);
    "all-reduce among other devices" |m, op| is_all_reduce(m, op) && other_devices(m, op);
    "all-gather among other devices" |m, op| is_all_gather(m, op) && other_devices(m, op);
    "reduce-scatter among other devices" |m, op| is_reduce_scatter(m, op) && other_devices(m, op);
    "all-to-all among other devices" |m, op| is_all_to_all(m, op) && other_devices(m, op);
    "all-gather in another order" |m, op| is_all_gather(m, op) && other_order(m, op);
    "reduce-scatter in another order" |m, op| is_reduce_scatter(m, op) && other_order(m, op);
    "all-to-all with blocks swapped" |m, op| is_all_to_all(m, op) && other_order(m, op);
    "permute to the next but one" |m, op| with_pairs(m, op, |pairs| {
        let targets: Vec<i64> = pairs.iter().map(|pair| pair[1]).collect();
        pairs.iter_mut().enumerate().for_each(|(i, pair)| pair[1] = targets[(i + 1) % targets.len()]);
    });
    "permute the other way" |m, op| with_pairs(m, op, |pairs| pairs.iter_mut().for_each(|p| p.reverse()));
    "permute without a pair" |m, op| with_pairs(m, op, |pairs| drop(pairs.drain(..1)));
    // Communication that isn't there, or along another dimension.
    "all-reduce missing" |m, op| is_all_reduce(m, op) && skip(m, op, 0);
    "permute missing" |m, op| {
        matches!(m.kind(op), Op::Collective(Collective::CollectivePermute(_)))
            && skip(m, op, 0)
    };
    "all-gather of its own shard" gather_own;
    "reduce-scatter of its own block" scatter_own;
    "all-gather along another dimension" gather_dimension;
    "reduce-scatter along another dimension" scatter_dimension;
    // How elements are combined.
    "all-reduce: maximum for add" |m, op| {
        (is_all_reduce(m, op) || is_reduce_scatter(m, op)) && combine(m, op, &Elementwise::Add, Elementwise::Maximum)
    };
    "all-reduce: multiply for add" |m, op| {
        (is_all_reduce(m, op) || is_reduce_scatter(m, op)) && combine(m, op, &Elementwise::Add, Elementwise::Multiply)
    };
    "all-reduce: add for maximum" |m, op| {
        is_all_reduce(m, op) && combine(m, op, &Elementwise::Maximum, Elementwise::Add)
    };
    "reduce: maximum for add" |m, op| is_reduce(m, op) && combine(m, op, &Elementwise::Add, Elementwise::Maximum);
    "reduce: multiply for add" |m, op| is_reduce(m, op) && combine(m, op, &Elementwise::Add, Elementwise::Multiply);
    "reduce: add for maximum" |m, op| is_reduce(m, op) && combine(m, op, &Elementwise::Maximum, Elementwise::Add);
    "scatter replaces, and doesn't add" scatter_replaces;
    "initial value one for zero" initial_one;
    // Where a device's part lies.
    "partition id zero" |m, op| {
        if !matches!(m.kind(op), Op::Collective(Collective::PartitionId)) { return false }
        let ty = m.value_type(m.result(op, 0));
        let zero = splat(m, op, ty, &encode(ElementType::UI32, 0));
        bypass(m, op, zero)
    };
    "iota without its offset" |m, op| {
        let iota = |m: &Module, value: ValueId| m.defining_op(value).is_some_and(|op| is_iota(m, op));
        is_elementwise(m, op, &Elementwise::Add)
            && match *m.operands(op) {
                [a, _] if iota(m, a) => bypass(m, op, a),
                [_, b] if iota(m, b) => bypass(m, op, b),
                _ => false,
            }
    };
    "iota along another dimension" iota_dimension;
    "dynamic slice a shard further" |m, op| slice_start(m, op, plus);
    "dynamic slice one further" |m, op| slice_start(m, op, |m, op, start, _| plus(m, op, start, 1));
    "dynamic slice from the start" |m, op| slice_start(m, op, from_start);
    "dynamic update one further" |m, op| update_start(m, op, |m, op, start| plus(m, op, start, 1));
    "dynamic update from the start" |m, op| update_start(m, op, |m, op, start| from_start(m, op, start, 0));
    "slice one further" |m, op| {
        let Op::Movement(Movement::Slice(slice)) = m.kind(op) else { return false };
        let whole = dims(m, m.operand(op, 0));
        let mut slice = slice.clone();
        let Some(dim) = (0..whole.len()).find(|&dim| slice.limit[dim] < whole[dim] || slice.start[dim] > 0) else {
            return false;
        };
        let step = if slice.limit[dim] < whole[dim] { 1 } else { -1 };
        slice.start[dim] += step;
        slice.limit[dim] += step;
        m.op_mut(op).op = (*slice).into();
        true
    };
    "indices one further" |m, op| {
        if !matches!(m.kind(op), Op::Indexing(Indexing::Gather(_) | Indexing::Scatter(_))) { return false }
        // Of a scatter with one input, as of a gather.
        if m.operands(op).len() > 3 { return false }
        let indices = m.operand(op, 1);
        let Some(indices) = plus(m, op, indices, 1) else { return false };
        m.operands_mut(op)[1] = indices;
        true
    };
    "clamped to the lower limit" |m, op| {
        is_elementwise(m, op, &Elementwise::Clamp)
            && m.value_type(m.operand(op, 0)) == m.value_type(m.operand(op, 1))
            && skip(m, op, 0)
    };
    "not clamped" |m, op| is_elementwise(m, op, &Elementwise::Clamp) && skip(m, op, 1);
    // What is masked.
    "mask inverted" |m, op| {
        let select = is_elementwise(m, op, &Elementwise::Select);
        if select { m.operands_mut(op).swap(1, 2) }
        select
    };
    "mask always true" |m, op| is_elementwise(m, op, &Elementwise::Select) && skip(m, op, 1);
    "mask always false" |m, op| is_elementwise(m, op, &Elementwise::Select) && skip(m, op, 2);
    "one in the place of a masked zero" |m, op| {
        if !is_elementwise(m, op, &Elementwise::Select) { return false }
        let other = m.operand(op, 2);
        let Some((element, _)) = constant(m, other).filter(|_| is_zero(m, other)) else { return false };
        let ty = m.value_type(other);
        let one = splat(m, op, ty, &encode(element, 1));
        m.operands_mut(op)[2] = one;
        true
    };
    "comparison off by one" |m, op| compare(m, op, |direction| match direction {
        Direction::Lt => Direction::Le,
        Direction::Le => Direction::Lt,
        Direction::Gt => Direction::Ge,
        Direction::Ge => Direction::Gt,
        Direction::Eq => Direction::Ne,
        Direction::Ne => Direction::Eq,
    });
    "comparison turned around" |m, op| compare(m, op, |direction| match direction {
        Direction::Lt => Direction::Gt,
        Direction::Le => Direction::Ge,
        Direction::Gt => Direction::Lt,
        Direction::Ge => Direction::Le,
        Direction::Eq | Direction::Ne => direction,
    });
    // Dimensions in another order.
    "transposed otherwise" |m, op| {
        let Op::Movement(Movement::Transpose(transpose)) = m.kind(op) else { return false };
        let mut transpose = transpose.clone();
        let Some((a, b)) = equal_pair(&dims(m, m.result(op, 0))) else { return false };
        transpose.permutation.swap(a, b);
        m.op_mut(op).op = (*transpose).into();
        true
    };
    "broadcast along other dimensions" |m, op| {
        let Op::Movement(Movement::BroadcastInDim(broadcast)) = m.kind(op) else { return false };
        let (from, to) = (dims(m, m.operand(op, 0)), dims(m, m.result(op, 0)));
        // One element everywhere is the same along all dimensions.
        if constant(m, m.operand(op, 0)).is_some() { return false }
        let mut broadcast = broadcast.clone();
        for dim in 0..from.len() {
            let old = broadcast.dimensions[dim];
            let other = (0..to.len() as i64).find(|other| {
                from[dim] > 1 && to[*other as usize] == from[dim] && !broadcast.dimensions.contains(other)
            });
            if let Some(other) = other.filter(|other| *other != old) {
                broadcast.dimensions[dim] = other;
                m.op_mut(op).op = (*broadcast).into();
                return true;
            }
        }
        let Some((a, b)) = equal_pair(&from) else { return false };
        broadcast.dimensions.swap(a, b);
        m.op_mut(op).op = (*broadcast).into();
        true
    };
    "dot contracts in another order" |m, op| with_dot(m, op, |dot, lhs, _| {
        let sizes: Vec<i64> = dot.lhs_contracting.iter().map(|&dim| lhs[dim as usize]).collect();
        let Some((a, b)) = equal_pair(&sizes) else { return false };
        dot.lhs_contracting.swap(a, b);
        true
    });
    "dot contracts another dimension" |m, op| with_dot(m, op, |dot, lhs, rhs| {
        for (dims, shape) in [(&mut dot.lhs_contracting, lhs), (&mut dot.rhs_contracting, rhs)] {
            let &[dim] = &dims[..] else { continue };
            let other = (0..shape.len() as i64).find(|&other| {
                let taken = dot.lhs_batch.contains(&other) || dot.rhs_batch.contains(&other);
                // Next to one another, so that those that stay are in the same order.
                !taken && (other - dim).abs() == 1 && shape[other as usize] == shape[dim as usize]
            });
            if let Some(other) = other {
                dims[0] = other;
                return true;
            }
        }
        false
    });
    "dot's batches swapped" |m, op| with_dot(m, op, |dot, lhs, _| {
        let sizes: Vec<i64> = dot.lhs_batch.iter().map(|&dim| lhs[dim as usize]).collect();
        let Some((a, b)) = equal_pair(&sizes) else { return false };
        dot.lhs_batch.swap(a, b);
        true
    });
    "padding on the other side" other_padding;
    "joined in another order" |m, op| {
        let concatenate = matches!(m.kind(op), Op::Movement(Movement::Concatenate(_)));
        let operands = m.operands(op);
        if !concatenate || operands.len() < 2 || operands.first() == operands.last() { return false }
        m.operands_mut(op).reverse();
        true
    };
    "not reversed" |m, op| {
        matches!(m.kind(op), Op::Movement(Movement::Reverse(_))) && skip(m, op, 0)
    };
}

fn is_all_reduce(module: &Module, op: OpId) -> bool {
    matches!(module.kind(op), Op::Collective(Collective::AllReduce(_)))
}

fn is_all_gather(module: &Module, op: OpId) -> bool {
    matches!(module.kind(op), Op::Collective(Collective::AllGather(_)))
}

fn is_reduce_scatter(module: &Module, op: OpId) -> bool {
    matches!(module.kind(op), Op::Collective(Collective::ReduceScatter(_)))
}

fn is_all_to_all(module: &Module, op: OpId) -> bool {
    matches!(module.kind(op), Op::Collective(Collective::AllToAll(_)))
}

fn is_reduce(module: &Module, op: OpId) -> bool {
    matches!(module.kind(op), Op::Reduction(Reduction::Reduce(_)))
}

fn is_iota(module: &Module, op: OpId) -> bool {
    matches!(module.kind(op), Op::Creation(Creation::Iota(_)))
}

fn is_elementwise(module: &Module, op: OpId, kind: &Elementwise) -> bool {
    matches!(module.kind(op), Op::Elementwise(found) if found == kind)
}

/// The first two that are equal and more than one.
fn equal_pair(sizes: &[i64]) -> Option<(usize, usize)> {
    (0..sizes.len()).find_map(|a| {
        let b = (a + 1..sizes.len()).find(|&b| sizes[a] == sizes[b] && sizes[a] > 1)?;
        Some((a, b))
    })
}

fn groups_mut(op: &mut Op) -> Option<&mut Groups> {
    let Op::Collective(kind) = op else { return None };
    match kind {
        Collective::AllGather(op) => Some(&mut op.groups),
        Collective::AllReduce(op) => Some(&mut op.groups),
        Collective::ReduceScatter(op) => Some(&mut op.groups),
        Collective::AllToAll(op) => Some(&mut op.groups),
        Collective::CollectiveBroadcast(op) => Some(&mut op.groups),
        Collective::CollectivePermute(_) | Collective::PartitionId | Collective::ReplicaId => None,
    }
}

/// Groups of the same size along axes that weren't among them.
fn other_axis(module: &mut Module, op: OpId) -> bool {
    let mut kind = module.kind(op).clone();
    let Some(groups) = groups_mut(&mut kind) else { return false };
    let Groups::Axes { mesh, axes } = groups else { return false };
    let size = groups_size(axes);
    let whole = &module.meshes[*mesh].mesh;
    let free = whole.axes.iter().enumerate().find(|(index, axis)| {
        axis.size % size == 0 && axes.iter().all(|used| used.axis.index() != *index)
    });
    let Some((index, _)) = free else { return false };
    *groups = Groups::along(*mesh, &[AxisRef::sub(AxisIndex(index as u16), 1, size)]);
    module.op_mut(op).op = kind;
    true
}

fn groups_size(axes: &[AxisRef]) -> u32 {
    axes.iter().map(|axis| axis.size).product()
}

/// Changes the list of groups; says no if it is the same afterwards.
fn with_list(module: &mut Module, op: OpId, change: impl Fn(&mut [Vec<i64>])) -> bool {
    let mut kind = module.kind(op).clone();
    let Some(groups) = groups_mut(&mut kind) else { return false };
    let Groups::Axes { mesh, .. } = &*groups else { return false };
    let Some(Groups::List { ids, group_size, .. }) = groups.to_list(&module.meshes[*mesh].mesh)
    else {
        return false;
    };
    let old: Vec<Vec<i64>> = ids.chunks(group_size as usize).map(<[i64]>::to_vec).collect();
    let mut new = old.clone();
    change(&mut new);
    if new == old {
        return false;
    }
    *groups = Groups::list(new.iter().map(Vec::as_slice));
    module.op_mut(op).op = kind;
    true
}

/// The last devices of all groups change their places.
/// The last device of each group goes to another one; where that holds the same as the one that it
/// takes the place of, nothing changes, and the mutation doesn't fit.
fn other_devices(module: &mut Module, op: OpId) -> bool {
    let held = held_by(module, module.operand(op, 0));
    with_list(module, op, |groups| {
        let mut lasts: Vec<i64> = groups.iter().filter_map(|group| group.last().copied()).collect();
        let before = lasts.clone();
        lasts.rotate_left(1);
        if before.iter().zip(&lasts).all(|(&a, &b)| held(a).is_some() && held(a) == held(b)) {
            return;
        }
        for (group, id) in groups.iter_mut().zip(lasts) {
            if let Some(last) = group.last_mut() {
                *last = id;
            }
        }
    })
}

/// Which part of a value each device holds, by a number; `None` where that isn't known.
fn held_by(module: &Module, value: ValueId) -> impl Fn(i64) -> Option<u64> + use<> {
    let known = module.value_sharding(value).and_then(|sharding| {
        let mesh = module.meshes[sharding.mesh].mesh.clone();
        let split: AxisList =
            sharding.dim_axes_in_order().chain(sharding.unreduced.iter().copied()).collect();
        Some((axes::digits(&mesh, &split)?, mesh))
    });
    move |device| {
        let (digits, mesh) = known.as_ref()?;
        let logical = mesh.logical_index(u64::try_from(device).ok()?)?;
        Some(digits::position(digits, logical))
    }
}

fn other_order(module: &mut Module, op: OpId) -> bool {
    with_list(module, op, |groups| groups.iter_mut().for_each(|group| group.reverse()))
}

fn with_pairs(module: &mut Module, op: OpId, change: impl Fn(&mut Vec<[i64; 2]>)) -> bool {
    let Op::Collective(Collective::CollectivePermute(permute)) = module.kind(op) else {
        return false;
    };
    let mut permute = permute.clone();
    let Pairs(pairs) = &mut permute.pairs;
    change(pairs);
    if *pairs == old_pairs(module, op) {
        return false;
    }
    module.op_mut(op).op = (*permute).into();
    true
}

fn old_pairs(module: &Module, op: OpId) -> Vec<[i64; 2]> {
    match module.kind(op) {
        Op::Collective(Collective::CollectivePermute(permute)) => permute.pairs.0.clone(),
        _ => Vec::new(),
    }
}

fn gather_own(module: &mut Module, op: OpId) -> bool {
    let Op::Collective(Collective::AllGather(gather)) = module.kind(op) else { return false };
    let (dimension, count) = (gather.dimension, gather.groups.group_size() as usize);
    let operands = vec![module.operand(op, 0); count];
    let ty = module.value_type(module.result(op, 0));
    let value = before(module, op, Concatenate { dimension }, &operands, ty);
    bypass(module, op, value)
}

/// The block of this device's own, at the place of the first one's.
fn scatter_own(module: &mut Module, op: OpId) -> bool {
    if !is_reduce_scatter(module, op) {
        return false;
    }
    let (operand, result) = (module.operand(op, 0), module.result(op, 0));
    let limit = dims(module, result);
    let rank = limit.len();
    let slice = Slice {
        start: std::iter::repeat_n(0, rank).collect(),
        limit,
        strides: std::iter::repeat_n(1, rank).collect(),
    };
    let ty = module.value_type(result);
    let value = before(module, op, slice, &[operand], ty);
    bypass(module, op, value)
}

/// Gathers along another dimension, in the same shape.
fn gather_dimension(module: &mut Module, op: OpId) -> bool {
    let Op::Collective(Collective::AllGather(gather)) = module.kind(op) else { return false };
    let mut gather = gather.clone();
    let operand = module.operand(op, 0);
    let mut shape = dims(module, operand);
    let count = gather.groups.group_size() as i64;
    // Before dimensions of size one the order stays.
    let Some(dim) = (0..shape.len()).rev().find(|&dim| {
        let old = gather.dimension as usize;
        let between = dim.min(old)..dim.max(old);
        dim != old && between.into_iter().any(|dim| shape[dim] > 1)
    }) else {
        return false;
    };
    shape[dim] *= count;
    gather.dimension = dim as i64;
    let Some(ty) = resized(module, operand, &shape) else { return false };
    let gathered = before(module, op, *gather, &[operand], ty);
    let ty = module.value_type(module.result(op, 0));
    let value = before(module, op, Movement::Reshape, &[gathered], ty);
    bypass(module, op, value)
}

/// Scatters along another dimension, in the same shape.
fn scatter_dimension(module: &mut Module, op: OpId) -> bool {
    let Op::Collective(Collective::ReduceScatter(scatter)) = module.kind(op) else { return false };
    let mut scatter = scatter.clone();
    let (operand, result) = (module.operand(op, 0), module.result(op, 0));
    let mut shape = dims(module, operand);
    let count = scatter.groups.group_size() as i64;
    let old = scatter.dimension as usize;
    let Some(dim) = (0..shape.len()).find(|&dim| {
        let between = dim.min(old)..dim.max(old);
        dim != old && shape[dim] % count == 0 && between.into_iter().any(|dim| shape[dim] > 1)
    }) else {
        return false;
    };
    shape[dim] /= count;
    scatter.dimension = dim as i64;
    let Some(ty) = resized(module, operand, &shape) else { return false };
    // The op itself stays, with its region, and a reshape gives its result the old shape.
    let Some((block, at)) = edit::place(module, op) else { return false };
    let loc = module.op(op).loc;
    let regions = module.regions(op).to_vec();
    let scattered = module.new_op(*scatter, &[operand], &[ty], &regions, loc);
    module.block_mut(block).ops[at] = scattered;
    let from = module.result(scattered, 0);
    let ty = module.value_type(result);
    let reshape = module.new_op(Movement::Reshape, &[from], &[ty], &[], loc);
    module.block_mut(block).ops.insert(at + 1, reshape);
    let reshaped = module.result(reshape, 0);
    replace(module, result, reshaped);
    true
}

fn combine(module: &mut Module, op: OpId, from: &Elementwise, to: Elementwise) -> bool {
    let Some(combiner) = combiner(module, op) else { return false };
    let found = is_elementwise(module, combiner, from);
    if found {
        module.op_mut(combiner).op = to.into();
    }
    found
}

fn scatter_replaces(module: &mut Module, op: OpId) -> bool {
    if !matches!(module.kind(op), Op::Indexing(Indexing::Scatter(_))) {
        return false;
    }
    let Some(combiner) = combiner(module, op) else { return false };
    let block = module.entry(module.regions(op)[0]);
    let &[_, update] = module.params(block) else { return false };
    let Some(end) = module.terminator(block) else { return false };
    if module.defining_op(module.operand(end, 0)) != Some(combiner) {
        return false;
    }
    module.set_operands(end, &[update]);
    true
}

/// As if the initial value, here one, were counted by each device or not at all.
fn initial_one(module: &mut Module, op: OpId) -> bool {
    if !is_reduce(module, op) || module.operands(op).len() != 2 {
        return false;
    }
    let initial = module.operand(op, 1);
    let Some((element, _)) = constant(module, initial).filter(|_| is_zero(module, initial)) else {
        return false;
    };
    let ty = module.value_type(initial);
    let one = splat(module, op, ty, &encode(element, 1));
    module.operands_mut(op)[1] = one;
    true
}

fn iota_dimension(module: &mut Module, op: OpId) -> bool {
    let Op::Creation(Creation::Iota(iota)) = module.kind(op) else { return false };
    let mut iota = iota.clone();
    let shape = dims(module, module.result(op, 0));
    let other = (0..shape.len()).find(|&dim| dim as i64 != iota.dimension && shape[dim] > 1);
    let Some(other) = other else { return false };
    iota.dimension = other as i64;
    module.op_mut(op).op = (*iota).into();
    true
}

/// Changes the first start index that a dynamic slice has to choose.
fn slice_start(
    module: &mut Module,
    op: OpId,
    change: impl Fn(&mut Module, OpId, ValueId, i64) -> Option<ValueId>,
) -> bool {
    let Op::Movement(Movement::DynamicSlice(slice)) = module.kind(op) else { return false };
    let sizes = slice.sizes.clone();
    let whole = dims(module, module.operand(op, 0));
    let Some(dim) = (0..sizes.len()).find(|&dim| sizes[dim] < whole[dim]) else { return false };
    let start = module.operand(op, dim + 1);
    let Some(start) = change(module, op, start, sizes[dim]) else { return false };
    module.operands_mut(op)[dim + 1] = start;
    true
}

/// The same of a dynamic update.
fn update_start(
    module: &mut Module,
    op: OpId,
    change: impl Fn(&mut Module, OpId, ValueId) -> Option<ValueId>,
) -> bool {
    if !matches!(module.kind(op), Op::Movement(Movement::DynamicUpdateSlice)) {
        return false;
    }
    let whole = dims(module, module.operand(op, 0));
    let sizes = dims(module, module.operand(op, 1));
    let Some(dim) = (0..sizes.len()).find(|&dim| sizes[dim] < whole[dim]) else { return false };
    let start = module.operand(op, dim + 2);
    let Some(start) = change(module, op, start) else { return false };
    module.operands_mut(op)[dim + 2] = start;
    true
}

fn from_start(module: &mut Module, op: OpId, start: ValueId, _: i64) -> Option<ValueId> {
    let element = module.tensor_type(start)?.element;
    if !is_integer(element) || is_zero(module, start) {
        return None;
    }
    let ty = module.value_type(start);
    Some(splat(module, op, ty, &encode(element, 0)))
}

fn compare(module: &mut Module, op: OpId, change: impl Fn(Direction) -> Direction) -> bool {
    let Op::Elementwise(Elementwise::Compare(found)) = module.kind(op) else { return false };
    let direction = change(found.direction);
    if direction == found.direction {
        return false;
    }
    let compare_type = found.compare_type;
    module.op_mut(op).op = Compare { direction, compare_type }.into();
    true
}

fn with_dot(
    module: &mut Module,
    op: OpId,
    change: impl Fn(&mut shard_opt::ir::ops::DotDims, &[i64], &[i64]) -> bool,
) -> bool {
    let Op::Dot(Dot::DotGeneral(dot)) = module.kind(op) else { return false };
    let mut dot = dot.clone();
    let (lhs, rhs) = (dims(module, module.operand(op, 0)), dims(module, module.operand(op, 1)));
    let changed = change(&mut dot.dims, &lhs, &rhs);
    if changed {
        module.op_mut(op).op = (*dot).into();
    }
    changed
}

/// Low and high padding swapped: of pads, convolutions and windows.
fn other_padding(module: &mut Module, op: OpId) -> bool {
    let swap = |padding: &mut Option<Padding>| {
        let uneven = padding.iter().flatten().any(|[low, high]| low != high);
        padding.iter_mut().flatten().for_each(|pair| pair.reverse());
        uneven
    };
    match &mut module.op_mut(op).op {
        Op::Movement(Movement::Pad(pad)) => {
            let uneven = pad.low != pad.high;
            std::mem::swap(&mut pad.low, &mut pad.high);
            uneven
        }
        Op::Convolution(Convolution::Conv(conv)) => swap(&mut conv.padding),
        Op::Reduction(Reduction::ReduceWindow(reduce)) => swap(&mut reduce.padding),
        _ => false,
    }
}
