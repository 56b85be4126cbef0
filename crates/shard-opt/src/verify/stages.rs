//! Executing the program after every pass: which one changes a value, and at which op.
//!
//! Every stage of the pipeline is an executable program: until `global-to-local` one of global
//! shapes, which one device executes, then what each device runs. The first pass after which a
//! result differs is at fault. Where in its program the fault lies is found by the values inside:
//! ops keep their source locations, so the values of an op are compared with those that ops of the
//! same location and shape had before the pass.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use shard_interp::Value;
use shard_ir::ops::{Creation, Op};
use shard_ir::sharding::{Mesh, TensorSharding};
use shard_ir::{
    DenseData, ElementType, HostArray, Module, OpId, Place as Source, ValueId, place_of,
};
use shard_passes::pipeline::StageModule;

use super::compare::{self, Found, Place, Rule};
use super::engine::{self, Interpreter, Loaded, Record, device_counts};
use super::report::Mismatch;
use super::shards::{self, Part};
use super::slack::NOISE_MARGIN;
use super::{Prepared, VerifyError, elements, partial};
use crate::report::json;
use crate::report::table::{Align, Table};

/// How the program after a pass fared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StageReport {
    /// The pass.
    pub pass: &'static str,
    /// Devices that executed it.
    pub devices: usize,
    /// Whether every result on every device is what the whole program gives.
    pub equal: bool,
    /// The largest error, as a part of what is allowed (JSON has no infinity: `null`).
    pub worst: f64,
    /// Why it can't be executed.
    pub error: Option<String>,
}

/// The first op whose value isn't what it was before the pass.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Culprit {
    /// The pass after which the value differs.
    pub pass: &'static str,
    /// The op, such as `stablehlo.all_reduce`.
    pub op: String,
    /// Where it comes from.
    pub location: String,
    /// The device.
    pub device: usize,
    /// Index in the value.
    pub index: Vec<i64>,
    /// What was expected there.
    pub expected: String,
    /// What is there.
    pub found: String,
}

/// What executing every stage found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StagesReport {
    /// Each stage up to the first that is wrong.
    pub stages: Vec<StageReport>,
    /// The op at fault, where it could be told.
    pub culprit: Option<Culprit>,
}

impl StagesReport {
    /// Whether every stage gives what the whole program gives.
    pub fn passed(&self) -> bool {
        self.stages.iter().all(|stage| stage.equal)
    }

    /// As JSON.
    pub fn to_json(&self) -> String {
        json::render(self)
    }

    /// As a table with a line a stage, and the op at fault.
    pub fn to_text(&self, width: usize) -> String {
        let mut text = String::new();
        let mut table = Table::new(&[Align::Left, Align::Right, Align::Left, Align::Left]);
        table.row(["after pass", "devices", "results", "largest error"]);
        for stage in &self.stages {
            let status = if stage.equal { "equal" } else { "DIFFERENT" };
            let error = match &stage.error {
                Some(error) => error.clone(),
                None if stage.worst == 0.0 => "none".to_owned(),
                None => format!("{:.1e} of what is allowed", stage.worst),
            };
            let (pass, devices) = (stage.pass.to_owned(), stage.devices.to_string());
            table.row([pass, devices, status.to_owned(), error]);
        }
        table.write(&mut text, width);
        if let Some(wrong) = self.stages.iter().find(|stage| !stage.equal) {
            let _ =
                writeln!(text, "\n'{}' is the first pass after which a value differs", wrong.pass);
        }
        if let Some(culprit) = &self.culprit {
            let Culprit { op, location, device, index, expected, found, .. } = culprit;
            let _ = writeln!(
                text,
                "first at '{op}' of {location}: device {device}, {index:?}: expected {expected}, \
                 found {found}"
            );
        }
        text
    }
}

