//! Every pass and every named pipeline: what `--list-passes` shows and pipelines are made of.
//!
//! One pass is one row of [`PASSES`]; a sequence that has a name is one row of [`PIPELINES`].

use shard_cost::Topology;
use shard_ir::sharding::parse_mesh;
use shard_ir::{Diagnostic, Module};
use shard_plan::Pricing;
use shard_propagate::engine::{Options, Strategy};

use crate::export::SpmdMode;
use crate::import::ImportOptions;
use crate::insert_reshards::Fallback;
use crate::sdy;

/// A pass: one row of the registry.
#[derive(Clone, Copy, Debug)]
pub struct PassInfo {
    /// Its name in pipelines and as a flag.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub description: &'static str,
    /// The options that it takes.
    pub options: &'static [OptionInfo],
    /// What runs it.
    pub run: RunPass,
}

/// What runs a pass.
pub type RunPass = fn(&mut Module, &mut PassContext) -> Result<(), Diagnostic>;

/// An option of a pass.
#[derive(Clone, Copy, Debug)]
pub struct OptionInfo {
    /// Its name.
    pub name: &'static str,
    /// What it means, and its values.
    pub description: &'static str,
}

/// A sequence of passes that has a name: one row of the registry.
#[derive(Clone, Copy, Debug)]
pub struct PipelineInfo {
    /// Its name in pipelines and as a flag.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub description: &'static str,
    /// The options that it takes.
    pub options: &'static [OptionInfo],
    /// The passes with their options, in order, as the pipeline's options have it.
    pub passes: fn(&PassOptions) -> Result<Vec<&'static str>, Diagnostic>,
}

/// The options given to one pass of a pipeline, in the order given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PassOptions(pub Vec<(String, String)>);

