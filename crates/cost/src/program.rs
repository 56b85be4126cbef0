//! Work of whole functions: ops in loops as often as they run.

use rustc_hash::{FxHashMap, FxHashSet};
use shard_ir::infer::FuncTable;
use shard_ir::ops::{Control, Custom, Op};
use shard_ir::{FuncId, Module, OpId, RegionId};

use crate::ops::{Work, is_unpriced, op_work};
use crate::trips::trip_count;

/// What a function costs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProgramWork {
    /// The sum over its ops, each as often as it runs. Of the branches of a conditional the
    /// dearest counts.
    pub work: Work,
    /// Loops whose number of runs can't be read off; their bodies are counted once.
    pub unknown_loops: Vec<OpId>,
    /// Ops whose work isn't known; they are counted as none.
    pub unpriced: Vec<OpId>,
}

/// The work of a function and of all that it calls.
pub fn work(module: &Module, func: FuncId) -> ProgramWork {
    let mut found = ProgramWork::default();
    let mut totals: FxHashMap<RegionId, Work> = FxHashMap::default();
    let names = functions(module);
    for list in &bottom_up(module, &names, func) {
        // Backwards, ops inside a region come before the op that owns it.
        for &(op, region) in list.iter().rev() {
            let of = |at: usize| {
                let region = module.regions(op).get(at);
                region.and_then(|region| totals.get(region)).copied().unwrap_or_default()
            };
            let inner = match module.kind(op) {
                Op::Control(Control::While) => {
                    let trips = trip_count(module, op);
                    if trips.is_none() {
                        found.unknown_loops.push(op);
                    }
                    let trips = trips.unwrap_or(1) as f64;
                    of(0).times(trips + 1.0).plus(of(1).times(trips))
                }
                Op::Control(Control::If | Control::Case) => {
                    let branches = 0..module.regions(op).len();
                    branches.map(of).fold(Work::default(), Work::max)
                }
                Op::Sdy(_) | Op::Hlo(_) | Op::Opaque(_) => {
                    (0..module.regions(op).len()).map(of).fold(Work::default(), Work::plus)
                }
                kind => {
                    let called = callee(kind, &names);
                    let total = called.and_then(|func| totals.get(&module.funcs[func].body));
                    total.copied().unwrap_or_default()
                }
            };
            if is_unpriced(module.kind(op)) {
                found.unpriced.push(op);
            }
            let sum = totals.entry(region).or_default();
            *sum = sum.plus(op_work(module, op)).plus(inner);
        }
    }
    found.unknown_loops.reverse();
    found.unpriced.reverse();
    found.work = totals.get(&module.funcs[func].body).copied().unwrap_or_default();
    found
}

/// The ops that run, each with how often, for a function and all that it calls, in the order of
/// the program. Ops in a loop whose number of runs can't be read off count once for each run of
/// the loop; every branch of a conditional counts as if it were taken. Bodies of reductions and
/// the like are left out: their work is counted with the op.
pub fn counts(module: &Module, func: FuncId) -> Vec<(OpId, u64)> {
    let names = functions(module);
    let lists = bottom_up(module, &names, func);
    let mut runs: FxHashMap<RegionId, u64> = FxHashMap::default();
    runs.insert(module.funcs[func].body, 1);
    let mut found = Vec::new();
    // Callers come last in `lists`.
    for list in lists.iter().rev() {
        for &(op, region) in list {
            let times = runs.get(&region).copied().unwrap_or_default();
            found.push((op, times));
            let kind = module.kind(op);
            let inside = match kind {
                Op::Control(Control::While) => {
                    times.saturating_mul(trip_count(module, op).unwrap_or(1))
                }
                _ => times,
            };
            for &region in module.regions(op) {
                runs.insert(region, inside);
            }
            if let Some(func) = callee(kind, &names) {
                let sum = runs.entry(module.funcs[func].body).or_default();
                *sum = sum.saturating_add(times);
            }
        }
    }
    found
}

/// The function that an op calls.
pub(crate) fn callee(op: &Op, names: &FuncTable) -> Option<FuncId> {
    let name = match op {
        Op::Control(Control::Call(op)) => op.callee.0,
        Op::Custom(Custom::Composite(op)) => op.decomposition.0,
        _ => return None,
    };
    names.get(&name).copied()
}

/// The functions of a module by name.
pub(crate) fn functions(module: &Module) -> FuncTable {
    module.func_ids().map(|id| (module.funcs[id].name, id)).collect()
}

/// Whether an op's regions are run as parts of the program, not once for each element.
pub(crate) fn runs_regions(op: &Op) -> bool {
    match op {
        Op::Control(_) | Op::Sdy(_) | Op::Hlo(_) | Op::Opaque(_) => true,
        Op::Elementwise(_)
        | Op::Creation(_)
        | Op::Dot(_)
        | Op::Convolution(_)
        | Op::Reduction(_)
        | Op::Movement(_)
        | Op::Indexing(_)
        | Op::Sorting(_)
        | Op::Linalg(_)
        | Op::Random(_)
        | Op::Normalization(_)
        | Op::Collective(_)
        | Op::Effects(_)
        | Op::Custom(_) => false,
    }
}

/// The ops of a function, each with the region it lies in; outer ones before those inside.
pub(crate) fn ops_of(module: &Module, func: FuncId) -> Vec<(OpId, RegionId)> {
    let mut list = Vec::new();
    let mut stack: Vec<(RegionId, usize, usize)> = vec![(module.funcs[func].body, 0, 0)];
    while let Some((region, block, index)) = stack.pop() {
        let Some(&block_id) = module.region(region).blocks.get(block) else { continue };
        let Some(&op) = module.block_ops(block_id).get(index) else {
            stack.push((region, block + 1, 0));
            continue;
        };
        stack.push((region, block, index + 1));
        list.push((op, region));
        if runs_regions(module.kind(op)) {
            stack.extend(module.regions(op).iter().rev().map(|&inner| (inner, 0, 0)));
        }
    }
    list
}

/// The functions that `func` reaches, callees before callers, `func` last. A function that calls
/// itself, which MLIR's dialects don't allow, is taken once.
pub(crate) fn callees_first(module: &Module, names: &FuncTable, func: FuncId) -> Vec<FuncId> {
    let calls = |func: FuncId| -> Vec<FuncId> {
        let mut found = Vec::new();
        module.walk(module.funcs[func].body, |op| {
            found.extend(callee(module.kind(op), names));
        });
        found.dedup();
        found
    };
    let mut order = Vec::new();
    let mut seen: FxHashSet<FuncId> = FxHashSet::default();
    seen.insert(func);
    let mut stack = vec![(func, calls(func), 0usize)];
    while let Some((current, list, next)) = stack.last_mut() {
        match list.get(*next).copied() {
            Some(callee) => {
                *next += 1;
                if seen.insert(callee) {
                    stack.push((callee, calls(callee), 0));
                }
            }
            None => {
                order.push(*current);
                stack.pop();
            }
        }
    }
    order
}

fn bottom_up(module: &Module, names: &FuncTable, func: FuncId) -> Vec<Vec<(OpId, RegionId)>> {
    callees_first(module, names, func).into_iter().map(|func| ops_of(module, func)).collect()
}
