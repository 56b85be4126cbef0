//! Which mesh a program is partitioned over, and new ones.

use shard_ir::sharding::Mesh;
use shard_ir::{AttrsId, Item, LocId, MeshDef, MeshId, Module, Symbol};

/// The mesh that the shardings of the module refer to: after `import` there is one with more than
/// one device at most.
pub fn main_mesh(module: &Module) -> Option<MeshId> {
    module
        .meshes
        .iter()
        .filter(|(_, def)| !def.mesh.is_maximal())
        .max_by_key(|(id, def)| (def.mesh.device_count(), std::cmp::Reverse(id.as_u32())))
        .map(|(id, _)| id)
}

/// Adds a mesh by a name, as item `at` of the module.
pub fn declare(module: &mut Module, name: Symbol, mesh: Mesh, at: usize) -> MeshId {
    let def = MeshDef { name: Some(name), mesh, attrs: AttrsId::EMPTY, loc: LocId::UNKNOWN };
    let id = module.meshes.push(def);
    module.items.insert(at, Item::Mesh(id));
    id
}