impl PassOptions {
    /// The value of an option; the last one where it is given more than once.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// What a pass gets beside the module, and what it leaves for the user.
#[derive(Clone, Debug, Default)]
pub struct PassContext {
    /// The options that the pipeline gives to this pass.
    pub options: PassOptions,
    /// What prices are for.
    pub topology: Topology,
    /// Places where operands had to be gathered for want of a better way.
    pub fallbacks: Vec<Fallback>,
    /// What else the user should know.
    pub warnings: Vec<Diagnostic>,
}

/// Every pass: ours in the order in which `partition` runs them, then Shardy's.
pub const PASSES: &[PassInfo] = &joined::<{ OWN.len() + sdy::PASSES.len() }>(OWN, sdy::PASSES);

const fn joined<const N: usize>(a: &[PassInfo], b: &[PassInfo]) -> [PassInfo; N] {
    let mut all = [a[0]; N];
    let mut at = 0;
    while at < N {
        all[at] = if at < a.len() { a[at] } else { b[at - a.len()] };
        at += 1;
    }
    all
}

const OWN: &[PassInfo] = &[
    PassInfo {
        name: "hlo-to-stablehlo",
        description: "Turns a program in HLO's form into one in StableHLO's",
        options: &[],
        run: |module, _| crate::hlo_to_stablehlo::run(module),
    },
    PassInfo {
        name: "xla-sdy-round-trip-import-pipeline",
        description: "Turns Shardy's annotations as HLO carries them (xla.sdy.*) into Shardy's own",
        options: &[],
        run: |module, _| crate::sdy_round_trip::import(module),
    },
    PassInfo {
        name: "inline-calls",
        description: "Puts the bodies of private functions in the place of calls",
        options: &[],
        run: |module, _| crate::inline_calls::run(module),
    },
    PassInfo {
        name: "import",
        description: "Turns annotations into one mesh and shardings on values",
        options: &[OptionInfo {
            name: "mesh",
            description: "the mesh, in place of the program's: mesh=data=4,model=2",
        }],
        run: import,
    },
    PassInfo {
        name: "simplify",
        description: "Removes ops that do nothing, such as reshapes to the same shape",
        options: &[],
        run: |module, _| crate::simplify::run(module),
    },
    PassInfo {
        name: "split-constants",
        description: "Gives each use of a constant its own, so that none carries shardings across",
        options: &[],
        run: |module, _| crate::split_constants::run(module),
    },
    PassInfo {
        name: "propagate",
        description: "Gives every value a sharding; the program stays as it is",
        options: &[
            OptionInfo {
                name: "strategy",
                description: "how conflicts are treated: aggressive (default), basic, \
                              basic-then-aggressive",
            },
            OptionInfo {
                name: "op-priorities",
                description: "ops propagate in rounds by what they are: true (default) or false",
            },
            OptionInfo {
                name: "user-priorities",
                description: "dimensions propagate by their priorities: true (default) or false",
            },
        ],
        run: propagate,
    },
    PassInfo {
        name: "split-reductions",
        description: "Cuts reductions such as products into one a device and one over the partial results",
        options: &[],
        run: |module, _| crate::split_reductions::run(module),
    },
    PassInfo {
        name: "insert-reshards",
        description: "Makes operands and results of every op agree, by explicit reshards",
        options: &[],
        run: |module, context| {
            if let Some(mut pricing) = pricing(module, context)? {
                context.fallbacks.extend(crate::insert_reshards::run(module, &mut pricing)?);
            }
            Ok(())
        },
    },
    PassInfo {
        name: "place-reductions",
        description: "Moves the completion of partial sums to where it costs least",
        options: &[],
        run: |module, _| crate::place_reductions::run(module).map(drop),
    },
    PassInfo {
        name: "dead-code",
        description: "Removes ops without effects whose results nobody uses",
        options: &[],
        run: |module, _| {
            crate::dead_code::run(module);
            Ok(())
        },
    },
    PassInfo {
        name: "pad-uneven",
        description: "Pads dimensions that don't divide into shards, and masks what that adds",
        options: &[],
        run: |module, _| crate::pad_uneven::run(module).map(drop),
    },
    PassInfo {
        name: "reshard-to-collectives",
        description: "Turns each reshard into the cheapest sequence of sdy collectives",
        options: &[],
        run: |module, context| match pricing(module, context)? {
            Some(mut pricing) => crate::reshard_to_collectives::run(module, &mut pricing),
            None => Ok(()),
        },
    },
    PassInfo {
        name: "common-ops",
        description: "Merges equal ops with equal operands, collectives included",
        options: &[],
        run: |module, _| crate::common_ops::run(module),
    },
    PassInfo {
        name: "global-to-local",
        description: "Turns global shapes into those of one device, sdy collectives into stablehlo",
        options: &[],
        run: |module, _| crate::local::run(module),
    },
    PassInfo {
        name: "swap-convolutions",
        description: "Swaps a dilated input and a larger kernel, as TPU's compiler would",
        options: &[],
        run: |module, _| crate::swap_convolutions::run(module),
    },
    PassInfo {
        name: "export",
        description: "Gives the per-device program the form in which XLA accepts it",
        options: &[OptionInfo {
            name: "mode",
            description: "which device ids collectives use: partitions (default) or replicas",
        }],
        run: export,
    },
    PassInfo {
        name: "strip-shardings",
        description: "Removes meshes and shardings: the program as one device would run it",
        options: &[],
        run: |module, _| crate::strip_shardings::run(module),
    },
    PassInfo {
        name: "switch-collectives",
        description: "Adds an argument that names one collective not to run, for the deletion test",
        options: &[],
        run: |module, _| crate::switch_collectives::run(module).map(drop),
    },
    PassInfo {
        name: "xla-sdy-round-trip-export-pipeline",
        description: "Turns Shardy's attributes and ops into annotations that HLO can carry",
        options: &[],
        run: |module, _| crate::sdy_round_trip::export(module),
    },
    PassInfo {
        name: "chlo-legalize-to-stablehlo",
        description: "Turns ops of CHLO into the ops of StableHLO that compute them",
        options: &[],
        run: |module, _| crate::chlo_legalize::run(module),
    },
    PassInfo {
        name: "stablehlo-to-hlo",
        description: "Turns a program in StableHLO's form into one in HLO's",
        options: &[],
        run: |module, _| crate::stablehlo_to_hlo::run(module),
    },
];

/// Every sequence of passes that has a name: `partition`'s, then Shardy's.
pub const PIPELINES: &[PipelineInfo] = &[
    PipelineInfo {
        name: "partition-pipeline",
        description: "All that the command `partition` runs",
        options: &[],
        passes: |_| Ok(PARTITION.to_vec()),
    },
    sdy::PIPELINES[0],
    sdy::PIPELINES[1],
    sdy::PIPELINES[2],
];

const PARTITION: &[&str] = &[
    "hlo-to-stablehlo",
    "xla-sdy-round-trip-import-pipeline",
    "inline-calls",
    "import",
    "simplify",
    "split-constants",
    "propagate",
    "split-reductions",
    "insert-reshards",
    "place-reductions",
    "dead-code",
    "pad-uneven",
    "reshard-to-collectives",
    "common-ops",
    "dead-code",
    "global-to-local",
    "common-ops",
    "simplify",
    "swap-convolutions",
    "export",
];

/// The pass of a name.
pub fn find_pass(name: &str) -> Option<&'static PassInfo> {
    PASSES.iter().find(|pass| pass.name == name)
}

