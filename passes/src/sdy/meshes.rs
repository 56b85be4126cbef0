//! `sdy-lift-inlined-meshes` and `sdy-inline-meshes`: meshes by name, or where they are used.

use rustc_hash::FxHashMap;
use shard_ir::ops::{Collective, FieldRef, Op};
use shard_ir::sharding::{Groups, Mesh, TensorSharding};
use shard_ir::{Attr, AttrsId, ElementType, Item, LocId, MeshDef, MeshId, Module};

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
    rename_groups(module, &replaced);
    tag(module);
}

/// Says of every declared mesh, for StableHLO's groups, what it is in StableHLO's form.
fn tag(module: &mut Module) {
    for item in module.items.clone() {
        let Item::Mesh(id) = item else { continue };
        if module.attr(module.meshes[id].attrs, "stablehlo.mesh").is_some() {
            continue;
        }
        let mesh = module.meshes[id].mesh.clone();
        let i64 = module.scalar(ElementType::I64);
        let (name, size) = (module.symbol("name"), module.symbol("size"));
        let axes = mesh.axes.iter().map(|axis| {
            let axis_name = module.symbol(&axis.name);
            let fields =
                vec![(name, Attr::String(axis_name)), (size, Attr::Int(axis.size.into(), i64))];
            Attr::Dict(module.attrs_id(fields))
        });
        let axes = Attr::Array(axes.collect());
        let mut fields = vec![(module.symbol("axes"), axes)];
        if let Some(ids) = &mesh.device_ids {
            let ids: Vec<String> = ids.iter().map(u64::to_string).collect();
            let text = format!("dense<[{}]> : tensor<{}xi64>", ids.join(", "), ids.len());
            let text = Attr::Text(module.symbol(&text));
            fields.push((module.symbol("device_ids"), text));
        }
        let value = Attr::Dict(module.attrs_id(fields));
        let attrs = module.meshes[id].attrs;
        module.meshes[id].attrs = module.with_attr(attrs, "stablehlo.mesh", Some(value));
    }
}

/// Makes groups of devices by axes name other meshes.
fn rename_groups(module: &mut Module, renamed: &FxHashMap<MeshId, MeshId>) {
    let mut ops = Vec::new();
    walk_module(module, |op| ops.push(op));
    for op in ops {
        let Op::Collective(kind) = &mut module.op_mut(op).op else { continue };
        let groups = match kind {
            Collective::AllGather(op) => &mut op.groups,
            Collective::AllReduce(op) => &mut op.groups,
            Collective::ReduceScatter(op) => &mut op.groups,
            Collective::AllToAll(op) => &mut op.groups,
            Collective::CollectiveBroadcast(op) => &mut op.groups,
            Collective::CollectivePermute(_) | Collective::PartitionId | Collective::ReplicaId => {
                continue;
            }
        };
        if let Groups::Axes { mesh, .. } = groups
            && let Some(&new) = renamed.get(mesh)
        {
            *mesh = new;
        }
    }
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
            FieldRef::Groups(Groups::Axes { mesh, .. }) => used.push(*mesh),
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
    rename_groups(module, &inlined);
    module.items.retain(|item| !matches!(item, Item::Mesh(_)));
}
