//! Checking a partitioned program by execution.
//!
//! The whole program runs on one device, the partitioned one on all devices of its mesh, on the
//! same inputs; every result on every device is compared with its part of the whole. A check that
//! can't fail is worth nothing, so random inputs are drawn to keep results alive ([`roles`]), padding
//! holds poison, and a result that is not finite or that no input changes is *inconclusive*, which
//! is a failure. Further runs have inputs at the edges of what programs are written for, such as
//! indices outside, and NaN; arguments may also be given. Whether a check can fail is tested by
//! [`deletion`]: without any one of its collectives, a program must fail.

mod compare;
pub mod deletion;
mod dependence;
mod draw;
pub mod elements;
pub mod engine;
mod inputs;
mod partial;
#[cfg(feature = "pjrt")]
mod plugin;
#[cfg(feature = "pjrt")]
mod reference;
mod report;
pub mod roles;
mod shards;
mod slack;
pub mod stages;

use std::sync::OnceLock;

use shard_ir::sharding::{Mesh, TensorSharding};
use shard_ir::{Diagnostic, HostArray, Module};
use shard_passes::pipeline::{InterfaceValue, Partitioned};

pub use inputs::{Inputs, RunKind, runs_of};
#[cfg(feature = "pjrt")]
pub use plugin::compile_options;
pub use report::{Mismatch, ResultReport, Status, VerifyReport};

use compare::{Found, Place, Rule};
use dependence::Dependence;
use draw::{Draw, Scales};
use engine::{Engine, Loaded, Whole};
use shards::Part;
use slack::Slack;

use crate::run::Input;

/// How to check.
#[derive(Clone, Debug, PartialEq)]
pub struct VerifyOptions {
    /// How many random inputs are tried.
    pub runs: usize,
    /// Which inputs are tried.
    pub inputs: Inputs,
    /// Arguments that are the same in every run. Where all are given, that is one run.
    pub given: Vec<Input>,
    /// What inputs are drawn from.
    pub seed: u64,
    /// The tolerance of floats, in place of that of their types.
    pub tolerance: Option<f64>,
}

impl Default for VerifyOptions {
    fn default() -> Self {
        VerifyOptions {
            runs: 2,
            inputs: Inputs::default(),
            given: Vec::new(),
            seed: 0,
            tolerance: None,
        }
    }
}

/// Why a program can't be checked.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// The plugin fails.
    #[cfg(feature = "pjrt")]
    #[error("{stage}: {error}")]
    Plugin {
        /// What was being done.
        stage: &'static str,
        /// What the plugin says.
        #[source]
        error: shard_pjrt::Error,
    },
    /// A pass fails.
    #[error("{0}")]
    Pass(Diagnostic),
    /// The interpreter can't execute the program.
    #[error("{0}")]
    Run(Box<Diagnostic>),
    /// An argument that is given isn't the program's.
    #[error("{0}")]
    Given(Diagnostic),
    /// The program has no mesh.
    #[error("the partitioned program has no mesh")]
    Mesh,
    /// The program runs on another number of devices than the client has.
    #[error("the program runs on {needed} devices, and the plugin has {found}")]
    Devices {
        /// Devices of the mesh.
        needed: usize,
        /// Devices of the client.
        found: usize,
    },
    /// An argument can't be drawn.
    #[error(
        "argument {index} can't be drawn: it is no tensor, has a size known only at run time, or \
         takes too much memory"
    )]
    Argument {
        /// Its number.
        index: usize,
    },
    /// A sharding doesn't fit its value, or a device has another shape than it says.
    #[error("{what} {index} of device {device} hasn't the shape that its sharding gives")]
    Shape {
        /// `argument` or `result`.
        what: &'static str,
        /// Its number.
        index: usize,
        /// The device.
        device: usize,
    },
}

#[cfg(feature = "pjrt")]
impl VerifyError {
    fn plugin(stage: &'static str) -> impl Fn(shard_pjrt::Error) -> VerifyError {
        move |error| VerifyError::Plugin { stage, error }
    }
}

