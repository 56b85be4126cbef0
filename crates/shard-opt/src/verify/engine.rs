//! What executes programs: the interpreter, or a plugin.

use std::sync::{Mutex, PoisonError};

use shard_interp::{Buffer, Machine, RunOptions, Tensor, Value, Watch};
use shard_ir::sharding::Mesh;
use shard_ir::{Attr, Diagnostic, HostArray, Module, OpId};
use shard_passes::pipeline::Partitioned;

use super::VerifyError;

/// What executes programs.
pub trait Engine {
    /// The most devices that a program may have; `None` if there is no limit.
    fn most_devices(&self) -> Option<usize>;

    /// The whole program, ready to run on global arrays.
    ///
    /// # Errors
    /// If it can't be made ready.
    fn whole(
        &self,
        partitioned: &Partitioned,
        whole: &Module,
        mesh: &Mesh,
    ) -> Result<Box<dyn Whole>, VerifyError>;

    /// A program that each device runs, ready to run; `stage` says which in words.
    ///
    /// # Errors
    /// If it can't be made ready.
    fn load<'e>(
        &'e self,
        module: &Module,
        stage: &'static str,
    ) -> Result<Box<dyn Loaded + 'e>, VerifyError>;
}

/// A program that is ready to run.
pub trait Loaded {
    /// Runs it: each device's arguments to each device's results.
    ///
    /// # Errors
    /// If it can't be run.
    fn execute(&self, inputs: &[Vec<HostArray>]) -> Result<Vec<Vec<HostArray>>, VerifyError>;
}

/// A whole program that is ready to run.
pub trait Whole: Send + Sync {
    /// What it is, in words.
    fn name(&self) -> &'static str;

    /// Runs it once; arguments and results are whole.
    ///
    /// # Errors
    /// If it can't be run.
    fn run(&self, globals: &[HostArray]) -> Result<Vec<HostArray>, VerifyError>;

    /// Runs it as another machine might, to see how much that changes; `None` if it can't.
    ///
    /// # Errors
    /// If it can't be run.
    fn run_otherwise(
        &self,
        _globals: &[HostArray],
        _otherwise: Otherwise,
    ) -> Result<Option<Vec<HostArray>>, VerifyError> {
        Ok(None)
    }
}

/// What another machine may do otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Otherwise {
    /// Other rounding errors in sums, as this number says.
    Rounding(u64),
    /// Other nesting of reductions by regions of more than one op, and convolutions with their
    /// operands in each other's place where compilers do that: what is padded with zeros is then the
    /// other operand, and zero times infinity is NaN.
    Form,
}

impl std::fmt::Debug for dyn Whole {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// The embedded interpreter.
#[derive(Clone, Copy, Debug, Default)]
pub struct Interpreter;

impl Interpreter {
    /// A program on so many replicas and partitions, whatever it states.
    pub(super) fn load_on(
        &self,
        module: &Module,
        (replicas, partitions): (usize, usize),
    ) -> impl Loaded {
        Program { module: module.clone(), replicas, partitions }
    }
}

impl Engine for Interpreter {
    fn most_devices(&self) -> Option<usize> {
        None
    }

    fn whole(
        &self,
        _: &Partitioned,
        whole: &Module,
        mesh: &Mesh,
    ) -> Result<Box<dyn Whole>, VerifyError> {
        // As it was read, but for annotations in other forms, which stand for parts of its meaning.
        let mut module = whole.clone();
        let options = shard_passes::import::ImportOptions {
            mesh: shard_passes::meshes::main_mesh(whole).is_none().then(|| mesh.clone()),
            ..Default::default()
        };
        shard_passes::sdy_round_trip::import(&mut module)
            .and_then(|()| shard_passes::inline_calls::run(&mut module))
            .and_then(|()| shard_passes::import::run(&mut module, &options))
            .map_err(VerifyError::Pass)?;
        Ok(Box::new(Program { module, replicas: 1, partitions: 1 }))
    }

    fn load<'e>(
        &'e self,
        module: &Module,
        _: &'static str,
    ) -> Result<Box<dyn Loaded + 'e>, VerifyError> {
        let (replicas, partitions) = device_counts(module);
        Ok(Box::new(Program { module: module.clone(), replicas, partitions }))
    }
}

/// Replicas and partitions that a program states.
pub fn device_counts(module: &Module) -> (usize, usize) {
    let count = |name: &str| match module.attr(module.attrs, name) {
        Some(Attr::Int(count, _)) => usize::try_from(*count).unwrap_or(1).max(1),
        _ => 1,
    };
    (count("mhlo.num_replicas"), count("mhlo.num_partitions"))
}

