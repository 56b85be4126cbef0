//! `sdy-populate-op-sharding-rules` and `sdy-drop-sharding-rules`: sharding rules as attributes.

use shard_ir::{Attr, Module, OpId};
use shard_propagate::rules::{RULE_ATTR, rule_with};

use crate::shardings::walk_module;

fn ops(module: &Module) -> Vec<OpId> {
    let mut ops = Vec::new();
    walk_module(module, |op| ops.push(op));
    ops
}

/// Writes on every op the rule by which it is propagated.
pub(super) fn populate(module: &mut Module, conservative: bool) {
    for op in ops(module) {
        let attrs = module.op(op).attrs;
        if module.attr(attrs, RULE_ATTR).is_some() {
            continue;
        }
        let Some(rule) = rule_with(module, op, conservative) else { continue };
        let text = module.symbol(&format!("#sdy.op_sharding_rule<{rule}>"));
        let attrs = module.with_attr(attrs, RULE_ATTR, Some(Attr::Text(text)));
        module.op_mut(op).attrs = attrs;
    }
}

/// Removes the rules, but for those that the program's author wrote.
pub(super) fn drop(module: &mut Module) {
    for op in ops(module) {
        let attrs = module.op(op).attrs;
        let custom = match module.attr(attrs, RULE_ATTR) {
            Some(Attr::Text(text) | Attr::String(text)) => {
                module.str(*text).trim_end().trim_end_matches('>').ends_with("custom")
            }
            _ => continue,
        };
        if !custom {
            let attrs = module.with_attr(attrs, RULE_ATTR, None);
            module.op_mut(op).attrs = attrs;
        }
    }
}