/// Runs the whole and the partitioned program on the same inputs and compares every result on
/// every device.
///
/// `whole` is the program as it was read; `engine` executes both.
///
/// # Errors
/// If one of the programs can't be compiled or run. That results differ is no error: see
/// [`VerifyReport::passed`].
pub fn verify(
    partitioned: &Partitioned,
    whole: &Module,
    engine: &dyn Engine,
    options: &VerifyOptions,
) -> Result<VerifyReport, VerifyError> {
    let prepared = Prepared::new(partitioned, whole, engine, options)?;
    let loaded = engine.load(&partitioned.module, "compiling the partitioned program")?;
    prepared.check(&*loaded, &[])
}

/// Inputs and what the whole program makes of them, to check partitioned programs against.
#[derive(Debug)]
pub struct Prepared {
    devices: usize,
    /// The kind of each run.
    runs: Vec<RunKind>,
    /// For each run, the arguments of the whole program.
    globals: Vec<Vec<HostArray>>,
    /// For each run, each device's arguments.
    inputs: Vec<Vec<Vec<HostArray>>>,
    /// For each run, the results.
    expected: Vec<Vec<HostArray>>,
    /// For each run and result, how it is compared at first.
    rules: Vec<Vec<Rule>>,
    /// For each run and result, what is open of it: found out where something differs.
    slack: Vec<OnceLock<Vec<Slack>>>,
    /// For each result, each device's part.
    parts: Vec<Vec<Part>>,
    /// The results that are partial, with their shardings.
    partial: Vec<(usize, TensorSharding)>,
    mesh: Mesh,
    /// Whether all values are random, of sizes that suit the program: then nothing but rounding is
    /// left open.
    tame: Vec<bool>,
    /// What is known of each result before the partitioned program runs.
    blank: Vec<ResultReport>,
    reference: Box<dyn Whole>,
    seed: u64,
}

