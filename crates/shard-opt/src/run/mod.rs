//! Executing a program on the interpreter: on one device where it is a program of global shapes, on
//! as many as it states where it is what each device runs.

mod input;
mod npy;
mod text;

pub(crate) use input::misfit;
pub use input::{Input, element_of};
pub use npy::{NpyError, read as read_npy, write as write_npy};
pub use text::value_text;

use shard_interp::{Machine, Outcome, RunOptions, Value};
use shard_ir::ops::{Op, Sdy};
use shard_ir::sharding::{Mesh, TensorSharding};
use shard_ir::{Diagnostic, HostArray, Module, RegionId, Type};

use crate::verify::{self, engine};

/// What a program is written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Global shapes: one device executes all of it.
    Whole,
    /// What each device runs.
    Devices {
        /// Number of replicas.
        replicas: usize,
        /// Number of partitions of each.
        partitions: usize,
    },
}

impl Form {
    /// Number of devices that execute it.
    pub fn devices(self) -> usize {
        match self {
            Form::Whole => 1,
            Form::Devices { replicas, partitions } => replicas * partitions,
        }
    }

    /// What a program seems to be written for. One that states shardings is a whole program unless
    /// devices communicate in it (manual computations aside).
    pub fn of(module: &Module) -> Form {
        let (replicas, partitions) = engine::device_counts(module);
        match shard_passes::meshes::main_mesh(module) {
            Some(_) if !communicates(module) => Form::Whole,
            // Before it is exported, a partitioned program states its mesh alone.
            Some(mesh) if replicas * partitions == 1 => {
                let devices = module.meshes[mesh].mesh.device_count();
                Form::Devices { replicas, partitions: devices.min(1 << 20) as usize }
            }
            _ => Form::Devices { replicas, partitions },
        }
    }
}

/// Whether devices communicate in a program, manual computations aside.
fn communicates(module: &Module) -> bool {
    let mut regions: Vec<RegionId> =
        module.func_ids().map(|func| module.funcs[func].body).collect();
    while let Some(region) = regions.pop() {
        for &block in &module.region(region).blocks {
            for &op in module.block_ops(block) {
                match module.kind(op) {
                    Op::Collective(_) => return true,
                    Op::Sdy(Sdy::ManualComputation(_)) => {}
                    _ => regions.extend(module.regions(op)),
                }
            }
        }
    }
    false
}

/// Each device's arguments of the main function: those given, the others drawn.
///
/// # Errors
/// If an argument isn't there, has another shape, or can't be drawn.
pub fn arguments(
    module: &Module,
    form: Form,
    inputs: &[Input],
    seed: u64,
) -> Result<Vec<Vec<Value>>, Diagnostic> {
    let Some(func) = module.main_func() else {
        return Err(Diagnostic::error("the program has no function"));
    };
    let args = module.args(func);
    for input in inputs {
        element_of(module, input.index)?;
    }
    let given = |index| Input::of(inputs, index);
    let drawn_all = (0..args.len()).all(|index| {
        given(index).is_some()
            || !matches!(module.ty(module.value_type(args[index])), Type::Tensor(_))
    });
    let drawn = if drawn_all {
        Vec::new()
    } else {
        verify::draw_arguments(module, seed).map_err(|error| {
            Diagnostic::error(error.to_string()).help("give it with --input=NUMBER:FILE.npy")
        })?
    };
    let mut lists = vec![Vec::with_capacity(args.len()); form.devices()];
    for (index, &arg) in args.iter().enumerate() {
        let Type::Tensor(ty) = module.ty(module.value_type(arg)) else {
            for list in &mut lists {
                list.push(Value::Token);
            }
            continue;
        };
        let array = match given(index) {
            Some(input) => &input.array,
            None => &drawn[index],
        };
        let is_local = array.element_type == ty.element && array.dims == ty.dims.as_slice();
        let sharding = module.value_sharding(arg).filter(|_| form != Form::Whole);
        for (device, list) in lists.iter_mut().enumerate() {
            let part = match sharding {
                _ if is_local => Some(array.clone()),
                Some(sharding) => part(module, array, sharding, device),
                None => None,
            };
            let fits = part.filter(|part| part.dims == ty.dims.as_slice());
            let part =
                fits.ok_or_else(|| misfit(module, &Input { index, array: array.clone() }))?;
            list.push(engine::value_of(&part));
        }
    }
    Ok(lists)
}

fn part(
    module: &Module,
    array: &HostArray,
    sharding: &TensorSharding,
    device: usize,
) -> Option<HostArray> {
    let mesh: &Mesh = &module.meshes[sharding.mesh].mesh;
    verify::device_part(array, sharding, mesh, device as u64)
}

/// Executes the main function.
///
/// # Errors
/// The op that can't be executed.
pub fn run(
    module: &Module,
    form: Form,
    arguments: Vec<Vec<Value>>,
    fuel: Option<u64>,
) -> Result<Outcome, Diagnostic> {
    let Some(func) = module.main_func() else {
        return Err(Diagnostic::error("the program has no function"));
    };
    let (replicas, partitions) = match form {
        Form::Whole => (1, 1),
        Form::Devices { replicas, partitions } => (replicas, partitions),
    };
    let options = RunOptions { replicas, partitions, fuel, ..RunOptions::default() };
    Machine::new(module).run(func, arguments, &options).map_err(|error| error.diagnostic(module))
}