/// Executes stages in their order, up to the first that gives something else.
///
/// # Errors
/// If the stages before that one can't be compared.
pub fn check_stages(
    prepared: &Prepared,
    stages: &[StageModule],
) -> Result<StagesReport, VerifyError> {
    let mut report = StagesReport { stages: Vec::new(), culprit: None };
    let mut before = None;
    for stage in stages {
        let next = check_next(prepared, before.as_ref(), stage)?;
        let passed = next.passed();
        report.stages.extend(next.stages);
        report.culprit = next.culprit;
        if !passed {
            break;
        }
        before = Some(Baseline::new(stage));
    }
    Ok(report)
}

/// A stage that is known to be right, and the values inside it, which are computed when they are
/// first needed.
#[derive(Debug)]
pub struct Baseline<'s> {
    stage: &'s StageModule,
    /// For each run.
    values: Mutex<BTreeMap<usize, Arc<Known>>>,
}

impl<'s> Baseline<'s> {
    /// A stage that is right; nothing is computed yet.
    pub fn new(stage: &'s StageModule) -> Self {
        Baseline { stage, values: Mutex::default() }
    }

    fn values(&self, prepared: &Prepared, run: usize) -> Result<Arc<Known>, VerifyError> {
        let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = values.get(&run) {
            return Ok(known.clone());
        }
        let known = Arc::new(known_values(prepared, self.stage, run)?);
        values.insert(run, known.clone());
        Ok(known)
    }
}

/// Executes one stage; `before` is the one before it.
///
/// # Errors
/// If the stages can't be compared.
pub fn check_next(
    prepared: &Prepared,
    before: Option<&Baseline<'_>>,
    stage: &StageModule,
) -> Result<StagesReport, VerifyError> {
    let (form, wrong) = check_stage(prepared, stage)?;
    let mut report = StagesReport { stages: vec![form], culprit: None };
    if let (Some(before), Some(wrong)) = (before, wrong) {
        report.culprit = culprit(prepared, before, stage, wrong.example.run)?
            .or_else(|| returned(stage, &wrong));
    }
    Ok(report)
}

/// The first difference of a stage's results.
struct Wrong {
    /// The result.
    index: usize,
    /// Where and how it differs.
    example: Mismatch,
}

/// What gives a result that is wrong, where no op inside has another value than before: the op isn't
/// wrong by itself, but what should come after it is missing.
fn returned(stage: &StageModule, wrong: &Wrong) -> Option<Culprit> {
    let module = &stage.module;
    let end = module.terminator(module.func_entry(module.main_func()?))?;
    let op = module.operands(end).get(wrong.index).and_then(|&value| module.defining_op(value));
    let op = op.unwrap_or(end);
    let Mismatch { device, index, expected, found, .. } = wrong.example.clone();
    Some(Culprit {
        pass: stage.pass,
        op: module.op_name(op).to_owned(),
        location: location(module, op),
        device,
        index,
        expected,
        found,
    })
}

/// Executes a stage on all inputs; also says what the first difference is.
fn check_stage(
    prepared: &Prepared,
    stage: &StageModule,
) -> Result<(StageReport, Option<Wrong>), VerifyError> {
    let mut report = StageReport {
        pass: stage.pass,
        devices: if stage.local { prepared.devices } else { 1 },
        equal: true,
        worst: 0.0,
        error: None,
    };
    let loaded = Interpreter.load_on(&stage.module, counts(prepared, stage));
    let mut wrong = None;
    for run in 0..prepared.inputs.len() {
        let inputs = inputs_of(prepared, stage, run);
        let mut lists = match loaded.execute(&inputs) {
            Ok(lists) => lists,
            Err(error) => {
                report.equal = false;
                report.error = Some(error.to_string());
                return Ok((report, None));
            }
        };
        if stage.local {
            for (index, sharding) in &prepared.partial {
                partial::complete(&mut lists, *index, sharding, &prepared.mesh);
            }
        }
        for (index, expected) in prepared.expected[run].iter().enumerate() {
            let mut found = Found::default();
            for (device, list) in lists.iter().enumerate() {
                let Some(array) = list.get(index) else { continue };
                let part = if stage.local {
                    prepared.parts[index][device].clone()
                } else {
                    whole(&array.dims, &expected.dims)
                };
                if array.dims != part.shape || array.element_type != expected.element_type {
                    return Err(VerifyError::Shape { what: "result", index, device });
                }
                prepared.compare(index, array, &part, Place { run, device }, &mut found)?;
            }
            report.worst = report.worst.max(found.worst);
            if let Some(example) = found.examples.into_iter().next() {
                report.equal = false;
                wrong.get_or_insert(Wrong { index, example });
            }
        }
        // What else is wrong in other runs tells nothing more of this stage.
        if wrong.is_some() {
            break;
        }
    }
    Ok((report, wrong))
}