impl Prepared {
    /// Draws inputs and runs the whole program on them.
    ///
    /// # Errors
    /// If the whole program can't be compiled or run.
    pub fn new(
        partitioned: &Partitioned,
        whole: &Module,
        engine: &dyn Engine,
        options: &VerifyOptions,
    ) -> Result<Prepared, VerifyError> {
        let mesh = mesh_of(partitioned)?;
        let devices = usize::try_from(mesh.device_count()).unwrap_or(usize::MAX);
        if let Some(found) = engine.most_devices().filter(|found| devices > *found) {
            return Err(VerifyError::Devices { needed: devices, found });
        }
        let mut inlined = whole.clone();
        shard_passes::inline_calls::run(&mut inlined).map_err(VerifyError::Pass)?;
        let all_given =
            inputs::check_given(&inlined, &options.given).map_err(VerifyError::Given)?;
        let runs = runs_of(options.inputs, options.runs, all_given);
        let roles = roles::roles(&inlined);
        let draw = Draw { module: &inlined, roles: &roles, given: &options.given };

        let reference = engine.whole(partitioned, whole, &mesh)?;
        let (mut globals, mut inputs, mut expected) = (Vec::new(), Vec::new(), Vec::new());
        for (run, &kind) in runs.iter().enumerate() {
            let (seed, scales) = match kind {
                RunKind::Given | RunKind::Random => {
                    (seed_of(options.seed, run), Scales::of_run(run, &roles))
                }
                RunKind::Extremes => (seed_of(options.seed, EDGE_SEEDS), Scales::ONE),
                RunKind::NonFinite => (seed_of(options.seed, EDGE_SEEDS + 1), Scales::ONE),
            };
            let whole = draw.arguments(kind, seed, scales)?;
            let results = reference.run(&whole)?;
            expected.push(results);
            inputs.push(cut(partitioned, &mesh, devices, &whole)?);
            globals.push(whole);
        }
        // Whether a check can fail is judged on random inputs alone.
        let random = runs.iter().filter(|kind| !kind.is_edge()).count();
        let judged = if random > 0 { &expected[..random] } else { &expected[..] };
        // Draws until every result has changed once; some depend on little.
        let mut extra: Vec<Vec<HostArray>> = Vec::new();
        let changed = |index: usize, extra: &[Vec<HostArray>]| {
            let first = &judged[0][index];
            // There is nothing in it that could change.
            if first.bytes.is_empty() {
                return true;
            }
            judged[1..].iter().chain(extra).any(|results| results[index] != *first)
        };
        let count = expected[0].len();
        let can_fail = Judge::new(&inlined, &options.given, runs[0], count);
        for redraw in 0..MOST_REDRAWS {
            if (0..count).all(|index| !can_fail.changes[index] || changed(index, &extra)) {
                break;
            }
            let seed = seed_of(options.seed, random + redraw);
            extra.push(reference.run(&draw.arguments(RunKind::Random, seed, Scales::ONE)?)?);
        }

        let coarsest = coarsest_float(&inlined);
        let mut parts = Vec::new();
        let mut tolerances = Vec::new();
        let mut blank = Vec::new();
        for (index, (result, value)) in expected[0].iter().zip(&partitioned.results).enumerate() {
            parts.push(parts_of(value, &mesh, devices, &result.dims, "result")?);
            let own = elements::tolerance(result.element_type);
            let tolerance = own.map(|own| {
                options.tolerance.unwrap_or_else(|| coarsest.map_or(own, |other| own.max(other)))
            });
            tolerances.push(tolerance);
            let finite = judged.iter().map(|run| compare::finite(&run[index]));
            let finite = finite.fold(1.0, f64::min);
            let changed = changed(index, &extra);
            blank.push(ResultReport {
                index,
                name: value.name.clone(),
                ty: report::type_text(result),
                status: can_fail.status(index, finite, changed),
                tolerance,
                finite,
                changed,
                compared: 0,
                open: 0,
                differing: 0,
                worst: 0.0,
                examples: Vec::new(),
            });
        }
        let rules_of = |results: &Vec<HostArray>| {
            let pairs = results.iter().zip(&tolerances);
            pairs.map(|(result, tolerance)| Rule::of(result, *tolerance, 0.0)).collect()
        };
        let rules = expected.iter().map(rules_of).collect();
        let slack = runs.iter().map(|_| OnceLock::new()).collect();
        let is_tame = |kind: &RunKind| *kind == RunKind::Random && options.given.is_empty();
        let tame = runs.iter().map(is_tame).collect();
        let unreduced = |value: &InterfaceValue| {
            let sharding = value.sharding.clone().filter(TensorSharding::is_unreduced)?;
            Some((value.index, sharding))
        };
        Ok(Prepared {
            devices,
            partial: partitioned.results.iter().filter_map(unreduced).collect(),
            mesh,
            runs,
            globals,
            inputs,
            expected,
            rules,
            slack,
            tame,
            parts,
            blank,
            reference,
            seed: options.seed,
        })
    }

    /// Compares a device's array with its part of a result. What the order of sums leaves open is
    /// found out where something differs.
    fn compare(
        &self,
        index: usize,
        array: &HostArray,
        part: &Part,
        place: Place,
        sum: &mut Found,
    ) -> Result<(), VerifyError> {
        let expected = &self.expected[place.run][index];
        let rule = self.rules[place.run][index];
        let mut found = Found::default();
        compare::compare(expected, array, part, (rule, &[]), place, &mut found);
        if found.differing > 0 {
            let slack = &self.slack_of(place.run)?[index];
            let open = if self.tame[place.run] { &[][..] } else { &slack.open };
            found = Found::default();
            let rule = rule.with_noise(slack.noise);
            compare::compare(expected, array, part, (rule, open), place, &mut found);
        }
        sum.add(found);
        Ok(())
    }

    fn slack_of(&self, run: usize) -> Result<&[Slack], VerifyError> {
        let cell = &self.slack[run];
        if let Some(known) = cell.get() {
            return Ok(known);
        }
        let (globals, results) = (&self.globals[run], &self.expected[run]);
        let found = slack::of_run(&*self.reference, globals, results, &self.rules[run])?;
        Ok(cell.get_or_init(|| found))
    }

    /// Devices that the program runs on.
    pub fn devices(&self) -> usize {
        self.devices
    }

