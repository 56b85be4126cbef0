//! When values are last used.

use cranelift_entity::SecondaryMap;
use shard_ir::{BlockId, Module, OpId, RegionId, ValueDef, ValueId};
use smallvec::SmallVec;

/// After which op each value is forgotten.
#[derive(Debug)]
pub(super) struct Plan {
    dead: SecondaryMap<OpId, SmallVec<[ValueId; 2]>>,
}

impl Plan {
    /// Looks at regions, with all that is inside them.
    pub fn of(module: &Module, regions: impl IntoIterator<Item = RegionId>) -> Plan {
        let mut last: SecondaryMap<ValueId, Option<OpId>> =
            SecondaryMap::with_capacity(module.value_count());
        let mut home: SecondaryMap<OpId, Option<BlockId>> =
            SecondaryMap::with_capacity(module.op_count());
        let mut ops = Vec::new();
        for region in regions {
            module.walk(region, |op| ops.push(op));
            for &block in &module.region(region).blocks {
                place(module, block, &mut home);
            }
        }
        for &op in &ops {
            for &region in module.regions(op) {
                for &block in &module.region(region).blocks {
                    place(module, block, &mut home);
                }
            }
        }
        for &op in &ops {
            for &result in module.results(op) {
                last[result] = Some(op);
            }
            for &value in module.operands(op) {
                // A use inside a region of an op of the value's own block is that op's.
                let block = block_of(module, value, &home);
                let mut user = op;
                while home[user] != block {
                    match home[user].and_then(|inner| module.parent_op(inner)) {
                        Some(outer) => user = outer,
                        None => break,
                    }
                }
                // A value of another block than all those around has no end: an invalid program.
                if home[user] == block {
                    last[value] = Some(user);
                }
            }
        }
        let mut dead: SecondaryMap<OpId, SmallVec<[ValueId; 2]>> =
            SecondaryMap::with_capacity(module.op_count());
        for (value, op) in last.iter() {
            if let Some(op) = op {
                dead[*op].push(value);
            }
        }
        Plan { dead }
    }

    /// The values that nobody wants once the op is done.
    pub fn dead_after(&self, op: OpId) -> &[ValueId] {
        &self.dead[op]
    }
}

fn place(module: &Module, block: BlockId, home: &mut SecondaryMap<OpId, Option<BlockId>>) {
    for &op in module.block_ops(block) {
        home[op] = Some(block);
    }
}

fn block_of(
    module: &Module,
    value: ValueId,
    home: &SecondaryMap<OpId, Option<BlockId>>,
) -> Option<BlockId> {
    match module.value_def(value) {
        ValueDef::Param(block, _) => Some(block),
        ValueDef::Result(op, _) => home[op],
    }
}
