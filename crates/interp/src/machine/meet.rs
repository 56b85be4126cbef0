//! Ops at which devices meet.

use std::collections::BTreeMap;

use shard_ir::OpId;
use shard_ir::ops::{Collective, Effects, Op, Sdy};

use super::device::{Device, State, zeros_like};
use super::transfer::Host;
use super::{Program, RunError, collective, failed, foreign, manual};
use crate::{Fault, Value};

/// What devices have to have in common to meet: the op; where they execute different functions,
/// what it does and its channel.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Op(u32),
    Channel(String, i64),
}

/// Carries out every op whose participants are all there. Returns whether there was one.
///
/// # Errors
/// An op that can't be executed.
pub(super) fn meet(
    program: &Program<'_>,
    devices: &mut [Device<'_>],
    host: &mut Host,
) -> Result<bool, RunError> {
    let mut meetings: BTreeMap<Key, Vec<(usize, OpId)>> = BTreeMap::new();
    for device in devices.iter() {
        if let State::Waiting(op, _) = &device.state {
            meetings.entry(key(program, *op)).or_default().push((device.id, *op));
        }
    }
    let mut progress = false;
    // What is sent is there before anybody looks for it.
    let is_send = |op: OpId| matches!(program.module.kind(op), Op::Effects(Effects::Send(_)));
    let (sends, others): (Vec<_>, Vec<_>) =
        meetings.into_values().partition(|present| present.iter().all(|(_, op)| is_send(*op)));
    for present in sends.into_iter().chain(others) {
        progress |= meeting(program, devices, host, &present)
            .map_err(|(op, device, fault)| failed(op, device, fault))?;
    }
    Ok(progress)
}

fn key(program: &Program<'_>, op: OpId) -> Key {
    let module = program.module;
    if program.world.mixed
        && let Op::Collective(kind) = module.kind(op)
        && let Some(channel) = kind.channel()
    {
        let channel = channel.map_or(0, |channel| channel.handle);
        return Key::Channel(module.op_name(op).to_owned(), channel);
    }
    Key::Op(op.as_u32())
}

type Failure = (OpId, usize, Fault);

/// Carries out what it can of one meeting.
fn meeting(
    program: &Program<'_>,
    devices: &mut [Device<'_>],
    host: &mut Host,
    present: &[(usize, OpId)],
) -> Result<bool, Failure> {
    let Some(&(first, op)) = present.first() else { return Ok(false) };
    let at = |fault: Fault| (op, first, fault);
    match program.module.kind(op) {
        Op::Collective(kind) => match collective::participants(program, op, kind).map_err(at)? {
            None => alone(program, devices, present, kind),
            Some(participants) => {
                together(program, devices, present, &participants, |site, g, o| {
                    collective::results(program, site, g, o)
                })
            }
        },
        Op::Effects(Effects::Send(send)) => {
            for &(device, op) in present {
                let operands = waiting(&devices[device]);
                host.send(program, device, send, operands).map_err(|f| (op, device, f))?;
                resume(&mut devices[device], op, vec![Value::Token])?;
            }
            Ok(true)
        }
        Op::Effects(Effects::Recv(_)) => {
            let mut progress = false;
            for &(device, op) in present {
                let Op::Effects(Effects::Recv(recv)) = program.module.kind(op) else { continue };
                let received =
                    host.receive(program, device, op, recv).map_err(|f| (op, device, f))?;
                if let Some(values) = received {
                    resume(&mut devices[device], op, values)?;
                    progress = true;
                }
            }
            Ok(progress)
        }
        Op::Effects(Effects::Infeed(_)) => {
            let mut progress = false;
            for &(device, op) in present {
                if let Some(mut values) = host.feed() {
                    values.push(Value::Token);
                    resume(&mut devices[device], op, values)?;
                    progress = true;
                }
            }
            Ok(progress)
        }
        Op::Sdy(Sdy::ManualComputation(computation)) => {
            // All devices of the mesh are there: they execute nothing but this program.
            if present.len() < devices.len() {
                return Ok(false);
            }
            let parts: Vec<&[Value]> = devices.iter().map(waiting).collect();
            let results = manual::joined(program, op, computation, &parts).map_err(at)?;
            for (device, values) in devices.iter_mut().zip(results) {
                resume(device, op, values)?;
            }
            Ok(true)
        }
        Op::Opaque(_) => {
            let participants = foreign::participants(program, op).map_err(at)?;
            together(program, devices, present, &participants, |site, g, o| {
                foreign::results(site, g, o)
            })
        }
        _ => Err(at(Fault::unsupported("waiting for other devices here"))),
    }
}

/// What a device waits with.
fn waiting<'d>(device: &'d Device<'_>) -> &'d [Value] {
    match &device.state {
        State::Waiting(_, values) => values,
        State::Ready | State::Done(_) => &[],
    }
}

fn resume(device: &mut Device<'_>, op: OpId, values: Vec<Value>) -> Result<(), Failure> {
    let id = device.id;
    device.resume(op, values).map_err(|fault| (op, id, fault))
}

/// The number of the device itself.
fn alone(
    program: &Program<'_>,
    devices: &mut [Device<'_>],
    present: &[(usize, OpId)],
    kind: &Collective,
) -> Result<bool, Failure> {
    let partitions = program.world.partitions;
    for &(device, op) in present {
        let number = match kind {
            Collective::ReplicaId => device / partitions,
            _ => device % partitions,
        };
        let number = crate::Tensor::from_lanes(
            shard_ir::ElementType::UI32,
            shard_ir::Dims::new(),
            vec![number as u32],
        );
        resume(&mut devices[device], op, vec![number.into()])?;
    }
    Ok(true)
}

/// Carries out an op for each group that is complete.
fn together(
    program: &Program<'_>,
    devices: &mut [Device<'_>],
    present: &[(usize, OpId)],
    participants: &collective::Participants,
    results: impl Fn(&crate::site::Site<'_>, &[usize], &[&[Value]]) -> Result<Vec<Vec<Value>>, Fault>,
) -> Result<bool, Failure> {
    let mut at: Vec<Option<OpId>> = vec![None; devices.len()];
    for &(device, op) in present {
        at[device] = Some(op);
    }
    let mut progress = false;
    let mut grouped = vec![false; devices.len()];
    for group in &participants.groups {
        for &device in group {
            grouped[device] = true;
        }
        let Some(ops) = group.iter().map(|device| at[*device]).collect::<Option<Vec<OpId>>>()
        else {
            continue;
        };
        let (Some(&first), Some(&op)) = (group.first(), ops.first()) else { continue };
        let operands: Vec<&[Value]> =
            group.iter().map(|device| waiting(&devices[*device])).collect();
        let lists = devices[first]
            .with_site(op, |site| results(site, group, &operands))
            .map_err(|fault| (op, first, fault))?;
        for ((&device, op), values) in group.iter().zip(ops).zip(lists) {
            resume(&mut devices[device], op, values)?;
        }
        progress = true;
    }
    for &(device, op) in present {
        if grouped[device] {
            continue;
        }
        if !participants.others_get_zeros {
            let fault = Fault::invalid("the device is in none of the op's groups");
            return Err((op, device, fault));
        }
        let results = program.module.results(op).len();
        let zeros = waiting(&devices[device])
            .iter()
            .take(results)
            .map(|value| value.tensor().map(|tensor| zeros_like(tensor).into()))
            .collect::<Result<Vec<Value>, _>>()
            .map_err(|fault| (op, device, fault))?;
        resume(&mut devices[device], op, zeros)?;
        progress = true;
    }
    Ok(progress)
}

/// Who waits where.
pub(super) fn deadlock(devices: &[Device<'_>]) -> RunError {
    let mut waiting: BTreeMap<u32, (OpId, Vec<usize>)> = BTreeMap::new();
    let mut done = Vec::new();
    for device in devices {
        match &device.state {
            State::Waiting(op, _) => {
                waiting.entry(op.as_u32()).or_insert_with(|| (*op, Vec::new())).1.push(device.id);
            }
            State::Ready | State::Done(_) => done.push(device.id),
        }
    }
    RunError::Deadlock { waiting: waiting.into_values().collect(), done }
}
