//! What compiled programs cost: what the compiler says of them, and how long they take.

mod figures;
mod text;

use std::time::{Duration, Instant};

use shard_ir::Module;
use shard_passes::pipeline::Partitioned;
use shard_pjrt::{
    AheadExecutable, Client, CompileOptions, DeviceBuffers, Error, Executable, HostArray, Plugin,
    Program, Topology,
};
use shard_text::PrintOptions;

pub use figures::{CollectiveFigures, Cycles, Figures, Memory, StepTime, TimingReport};

use crate::verify::{self, VerifyError};

/// A program with the options that it is compiled with.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// What it is called in tables.
    pub label: &'static str,
    /// Its text.
    pub text: String,
    /// How it is compiled.
    pub options: CompileOptions,
}

impl Candidate {
    /// The partitioned program.
    pub fn partitioned(module: &Module) -> Candidate {
        Candidate::new("shard-opt", module, verify::compile_options(module))
    }

    /// A program that was partitioned before.
    pub fn given(module: &Module) -> Candidate {
        Candidate::new("program", module, verify::compile_options(module))
    }

    /// The program, to be partitioned by XLA.
    pub fn xla(whole: &Module, partitioned: &Partitioned, devices: usize) -> Candidate {
        let module = crate::peer::for_xla(whole, partitioned);
        Candidate::new("XLA", &module, CompileOptions::shardy(devices))
    }

    /// The program on one device; `None` if it has no such form.
    pub fn whole(whole: &Module) -> Option<Candidate> {
        let module = crate::peer::whole(whole).ok()?;
        Some(Candidate::new("one device", &module, CompileOptions::replicas(1)))
    }

    fn new(label: &'static str, module: &Module, options: CompileOptions) -> Candidate {
        Candidate { label, text: shard_text::print(module, &PrintOptions::default()), options }
    }

    /// Compiles it for a client's devices.
    ///
    /// # Errors
    /// If the plugin refuses it.
    pub fn compile(&self, client: &Client) -> Result<(Executable, Figures), Error> {
        let begin = Instant::now();
        let executable = client.compile(&Program::Mlir(&self.text), &self.options)?;
        let mut figures = Figures::new(self.label, self.options.device_count(), begin.elapsed());
        figures.read_program(&executable.optimized()?);
        figures.memory = executable.memory_stats()?.map(Memory::from);
        figures.code_bytes = executable.code_size()?.filter(|size| *size > 0);
        Ok((executable, figures))
    }

    /// Compiles it ahead of time for devices that aren't there.
    ///
    /// # Errors
    /// If the plugin refuses it.
    pub fn compile_ahead(
        &self,
        plugin: &Plugin,
        topology: &Topology,
    ) -> Result<(AheadExecutable, Figures), Error> {
        let begin = Instant::now();
        let executable =
            plugin.compile_ahead(topology, &Program::Mlir(&self.text), &self.options)?;
        let mut figures = Figures::new(self.label, self.options.device_count(), begin.elapsed());
        let program = executable.optimized()?;
        figures.read_program(&program);
        figures.cycles = Some(program.estimated_cycles().into());
        figures.estimated_flops = executable.flops()?;
        figures.memory = executable.memory_stats()?.map(Memory::from);
        figures.code_bytes = executable.code_size()?.filter(|size| *size > 0);
        Ok((executable, figures))
    }
}

/// How steps are timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Runs {
    /// Runs before the clock starts.
    pub warm_up: usize,
    /// Runs of which the median is taken.
    pub timed: usize,
}

impl Default for Runs {
    fn default() -> Self {
        Runs { warm_up: 2, timed: 7 }
    }
}

/// Times steps of programs, each on its inputs. The programs take turns, so that what else the
/// machine does slows all of them.
///
/// # Errors
/// If a program can't be run.
pub fn time_in_turns(
    programs: &[(Executable, DeviceBuffers)],
    runs: Runs,
) -> Result<Vec<StepTime>, Error> {
    let mut times: Vec<Vec<Duration>> = vec![Vec::new(); programs.len()];
    for run in 0..runs.timed.max(1) {
        let warm_up = if run == 0 { runs.warm_up } else { 0 };
        for ((executable, inputs), times) in programs.iter().zip(&mut times) {
            times.extend(executable.time(inputs, warm_up, 1)?);
        }
    }
    let step = |mut times: Vec<Duration>| {
        times.sort_unstable();
        let seconds = |at: usize| times.get(at).map_or(0.0, Duration::as_secs_f64);
        StepTime {
            median_seconds: seconds(times.len() / 2),
            fastest_seconds: seconds(0),
            runs: times.len(),
        }
    };
    Ok(times.into_iter().map(step).collect())
}

