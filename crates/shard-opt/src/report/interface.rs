//! Arguments and results.

use shard_ir::sharding::Mesh;
use shard_ir::{DYNAMIC, Module, TensorType, Type, TypeId};
use shard_passes::import::argument_names;
use shard_passes::pipeline::InterfaceValue;

use super::model::InterfaceEntry;

/// Describes values of a program partitioned here.
pub(super) fn entries(
    module: &Module,
    mesh: &Mesh,
    values: &[InterfaceValue],
) -> Vec<InterfaceEntry> {
    values
        .iter()
        .map(|value| InterfaceEntry {
            global_shape: Some(shape(module, value.global)),
            sharding: value.sharding.as_ref().map(|s| s.bare_text(mesh).to_string()),
            replicated: Some(value.sharding.as_ref().is_none_or(|s| s.is_replicated())),
            ..entry(module, value.index, value.name.clone(), value.local)
        })
        .collect()
}

/// Describes the arguments and results of a per-device program.
pub(super) fn local_entries(module: &Module) -> (Vec<InterfaceEntry>, Vec<InterfaceEntry>) {
    let Some(func) = module.main_func() else { return Default::default() };
    let parameters = module.args(func).iter().enumerate().map(|(index, &value)| {
        let name = argument_names(module, func, index).into_iter().next().unwrap_or_default();
        entry(module, index, name, module.value_type(value))
    });
    let results = module.funcs[func].results.iter().enumerate().map(|(index, result)| {
        let name = match module.attr(result.attrs, "jax.result_info") {
            Some(shard_ir::Attr::String(name)) => module.str(*name).to_owned(),
            _ => String::new(),
        };
        entry(module, index, name, result.ty)
    });
    (parameters.collect(), results.collect())
}

fn entry(module: &Module, index: usize, name: String, local: TypeId) -> InterfaceEntry {
    let tensor = module.ty(local).as_tensor();
    InterfaceEntry {
        index,
        name,
        global_shape: None,
        local_shape: shape(module, local),
        element_type: match module.ty(local) {
            Type::Tensor(ty) => ty.element.to_string(),
            Type::Token => "token".to_owned(),
            _ => "?".to_owned(),
        },
        sharding: None,
        local_bytes: tensor.map_or(0, TensorType::bytes),
        replicated: None,
    }
}

fn shape(module: &Module, ty: TypeId) -> Vec<i64> {
    let tensor = module.ty(ty).as_tensor();
    let size = |&dim: &i64| if dim == DYNAMIC { -1 } else { dim };
    tensor.map_or_else(Vec::new, |ty| ty.dims.iter().map(size).collect())
}

/// The numbers of arguments that are whole on every device and take at least a hundredth of what
/// all take, the largest first.
pub(super) fn large_replicated(parameters: &[InterfaceEntry]) -> Vec<usize> {
    let all: u64 = parameters.iter().map(|entry| entry.local_bytes).sum();
    let large = |entry: &&InterfaceEntry| {
        entry.replicated == Some(true)
            && entry.local_bytes >= 1024
            && entry.local_bytes.saturating_mul(100) >= all
    };
    let mut found: Vec<&InterfaceEntry> = parameters.iter().filter(large).collect();
    found.sort_by_key(|entry| (std::cmp::Reverse(entry.local_bytes), entry.index));
    found.into_iter().map(|entry| entry.index).collect()
}
