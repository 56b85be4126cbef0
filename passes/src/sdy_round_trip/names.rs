//! The names of attributes, custom calls and functions.

use shard_ir::Module;
use shard_ir::ops::CustomCall;

/// Meshes by name, on the module.
pub(super) const MESHES: &str = "xla.sdy.meshes";
/// The sharding of an argument, or those of an op's results.
pub(super) const SHARDING: &str = "xla.sdy.sharding";
/// The rule of an op.
pub(super) const RULE: &str = "xla.sdy.sharding_rule";
/// The group of a value.
pub(super) const GROUP: &str = "xla.sdy.sharding_group_id";
/// The direction that a barrier lets through.
pub(super) const DIRECTION: &str = "xla.sdy.allowed_direction";
/// Shardings of what goes into a `shard_map`.
pub(super) const IN_SHARDINGS: &str = "xla.sdy.in_shardings";
/// Shardings of what comes out of a `shard_map`.
pub(super) const OUT_SHARDINGS: &str = "xla.sdy.out_shardings";
/// The axes along which its body is one device's.
pub(super) const MANUAL_AXES: &str = "xla.sdy.manual_axes";
/// Shardings of the parts of the one tuple that is the entry's argument.
pub(super) const TUPLE_ARGS: &str = "xla.sdy.tuple_args_shardings";
/// Shardings of the parts of the tuple that the entry returns.
pub(super) const TUPLE_RESULTS: &str = "xla.sdy.tuple_results_shardings";
/// What else XLA notes on a module, and needs no longer.
pub(super) const NOTES: [&str; 3] =
    ["xla.sdy.use_tuple_args", "xla.sdy.has_unreduced_axes", "xla.sdy.import_mhlo_shardings"];

/// The custom call that states a sharding.
pub(super) const CONSTRAINT: &str = "Sharding";
/// The custom call that states the sharding of a result of its function.
pub(super) const RESULT_SHARDING: &str = "xla.sdy.FuncResultSharding";
/// The custom call that puts a value into a group.
pub(super) const SHARDING_GROUP: &str = "xla.sdy.ShardingGroup";
/// The custom call that stops propagation.
pub(super) const BARRIER: &str = "xla.sdy.PropagationBarrier";
/// The custom call that cuts whole values up for the body of a `shard_map`.
pub(super) const GLOBAL_TO_LOCAL: &str = "xla.sdy.GlobalToLocalShape";
/// The custom call that makes whole values of what the body returns.
pub(super) const LOCAL_TO_GLOBAL: &str = "xla.sdy.LocalToGlobalShape";
/// How the name of a function that is the body of a `shard_map` begins.
pub(super) const BODY: &str = "xla.sdy.manual_computation_body";
/// The same, of one that XLA may inline.
pub(super) const INLINABLE_BODY: &str = "xla.sdy.inlinable_manual_computation_body";

/// Whether a function is the body of a `shard_map`.
pub(super) fn is_body(name: &str) -> bool {
    name.contains(BODY) || name.contains(INLINABLE_BODY)
}

/// A custom call as XLA writes those above.
pub(super) fn custom_call(module: &mut Module, target: &str) -> CustomCall {
    let has_side_effect = (target != CONSTRAINT).then_some(true);
    CustomCall { has_side_effect, ..CustomCall::new(module.symbol(target)) }
}
