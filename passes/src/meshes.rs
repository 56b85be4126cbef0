//! Which mesh a program is partitioned over.

use shard_ir::{MeshId, Module};

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
