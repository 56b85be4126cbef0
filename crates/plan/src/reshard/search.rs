//! Dijkstra's algorithm over the states of a reshard.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;
use shard_ir::ops::AllToAllParam;
use shard_ir::sharding::{AxisList, AxisRef, Combiner, TensorSharding};

use super::moves::{Move, Step, StepKind, moves};
use super::state::{AtomTable, Atoms, State};

/// What is to be done, and what it costs.
pub struct Request<'a> {
    /// The sharding that is there.
    pub from: &'a TensorSharding,
    /// The sharding that is wanted.
    pub to: &'a TensorSharding,
    /// Bytes of the whole tensor.
    pub bytes: u64,
    /// Seconds that a step of a kind takes along axes, for so many bytes of a device's operand.
    pub seconds: &'a dyn Fn(StepKind, &[AxisRef], u64) -> f64,
}

/// One step with the sharding after it.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedStep {
    /// What is done.
    pub step: Step,
    /// Sharding of the result.
    pub result: TensorSharding,
    /// Axes along which devices communicate.
    pub axes: AxisList,
    /// Bytes of a device's operand.
    pub operand_bytes: u64,
    /// Seconds.
    pub seconds: f64,
}

/// A sequence of steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// The steps, in order.
    pub steps: Vec<PlannedStep>,
    /// Seconds of all steps.
    pub seconds: f64,
}

/// A small price on every step, so that among equals the shortest path wins.
const STEP_SECONDS: f64 = 1e-9;

/// States looked at before the search settles for gathering and slicing.
const MAX_STATES: usize = 50_000;

struct Entry {
    seconds: f64,
    order: usize,
    node: usize,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    /// The cheapest is the greatest; of equals, the one found first.
    fn cmp(&self, other: &Self) -> Ordering {
        other.seconds.total_cmp(&self.seconds).then(other.order.cmp(&self.order))
    }
}

struct Node {
    state: State,
    seconds: f64,
    done: bool,
    from: Option<(usize, StepKind, Atoms)>,
}

/// The cheapest sequence of steps. It is empty where the shardings are the same.
pub fn plan(request: &Request<'_>) -> Plan {
    let (from, to) = (request.from, request.to);
    if from.is_unreduced() && to.is_unreduced() && from.combiner != to.combiner {
        // Partial maxima are no partial sums: the value is completed in between.
        let whole =
            TensorSharding { unreduced: AxisList::new(), combiner: Combiner::Sum, ..to.clone() };
        let mut plan = plan(&Request { to: &whole, ..*request });
        let rest = self::plan(&Request { from: &whole, ..*request });
        plan.seconds += rest.seconds;
        plan.steps.extend(rest.steps);
        return plan;
    }
    let combiner = if from.unreduced.is_empty() { to.combiner } else { from.combiner };
    let Some(table) = AtomTable::new(from, to) else {
        return gather_and_slice(request, combiner);
    };
    let start = table.state(from);
    let target = table.state(to);
    if start == target {
        return Plan::default();
    }
    let mut nodes = vec![Node { state: start.clone(), seconds: 0.0, done: false, from: None }];
    let mut index: FxHashMap<State, usize> = FxHashMap::default();
    index.insert(start, 0);
    let mut heap = BinaryHeap::from([Entry { seconds: 0.0, order: 0, node: 0 }]);
    let mut order = 0;
    while let Some(Entry { node, .. }) = heap.pop() {
        if std::mem::replace(&mut nodes[node].done, true) {
            continue;
        }
        if nodes[node].state == target {
            return path(&nodes, node, &table, request, combiner);
        }
        if nodes.len() > MAX_STATES {
            return gather_and_slice(request, combiner);
        }
        let state = nodes[node].state.clone();
        let local = request.bytes / state.shards(&table).max(1);
        let so_far = nodes[node].seconds;
        moves(&state, &target, &table, &mut |Move { kind, atoms, next }| {
            let cost = (request.seconds)(kind, &table.axes(&atoms), local) + STEP_SECONDS;
            let seconds = so_far + cost;
            let slot = *index.entry(next).or_insert_with_key(|state| {
                nodes.push(Node {
                    state: state.clone(),
                    seconds: f64::INFINITY,
                    done: false,
                    from: None,
                });
                nodes.len() - 1
            });
            if seconds < nodes[slot].seconds {
                nodes[slot].seconds = seconds;
                nodes[slot].from = Some((node, kind, atoms));
                order += 1;
                heap.push(Entry { seconds, order, node: slot });
            }
        });
    }
    gather_and_slice(request, combiner)
}

