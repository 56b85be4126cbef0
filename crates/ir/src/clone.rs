//! Copies of ops with everything inside them.

use crate::{LocId, Module, OpId, RegionId, ValueId};
use rustc_hash::FxHashMap;

/// Which value of the copy stands for which of the original.
pub type ValueMap = FxHashMap<ValueId, ValueId>;

/// Copies an op, its attributes, its results' shardings and its regions. Operands are looked up in
/// `map`, to which the results are added; `loc` says where the copy comes from.
pub fn clone_op(
    module: &mut Module,
    op: OpId,
    map: &mut ValueMap,
    loc: &mut impl FnMut(&mut Module, LocId) -> LocId,
) -> OpId {
    let operands: Vec<ValueId> =
        module.operands(op).iter().map(|v| map.get(v).copied().unwrap_or(*v)).collect();
    let results = module.results(op).to_vec();
    let types: Vec<_> = results.iter().map(|&v| module.value_type(v)).collect();
    let regions: Vec<RegionId> = module
        .regions(op)
        .to_vec()
        .into_iter()
        .map(|region| clone_region(module, region, map, loc))
        .collect();
    let data = module.op(op).clone();
    let at = loc(module, data.loc);
    let copy = module.new_op(data.op, &operands, &types, &regions, at);
    module.op_mut(copy).attrs = data.attrs;
    for (old, new) in results.into_iter().zip(module.results(copy).to_vec()) {
        copy_side_tables(module, old, new);
        map.insert(old, new);
    }
    copy
}

/// Copies a region with all its blocks.
pub fn clone_region(
    module: &mut Module,
    region: RegionId,
    map: &mut ValueMap,
    loc: &mut impl FnMut(&mut Module, LocId) -> LocId,
) -> RegionId {
    let copy = module.new_region();
    module.region_mut(copy).name = module.region(region).name;
    module.region_mut(copy).attrs = module.region(region).attrs;
    let blocks = module.region(region).blocks.clone();
    let copies: Vec<_> = blocks.iter().map(|_| module.new_block(copy)).collect();
    for (&block, &new) in blocks.iter().zip(&copies) {
        for param in module.params(block).to_vec() {
            let ty = module.value_type(param);
            let value = module.new_param(new, ty);
            copy_side_tables(module, param, value);
            module.param_locs[value] = module.param_locs[param];
            module.param_attrs[value] = module.param_attrs[param];
            map.insert(param, value);
        }
    }
    for (&block, &new) in blocks.iter().zip(&copies) {
        let ops = module.block_ops(block).to_vec();
        let ops = ops.into_iter().map(|op| clone_op(module, op, map, loc)).collect();
        module.block_mut(new).ops = ops;
    }
    copy
}

fn copy_side_tables(module: &mut Module, old: ValueId, new: ValueId) {
    module.shardings[new] = module.shardings[old];
    module.value_names[new] = module.value_names[old];
}
