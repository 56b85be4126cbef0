//! Shardings of values and of functions' results.

use crate::sharding::TensorSharding;
use crate::{LocId, ShardingId, Type, TypeId, ValueId};

use super::Complaints;
use super::manual::Scopes;

/// Checks the shardings of the functions' results.
pub(super) fn verify_functions(complaints: &mut Complaints) {
    let module = complaints.module;
    for id in module.func_ids() {
        let func = &module.funcs[id];
        for (at, result) in func.results.iter().enumerate() {
            let Some(sharding) = result.sharding.expand() else { continue };
            for message in complaints_about(complaints, sharding, result.ty) {
                let name = module.str(func.name);
                complaints.at(func.loc, format!("result {at} of function '@{name}': {message}"));
            }
        }
    }
}

/// Checks the sharding of a value, if it has one.
pub(super) fn verify_value(
    complaints: &mut Complaints,
    scopes: &Scopes,
    value: ValueId,
    loc: LocId,
) {
    let module = complaints.module;
    let Some(sharding) = module.shardings[value].expand() else { return };
    let mut messages = complaints_about(complaints, sharding, module.value_type(value));
    messages.extend(scopes.complaint(module, module.sharding(sharding)));
    for message in messages {
        let what = match module.value_names[value].expand() {
            Some(name) => format!("sharding of %{}: {message}", module.str(name)),
            None => format!("sharding of a value: {message}"),
        };
        complaints.at(loc, what);
    }
}

/// Everything that is wrong with a sharding for a value of the type.
pub(super) fn complaints_about(
    complaints: &Complaints,
    sharding: ShardingId,
    ty: TypeId,
) -> Vec<String> {
    let module = complaints.module;
    let sharding: &TensorSharding = module.sharding(sharding);
    let Some(def) = module.meshes.get(sharding.mesh) else {
        return vec![format!("it is of {}, which the module doesn't have", sharding.mesh)];
    };
    let rank = match module.ty(ty) {
        Type::Tensor(tensor) => tensor.rank(),
        // Shardy allows one on a tuple of one element, and an empty one on anything else.
        Type::Tuple(parts) if parts.len() == 1 => {
            module.ty(parts[0]).as_tensor().map_or(0, |tensor| tensor.rank())
        }
        _ => 0,
    };
    sharding.complaints(&def.mesh, rank).iter().map(ToString::to_string).collect()
}