struct Program {
    module: Module,
    replicas: usize,
    partitions: usize,
}

impl Program {
    fn run_with(
        &self,
        inputs: &[Vec<HostArray>],
        otherwise: Option<Otherwise>,
    ) -> Result<Vec<Vec<HostArray>>, VerifyError> {
        let mut swapped;
        let module = match otherwise {
            Some(Otherwise::Form) => {
                swapped = self.module.clone();
                shard_passes::swap_convolutions::run(&mut swapped).map_err(VerifyError::Pass)?;
                &swapped
            }
            Some(Otherwise::Rounding(_)) | None => &self.module,
        };
        let Some(func) = module.main_func() else {
            return Err(VerifyError::Run(Box::new(Diagnostic::error("there is no function"))));
        };
        let options = RunOptions {
            replicas: self.replicas,
            partitions: self.partitions,
            jitter: match otherwise {
                Some(Otherwise::Rounding(seed)) => Some(seed),
                Some(Otherwise::Form) | None => None,
            },
            backwards: otherwise == Some(Otherwise::Form),
            ..RunOptions::default()
        };
        let lists = inputs.iter().map(|list| list.iter().map(value_of).collect()).collect();
        let outcome = Machine::new(module)
            .run(func, lists, &options)
            .map_err(|error| VerifyError::Run(Box::new(error.diagnostic(module))))?;
        Ok(outcome.results.iter().map(|list| list.iter().map(array_of).collect()).collect())
    }
}

impl Loaded for Program {
    fn execute(&self, inputs: &[Vec<HostArray>]) -> Result<Vec<Vec<HostArray>>, VerifyError> {
        self.run_with(inputs, None)
    }
}

impl Whole for Program {
    fn name(&self) -> &'static str {
        "the whole program on one device"
    }

    fn run(&self, globals: &[HostArray]) -> Result<Vec<HostArray>, VerifyError> {
        Ok(self.execute(&[globals.to_vec()])?.pop().unwrap_or_default())
    }

    fn run_otherwise(
        &self,
        globals: &[HostArray],
        otherwise: Otherwise,
    ) -> Result<Option<Vec<HostArray>>, VerifyError> {
        Ok(self.run_with(&[globals.to_vec()], Some(otherwise))?.pop())
    }
}

/// The values of an op on a device, in the order in which the device computed them.
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub device: usize,
    pub op: OpId,
    pub values: Vec<Value>,
}

#[derive(Default)]
struct Recorder(Mutex<Vec<Record>>);

impl Watch for Recorder {
    fn results(&self, device: usize, op: OpId, results: &[Value]) {
        let record = Record { device, op, values: results.to_vec() };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(record);
    }
}

/// Runs a program and records what every op gives, device by device; with a seed, with rounding
/// errors on purpose.
///
/// # Errors
/// If it can't be run.
pub(super) fn traced(
    module: &Module,
    inputs: &[Vec<HostArray>],
    (replicas, partitions): (usize, usize),
    jitter: Option<u64>,
) -> Result<Vec<Record>, VerifyError> {
    let recorder = Recorder::default();
    let watch = Some(&recorder as &dyn Watch);
    let options = RunOptions { replicas, partitions, jitter, watch, ..RunOptions::default() };
    let func = module
        .main_func()
        .ok_or_else(|| VerifyError::Run(Box::new(Diagnostic::error("there is no function"))))?;
    let lists = inputs.iter().map(|list| list.iter().map(value_of).collect()).collect();
    Machine::new(module)
        .run(func, lists, &options)
        .map_err(|error| VerifyError::Run(Box::new(error.diagnostic(module))))?;
    let mut records = recorder.0.into_inner().unwrap_or_else(PoisonError::into_inner);
    // Devices run in parallel; each one's own order stays.
    records.sort_by_key(|record| record.device);
    Ok(records)
}

/// A value of the interpreter's.
pub fn value_of(array: &HostArray) -> Value {
    let buffer = Buffer::from_bytes(&array.bytes, array.element_type.storage_bytes());
    Tensor::new(array.element_type, array.dims.as_slice(), buffer).into()
}

/// An array of a value of the interpreter's; a token has no elements.
pub fn array_of(value: &Value) -> HostArray {
    match value {
        Value::Tensor(tensor) => HostArray {
            element_type: tensor.element(),
            dims: tensor.dims().to_vec(),
            bytes: tensor.buffer().bytes().to_vec(),
        },
        Value::Token | Value::Tuple(_) => {
            HostArray { element_type: shard_ir::ElementType::I1, dims: vec![0], bytes: Vec::new() }
        }
    }
}
