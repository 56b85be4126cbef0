//! `sdy-lift-inlined-meshes` and `sdy-inline-meshes`: meshes by name, or where they are used.

use rustc_hash::FxHashMap;
use shard_ir::ops::FieldRef;
use shard_ir::sharding::{Mesh, TensorSharding};
use shard_ir::{AttrsId, Item, LocId, MeshDef, MeshId, Module};

use crate::shardings::{map_shardings, walk_module};

/// Gives every mesh one name: meshes written inside of shardings are declared, and of equal ones
/// the first stays.
pub(super) fn lift(module: &mut Module) {
    let mut named: Vec<(Mesh, MeshId)> = Vec::new();
    let mut replaced: FxHashMap<MeshId, MeshId> = FxHashMap::default();
    let mut items = Vec::with_capacity(module.items.len());
    let mut behind = 0;
    for &item in &module.items {
        if let Item::Mesh(id) = item {
            let mesh = &module.meshes[id].mesh;
            if let Some((_, first)) = named.iter().find(|(known, _)| known == mesh) {
                replaced.insert(id, *first);
                continue;
            }
            named.push((mesh.clone(), id));
            behind = items.len() + 1;
        }
        items.push(item);
    }
    module.items = items;
    for id in used_meshes(module) {
        if module.meshes[id].name.is_some() {
            continue;
        }
        let mesh = module.meshes[id].mesh.clone();
        if let Some((_, first)) = named.iter().find(|(known, _)| *known == mesh) {
            replaced.insert(id, *first);
            continue;
        }
        let base = match mesh.maximal_device() {
            Some(device) => format!("maximal_mesh_{device}"),
            None if mesh.is_empty() => "empty_mesh".to_owned(),
            None => "mesh".to_owned(),
        };
        let name = module.symbol(&base);
        let name = unique(module, name);
        let def = MeshDef {
            name: Some(name),
            mesh: mesh.clone(),
            attrs: AttrsId::EMPTY,
            loc: LocId::UNKNOWN,
        };
        let new = module.meshes.push(def);
        module.items.insert(behind, Item::Mesh(new));
        behind += 1;
        named.push((mesh, new));
        replaced.insert(id, new);
    }
    map_shardings(module, |_, old| {
        let mesh = replaced.get(&old.mesh).copied().unwrap_or(old.mesh);
        TensorSharding { mesh, ..old.clone() }
    });
}

fn unique(module: &mut Module, base: shard_ir::Symbol) -> shard_ir::Symbol {
    super::functions::Names::default().unique(module, base)
}

/// The meshes that shardings and groups of devices name, in the order of the program.
fn used_meshes(module: &mut Module) -> Vec<MeshId> {
    let mut used: Vec<MeshId> = Vec::new();
    for func in module.func_ids() {
        let args = module.args(func).iter().filter_map(|&arg| module.shardings[arg].expand());
        let results = module.funcs[func].results.iter().filter_map(|r| r.sharding.expand());
        used.extend(args.chain(results).map(|id| module.sharding(id).mesh));
    }
    walk_module(module, |op| {
        module.kind(op).visit_fields(&mut |_, field| match field {
            FieldRef::Sharding(id) => used.push(module.sharding(id).mesh),
            FieldRef::Shardings(list) => {
                used.extend(list.iter().map(|&id| module.sharding(id).mesh));
            }
            _ => {}
        });
        let results = module.results(op).iter();
        used.extend(results.filter_map(|&value| Some(module.value_sharding(value)?.mesh)));
    });
    used.dedup();
    used
}

/// Writes meshes where they are used, and removes their declarations.
pub(super) fn inline(module: &mut Module) {
    let mut inlined: FxHashMap<MeshId, MeshId> = FxHashMap::default();
    for id in module.meshes.keys().collect::<Vec<_>>() {
        let mesh = module.meshes[id].mesh.clone();
        let inline = module.inline_mesh(mesh);
        inlined.insert(id, inline);
    }
    map_shardings(module, |_, old| {
        let mesh = inlined.get(&old.mesh).copied().unwrap_or(old.mesh);
        TensorSharding { mesh, ..old.clone() }
    });
    module.items.retain(|item| !matches!(item, Item::Mesh(_)));
}
