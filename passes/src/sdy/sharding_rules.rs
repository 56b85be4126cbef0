//! `sdy-populate-op-sharding-rules` and `sdy-drop-sharding-rules`: sharding rules as attributes.

use shard_ir::ops::{Custom, Op};
use shard_ir::{Attr, Diagnostic, Module, OpId};
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

/// Warns of custom calls that have no rule: nothing propagates along them.
pub(super) fn unknown(module: &Module) -> Vec<Diagnostic> {
    let mut warnings = Vec::new();
    walk_module(module, |op| {
        if let Op::Custom(Custom::CustomCall(call)) = module.kind(op)
            && module.attr(module.op(op).attrs, RULE_ATTR).is_none()
        {
            let name = module.str(call.target);
            let message = format!("custom call @{name} is unknown to SDY sharding rule registry");
            let help = "state how its dimensions belong together by an sdy.sharding_rule";
            warnings
                .push(Diagnostic::warning(message).at_loc(module, module.op(op).loc).help(help));
        }
    });
    warnings
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
