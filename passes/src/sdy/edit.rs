//! Small changes at one place of a program.

use rustc_hash::{FxHashMap, FxHashSet};
use shard_ir::{BlockId, Module, OpId, RegionId, ValueDef, ValueId};

use crate::rewrite::Rewriter;

/// Calls `visit` for every op with the block that it lies in, those inside of an op before the op
/// itself.
pub(super) fn walk_blocks(module: &Module, mut visit: impl FnMut(BlockId, OpId)) {
    for func in module.func_ids() {
        walk_region(module, module.funcs[func].body, &mut visit);
    }
}

/// Calls `visit` for every op of a region, those inside of an op before the op itself.
pub(super) fn walk_post(module: &Module, region: RegionId, mut visit: impl FnMut(OpId)) {
    walk_region(module, region, &mut |_, op| visit(op));
}

fn walk_region(module: &Module, region: RegionId, visit: &mut impl FnMut(BlockId, OpId)) {
    enum Frame {
        Region(RegionId),
        Op(BlockId, OpId),
    }
    let mut stack = vec![Frame::Region(region)];
    while let Some(frame) = stack.pop() {
        match frame {
            Frame::Op(block, op) => visit(block, op),
            Frame::Region(region) => {
                for &block in module.region(region).blocks.iter().rev() {
                    for &op in module.block_ops(block).iter().rev() {
                        stack.push(Frame::Op(block, op));
                        stack.extend(module.regions(op).iter().rev().map(|&r| Frame::Region(r)));
                    }
                }
            }
        }
    }
}

/// The block that each op lies in.
pub(super) type Homes = FxHashMap<OpId, BlockId>;

/// The block that each op lies in.
pub(super) fn homes(module: &Module) -> Homes {
    let mut homes = Homes::default();
    walk_blocks(module, |block, op| {
        homes.insert(op, block);
    });
    homes
}

/// Puts an op directly behind a value.
pub(super) fn insert_behind(module: &mut Module, homes: &mut Homes, value: ValueId, op: OpId) {
    let (block, at) = match module.value_def(value) {
        ValueDef::Param(block, _) => (block, 0),
        ValueDef::Result(maker, _) => {
            let Some(&block) = homes.get(&maker) else { return };
            let ops = module.block_ops(block);
            (block, ops.iter().position(|&other| other == maker).map_or(0, |at| at + 1))
        }
    };
    module.block_mut(block).ops.insert(at, op);
    homes.insert(op, block);
}

/// Puts ops directly before others of a region.
pub(super) fn insert_before(
    module: &mut Module,
    region: RegionId,
    mut new: FxHashMap<OpId, Vec<OpId>>,
) {
    let mut regions = vec![region];
    while let Some(region) = regions.pop() {
        for block in module.region(region).blocks.clone() {
            let old = std::mem::take(&mut module.block_mut(block).ops);
            let mut ops = Vec::with_capacity(old.len());
            for op in old {
                ops.extend(new.remove(&op).unwrap_or_default());
                ops.push(op);
                regions.extend(module.regions(op));
            }
            module.block_mut(block).ops = ops;
        }
    }
}

/// Removes ops from a region and those inside it.
pub(super) fn erase(module: &mut Module, region: RegionId, gone: &FxHashSet<OpId>) {
    let mut regions = vec![region];
    while let Some(region) = regions.pop() {
        for block in module.region(region).blocks.clone() {
            module.block_mut(block).ops.retain(|op| !gone.contains(op));
            for &op in module.block_ops(block) {
                regions.extend(module.regions(op));
            }
        }
    }
}

/// Places ops that take a value, and makes everything behind them take their result.
pub(super) fn place_edges(rw: &mut Rewriter<'_>, made: &[(ValueId, OpId)]) {
    for &(value, edge) in made {
        rw.place(edge);
        rw.replace(value, rw.module.result(edge, 0));
    }
}

/// Drops an op: its operand takes the place of its result.
pub(super) fn forward(rw: &mut Rewriter<'_>, op: OpId) {
    let (operand, result) = (rw.module.operand(op, 0), rw.module.result(op, 0));
    rw.replace(result, operand);
}
