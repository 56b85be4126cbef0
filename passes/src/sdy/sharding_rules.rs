//! `sdy-populate-op-sharding-rules` and `sdy-drop-sharding-rules`: sharding rules as attributes.

use shard_ir::ops::{Custom, Op};
use shard_ir::{Attr, Diagnostic, Module, OpId};
use shard_propagate::rules::{OpRule, RULE_ATTR, RuleTextError, factor_name, rule_with};

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

/// Everything that is wrong with the rules that a program states.
pub fn verify(module: &Module) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    walk_module(module, |op| {
        let Some(attr) = module.attr(module.op(op).attrs, RULE_ATTR) else { return };
        let checked = match attr {
            Attr::Text(text) | Attr::String(text) => match module.str(*text).parse() {
                Ok(rule) => fits(module, op, &rule),
                Err(error) => Err(RuleTextError::to_string(&error)),
            },
            _ => Err("sdy.sharding_rule must be #sdy.op_sharding_rule<...>".to_owned()),
        };
        if let Err(message) = checked {
            let help = "such as #sdy.op_sharding_rule<([i, k], [k, j])->([i, j]) {i=2, j=4, k=8} \
                        reduction={k}>";
            found.push(Diagnostic::error(message).at_op(module, op).help(help));
        }
    });
    found
}

/// Whether a rule is one for an op.
fn fits(module: &Module, op: OpId, rule: &OpRule) -> Result<(), String> {
    let mut used = vec![false; rule.factors.len()];
    let sides = [
        ("operand", module.operands(op), &rule.operands),
        ("result", module.results(op), &rule.results),
    ];
    for (what, values, mappings) in sides {
        if values.len() != mappings.len() {
            let (has, states) = (values.len(), mappings.len());
            return Err(format!("the rule is for {states} {what}s, but the op has {has}"));
        }
        for (index, (&value, mapping)) in values.iter().zip(mappings).enumerate() {
            let Some(ty) = module.tensor_type(value).filter(|ty| ty.is_static()) else {
                return Err(format!("{what} {index} isn't a tensor of static shape"));
            };
            if ty.rank() != mapping.len() {
                let (rank, states) = (ty.rank(), mapping.len());
                return Err(format!(
                    "the rule has {states} dimensions for {what} {index}, which has {rank}"
                ));
            }
            let mut here = vec![false; rule.factors.len()];
            for dim in mapping {
                for &factor in dim {
                    if std::mem::replace(&mut here[factor], true) {
                        let name = factor_name(factor);
                        return Err(format!("{what} {index} has factor {name} twice"));
                    }
                    if dim.len() > 1 && rule.factors[factor].size == 1 {
                        let name = factor_name(factor);
                        return Err(format!(
                            "factor {name} has size 1, and shares a dimension of {what} {index}"
                        ));
                    }
                    used[factor] = true;
                    if what == "result" && rule.factors[factor].kind.is_reduction() {
                        let name = factor_name(factor);
                        return Err(format!("factor {name} is reduced, but in result {index}"));
                    }
                }
            }
        }
    }
    match used.iter().position(|&used| !used) {
        Some(factor) => Err(format!("no tensor has factor {}", factor_name(factor))),
        None => Ok(()),
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
