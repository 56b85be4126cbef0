//! Names, meshes and signatures of functions.

use rustc_hash::FxHashSet;

use crate::Item;

use super::{Complaints, Funcs};

/// Checks what stands at the top level; returns the functions by name.
pub(super) fn verify(complaints: &mut Complaints) -> Funcs {
    let module = complaints.module;
    let mut funcs = Funcs::default();
    let mut names = FxHashSet::default();
    for &item in &module.items {
        match item {
            Item::Mesh(id) => {
                let Some(def) = module.meshes.get(id) else {
                    let loc = module.loc.expand().unwrap_or(crate::LocId::UNKNOWN);
                    complaints.at(loc, format!("the module lists {id}, which isn't there"));
                    continue;
                };
                let name = def.name.map_or("", |name| module.str(name));
                if def.name.is_some_and(|name| !names.insert(name)) {
                    complaints.at(def.loc, format!("symbol '@{name}' is defined twice"));
                }
            }
            Item::Func(id) => {
                let func = &module.funcs[id];
                let name = module.str(func.name);
                if !names.insert(func.name) {
                    complaints.at(func.loc, format!("symbol '@{name}' is defined twice"));
                }
                funcs.entry(func.name).or_insert(id);
                let blocks = &module.region(func.body).blocks;
                let Some(&entry) = blocks.first() else {
                    complaints.at(func.loc, format!("function '@{name}' has no block"));
                    continue;
                };
                let args = module.params(entry).len();
                if func.arg_attrs.len() != args {
                    complaints.at(
                        func.loc,
                        format!(
                            "function '@{name}' has {args} arguments, but attributes of {}",
                            func.arg_attrs.len()
                        ),
                    );
                }
                if func.is_declaration && blocks.iter().any(|&b| !module.block_ops(b).is_empty()) {
                    complaints.at(
                        func.loc,
                        format!("function '@{name}' is a declaration, but has a body"),
                    );
                }
            }
            Item::Op(_) => {}
        }
    }
    for def in module.meshes.values() {
        if let Err(error) = def.mesh.verify() {
            let name = def.name.map_or("", |name| module.str(name));
            let what = if name.is_empty() { "mesh".into() } else { format!("mesh '@{name}'") };
            complaints.at(def.loc, format!("{what}: {error}"));
        }
    }
    funcs
}
