//! Ops by their names: calls of what isn't in the program, checks, parallel programs of StableHLO's
//! own tests, asynchronous ops.

use shard_ir::ops::{CustomCall, Opaque};
use shard_ir::sharding::Groups;
use shard_ir::{Attr, OpId, Symbol};

use super::checks::{self, Rule};
use super::collective::{self, Participants};
use super::device::{Device, zeros_like};
use super::groups::{Ids, lists};
use super::{Event, Program, World, run_all};
use crate::site::{Nothing, Site};
use crate::{Fault, Tensor, Value};

/// Executes a call of what isn't in the program.
pub(super) fn custom_call(
    device: &mut Device<'_>,
    op: OpId,
    call: &CustomCall,
) -> Result<(), Fault> {
    let program = device.program();
    let target = program.module.str(call.target);
    if let Some(check) = target.strip_prefix("check.") {
        return checked(device, op, check);
    }
    let known = device.tensors(op).and_then(|operands| {
        device
            .with_site(op, |site| crate::ops::custom::eval(target, site, call, &operands))
            .transpose()
    })?;
    match known {
        Some(results) => device.finish(op, results.into_iter().map(Value::Tensor).collect()),
        None => Err(Fault::unsupported(format!("a call of @{target}"))),
    }
}

/// Executes an op that the table doesn't know.
pub(super) fn execute(device: &mut Device<'_>, op: OpId, opaque: &Opaque) -> Result<(), Fault> {
    let module = device.program().module;
    let name = module.str(opaque.name);
    if let Some(check) = name.strip_prefix("check.") {
        return checked(device, op, check);
    }
    match name {
        "interpreter.run_parallel" => {
            let values = run_parallel(device, op)?;
            device.finish(op, values)
        }
        "interpreter.print" => {
            let [value] = <[Tensor; 1]>::try_from(device.tensors(op)?)
                .map_err(|_| Fault::invalid("one operand is wanted"))?;
            device.events.push(Event::Print { op, device: device.id, value });
            device.finish(op, Vec::new())
        }
        "interpreter.probe" => {
            let values = device.tensors(op)?;
            let [value] = <[Tensor; 1]>::try_from(values)
                .map_err(|_| Fault::invalid("one operand is wanted"))?;
            let name = probe_name(device, op)?;
            device.events.push(Event::Probe { name, device: device.id, value: value.clone() });
            device.finish(op, vec![value.into()])
        }
        "stablehlo.async_start" => device.future(op),
        "stablehlo.async_done" => match device.operands(op)?.first() {
            Some(Value::Tuple(values)) => device.finish(op, values.to_vec()),
            _ => Err(Fault::invalid("a future is wanted")),
        },
        "stablehlo.collective_reduce" => device.wait(op),
        _ => Err(Fault::unsupported(format!("'{name}'"))),
    }
}

/// A property of an op, or an attribute beside the properties.
fn attr<'m>(program: &Program<'m>, op: OpId, name: &str) -> Option<&'m Attr> {
    let module = program.module;
    let properties = match module.kind(op) {
        shard_ir::ops::Op::Opaque(opaque) => opaque.properties.as_slice(),
        _ => &[],
    };
    let all = properties.iter().chain(module.attrs(module.op(op).attrs));
    all.into_iter().find(|(key, _)| module.str(*key) == name).map(|(_, attr)| attr)
}

fn probe_name(device: &Device<'_>, op: OpId) -> Result<String, Fault> {
    match attr(device.program(), op, "probe_id") {
        Some(Attr::String(name)) => Ok(device.program().module.str(*name).to_owned()),
        _ => Err(Fault::invalid("'probe_id' is missing")),
    }
}

/// A check; one that doesn't hold is an event, so that all of them are seen.
///
/// Limits that aren't stated are those of StableHLO's own interpreter, which are wider for calls
/// than for ops.
fn checked(device: &mut Device<'_>, op: OpId, check: &str) -> Result<(), Fault> {
    let program = device.program();
    let operands = device.tensors(op)?;
    let number = |name: &str, default: u64| match attr(program, op, name) {
        Some(Attr::Int(value, _)) => u64::try_from(*value).unwrap_or(u64::MAX),
        _ => default,
    };
    let is_call = matches!(program.module.kind(op), shard_ir::ops::Op::Custom(_));
    let (tolerance, ulps) = if is_call { (1e-3, 3) } else { (1e-4, 1) };
    let rule = match check {
        "eq" | "expect_eq" | "expect_eq_const" | "expect_serialized_eq" => Rule::Equal,
        "expect_almost_eq" | "expect_almost_eq_const" => match attr(program, op, "tolerance") {
            Some(Attr::Float(bits, _)) => Rule::Almost(f64::from_bits(*bits)),
            _ => Rule::Almost(tolerance),
        },
        "expect_close" => Rule::Close {
            least: number("min_ulp_difference", 0),
            most: number("max_ulp_difference", ulps),
        },
        _ => return Err(Fault::unsupported(format!("the check '{check}'"))),
    };
    let stated = match (check, attr(program, op, "value")) {
        ("expect_serialized_eq", _) => Some(probed(device, op)?),
        (_, Some(Attr::Dense(dense))) => Some(Tensor::from_dense(dense, program.module)?),
        _ => None,
    };
    let (actual, expected) = match (operands.as_slice(), &stated) {
        ([actual], Some(expected)) => (actual, expected),
        ([actual, expected], None) => (actual, expected),
        _ => return Err(Fault::invalid("two values are wanted")),
    };
    if let Some(message) = checks::difference(actual, expected, rule)? {
        device.events.push(Event::Failed { op, device: device.id, message });
    }
    device.finish(op, Vec::new())
}

