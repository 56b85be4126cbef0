//! Shardy's passes under the names and with the options that `sdy_opt` has for them.
//!
//! They do what Shardy's do, step by step, on the module itself, for whoever calls `sdy_opt` or
//! wants to see what it would print: `sdy-propagation-pipeline` is all of it. `partition` doesn't
//! use them: its `import` and `propagate` do the same by analysis. Passes of Shardy that decide by
//! cost have no row here; the ones that the stages of `partition` are do that.

mod add_data_flow_edges;
mod add_func_data_flow_edges;
mod apply_sharding_constraints;
mod between_functions;
mod call_graph;
mod canonicalize;
mod close_shardings;
mod constants;
mod drop;
mod edges;
mod edit;
mod export_named_computations;
mod functions;
mod import_func_calls;
mod manual_axes_cleanup;
mod meshes;
mod options;
mod propagate;
mod reduce_scatter;
mod remove_gathers;
mod rows;
mod sharding_groups;
mod sharding_rules;
mod single_device;
mod sink_data_flow_edges;
mod size_one_axes;
mod split_constants;
mod values;
mod verify_unreduced_axes;

use edit::{
    Homes, erase, forward, homes, insert_before, insert_behind, place_edges, walk_blocks, walk_post,
};
pub(crate) use rows::{PASSES, PIPELINES};
pub use sharding_rules::verify as verify_rules;