    /// Runs a partitioned program and compares every result on every device. `further` are
    /// arguments that it takes beside those of the whole program, the same on every device.
    ///
    /// # Errors
    /// If the program can't be run.
    pub fn check(
        &self,
        loaded: &dyn Loaded,
        further: &[HostArray],
    ) -> Result<VerifyReport, VerifyError> {
        let mut found: Vec<Found> = self.blank.iter().map(|_| Found::default()).collect();
        for run in 0..self.inputs.len() {
            self.check_run(loaded, further, run, &mut found)?;
        }
        Ok(self.report(found))
    }

    /// Whether a partitioned program gives something else on some device: as
    /// [`Prepared::check`], up to the first run that tells.
    ///
    /// # Errors
    /// As [`Prepared::check`].
    pub fn differs(&self, loaded: &dyn Loaded, further: &[HostArray]) -> Result<bool, VerifyError> {
        for run in 0..self.inputs.len() {
            let mut found: Vec<Found> = self.blank.iter().map(|_| Found::default()).collect();
            self.check_run(loaded, further, run, &mut found)?;
            if found.iter().any(|found| found.differing > 0) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn check_run(
        &self,
        loaded: &dyn Loaded,
        further: &[HostArray],
        run: usize,
        found: &mut [Found],
    ) -> Result<(), VerifyError> {
        let mut inputs = self.inputs[run].clone();
        for list in &mut inputs {
            list.extend_from_slice(further);
        }
        let mut lists = loaded.execute(&inputs)?;
        for (index, sharding) in &self.partial {
            partial::complete(&mut lists, *index, sharding, &self.mesh);
        }
        for (index, expected) in self.expected[run].iter().enumerate() {
            for (device, list) in lists.iter().enumerate() {
                let part = &self.parts[index][device];
                let array = list.get(index).filter(|array| {
                    array.dims == part.shape && array.element_type == expected.element_type
                });
                let Some(array) = array else {
                    return Err(VerifyError::Shape { what: "result", index, device });
                };
                let place = Place { run, device };
                self.compare(index, array, part, place, &mut found[index])?;
            }
        }
        Ok(())
    }

    fn report(&self, found: Vec<Found>) -> VerifyReport {
        let results = self
            .blank
            .iter()
            .zip(found)
            .map(|(blank, found)| {
                let status = if found.differing > 0 { Status::Different } else { blank.status };
                ResultReport {
                    status,
                    compared: found.compared,
                    open: found.open,
                    differing: found.differing,
                    worst: found.worst,
                    examples: found.examples,
                    ..blank.clone()
                }
            })
            .collect();
        VerifyReport {
            schema_version: report::SCHEMA_VERSION,
            devices: self.devices,
            runs: self.runs.clone(),
            seed: self.seed,
            reference: self.reference.name(),
            results,
        }
    }
}

/// What of each result must be seen in random runs, so that a check of it can fail.
struct Judge {
    /// It must change.
    changes: Vec<bool>,
    /// It must be finite.
    finite: Vec<bool>,
}

impl Judge {
    /// Results that depend on nothing that is drawn can't change, and what is given may be anything.
    fn new(module: &Module, given: &[Input], first: RunKind, results: usize) -> Judge {
        if first != RunKind::Random {
            return Judge { changes: vec![false; results], finite: vec![false; results] };
        }
        if given.is_empty() {
            return Judge { changes: vec![true; results], finite: vec![true; results] };
        }
        let on = Dependence::of(module).results;
        let is_given = |arg: &u32| Input::of(given, *arg as usize).is_some();
        let is_drawn = |arg: &u32| !is_given(arg);
        let is_tame = |arg: &u32| {
            let input = Input::of(given, *arg as usize);
            input.is_none_or(|input| compare::finite(&input.array) == 1.0)
        };
        Judge {
            // What depends on no argument at all fails, as it does otherwise.
            changes: on.iter().map(|on| on.is_empty() || on.iter().any(is_drawn)).collect(),
            finite: on.iter().map(|on| on.iter().all(is_tame)).collect(),
        }
    }

    /// How a result that is equal fares.
    fn status(&self, index: usize, finite: f64, changed: bool) -> Status {
        let dead = self.changes[index] && !changed;
        let wild = self.finite[index] && finite < MOST_FINITE;
        if dead || wild { Status::Inconclusive } else { Status::Equal }
    }
}

/// Further inputs that are tried on results that haven't changed.
const MOST_REDRAWS: usize = 4;

/// Where the seeds of edge inputs begin, behind those of all random ones.
const EDGE_SEEDS: usize = 1 << 20;

/// A result with a smaller part of finite elements is inconclusive.
const MOST_FINITE: f64 = 0.99;

fn seed_of(seed: u64, run: usize) -> u64 {
    seed.wrapping_mul(0x2545_f491_4f6c_dd1d).wrapping_add(run as u64)
}

/// The tolerance of the coarsest float type of a program: what passes through it is no better.
fn coarsest_float(module: &Module) -> Option<f64> {
    let func = module.main_func()?;
    let mut coarsest: Option<f64> = None;
    let mut look = |value: shard_ir::ValueId| {
        let tolerance = module.tensor_type(value).and_then(|ty| elements::tolerance(ty.element));
        if let Some(tolerance) = tolerance {
            coarsest = Some(coarsest.map_or(tolerance, |coarsest| coarsest.max(tolerance)));
        }
    };
    module.args(func).iter().copied().for_each(&mut look);
    module.walk(module.funcs[func].body, |op| {
        module.results(op).iter().copied().for_each(&mut look);
    });
    coarsest
}

fn parts_of(
    value: &InterfaceValue,
    mesh: &Mesh,
    devices: usize,
    dims: &[i64],
    what: &'static str,
) -> Result<Vec<Part>, VerifyError> {
    let sharding: Option<&TensorSharding> = value.sharding.as_ref();
    (0..devices)
        .map(|device| {
            shards::part(sharding, mesh, device as u64, dims).ok_or(VerifyError::Shape {
                what,
                index: value.index,
                device,
            })
        })
        .collect()
}

/// Every device's part of the arguments.
fn cut(
    partitioned: &Partitioned,
    mesh: &Mesh,
    devices: usize,
    globals: &[HostArray],
) -> Result<Vec<Vec<HostArray>>, VerifyError> {
    let mut lists = vec![Vec::with_capacity(globals.len()); devices];
    for (value, global) in partitioned.parameters.iter().zip(globals) {
        let parts = parts_of(value, mesh, devices, &global.dims, "argument")?;
        for (device, (list, part)) in lists.iter_mut().zip(&parts).enumerate() {
            let array = shards::cut(global, part);
            list.push(partial::part(array, value.sharding.as_ref(), mesh, device as u64));
        }
    }
    Ok(lists)
}

fn mesh_of(partitioned: &Partitioned) -> Result<Mesh, VerifyError> {
    let id = shard_passes::meshes::main_mesh(&partitioned.whole).ok_or(VerifyError::Mesh)?;
    Ok(partitioned.whole.meshes[id].mesh.clone())
}

/// Draws arguments for the main function of a program.
///
/// # Errors
/// If an argument has a type or a shape that can't be drawn, or calls can't be inlined.
pub fn draw_arguments(module: &Module, seed: u64) -> Result<Vec<HostArray>, VerifyError> {
    let mut inlined = module.clone();
    shard_passes::inline_calls::run(&mut inlined).map_err(VerifyError::Pass)?;
    let draw = Draw { module: &inlined, roles: &roles::roles(&inlined), given: &[] };
    draw.arguments(RunKind::Random, seed_of(seed, 0), Scales::ONE)
}

/// A device's part of an array; padding is poison. `None` if the sharding doesn't fit.
pub fn device_part(
    array: &HostArray,
    sharding: &TensorSharding,
    mesh: &Mesh,
    device: u64,
) -> Option<HostArray> {
    let part = shards::part(Some(sharding), mesh, device, &array.dims)?;
    Some(partial::part(shards::cut(array, &part), Some(sharding), mesh, device))
}

/// Every device's part of the arguments of a partitioned program; padding is poison.
///
/// # Errors
/// If a sharding doesn't fit its argument.
pub fn cut_arguments(
    partitioned: &Partitioned,
    globals: &[HostArray],
) -> Result<Vec<Vec<HostArray>>, VerifyError> {
    let mesh = mesh_of(partitioned)?;
    let devices = usize::try_from(mesh.device_count()).unwrap_or(usize::MAX);
    cut(partitioned, &mesh, devices, globals)
}
