//! The rows of Shardy's passes in the registry, in the order of its pipeline.

use super::propagate::Level;
use super::{
    add_data_flow_edges, add_func_data_flow_edges, apply_sharding_constraints, between_functions,
    call_graph, canonicalize, close_shardings, constants, drop, export_named_computations,
    functions, import_func_calls, manual_axes_cleanup, meshes, options, propagate, remove_gathers,
    sharding_groups, sharding_rules, single_device, sink_data_flow_edges, size_one_axes,
    verify_unreduced_axes,
};
use crate::registry::{OptionInfo, PassInfo, PipelineInfo};

const fn option(name: &'static str, description: &'static str) -> OptionInfo {
    OptionInfo { name, description }
}

const CONSERVATIVE: OptionInfo = option(
    "conservative-propagation",
    "no parts of axes, and nothing along what may not divide: true or false (default)",
);
const KEEP_RULES: OptionInfo =
    option("keep-sharding-rules", "leave the rules on the ops: true or false (default)");
const STRATEGY: OptionInfo = option(
    "propagation-strategy",
    "how conflicts are treated: aggressive (default), basic, basic-then-aggressive",
);
const OP_PRIORITIES: OptionInfo = option(
    "run-op-priority-propagation",
    "ops propagate in rounds by what they are: true (default) or false",
);
const PROPAGATION: &[OptionInfo] = &[KEEP_RULES, CONSERVATIVE];
const PROPAGATION_STRATEGY: &[OptionInfo] = &[KEEP_RULES, CONSERVATIVE, STRATEGY];
const PROPAGATION_ROUNDS: &[OptionInfo] = &[KEEP_RULES, CONSERVATIVE, STRATEGY, OP_PRIORITIES];