/// Replicas and partitions that execute a stage: one device where its shapes are global; then those
/// that it states, which are the mesh's as partitions until it states them.
fn counts(prepared: &Prepared, stage: &StageModule) -> (usize, usize) {
    let stated = device_counts(&stage.module);
    match (stage.local, stated.0 * stated.1 == prepared.devices) {
        (false, _) => (1, 1),
        (true, true) => stated,
        (true, false) => (1, prepared.devices),
    }
}

/// A whole array with padding behind it.
fn whole(padded: &[i64], dims: &[i64]) -> Part {
    Part { offsets: vec![0; dims.len()], shape: padded.to_vec(), inside: dims.to_vec() }
}

/// The arguments of a stage: cut, or whole with poison where it pads them.
fn inputs_of(prepared: &Prepared, stage: &StageModule, run: usize) -> Vec<Vec<HostArray>> {
    if stage.local {
        return prepared.inputs[run].clone();
    }
    let module = &stage.module;
    let args = module.main_func().map(|func| module.args(func)).unwrap_or_default();
    let globals = prepared.globals[run].iter().zip(args);
    let list = globals
        .map(|(array, arg)| match module.tensor_type(*arg) {
            Some(ty) if ty.dims.as_slice() != array.dims => {
                shards::cut(array, &whole(&ty.dims, &array.dims))
            }
            _ => array.clone(),
        })
        .collect();
    vec![list]
}

/// What values are looked up by: where their op comes from, their global type, and whether they are
/// one number everywhere by nature. A zero that an op starts from has the op's own location, and
/// isn't what the op should give.
type Key = (String, ElementType, Vec<i64>, bool);

/// A value that an op had before a pass.
#[derive(Debug)]
struct Candidate {
    device: usize,
    array: HostArray,
    /// How others are compared with it.
    rule: Rule,
}

/// The values inside a program.
type Known = BTreeMap<Key, Vec<Candidate>>;

/// The values of all ops of a stage.
fn known_values(
    prepared: &Prepared,
    stage: &StageModule,
    run: usize,
) -> Result<Known, VerifyError> {
    let trace = |jitter| traced(prepared, stage, run, jitter);
    let values = trace(None)?;
    // What cancels inside is full of rounding errors, which aren't at fault.
    let jittered = [trace(Some(1))?, trace(Some(2))?];
    let mut known = Known::new();
    for (at, record) in values.iter().enumerate() {
        for (index, result) in stage.module.results(record.op).iter().enumerate() {
            let value = &record.values[index];
            let Some((key, _)) = key_of(stage, record.op, *result, value) else { continue };
            let array = engine::array_of(value);
            let noise = jittered.iter().filter_map(|other| {
                // Where loops went another way, records don't belong together.
                let other = other.get(at).filter(|other| other.op == record.op)?;
                Some(compare::distance(&array, &engine::array_of(other.values.get(index)?)))
            });
            let noise = NOISE_MARGIN * noise.fold(0.0, f64::max);
            let rule = Rule::of(&array, elements::tolerance(array.element_type), noise);
            known.entry(key).or_default().push(Candidate { device: record.device, array, rule });
        }
    }
    Ok(known)
}

/// Executes a stage and records the values of its ops.
fn traced(
    prepared: &Prepared,
    stage: &StageModule,
    run: usize,
    jitter: Option<u64>,
) -> Result<Vec<Record>, VerifyError> {
    let inputs = inputs_of(prepared, stage, run);
    engine::traced(&stage.module, &inputs, counts(prepared, stage), jitter)
}