/// What is timed, and against what.
#[derive(Clone, Copy, Debug, Default)]
pub struct TimeOptions {
    /// XLA's own partition, too.
    pub versus_xla: bool,
    /// The whole program on one device, too.
    pub whole: bool,
    /// How steps are timed; without, programs are only compiled.
    pub runs: Option<Runs>,
}

/// Compiles and times a partitioned program, and what it is compared with, on a client's devices.
///
/// # Errors
/// If one of the programs can't be compiled or run.
pub fn compare(
    partitioned: &Partitioned,
    whole: &Module,
    client: &Client,
    options: &TimeOptions,
) -> Result<TimingReport, VerifyError> {
    let globals = verify::draw_arguments(whole, 0)?;
    let shards = verify::cut_arguments(partitioned, &globals)?;
    let devices = shards.len();
    let mut report = TimingReport::new(client.platform_name());
    let mut loaded: Vec<(Executable, DeviceBuffers)> = Vec::new();
    let mut add = |candidate: Candidate, inputs: &[Vec<HostArray>]| {
        let failed = |error| VerifyError::Plugin { stage: candidate.label, error };
        let (executable, figures) = candidate.compile(client).map_err(failed)?;
        report.programs.push(figures);
        if options.runs.is_some() {
            let inputs = executable.upload(inputs).map_err(failed)?;
            loaded.push((executable, inputs));
        }
        Ok::<(), VerifyError>(())
    };
    add(Candidate::partitioned(&partitioned.module), &shards)?;
    if options.versus_xla {
        add(Candidate::xla(whole, partitioned, devices), &shards)?;
    }
    if options.whole
        && let Some(candidate) = Candidate::whole(whole)
    {
        add(candidate, std::slice::from_ref(&globals))?;
    }
    if let Some(runs) = options.runs {
        let steps = time_in_turns(&loaded, runs)
            .map_err(|error| VerifyError::Plugin { stage: "timing", error })?;
        for (program, step) in report.programs.iter_mut().zip(steps) {
            program.step = Some(step);
        }
    }
    Ok(report)
}

/// Compiles a partitioned program, and XLA's own partition if wanted, for TPUs that aren't there.
///
/// # Errors
/// If one of the programs can't be compiled.
pub fn compare_ahead(
    partitioned: &Partitioned,
    whole: &Module,
    plugin: &Plugin,
    topology: &Topology,
    versus_xla: bool,
) -> Result<TimingReport, VerifyError> {
    let mut report = TimingReport::new(&format!("TPU {}", topology.name()));
    let mut candidates = vec![Candidate::partitioned(&partitioned.module)];
    if versus_xla {
        let devices = candidates[0].options.device_count();
        candidates.push(Candidate::xla(whole, partitioned, devices));
    }
    for candidate in candidates {
        let failed = |error| VerifyError::Plugin { stage: candidate.label, error };
        let (_, figures) = candidate.compile_ahead(plugin, topology).map_err(failed)?;
        report.programs.push(figures);
    }
    Ok(report)
}

/// Compiles and times a program that is partitioned already.
///
/// # Errors
/// If it can't be compiled or run.
pub fn time_given(
    module: &Module,
    client: &Client,
    runs: Option<Runs>,
) -> Result<TimingReport, VerifyError> {
    let candidate = Candidate::given(module);
    let failed = |error| VerifyError::Plugin { stage: candidate.label, error };
    let (executable, mut figures) = candidate.compile(client).map_err(failed)?;
    if let Some(runs) = runs {
        let args = verify::draw_arguments(module, 0)?;
        let inputs = vec![args; executable.device_count()];
        let inputs = executable.upload(&inputs).map_err(failed)?;
        figures.step =
            time_in_turns(&[(executable, inputs)], runs).map_err(failed)?.into_iter().next();
    }
    let mut report = TimingReport::new(client.platform_name());
    report.programs.push(figures);
    Ok(report)
}

/// Compiles a program that is partitioned already for TPUs that aren't there.
///
/// # Errors
/// If it can't be compiled.
pub fn compile_given_ahead(
    module: &Module,
    plugin: &Plugin,
    topology: &Topology,
) -> Result<TimingReport, VerifyError> {
    let candidate = Candidate::given(module);
    let failed = |error| VerifyError::Plugin { stage: candidate.label, error };
    let (_, figures) = candidate.compile_ahead(plugin, topology).map_err(failed)?;
    let mut report = TimingReport::new(&format!("TPU {}", topology.name()));
    report.programs.push(figures);
    Ok(report)
}
