//! The attributes in which programs carry what XLA is told about an op, and the calls that state
//! shardings.

use shard_ir::ops::{Custom, Op};
use shard_ir::{Attr, AttrsId, Module, OpId};

/// GSPMD's annotation: a sharding in tiles.
pub(crate) const TILES: &str = "mhlo.sharding";
/// The dictionary of attributes that the front end gives to XLA.
pub(crate) const FRONTEND: &str = "mhlo.frontend_attributes";

/// The text of a frontend attribute.
pub(crate) fn frontend<'m>(module: &'m Module, attrs: AttrsId, name: &str) -> Option<&'m str> {
    let Some(Attr::Dict(dict)) = module.attr(attrs, FRONTEND) else { return None };
    match module.attr(*dict, name) {
        Some(Attr::String(text)) => Some(module.str(*text)),
        _ => None,
    }
}

/// Attributes with a frontend attribute set, or taken away.
pub(crate) fn with_frontend(
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

/// The name of a custom call's target, if the op is one.
pub(crate) fn call_target(module: &Module, op: OpId) -> Option<&str> {
    match module.kind(op) {
        Op::Custom(Custom::CustomCall(call)) => Some(module.str(call.target)),
        _ => None,
    }
}