fn path(
    nodes: &[Node],
    end: usize,
    table: &AtomTable,
    request: &Request<'_>,
    combiner: Combiner,
) -> Plan {
    let mut steps = Vec::new();
    let mut at = end;
    while let Some((before, kind, atoms)) = &nodes[at].from {
        let (old, new) = (&nodes[*before].state, &nodes[at].state);
        let axes = table.axes(atoms);
        let operand_bytes = request.bytes / old.shards(table).max(1);
        let gained = |dim: usize| -> AxisList {
            table.axes(new.dims[dim].get(old.dims[dim].len()..).unwrap_or_default())
        };
        let lost = |dim: usize| -> AxisList {
            table.axes(old.dims[dim].get(new.dims[dim].len()..).unwrap_or_default())
        };
        let rank = old.dims.len();
        let step = match kind {
            StepKind::AllGather => Step::AllGather((0..rank).map(lost).collect()),
            StepKind::AllSlice => Step::AllSlice((0..rank).map(gained).collect()),
            StepKind::ReduceScatter => Step::ReduceScatter((0..rank).map(gained).collect()),
            StepKind::AllToAll => {
                let grows = |d: &usize| new.dims[*d].len() > old.dims[*d].len();
                let shrinks = |d: &usize| new.dims[*d].len() < old.dims[*d].len();
                Step::AllToAll(AllToAllParam {
                    axes: axes.clone(),
                    src: (0..rank).find(shrinks).unwrap_or_default() as u32,
                    dst: (0..rank).find(grows).unwrap_or_default() as u32,
                })
            }
            StepKind::Permute => Step::Permute,
            StepKind::AllReduce => Step::AllReduce(axes.clone()),
            StepKind::MakePartial => Step::MakePartial(axes.clone()),
        };
        steps.push(PlannedStep {
            seconds: (request.seconds)(*kind, &axes, operand_bytes),
            step,
            result: table.sharding(new, request.to, combiner),
            axes,
            operand_bytes,
        });
        at = *before;
    }
    steps.reverse();
    let mut plan = Plan { seconds: nodes[end].seconds, steps };
    if let Some(last) = plan.steps.last_mut() {
        last.result = request.to.clone();
    }
    merge_slices(&mut plan.steps);
    plan
}

/// Consecutive slices become one.
fn merge_slices(steps: &mut Vec<PlannedStep>) {
    let mut merged: Vec<PlannedStep> = Vec::with_capacity(steps.len());
    for step in steps.drain(..) {
        if let (Some(last), Step::AllSlice(more)) = (merged.last_mut(), &step.step)
            && let Step::AllSlice(dims) = &mut last.step
        {
            for (dim, axes) in dims.iter_mut().zip(more) {
                *dim = shard_ir::sharding::axes::concat(dim, axes);
            }
            last.axes.extend(step.axes.iter().copied());
            last.result = step.result;
            continue;
        }
        merged.push(step);
    }
    *steps = merged;
}

/// The plan that always works: reduce, gather every dimension, slice.
fn gather_and_slice(request: &Request<'_>, combiner: Combiner) -> Plan {
    let (from, to) = (request.from, request.to);
    let mut plan = Plan::default();
    let mut now = from.clone();
    let mut local =
        request.bytes / from.dims.iter().map(|d| d.shard_count()).product::<u64>().max(1);
    let push = |plan: &mut Plan, step: Step, axes: AxisList, result: TensorSharding, bytes| {
        let seconds = (request.seconds)(step.kind(), &axes, bytes);
        plan.seconds += seconds;
        plan.steps.push(PlannedStep { step, result, axes, operand_bytes: bytes, seconds });
    };
    let pending = shard_ir::sharding::axes::subtract(&from.unreduced, &to.unreduced);
    if !pending.is_empty() {
        let kept = shard_ir::sharding::axes::intersect(&from.unreduced, &to.unreduced);
        now = TensorSharding { unreduced: AxisList::new(), combiner: Combiner::Sum, ..now };
        if !kept.is_empty() {
            now = now.with_unreduced(&kept, combiner);
        }
        push(&mut plan, Step::AllReduce(pending.clone()), pending, now.clone(), local);
    }
    let rank = from.dims.len();
    for dim in 0..rank {
        let axes = now.dims[dim].axes.clone();
        if axes == to.dims[dim].axes || axes.is_empty() {
            continue;
        }
        let mut lists = vec![AxisList::new(); rank];
        lists[dim] = axes.clone();
        now = now.with_dim_axes(dim, &[]);
        push(&mut plan, Step::AllGather(lists), axes.clone(), now.clone(), local);
        local = local.saturating_mul(shard_ir::sharding::axes::product(&axes));
    }
    let lists: Vec<AxisList> = (0..rank)
        .map(|d| {
            if now.dims[d].axes == to.dims[d].axes {
                AxisList::new()
            } else {
                to.dims[d].axes.clone()
            }
        })
        .collect();
    if lists.iter().any(|list| !list.is_empty()) {
        let axes = lists.iter().flatten().copied().collect();
        let mut sliced = to.clone();
        sliced.unreduced = now.unreduced.clone();
        sliced.combiner = now.combiner;
        push(&mut plan, Step::AllSlice(lists), axes, sliced.clone(), local);
        now = sliced;
    }
    let wanted = shard_ir::sharding::axes::subtract(&to.unreduced, &now.unreduced);
    if !wanted.is_empty() {
        push(&mut plan, Step::MakePartial(wanted.clone()), wanted, to.clone(), local);
    }
    plan
}
