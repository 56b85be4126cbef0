//! Shardings as they stand when propagation is over: `sdy-close-shardings`,
//! `sdy-update-non-divisible-input-output-shardings` and
//! `sdy-remove-sub-axes-in-input-output-shardings`.

use shard_ir::ops::{Op, Sdy};
use shard_ir::sharding::{AxisList, AxisRef, TensorSharding};
use shard_ir::{FuncId, Module, ShardingId, TypeId, ValueId};

use super::edges::{owner_shardings, owners, set_owner_shardings};
use super::functions::{self, callee};
use crate::shardings::{map_shardings, walk_module};

/// Closes every dimension, and drops axes that were kept free.
pub(super) fn close(module: &mut Module) {
    map_shardings(module, |_, old| {
        let mut closed = old.clone().closed().without_priorities();
        closed.replicated.clear();
        closed
    });
}

/// Makes the shardings of functions' arguments and results, of calls' results, and at the border of
/// manual computations divide the sizes of their dimensions: what doesn't, and every axis
/// behind it in the dimension, goes.
pub(super) fn make_divisible(module: &mut Module) {
    let mut values: Vec<ValueId> = Vec::new();
    let funcs: Vec<FuncId> = module.func_ids().collect();
    for &func in &funcs {
        values.extend(module.args(func));
    }
    let mut computations = Vec::new();
    walk_module(module, |op| {
        if callee(module, op).is_some() {
            values.extend(module.results(op));
        }
        if let Op::Sdy(Sdy::ManualComputation(_)) = module.kind(op) {
            computations.push(op);
        }
    });
    for value in values {
        if let Some(sharding) = module.shardings[value].expand() {
            let new = divisible(module, sharding, module.value_type(value));
            module.shardings[value] = new.into();
        }
    }
    for_results(module, &funcs, divisible);
    for op in computations {
        let owners = owners(module, op).unwrap_or_default();
        for side in [owners.params, owners.results] {
            let mut shardings = Vec::new();
            for (sharding, &owner) in owner_shardings(module, op, &side).into_iter().zip(&side) {
                let ty = module.value_type(owner);
                shardings.extend(sharding.map(|sharding| divisible(module, sharding, ty)));
            }
            set_owner_shardings(module, op, &side, &shardings);
        }
    }
}

fn for_results(
    module: &mut Module,
    funcs: &[FuncId],
    change: impl Fn(&mut Module, ShardingId, TypeId) -> ShardingId,
) {
    for &func in funcs {
        for index in 0..module.funcs[func].results.len() {
            let result = module.funcs[func].results[index];
            if let Some(sharding) = result.sharding.expand() {
                let new = change(module, sharding, result.ty);
                module.funcs[func].results[index].sharding = new.into();
            }
        }
    }
}

/// The largest sharding in front of this one that divides a value of the type evenly.
fn divisible(module: &mut Module, id: ShardingId, ty: TypeId) -> ShardingId {
    let Some(tensor) = module.ty(ty).as_tensor().filter(|ty| ty.is_static()) else { return id };
    let mut new: TensorSharding = module.sharding(id).clone();
    for (dim, &size) in new.dims.iter_mut().zip(&tensor.dims) {
        let Ok(size) = u64::try_from(size) else { continue };
        if dim.shard_count() != 0 && size % dim.shard_count() == 0 {
            continue;
        }
        dim.axes = dividing_prefix(&dim.axes, size);
        dim.priority = None;
    }
    module.sharding_id(new)
}

/// The axes in front that divide a size; the last of them perhaps in part.
fn dividing_prefix(axes: &[AxisRef], mut size: u64) -> AxisList {
    let mut kept = AxisList::new();
    for &axis in axes {
        let common = gcd(u64::from(axis.size), size) as u32;
        if common == 1 {
            break;
        }
        if common != axis.size {
            kept.push(AxisRef::sub(axis.axis, axis.pre, common));
            break;
        }
        kept.push(axis);
        size /= u64::from(common);
    }
    kept
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Drops parts of axes from the open dimensions of the main function's arguments and results, and
/// what stands behind them.
pub(super) fn without_sub_axes(module: &mut Module) {
    let Some(main) = functions::main(module) else { return };
    for arg in module.args(main).to_vec() {
        if let Some(sharding) = module.shardings[arg].expand() {
            let new = whole_axes(module, sharding);
            module.shardings[arg] = new.into();
        }
    }
    for_results(module, &[main], |module, sharding, _| whole_axes(module, sharding));
}

fn whole_axes(module: &mut Module, id: ShardingId) -> ShardingId {
    let mut new = module.sharding(id).clone();
    let mesh = &module.meshes[new.mesh].mesh;
    for dim in new.dims.iter_mut().filter(|dim| dim.open) {
        let whole = dim.axes.iter().take_while(|axis| axis.is_whole(mesh)).count();
        dim.axes.truncate(whole);
    }
    module.sharding_id(new)
}
