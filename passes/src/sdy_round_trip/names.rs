//! The names of attributes, custom calls and functions.

use shard_ir::ops::{Custom, CustomCall, Op};
use shard_ir::{Attr, AttrsId, Module, OpId};

/// The dictionary of attributes that the front end gives to XLA.
pub(super) const FRONTEND: &str = "mhlo.frontend_attributes";
/// GSPMD's annotation, which says the same in tiles.
pub(super) const TILES: &str = "mhlo.sharding";

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

/// The name of a custom call's target, if the op is one.
pub(super) fn target(module: &Module, op: OpId) -> Option<&str> {
    match module.kind(op) {
        Op::Custom(Custom::CustomCall(call)) => Some(module.str(call.target)),
        _ => None,
    }
}

/// A custom call as XLA writes those above.
pub(super) fn custom_call(module: &mut Module, target: &str) -> CustomCall {
    CustomCall {
        target: module.symbol(target),
        has_side_effect: (target != CONSTRAINT).then_some(true),
        backend_config: None,
        api_version: None,
        called_computations: None,
        operand_layouts: None,
        result_layouts: None,
        aliases: None,
    }
}

/// The text of a frontend attribute.
pub(super) fn frontend<'m>(module: &'m Module, attrs: AttrsId, name: &str) -> Option<&'m str> {
    let Some(Attr::Dict(dict)) = module.attr(attrs, FRONTEND) else { return None };
    match module.attr(*dict, name) {
        Some(Attr::String(text)) => Some(module.str(*text)),
        _ => None,
    }
}

/// Attributes with a frontend attribute set, or taken away.
pub(super) fn with_frontend(
    module: &mut Module,
    attrs: AttrsId,
    name: &str,
    text: Option<&str>,
) -> AttrsId {
    let dict = match module.attr(attrs, FRONTEND) {
        Some(Attr::Dict(dict)) => *dict,
        _ if text.is_none() => return attrs,
        _ => AttrsId::EMPTY,
    };
    let text = text.map(|text| Attr::String(module.symbol(text)));
    let dict = module.with_attr(dict, name, text);
    let dict = (dict != AttrsId::EMPTY).then_some(Attr::Dict(dict));
    module.with_attr(attrs, FRONTEND, dict)
}
