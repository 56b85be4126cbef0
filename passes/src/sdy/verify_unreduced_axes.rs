//! `sdy-verify-unreduced-axes`: partial values may not become whole ones unnoticed.
//!
//! Only a reshard, a constraint or a collective may complete a value; every other op's results are
//! unreduced along what its operands are, and perhaps along more, to be summed.

use shard_ir::ops::{Collective, Control, Elementwise, Op, Sdy};
use shard_ir::sharding::{AxisList, Combiner, TensorSharding, axes};
use shard_ir::{Diagnostic, FuncId, Module, OpId, RegionId, RegionOwner, ValueDef, ValueId};

use super::edges::manual_axes;
use super::functions::callee;
use super::values::sharding;
use super::walk_blocks;

/// Runs the pass.
///
/// # Errors
/// The first op that loses unreduced axes, or combines them in another way than a sharding says.
pub(super) fn run(module: &mut Module) -> Result<(), Diagnostic> {
    let mut ops = Vec::new();
    walk_blocks(module, |block, op| ops.push((block, op)));
    for (block, op) in ops {
        let operands = || module.operands(op).iter().map(|&value| stated(module, value));
        let results = || module.results(op).iter().map(|&value| stated(module, value)).collect();
        let checked = match module.kind(op) {
            Op::Sdy(Sdy::ShardingConstraint(_) | Sdy::Reshard(_)) => {
                let new = module.result(op, 0);
                let old = sharding(module, module.operand(op, 0));
                let old = old.map(|id| module.sharding(id).clone());
                same_combiner(&old, &sharding(module, new).map(|id| module.sharding(id).clone()))
            }
            Op::Sdy(Sdy::SdyAllReduce(_) | Sdy::SdyReduceScatter(_)) => {
                match sharding(module, module.operand(op, 0)) {
                    None => Err("operand must be sharded.".to_owned()),
                    Some(_) => Ok(()),
                }
            }
            Op::Reduction(_) => {
                let combiner = module.regions(op).first().and_then(|&r| combiner(module, r));
                transition(module, &operands().collect::<Vec<_>>(), &results(), combiner, None)
            }
            Op::Collective(Collective::AllReduce(_) | Collective::ReduceScatter(_)) => {
                let combiner = module.regions(op).first().and_then(|&r| combiner(module, r));
                let whole: Vec<_> = module
                    .operands(op)
                    .iter()
                    .map(|&value| sharding(module, value).map(|id| module.sharding(id).clone()))
                    .collect();
                transition(module, &whole, &results(), None, combiner)
            }
            Op::Control(Control::Call(_)) => call(module, op),
            Op::Control(Control::FuncReturn | Control::SdyReturn) => {
                returned(module, module.block(block).region, op)
            }
            Op::Control(Control::Return) => Ok(()),
            _ => {
                let sum = Some(Combiner::Sum);
                transition(module, &operands().collect::<Vec<_>>(), &results(), sum, None)
            }
        };
        checked.map_err(|message| {
            Diagnostic::error(message)
                .at_op(module, op)
                .help("complete the value by an sdy.reshard to a sharding without unreduced axes")
        })?;
    }
    Ok(())
}

type Stated = Option<TensorSharding>;

/// The sharding of a value; none of one that a reshard or constraint makes, which may change it.
fn stated(module: &Module, mut value: ValueId) -> Stated {
    while let Some(op) = module.defining_op(value) {
        match module.kind(op) {
            Op::Sdy(Sdy::PropagationBarrier(_)) => value = module.operand(op, 0),
            Op::Sdy(Sdy::Reshard(_) | Sdy::ShardingConstraint(_)) => return None,
            _ => break,
        }
    }
    if let ValueDef::Result(op, index) = module.value_def(value)
        && let Op::Sdy(Sdy::ManualComputation(manual)) = module.kind(op)
    {
        let out = manual.out_shardings.0.get(index as usize);
        return out.map(|&id| module.sharding(id).clone());
    }
    sharding(module, value).map(|id| module.sharding(id).clone())
}

fn unreduced(list: &[Stated]) -> AxisList {
    list.iter().flatten().flat_map(|sharding| sharding.unreduced.iter().copied()).collect()
}

