//! Devices that execute a program in lock step.
//!
//! Each device runs by itself, in parallel with the others, until it comes to an op that needs
//! others: a collective, a transfer, the end of a manual computation. When every device waits or is
//! through, the ops whose participants are all there are carried out, in the order of the program,
//! and those devices run on. If there is none, nothing will ever happen: a deadlock, which is
//! reported with the ops that wait. What comes out doesn't depend on which device was faster.

mod blocks;
mod checks;
mod collective;
mod device;
mod foreign;
mod groups;
mod jitter;
mod manual;
mod meet;
mod plan;
mod transfer;

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use shard_ir::{BlockId, Diagnostic, FuncId, MeshId, Module, OpId, Place, Symbol};

use crate::site::{Nothing, Outside};
use crate::{Fault, Tensor, Value};
use device::{Device, State};
use plan::Plan;

/// What a program says while it runs, in the order of its devices, and of the ops on each.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A check that the program states doesn't hold.
    Failed {
        /// The check.
        op: OpId,
        /// The device that executed it.
        device: usize,
        /// What differs.
        message: String,
    },
    /// `interpreter.print`.
    Print {
        /// The op.
        op: OpId,
        /// The device.
        device: usize,
        /// What it prints.
        value: Tensor,
    },
    /// `interpreter.probe`.
    Probe {
        /// Its name.
        name: String,
        /// The device.
        device: usize,
        /// The value.
        value: Tensor,
    },
}

/// Sees the results of every op.
pub trait Watch: Sync {
    /// Called when a device has executed an op, from the thread that runs the device.
    fn results(&self, device: usize, op: OpId, results: &[Value]);
}

/// How to run.
#[derive(Clone, Copy, Default)]
pub struct RunOptions<'m> {
    /// Number of replicas; 0 stands for 1.
    pub replicas: usize,
    /// Number of partitions of each replica; 0 stands for 1.
    pub partitions: usize,
    /// The most ops that a device executes, so that a loop without end is found.
    pub fuel: Option<u64>,
    /// Who sees the results of every op.
    pub watch: Option<&'m dyn Watch>,
    /// Rounding errors: the operands of sums and products over many elements are changed by about
    /// the unit in their last place, as this number says. What that does to results is what another
    /// order of the sums may do.
    pub jitter: Option<u64>,
    /// Whether reductions by regions of more than one op are nested from the last element on, which
    /// the specification allows as well.
    pub backwards: bool,
}

/// Why a program can't be executed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// An op can't be executed.
    #[error("device {device}: {fault}")]
    Op {
        /// The op.
        op: OpId,
        /// The device.
        device: usize,
        /// Why.
        fault: Fault,
    },
    /// The program can't be begun.
    #[error("{0}")]
    Start(Fault),
    /// Devices wait for others that will never come.
    #[error("deadlock: no device can go on")]
    Deadlock {
        /// The ops that wait, each with the devices there.
        waiting: Vec<(OpId, Vec<usize>)>,
        /// The devices that are through.
        done: Vec<usize>,
    },
}

impl RunError {
    /// The diagnostic, at the op that can't be executed.
    pub fn diagnostic(&self, module: &Module) -> Diagnostic {
        match self {
            RunError::Op { op, device, fault } => {
                let diagnostic = Diagnostic::error(fault.to_string()).at_op(module, *op);
                if *device > 0 {
                    diagnostic.note(format!("on device {device}"))
                } else {
                    diagnostic
                }
            }
            RunError::Start(fault) => Diagnostic::error(fault.to_string()),
            RunError::Deadlock { waiting, done } => {
                let mut diagnostic = Diagnostic::error(self.to_string());
                if let Some((op, _)) = waiting.first() {
                    diagnostic = diagnostic.at_op(module, *op);
                }
                for (op, devices) in waiting {
                    let (list, waits) = device_list(devices);
                    let wait = if waits { "waits" } else { "wait" };
                    let place = match shard_ir::place_of(module, module.op(*op).loc) {
                        Place::Source { file, line, col } => format!(" at {file}:{line}:{col}"),
                        Place::Text(_) | Place::Nowhere => String::new(),
                    };
                    let name = module.op_name(*op);
                    diagnostic =
                        diagnostic.note(format!("{list} {wait} at '{name}'{place} for the others"));
                }
                if !done.is_empty() {
                    let (list, one) = device_list(done);
                    let has = if one { "has" } else { "have" };
                    diagnostic = diagnostic.note(format!("{list} {has} ended"));
                }
                diagnostic
            }
        }
    }
}

/// `device 3`, `devices 0, 2, 4`, shortened if there are many, and whether it is one.
fn device_list(devices: &[usize]) -> (String, bool) {
    const MOST: usize = 16;
    let shown: Vec<String> = devices.iter().take(MOST).map(ToString::to_string).collect();
    let more = match devices.len() {
        0..=MOST => String::new(),
        count => format!(", ... ({count})"),
    };
    let one = devices.len() == 1;
    let plural = if one { "" } else { "s" };
    (format!("device{plural} {}{more}", shown.join(", ")), one)
}

/// What a run gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The results of each device.
    pub results: Vec<Vec<Value>>,
    /// What the program said.
    pub events: Vec<Event>,
}

/// Executes the functions of a module.
#[derive(Debug)]
pub struct Machine<'m> {
    module: &'m Module,
    plan: Plan,
}

impl<'m> Machine<'m> {
    /// A machine for a module that the verifier accepts.
    pub fn new(module: &'m Module) -> Self {
        let bodies = module.func_ids().map(|func| module.funcs[func].body);
        Machine { module, plan: Plan::of(module, bodies) }
    }

