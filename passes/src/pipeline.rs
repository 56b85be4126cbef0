//! Pipelines: passes in the order in which commands run them.

use std::time::{Duration, Instant};

use shard_cost::Topology;
use shard_ir::sharding::TensorSharding;
use shard_ir::{Diagnostic, LocId, Module, TypeId};
use shard_plan::Pricing;

use crate::export::SpmdMode;
use crate::import::ImportOptions;
use crate::insert_reshards::Fallback;

/// A stage of `partition` at which it can stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Calls are inlined; annotations are shardings over one mesh.
    Import,
    /// Every value has a sharding.
    Propagate,
    /// Operands and results of every op agree; reshards are explicit.
    Reshards,
    /// Reshards are sequences of `sdy` collectives.
    Collectives,
    /// Shapes are those of one device.
    Local,
}

/// What `partition` is to do.
#[derive(Clone, Debug, Default)]
pub struct PartitionOptions {
    /// Mesh, arguments and results from outside.
    pub import: ImportOptions,
    /// Where to stop; `None` goes on to the form that XLA accepts.
    pub stop_after: Option<Stage>,
    /// Which device numbers the result uses.
    pub mode: SpmdMode,
    /// What prices are for.
    pub topology: Topology,
    /// Keep the module after every pass, for verification.
    pub keep_stages: bool,
}

/// The program after a pass.
#[derive(Clone, Debug)]
pub struct StageModule {
    /// The pass.
    pub pass: &'static str,
    /// The program.
    pub module: Module,
    /// Its shapes are those of one device.
    pub local: bool,
}

/// An argument or result of the program, before and after.
#[derive(Clone, Debug, PartialEq)]
pub struct InterfaceValue {
    /// Its number.
    pub index: usize,
    /// Its name: what the source calls it, else empty.
    pub name: String,
    /// Type of the whole.
    pub global: TypeId,
    /// Type of one device's part.
    pub local: TypeId,
    /// How it lies on the mesh.
    pub sharding: Option<TensorSharding>,
}

/// A partitioned program, and what is worth saying about how it came about.
#[derive(Clone, Debug)]
pub struct Partitioned {
    /// The program at the last stage.
    pub module: Module,
    /// The program after `import`, with the shardings that propagation found (global shapes).
    pub whole: Module,
    /// Arguments.
    pub parameters: Vec<InterfaceValue>,
    /// Results.
    pub results: Vec<InterfaceValue>,
    /// Where operands had to be gathered for want of a better way.
    pub fallbacks: Vec<Fallback>,
    /// Warnings.
    pub warnings: Vec<Diagnostic>,
    /// What each pass took.
    pub timing: Vec<(&'static str, Duration)>,
    /// The program after each pass from `import` on, where they were to be kept.
    pub stages: Vec<StageModule>,
}

/// Partitions the main function of a module for the devices of its mesh.
///
/// # Errors
/// What the first failing pass says.
pub fn partition(module: Module, options: &PartitionOptions) -> Result<Partitioned, Diagnostic> {
    let mut run = Run::new(module, options.keep_stages);
    let stop = |stage: Stage| options.stop_after.is_some_and(|last| last <= stage);

    run.import(&options.import)?;
    let mut done = Partitioned {
        whole: Module::new(),
        module: Module::new(),
        parameters: Vec::new(),
        results: Vec::new(),
        fallbacks: Vec::new(),
        warnings: Vec::new(),
        timing: Vec::new(),
        stages: Vec::new(),
    };
    let Some(mesh) = crate::meshes::main_mesh(&run.module) else {
        return Err(no_mesh());
    };
    let mesh = run.module.meshes[mesh].mesh.clone();
    let devices = mesh.device_count();
    let mut pricing = Pricing::new(options.topology.clone(), mesh)
        .map_err(|error| Diagnostic::error(error.to_string()))?;
    if !stop(Stage::Import) {
        run.prepare()?;
        run.pass("propagate", crate::propagate::run)?;
    }
    done.whole = run.module.clone();
    if !stop(Stage::Import) {
        done.warnings.extend(crate::warnings::warnings(&done.whole, devices));
    }
    let globals = interface_types(&run.module);
    if !stop(Stage::Propagate) {
        run.pass("split-reductions", crate::split_reductions::run)?;
        done.fallbacks =
            run.pass("insert-reshards", |m| crate::insert_reshards::run(m, &mut pricing))?;
        run.pass("place-reductions", crate::place_reductions::run)?;
        run.pass("dead-code", dead_code)?;
    }
    if !stop(Stage::Reshards) {
        run.pass("pad-uneven", crate::pad_uneven::run)?;
        run.pass("reshard-to-collectives", |m| {
            crate::reshard_to_collectives::run(m, &mut pricing)
        })?;
        run.pass("common-ops", crate::common_ops::run)?;
        run.pass("dead-code", dead_code)?;
    }
    if !stop(Stage::Collectives) {
        run.local = true;
        run.pass("global-to-local", crate::local::run)?;
        run.pass("common-ops", crate::common_ops::run)?;
        run.pass("simplify", crate::simplify::run)?;
        (done.parameters, done.results) = interface(&run.module, &globals);
    }
    if options.stop_after.is_none() {
        if options.mode == SpmdMode::Partitions {
            run.pass("swap-convolutions", crate::swap_convolutions::run)?;
        }
        run.pass("export", |module| crate::export::run(module, options.mode))?;
    }
    done.module = run.module;
    done.timing = run.timing;
    done.stages = run.stages.unwrap_or_default();
    Ok(done)
}

/// A program as propagation gets it: calls inlined, annotations imported, each use of a constant
/// with its own.
///
/// # Errors
/// What the first failing pass says; that it has no mesh.
pub fn prepare(module: Module, options: &ImportOptions) -> Result<Module, Diagnostic> {
    let mut run = Run::new(module, false);
    run.import(options)?;
    if crate::meshes::main_mesh(&run.module).is_none() {
        return Err(no_mesh());
    }
    run.prepare()?;
    Ok(run.module)
}

fn no_mesh() -> Diagnostic {
    Diagnostic::error("the program has no mesh to be partitioned over")
        .help("state one with --mesh='data=4,model=2' and shardings with --arg")
}

fn dead_code(module: &mut Module) -> Result<(), Diagnostic> {
    crate::dead_code::run(module);
    Ok(())
}

struct Run {
    module: Module,
    timing: Vec<(&'static str, Duration)>,
    stages: Option<Vec<StageModule>>,
    local: bool,
}

impl Run {
    fn new(module: Module, keep_stages: bool) -> Run {
        let stages = keep_stages.then(Vec::new);
        Run { module, timing: Vec::new(), stages, local: false }
    }