/// What `interpreter.probe` saw under the name that a check gives.
fn probed(device: &Device<'_>, op: OpId) -> Result<Tensor, Fault> {
    let wanted = probe_name(device, op)?;
    let iteration = match attr(device.program(), op, "iteration") {
        Some(Attr::Int(value, _)) => usize::try_from(*value).unwrap_or(0),
        _ => 0,
    };
    let seen = device.events.iter().filter_map(|event| match event {
        Event::Probe { name, value, .. } if *name == wanted => Some(value),
        _ => None,
    });
    seen.clone()
        .nth(iteration)
        .cloned()
        .ok_or_else(|| Fault::invalid(format!("nothing was probed as \"{wanted}\"")))
}

/// A grid of programs, each on a device of its own.
fn run_parallel(device: &mut Device<'_>, op: OpId) -> Result<Vec<Value>, Fault> {
    let program = device.program();
    let module = program.module;
    let Some(Attr::Array(rows)) = attr(program, op, "programs") else {
        return Err(Fault::invalid("'programs' is missing"));
    };
    let mut names: Vec<Symbol> = Vec::new();
    for row in rows {
        names.extend(symbols(row));
    }
    let replicas = rows.len();
    if replicas == 0 || !names.len().is_multiple_of(replicas) || names.is_empty() {
        return Err(Fault::invalid("'programs' isn't a grid"));
    }
    let mut inputs = device.operands(op)?.into_iter();
    let mut starts = Vec::new();
    for &name in &names {
        let block = module.func_entry(program.func(name)?);
        let args = inputs.by_ref().take(module.params(block).len()).collect();
        starts.push((block, args));
    }
    let mut infeed = Vec::new();
    if let Some(queue) = attr(program, op, "infeed") {
        for name in symbols(queue) {
            let block = module.func_entry(program.func(name)?);
            let one = program.on(World::ONE, None);
            let outcome = run_all(&one, &Nothing, vec![(block, Vec::new())], Vec::new())
                .map_err(|error| Fault::Within(Box::new(error)))?;
            infeed.extend(outcome.results);
        }
    }
    let world = World {
        replicas,
        partitions: names.len() / replicas,
        mixed: names.iter().any(|name| *name != names[0]),
    };
    let grid = program.on(world, None);
    let outcome =
        run_all(&grid, &Nothing, starts, infeed).map_err(|error| Fault::Within(Box::new(error)))?;
    device.events.extend(outcome.events);
    Ok(outcome.results.into_iter().flatten().collect())
}

fn symbols(attr: &Attr) -> Vec<Symbol> {
    match attr {
        Attr::Array(items) => items.iter().flat_map(symbols).collect(),
        Attr::SymbolRef(path) => path.iter().take(1).copied().collect(),
        _ => Vec::new(),
    }
}

/// Who takes part in an op that the table doesn't know.
pub(super) fn participants(program: &Program<'_>, op: OpId) -> Result<Participants, Fault> {
    let channel = match attr(program, op, "channel_handle") {
        Some(Attr::Channel(channel)) => channel.handle,
        _ => 0,
    };
    let global = attr(program, op, "use_global_device_ids").is_some();
    let lists = match attr(program, op, "replica_groups") {
        Some(Attr::Groups(groups)) => lists(groups, program.module),
        Some(Attr::Dense(dense)) => {
            let ids = Tensor::from_dense(dense, program.module)?;
            let width = ids.dims().get(1).copied().unwrap_or(1).max(1) as usize;
            let rows = ids.integers();
            rows.chunks(width)
                .map(|row| row.iter().copied().filter(|i| *i >= 0).collect())
                .collect()
        }
        _ => Vec::new(),
    };
    let ids = Ids::of_reduction(&Groups::all(1), channel, global);
    Ok(Participants { groups: ids.groups(&lists, program.world)?, others_get_zeros: false })
}

/// The results of `collective_reduce`: the root has the sum, the others have zeros.
pub(super) fn results(
    site: &Site<'_>,
    group: &[usize],
    operands: &[&[Value]],
) -> Result<Vec<Vec<Value>>, Fault> {
    let count = site.module.results(site.op).len();
    let mut lists: Vec<Vec<Value>> = vec![Vec::new(); group.len()];
    for index in 0..count {
        let parts = collective::parts(operands, index)?;
        let root = collective::root(operands, count, index)?;
        let sum = collective::reduced(site, &parts)?;
        for (position, list) in lists.iter_mut().enumerate() {
            let is_root = root == position;
            list.push(if is_root { sum.clone().into() } else { zeros_like(&sum).into() });
        }
    }
    Ok(lists)
}
