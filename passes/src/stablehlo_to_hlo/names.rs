//! Names of functions: HLO takes letters, digits and `_.-` alone, and JAX writes `<lambda>`.

use rustc_hash::FxHashMap;
use shard_ir::ops::{Control, Custom, Op};
use shard_ir::{Attr, FuncId, Module, OpId, Symbol};

/// Gives functions whose names HLO doesn't take others, and calls these by them.
pub(super) fn convert(module: &mut Module) {
    let mut renamed: FxHashMap<Symbol, Symbol> = FxHashMap::default();
    let funcs: Vec<FuncId> = module.func_ids().collect();
    for &func in &funcs {
        let old = module.funcs[func].name;
        let mut name = legal(module.str(old));
        if name == module.str(old) {
            continue;
        }
        while module.find_symbol(&name).is_some_and(|name| module.find_func(name).is_some()) {
            name.push('_');
        }
        let new = module.symbol(&name);
        module.funcs[func].name = new;
        renamed.insert(old, new);
    }
    if renamed.is_empty() {
        return;
    }
    let rename = |name: &mut Symbol| {
        if let Some(&new) = renamed.get(name) {
            *name = new;
        }
    };
    for func in funcs {
        let mut ops: Vec<OpId> = Vec::new();
        module.walk(module.funcs[func].body, |op| ops.push(op));
        for op in ops {
            match &mut module.op_mut(op).op {
                Op::Control(Control::Call(call)) => rename(&mut call.callee.0),
                Op::Custom(Custom::Composite(composite)) => {
                    rename(&mut composite.decomposition.0);
                }
                Op::Custom(Custom::CustomCall(call)) => {
                    let Some(Attr::Array(names)) = &mut call.called_computations else { continue };
                    for name in names {
                        if let Attr::SymbolRef(path) = name {
                            path.iter_mut().for_each(rename);
                        }
                    }
                }
                _ => {}
            }
        }
    }
}

/// A name with underscores in the place of what HLO doesn't take.
fn legal(name: &str) -> String {
    let fits = |(at, c): (usize, char)| match c {
        'a'..='z' | 'A'..='Z' | '_' => c,
        '0'..='9' | '.' | '-' if at > 0 => c,
        _ => '_',
    };
    name.chars().enumerate().map(fits).collect()
}