/// Checks what becomes of unreduced axes: new ones combine by `introduced`, and those that go by
/// `removed`; `None` where there may be none.
fn transition(
    module: &Module,
    operands: &[Stated],
    results: &Vec<Stated>,
    introduced: Option<Combiner>,
    removed: Option<Combiner>,
) -> Result<(), String> {
    let mut meshes = operands.iter().chain(results).flatten().map(|s| &module.meshes[s.mesh].mesh);
    let Some(first) = meshes.next() else { return Ok(()) };
    if meshes.any(|mesh| mesh != first) {
        return Ok(());
    }
    let (before, after) = (unreduced(operands), unreduced(results));
    let new = axes::subtract(&after, &before);
    let gone = axes::subtract(&before, &after);
    let check = |list: &[Stated], along: &AxisList, wanted: Option<Combiner>, what: &str| {
        if along.is_empty() {
            return Ok(());
        }
        let Some(wanted) = wanted else {
            return Err(format!("has unreduced axes mismatch: some are {what}."));
        };
        let wrong = list.iter().flatten().find(|sharding| {
            sharding.combiner != wanted && !axes::is_disjoint(&sharding.unreduced, along)
        });
        match wrong {
            Some(sharding) => Err(format!(
                "has unreduced axes that combine by {:?} {what}, expected {wanted:?}.",
                sharding.combiner
            )),
            None => Ok(()),
        }
    };
    check(results, &new, introduced, "introduced")?;
    check(operands, &gone, removed, "removed")?;
    let kept = axes::intersect(&before, &after);
    let combiners = |list: &[Stated]| -> Vec<Combiner> {
        let kept = list.iter().flatten().filter(|s| !axes::is_disjoint(&s.unreduced, &kept));
        kept.map(|sharding| sharding.combiner).collect()
    };
    let (old, new) = (combiners(operands), combiners(results));
    match old.iter().find(|combiner| new.iter().any(|other| other != *combiner)) {
        Some(old) => Err(format!("changes how unreduced axes combine: they combined by {old:?}.")),
        None => Ok(()),
    }
}

fn same_combiner(old: &Stated, new: &Stated) -> Result<(), String> {
    match (old, new) {
        (Some(old), Some(new))
            if old.combiner != new.combiner
                && old.mesh == new.mesh
                && !axes::is_disjoint(&old.unreduced, &new.unreduced) =>
        {
            Err(format!("changes how unreduced axes combine: they combined by {:?}.", old.combiner))
        }
        _ => Ok(()),
    }
}

/// What a region of a reduction does, if it is one of the ways in which partial values combine.
fn combiner(module: &Module, region: RegionId) -> Option<Combiner> {
    let last = module.terminator(module.entry(region))?;
    let mut found = None;
    for &value in module.operands(last) {
        let combiner = match module.kind(module.defining_op(value)?) {
            Op::Elementwise(Elementwise::Add) => Combiner::Sum,
            Op::Elementwise(Elementwise::Maximum) => Combiner::Max,
            Op::Elementwise(Elementwise::Minimum) => Combiner::Min,
            _ => return None,
        };
        if found.is_some_and(|other| other != combiner) {
            return None;
        }
        found = Some(combiner);
    }
    found
}

fn equal(old: &[shard_ir::sharding::AxisRef], new: &[shard_ir::sharding::AxisRef]) -> bool {
    axes::sorted(old) == axes::sorted(new)
}

/// What a call passes and gets is unreduced as the function says.
fn call(module: &Module, op: OpId) -> Result<(), String> {
    let Some(func) = callee(module, op).and_then(|name| module.find_func(name)) else {
        return Ok(());
    };
    for (index, (&operand, &arg)) in module.operands(op).iter().zip(module.args(func)).enumerate() {
        let by_reshard = stated(module, operand).is_none() && sharding(module, operand).is_some();
        let (old, new) = (unreduced(&[stated(module, operand)]), unreduced(&[stated(module, arg)]));
        if !by_reshard && !equal(&old, &new) {
            return Err(format!("has unreduced axes mismatch at call argument {index}."));
        }
    }
    for (index, &result) in module.results(op).iter().enumerate() {
        let old = func_result(module, func, index);
        if !equal(&unreduced(&[old]), &unreduced(&[stated(module, result)])) {
            return Err(format!("has unreduced axes mismatch at call result {index}."));
        }
    }
    Ok(())
}

fn func_result(module: &Module, func: FuncId, index: usize) -> Stated {
    let id = module.funcs[func].results.get(index)?.sharding.expand()?;
    Some(module.sharding(id).clone())
}

/// What a region returns is unreduced as the op or function around it says of its results.
fn returned(module: &Module, region: RegionId, last: OpId) -> Result<(), String> {
    for (index, &value) in module.operands(last).iter().enumerate() {
        let wanted = match module.region(region).owner {
            RegionOwner::Func(func) => func_result(module, func, index),
            RegionOwner::Op(op) => {
                let Some(&result) = module.results(op).get(index) else { continue };
                let mut wanted = stated(module, result);
                if let Op::Sdy(Sdy::ManualComputation(manual)) = module.kind(op) {
                    let manual_axes = manual_axes(module, manual);
                    if let Some(wanted) = &mut wanted {
                        wanted.unreduced.retain(|axis| !manual_axes.contains(&axis.axis));
                    }
                }
                wanted
            }
            RegionOwner::None => None,
        };
        let by_reshard = stated(module, value).is_none() && sharding(module, value).is_some();
        let old = unreduced(&[stated(module, value)]);
        if !by_reshard && wanted.is_some() && !equal(&old, &unreduced(&[wanted])) {
            return Err(format!(
                "has unreduced axes mismatch at return value {index} without a blessed operation \
                 (e.g., sdy.reshard). This is an invalid transition from unreduced to reduced."
            ));
        }
    }
    Ok(())
}