/// Shardy's passes.
pub(crate) const PASSES: &[PassInfo] = &[
    PassInfo {
        name: "sdy-lift-inlined-meshes",
        description: "Declares meshes that are written inside of shardings, equal ones once",
        options: &[],
        run: |module, _| {
            meshes::lift(module);
            Ok(())
        },
    },
    PassInfo {
        name: "sdy-remove-size-one-axes",
        description: "Takes axes of size one out of shardings",
        options: &[],
        run: |module, _| {
            size_one_axes::run(module);
            Ok(())
        },
    },
    PassInfo {
        name: "sdy-propagate-sharding-from-func-to-call",
        description: "Gives calls without shardings those of the function's results",
        options: &[],
        run: |module, _| between_functions::to_calls(module),
    },
    PassInfo {
        name: "sdy-constant-or-scalar-splitter",
        description: "Gives each user of a constant its own, with what is computed from constants",
        options: &[],
        run: |module, _| constants::split(module),
    },
    PassInfo {
        name: "sdy-manual-axes-cleanup",
        description: "Sorts manual axes, and names those that a border doesn't use as replicated",
        options: &[],
        run: |module, _| manual_axes_cleanup::run(module),
    },
    PassInfo {
        name: "sdy-add-data-flow-edges",
        description: "Puts an edge behind each value that data flow makes one with others",
        options: &[],
        run: |module, _| add_data_flow_edges::run(module, false),
    },
    PassInfo {
        name: "sdy-add-func-data-flow-edges",
        description: "Puts edges behind functions' parameters and calls' results",
        options: &[],
        run: |module, _| add_func_data_flow_edges::run(module),
    },
    PassInfo {
        name: "sdy-apply-sharding-constraints",
        description: "Makes what a constraint says hold for its input",
        options: &[],
        run: |module, _| apply_sharding_constraints::run(module),
    },
    PassInfo {
        name: "sdy-sharding-group-import",
        description: "Joins sharding groups with common values, and numbers them anew",
        options: &[],
        run: |module, _| sharding_groups::import(module),
    },
    PassInfo {
        name: "sdy-flatten-call-graph",
        description: "Gives each call a function of its own",
        options: &[],
        run: |module, _| call_graph::flatten(module),
    },
    PassInfo {
        name: "sdy-import-func-calls",
        description: "Turns calls into named computations",
        options: &[OptionInfo {
            name: "add-data-flow-edges-on-named-computations",
            description: "put edges at their borders: true (default) or false",
        }],
        run: |module, context| {
            let name = "add-data-flow-edges-on-named-computations";
            let add_edges = options::flag(&context.options, name, true)?;
            context.warnings.extend(import_func_calls::run(module, add_edges)?);
            Ok(())
        },
    },
    PassInfo {
        name: "canonicalize",
        description: "Removes reshards, collectives and manual computations that do nothing, and dead ops",
        options: &[],
        run: |module, _| canonicalize::run(module),
    },
    PassInfo {
        name: "sdy-pre-order-funcs",
        description: "Puts functions before those that they call",
        options: &[],
        run: |module, _| {
            call_graph::pre_order(module);
            Ok(())
        },
    },
    PassInfo {
        name: "symbol-dce",
        description: "Removes private functions that nothing refers to",
        options: &[],
        run: |module, _| {
            functions::remove_unused(module);
            Ok(())
        },
    },
    PassInfo {
        name: "sdy-populate-op-sharding-rules",
        description: "Writes on each op the rule by which shardings go along it",
        options: &[CONSERVATIVE],
        run: |module, context| {
            let conservative = options::flag(&context.options, "conservative-propagation", false)?;
            sharding_rules::populate(module, conservative);
            context.warnings.extend(sharding_rules::unknown(module));
            Ok(())
        },
    },
    PassInfo {
        name: "sdy-basic-propagate",
        description: "Propagates what no operand or result disagrees with",
        options: PROPAGATION,
        run: |module, context| propagate::run(module, context, Level::Basic),
    },
    PassInfo {
        name: "sdy-aggressive-propagate",
        description: "Propagates, and resolves conflicts",
        options: PROPAGATION_STRATEGY,
        run: |module, context| propagate::run(module, context, Level::Aggressive),
    },
    PassInfo {
        name: "sdy-op-priority-propagate",
        description: "Propagates in rounds by what ops are",
        options: PROPAGATION_ROUNDS,
        run: |module, context| propagate::run(module, context, Level::OpPriority),
    },
    PassInfo {
        name: "sdy-user-priority-propagate",
        description: "Propagates by the priorities of dimensions, each in rounds",
        options: PROPAGATION_ROUNDS,
        run: |module, context| propagate::run(module, context, Level::UserPriority),
    },
    PassInfo {
        name: "sdy-export-named-computations",
        description: "Turns named computations into functions and calls",
        options: &[],
        run: |module, _| export_named_computations::run(module),
    },
    PassInfo {
        name: "sdy-propagate-to-func-results",
        description: "Gives functions' results the shardings of what they return",
        options: &[],
        run: |module, _| {
            between_functions::to_results(module);
            Ok(())
        },
    },
    PassInfo {
        name: "sdy-sink-func-data-flow-edges",
        description: "Moves the shardings of edges between functions to the values, and removes the edges",
        options: &[],
        run: |module, _| sink_data_flow_edges::run_between_functions(module),
    },
    PassInfo {
        name: "sdy-unflatten-call-graph",
        description: "Joins copies of a function that have the same shardings",
        options: &[OptionInfo {
            name: "dedup-functions-fully",
            description: "join copies whatever their shardings: true or false (default)",
        }],
        run: |module, context| {
            let fully = options::flag(&context.options, "dedup-functions-fully", false)?;
            call_graph::unflatten(module, fully)
        },
    },
    PassInfo {
        name: "sdy-insert-func-call-reshards",
        description: "Makes calls' results be what functions return, with reshards behind them",
        options: &[],
        run: |module, _| between_functions::insert_reshards(module),
    },
    PassInfo {
        name: "sdy-constant-or-scalar-merger",
        description: "Merges equal constants and broadcasts of scalars that have equal shardings",
        options: &[],
        run: |module, _| constants::merge(module),
    },
    PassInfo {
        name: "sdy-sink-data-flow-edges",
        description: "Moves the shardings of edges to the ops that they stand for, and removes the edges",
        options: &[],
        run: |module, _| sink_data_flow_edges::run(module),
    },
    PassInfo {
        name: "sdy-remove-sharding-groups",
        description: "Removes sharding groups",
        options: &[],
        run: |module, _| sharding_groups::remove(module),
    },
    PassInfo {
        name: "sdy-sharding-constraint-to-reshard",
        description: "Turns constraints into reshards",
        options: &[],
        run: |module, _| {
            drop::constraints(module);
            Ok(())
        },
    },
    PassInfo {
        name: "sdy-update-non-divisible-input-output-shardings",
        description: "Shortens shardings of arguments and results until they divide evenly",
        options: &[],
        run: |module, _| {
            close_shardings::make_divisible(module);
            Ok(())
        },
    },
    PassInfo {
        name: "sdy-remove-sub-axes-in-input-output-shardings",
        description: "Drops parts of axes from shardings of main's arguments and results",
        options: &[],
        run: |module, _| {
            close_shardings::without_sub_axes(module);
            Ok(())
        },
    },
    PassInfo {
        name: "sdy-close-shardings",
        description: "Closes every dimension, and drops replicated axes",
        options: &[],
        run: |module, _| {
            close_shardings::close(module);
            Ok(())
        },
    },
    PassInfo {
        name: "sdy-verify-unreduced-axes",
        description: "Checks that partial values are completed by reshards or collectives alone",
        options: &[],
        run: |module, _| verify_unreduced_axes::run(module),
    },
    PassInfo {
        name: "sdy-remove-all-gather-reduce-scatter-for-cmv1",
        description: "Removes gathers into products and reduce-scatters out of them",
        options: &[],
        run: |module, _| remove_gathers::run(module),
    },
    PassInfo {
        name: "sdy-resolve-single-device-sharding",
        description: "Runs ops of one device there alone, and gives their results to all",
        options: &[],
        run: |module, _| single_device::run(module),
    },
    PassInfo {
        name: "sdy-remove-propagation-debug-info",
        description: "Removes what says where shardings come from",
        options: &[],
        run: |module, _| {
            drop::debug_info(module);
            Ok(())
        },
    },
    PassInfo {
        name: "sdy-drop-sharding-rules",
        description: "Removes rules, but for those that the program's author wrote",
        options: &[],
        run: |module, _| {
            sharding_rules::drop(module);
            Ok(())
        },
    },
    PassInfo {
        name: "sdy-inline-meshes",
        description: "Writes meshes where they are used",
        options: &[],
        run: |module, _| {
            meshes::inline(module);
            Ok(())
        },
    },
    PassInfo {
        name: "sdy-drop-sharding-and-mesh",
        description: "Removes the shardings of values, and the meshes",
        options: &[],
        run: |module, _| {
            drop::shardings_and_meshes(module);
            Ok(())
        },
    },
];

