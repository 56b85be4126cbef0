//! What stands in the header of a module and on its arguments.

use std::fmt::Write as _;

use shard_ir::{Attr, AttrsId, FuncId, Module, ValueId};

use crate::annotations::{FRONTEND, TILES};

/// The attributes that HLO has a place for.
pub(super) fn kept(module: &mut Module, attrs: AttrsId) -> AttrsId {
    let kept: Vec<_> = module
        .attrs(attrs)
        .iter()
        .filter(|(key, _)| matches!(module.str(*key), TILES | FRONTEND))
        .cloned()
        .collect();
    module.attrs_id(kept)
}

/// Moves what arguments say of their memory to the header, where HLO has it.
pub(super) fn convert(module: &mut Module, entry: FuncId) {
    let mut aliases = String::new();
    let mut donors = String::new();
    let tuple = module.funcs[entry].results.len() != 1;
    for (index, &attrs) in module.funcs[entry].arg_attrs.iter().enumerate() {
        if let Some(Attr::Int(result, _)) = module.attr(attrs, "tf.aliasing_output") {
            let output = if tuple { format!("{{{result}}}") } else { "{}".to_owned() };
            let comma = if aliases.is_empty() { "" } else { ", " };
            let _ = write!(aliases, "{comma}{output}: ({index}, {{}}, may-alias)");
        }
        if matches!(module.attr(attrs, "jax.buffer_donor"), Some(Attr::Bool(true))) {
            let comma = if donors.is_empty() { "" } else { ", " };
            let _ = write!(donors, "{comma}({index}, {{}})");
        }
    }
    let mut list: Vec<_> = module
        .attrs(module.attrs)
        .iter()
        .filter(|(key, _)| module.str(*key).starts_with("mhlo."))
        .cloned()
        .collect();
    for (key, table) in [("hlo.input_output_alias", aliases), ("hlo.buffer_donor", donors)] {
        if !table.is_empty() {
            let attr = super::text(module, &format!("{{ {table} }}"));
            list.push((module.symbol(key), attr));
        }
    }
    module.attrs = module.attrs_id(list);
}

/// The shardings of a function's results, on the instruction that returns them.
pub(super) fn root_sharding(module: &mut Module, func: FuncId, root: ValueId, count: usize) {
    let shardings: Option<Vec<String>> = module.funcs[func]
        .results
        .iter()
        .map(|result| match module.attr(result.attrs, TILES) {
            Some(Attr::String(text)) => Some(module.str(*text).to_owned()),
            _ => None,
        })
        .collect();
    let (Some(shardings), Some(op)) = (shardings, module.defining_op(root)) else { return };
    let text = match &shardings[..] {
        [only] if count == 1 => only.clone(),
        all => format!("{{{}}}", all.join(", ")),
    };
    let attr = super::text(module, &text);
    let attrs = module.op(op).attrs;
    let attrs = module.with_attr(attrs, TILES, Some(attr));
    module.op_mut(op).attrs = attrs;
}