/// The first op of a stage that has another value than before.
fn culprit(
    prepared: &Prepared,
    before: &Baseline<'_>,
    stage: &StageModule,
    run: usize,
) -> Result<Option<Culprit>, VerifyError> {
    let known = before.values(prepared, run)?;
    let new = traced(prepared, stage, run, None)?;
    let mesh = &prepared.mesh;
    let mut position = 0;
    let mut device = usize::MAX;
    let mut first: Option<(usize, Culprit)> = None;
    for record in &new {
        // The number of the op among those of its device.
        position = if record.device == device { position + 1 } else { 0 };
        device = record.device;
        if first.as_ref().is_some_and(|(earliest, _)| position >= *earliest) {
            continue;
        }
        if let Some(found) = differs(before.stage, stage, mesh, record, &known) {
            first = Some((position, found));
        }
    }
    Ok(first.map(|(_, culprit)| culprit))
}

/// The key of a value, and its sharding where it is one device's part; `None` for what can't be
/// compared: values that are partial, and those of ops that come from nowhere, which have nothing
/// in common.
fn key_of<'m>(
    stage: &'m StageModule,
    op: OpId,
    result: ValueId,
    value: &Value,
) -> Option<(Key, Option<&'m TensorSharding>)> {
    let Value::Tensor(tensor) = value else { return None };
    let module = &stage.module;
    if place_of(module, module.op(op).loc) == Source::Nowhere {
        return None;
    }
    let sharding = module.value_sharding(result).filter(|_| stage.local);
    let dims = match sharding {
        Some(sharding) if sharding.is_unreduced() || sharding.rank() != tensor.rank() => {
            return None;
        }
        Some(sharding) => (0..tensor.rank())
            .map(|dim| tensor.dims()[dim] * sharding.shard_count(dim) as i64)
            .collect(),
        None => tensor.dims().to_vec(),
    };
    let splat = match module.kind(op) {
        Op::Creation(Creation::Constant(constant)) => {
            matches!(constant.value.data, DenseData::Splat(_))
        }
        _ => false,
    };
    Some(((location(module, op), tensor.element(), dims, splat), sharding))
}

fn location(module: &Module, op: OpId) -> String {
    match place_of(module, module.op(op).loc) {
        Source::Source { file, line, col } => format!("{file}:{line}:{col}"),
        Source::Text(range) => format!("byte {} of the text", range.start),
        Source::Nowhere => "an unknown place".to_owned(),
    }
}

/// What is wrong with the values of an op, if they are none of those known.
fn differs(
    before: &StageModule,
    stage: &StageModule,
    mesh: &Mesh,
    record: &Record,
    known: &Known,
) -> Option<Culprit> {
    for (value, result) in record.values.iter().zip(stage.module.results(record.op)) {
        let Some((key, sharding)) = key_of(stage, record.op, *result, value) else { continue };
        let Some(candidates) = known.get(&key) else { continue };
        let array = engine::array_of(value);
        let mut example = None;
        let fits = candidates.iter().any(|Candidate { device, array: candidate, rule }| {
            let part = match (before.local, sharding) {
                // Both are parts of devices.
                (true, _) if *device != record.device => return false,
                (true, _) | (false, None) => whole(&array.dims, &candidate.dims),
                (false, Some(sharding)) => {
                    match shards::part(Some(sharding), mesh, record.device as u64, &candidate.dims)
                    {
                        Some(part) => part,
                        None => return true,
                    }
                }
            };
            if part.shape != array.dims {
                return true;
            }
            let mut found = Found { first_only: true, ..Found::default() };
            let place = Place { run: 0, device: record.device };
            compare::compare(candidate, &array, &part, (*rule, &[]), place, &mut found);
            if found.differing > 0 {
                example = example.take().or(found.examples.into_iter().next());
            }
            found.differing == 0
        });
        if fits {
            continue;
        }
        let Some(example) = example else { continue };
        return Some(Culprit {
            pass: stage.pass,
            op: stage.module.op_name(record.op).to_owned(),
            location: location(&stage.module, record.op),
            device: record.device,
            index: example.index,
            expected: example.expected,
            found: example.found,
        });
    }
    None
}