    /// Executes a function on `replicas * partitions` devices, each with arguments of its own.
    ///
    /// # Errors
    /// The first op, on the first device, that can't be executed; or that no device can go on.
    pub fn run(
        &self,
        func: FuncId,
        inputs: Vec<Vec<Value>>,
        options: &RunOptions<'_>,
    ) -> Result<Outcome, RunError> {
        let world = World {
            replicas: options.replicas.max(1),
            partitions: options.partitions.max(1),
            mixed: false,
        };
        if inputs.len() != world.devices() {
            return Err(RunError::Start(Fault::invalid(format!(
                "arguments for {} devices, and there are {}",
                inputs.len(),
                world.devices()
            ))));
        }
        let mut program = Program::new(self.module, &self.plan, world);
        (program.fuel, program.watch) = (options.fuel, options.watch);
        (program.jitter, program.backwards) = (options.jitter, options.backwards);
        let block = self.module.func_entry(func);
        let starts = inputs.into_iter().map(|args| (block, args)).collect();
        run_all(&program, &Nothing, starts, Vec::new())
    }
}

/// The devices that there are.
#[derive(Clone, Copy, Debug)]
struct World {
    replicas: usize,
    partitions: usize,
    /// Devices execute different functions, which meet by their channels.
    mixed: bool,
}

impl World {
    /// One device.
    const ONE: World = World { replicas: 1, partitions: 1, mixed: false };

    fn devices(self) -> usize {
        self.replicas * self.partitions
    }
}

/// What all devices share.
struct Program<'m> {
    module: &'m Module,
    plan: &'m Plan,
    world: World,
    funcs: FxHashMap<Symbol, FuncId>,
    fuel: Option<u64>,
    watch: Option<&'m dyn Watch>,
    jitter: Option<u64>,
    backwards: bool,
    /// The devices are those of this mesh, and execute the inside of a manual computation.
    manual: Option<MeshId>,
}

impl<'m> Program<'m> {
    fn new(module: &'m Module, plan: &'m Plan, world: World) -> Self {
        let funcs = module.func_ids().map(|func| (module.funcs[func].name, func)).collect();
        let (fuel, watch, jitter, manual) = (None, None, None, None);
        Program { module, plan, world, funcs, fuel, watch, jitter, backwards: false, manual }
    }

    /// The same program on other devices.
    fn on(&self, world: World, manual: Option<MeshId>) -> Program<'m> {
        Program { world, manual, funcs: self.funcs.clone(), ..*self }
    }

    fn func(&self, name: Symbol) -> Result<FuncId, Fault> {
        let func = self.funcs.get(&name).copied();
        let func = func.filter(|func| !self.module.funcs[*func].is_declaration);
        func.ok_or_else(|| {
            Fault::invalid(format!("there is no function @{} with a body", self.module.str(name)))
        })
    }
}

/// Runs a block with arguments on each device. `infeed` is what each device reads from the host.
fn run_all(
    program: &Program<'_>,
    outside: &dyn Outside,
    starts: Vec<(BlockId, Vec<Value>)>,
    infeed: Vec<Vec<Value>>,
) -> Result<Outcome, RunError> {
    let mut devices = starts
        .into_iter()
        .enumerate()
        .map(|(id, (block, args))| Device::new(id, program, outside, block, args))
        .collect::<Result<Vec<Device<'_>>, Fault>>()
        .map_err(RunError::Start)?;
    let mut host = transfer::Host::new(infeed);
    loop {
        let failures: Vec<Option<(OpId, Fault)>> =
            devices.par_iter_mut().map(|device| device.run().err()).collect();
        if let Some((device, (op, fault))) =
            failures.into_iter().enumerate().find_map(|(device, f)| Some((device, f?)))
        {
            return Err(failed(op, device, fault));
        }
        if devices.iter().all(|device| matches!(device.state, State::Done(_))) {
            break;
        }
        if !meet::meet(program, &mut devices, &mut host)? {
            return Err(meet::deadlock(&devices));
        }
    }
    let mut events = Vec::new();
    let mut results = Vec::new();
    for device in devices {
        events.extend(device.events);
        results.push(match device.state {
            State::Done(values) => values,
            State::Ready | State::Waiting(..) => Vec::new(),
        });
    }
    Ok(Outcome { results, events })
}

/// The error of an op; one from within a program that it runs is that one's own.
fn failed(op: OpId, device: usize, fault: Fault) -> RunError {
    match fault {
        Fault::Within(error) => *error,
        fault => RunError::Op { op, device, fault },
    }
}

/// Runs a block of scalars on one device, once for each list of arguments.
///
/// # Errors
/// The first that fails.
pub(crate) fn run_block(
    module: &Module,
    block: BlockId,
    lists: impl Iterator<Item = Vec<Value>>,
    outside: &dyn Outside,
) -> Result<Vec<Vec<Value>>, Fault> {
    let plan = Plan::of(module, []);
    let program = Program::new(module, &plan, World::ONE);
    let mut device: Option<Device<'_>> = None;
    let mut results = Vec::new();
    for args in lists {
        match &mut device {
            None => device = Some(Device::new(0, &program, outside, block, args)?),
            Some(device) => device.restart(block, args)?,
        }
        let Some(device) = &mut device else { continue };
        device.run().map_err(|(op, fault)| Fault::Within(Box::new(failed(op, 0, fault))))?;
        match std::mem::replace(&mut device.state, State::Ready) {
            State::Done(values) => results.push(values),
            State::Ready | State::Waiting(..) => {
                return Err(Fault::unsupported("communication in a region of scalars"));
            }
        }
    }
    Ok(results)
}