const FULLY: OptionInfo = option(
    "dedup-functions-fully",
    "a function has one sharding for all of its calls: true or false (default)",
);

/// Shardy's pipelines.
pub(crate) const PIPELINES: [PipelineInfo; 3] = [
    PipelineInfo {
        name: "sdy-import-pipeline",
        description: "What Shardy does before it propagates",
        options: &[FULLY],
        passes: |options| Ok(import(options::flag(options, FULLY.name, false)?)),
    },
    PipelineInfo {
        name: "sdy-export-pipeline",
        description: "What Shardy does after it propagated, but what decides by cost",
        options: &[],
        passes: |_| Ok([EXPORT, &["sdy-inline-meshes"]].concat()),
    },
    PipelineInfo {
        name: "sdy-propagation-pipeline",
        description: "All of Shardy's propagation: import, propagate, export",
        options: &[FULLY],
        passes: |options| Ok(propagation(options::flag(options, FULLY.name, false)?)),
    },
];

const CONSTRAIN: [&str; 2] = ["sdy-apply-sharding-constraints", "sdy-sharding-group-import"];

fn import(fully: bool) -> Vec<&'static str> {
    let mut passes = vec![
        "symbol-dce",
        "sdy-lift-inlined-meshes",
        "sdy-remove-size-one-axes",
        "sdy-propagate-sharding-from-func-to-call",
        "sdy-constant-or-scalar-splitter",
        "symbol-dce",
        "sdy-manual-axes-cleanup",
        "sdy-add-data-flow-edges",
    ];
    if fully {
        passes.extend(CONSTRAIN);
    }
    passes
}

const EXPORT: &[&str] = &[
    "sdy-constant-or-scalar-merger",
    "sdy-sink-data-flow-edges",
    "sdy-remove-sharding-groups",
    "sdy-sharding-constraint-to-reshard",
    "sdy-update-non-divisible-input-output-shardings",
    "sdy-remove-sub-axes-in-input-output-shardings",
    "sdy-close-shardings",
    "sdy-verify-unreduced-axes",
    "canonicalize",
    "sdy-drop-sharding-rules",
];

fn propagation(fully: bool) -> Vec<&'static str> {
    let mut passes = import(fully);
    if fully {
        passes.push("sdy-add-func-data-flow-edges");
    } else {
        passes.extend(["sdy-flatten-call-graph", "symbol-dce", "sdy-import-func-calls"]);
        passes.push("symbol-dce");
        passes.extend(CONSTRAIN);
    }
    passes.extend(["sdy-pre-order-funcs", "sdy-user-priority-propagate{keep-sharding-rules=true}"]);
    if fully {
        passes.extend(["sdy-propagate-to-func-results", "sdy-sink-func-data-flow-edges"]);
    } else {
        passes.extend(["sdy-export-named-computations", "sdy-propagate-to-func-results"]);
    }
    passes.extend(["sdy-unflatten-call-graph", "symbol-dce", "sdy-insert-func-call-reshards"]);
    passes.extend(EXPORT);
    passes
}