/// The pipeline of a name.
pub fn find_pipeline(name: &str) -> Option<&'static PipelineInfo> {
    PIPELINES.iter().find(|pipeline| pipeline.name == name)
}

/// Prices for the module's mesh; `None` where it has no mesh.
fn pricing(module: &Module, context: &PassContext) -> Result<Option<Pricing>, Diagnostic> {
    let Some(mesh) = crate::meshes::main_mesh(module) else { return Ok(None) };
    let mesh = module.meshes[mesh].mesh.clone();
    Pricing::new(context.topology.clone(), mesh)
        .map(Some)
        .map_err(|error| Diagnostic::error(error.to_string()))
}

fn import(module: &mut Module, context: &mut PassContext) -> Result<(), Diagnostic> {
    let mesh =
        match context.options.get("mesh") {
            Some(text) => Some(parse_mesh(text).map_err(|error| {
                Diagnostic::error(format!("option 'mesh' of 'import': {error}"))
            })?),
            None => None,
        };
    crate::import::run(module, &ImportOptions { mesh, ..ImportOptions::default() })
}

fn propagate(module: &mut Module, context: &mut PassContext) -> Result<(), Diagnostic> {
    let wrong = |name: &str, value: &str, values: &str| {
        let message = format!("option '{name}' of 'propagate' is '{value}'; it can be {values}");
        Err(Diagnostic::error(message))
    };
    let mut options = Options::default();
    match context.options.get("strategy") {
        None | Some("aggressive") => {}
        Some("basic") => options.strategy = Strategy::Basic,
        Some("basic-then-aggressive") => options.strategy = Strategy::BasicThenAggressive,
        Some(other) => {
            return wrong("strategy", other, "'aggressive', 'basic' or 'basic-then-aggressive'");
        }
    }
    for (name, flag) in [
        ("op-priorities", &mut options.op_priorities),
        ("user-priorities", &mut options.user_priorities),
    ] {
        match context.options.get(name) {
            None => {}
            Some("true") => *flag = true,
            Some("false") => *flag = false,
            Some(other) => return wrong(name, other, "'true' or 'false'"),
        }
    }
    crate::propagate::run_with(module, &options)
}

fn export(module: &mut Module, context: &mut PassContext) -> Result<(), Diagnostic> {
    let mode = match context.options.get("mode") {
        None | Some("partitions") => SpmdMode::Partitions,
        Some("replicas") => SpmdMode::Replicas,
        Some(other) => {
            return Err(Diagnostic::error(format!(
                "option 'mode' of 'export' is '{other}'; it can be 'partitions' or 'replicas'"
            )));
        }
    };
    crate::export::run(module, mode)
}