    /// Makes one function with one mesh, and shardings on values, of whatever the program is.
    fn import(&mut self, options: &ImportOptions) -> Result<(), Diagnostic> {
        self.pass("hlo-to-stablehlo", crate::hlo_to_stablehlo::run)?;
        self.pass("xla-sdy-round-trip-import-pipeline", crate::sdy_round_trip::import)?;
        self.pass("inline-calls", crate::inline_calls::run)?;
        self.pass("import", |module| crate::import::run(module, options))
    }

    /// What goes before propagation.
    fn prepare(&mut self) -> Result<(), Diagnostic> {
        self.pass("simplify", crate::simplify::run)?;
        self.pass("split-constants", crate::split_constants::run)
    }

    fn pass<T>(
        &mut self,
        name: &'static str,
        pass: impl FnOnce(&mut Module) -> Result<T, Diagnostic>,
    ) -> Result<T, Diagnostic> {
        let begin = Instant::now();
        let result = pass(&mut self.module);
        self.timing.push((name, begin.elapsed()));
        if let Some(stages) =
            self.stages.as_mut().filter(|list| name == "import" || !list.is_empty())
        {
            stages.push(StageModule { pass: name, module: self.module.clone(), local: self.local });
        }
        result
    }
}

fn interface_types(module: &Module) -> (Vec<TypeId>, Vec<TypeId>) {
    let Some(func) = module.main_func() else { return Default::default() };
    let args = module.args(func).iter().map(|&arg| module.value_type(arg)).collect();
    let results = module.funcs[func].results.iter().map(|result| result.ty).collect();
    (args, results)
}

fn interface(
    module: &Module,
    (args, results): &(Vec<TypeId>, Vec<TypeId>),
) -> (Vec<InterfaceValue>, Vec<InterfaceValue>) {
    let Some(func) = module.main_func() else { return Default::default() };
    let parameters = args
        .iter()
        .enumerate()
        .map(|(index, &global)| {
            let value = module.args(func)[index];
            let names = crate::import::argument_names(module, func, index);
            InterfaceValue {
                index,
                name: names.into_iter().next().unwrap_or_default(),
                global,
                local: module.value_type(value),
                sharding: module.value_sharding(value).cloned(),
            }
        })
        .collect();
    let results = results
        .iter()
        .zip(&module.funcs[func].results)
        .enumerate()
        .map(|(index, (&global, result))| InterfaceValue {
            index,
            name: match module.attr(result.attrs, "jax.result_info") {
                Some(shard_ir::Attr::String(name)) => module.str(*name).to_owned(),
                _ => String::new(),
            },
            global,
            local: result.ty,
            sharding: result.sharding.expand().map(|id| module.sharding(id).clone()),
        })
        .collect();
    (parameters, results)
}

/// The reason and location of an inserted op, for reports.
pub fn provenance(module: &Module, loc: LocId) -> (Option<String>, shard_ir::Place) {
    let reason = crate::reasons::reason(module, loc).map(str::to_owned);
    (reason, shard_ir::place_of(module, loc))
}
