//! `dead-code`: ops whose results nothing uses are removed.

use cranelift_entity::EntitySet;
use shard_ir::ops::Traits;
use shard_ir::{BlockId, Module, OpId, RegionId, ValueId};

/// Runs the pass on every function; returns the number of ops removed.
pub fn run(module: &mut Module) -> usize {
    let bodies: Vec<RegionId> = module.func_ids().map(|func| module.funcs[func].body).collect();
    let mut live = Liveness { live: EntitySet::new(), used: EntitySet::new() };
    for &body in &bodies {
        live.region(module, body);
    }
    let mut removed = 0;
    for body in bodies {
        let mut blocks: Vec<BlockId> = module.region(body).blocks.clone();
        module.walk(body, |op| {
            for &region in module.regions(op) {
                blocks.extend(&module.region(region).blocks);
            }
        });
        for block in blocks {
            let before = module.block_ops(block).len();
            let ops: Vec<OpId> = module
                .block_ops(block)
                .iter()
                .copied()
                .filter(|op| live.live.contains(*op))
                .collect();
            removed += before - ops.len();
            module.block_mut(block).ops = ops;
        }
    }
    removed
}

struct Liveness {
    live: EntitySet<OpId>,
    used: EntitySet<ValueId>,
}

impl Liveness {
    /// Marks the ops of a region that are needed, last to first, so that one walk is enough.
    fn region(&mut self, module: &Module, region: RegionId) {
        for &block in module.region(region).blocks.iter().rev() {
            for &op in module.block_ops(block).iter().rev() {
                let data = module.op(op);
                let traits = data.op.info().traits;
                let keeps = traits.has(Traits::EFFECT)
                    || traits.has(Traits::TERMINATOR)
                    || has_effect(module, op)
                    || module.results(op).iter().any(|value| self.used.contains(*value));
                if !keeps {
                    continue;
                }
                self.live.insert(op);
                for &operand in module.operands(op) {
                    self.used.insert(operand);
                }
                for &inner in module.regions(op) {
                    self.region(module, inner);
                }
            }
        }
    }
}

/// Whether an op does something besides computing its results, itself or inside.
fn has_effect(module: &Module, op: OpId) -> bool {
    use shard_ir::ops::{Custom, Op};
    let own = match module.kind(op) {
        Op::Custom(Custom::CustomCall(call)) => {
            call.has_side_effect == Some(true) || module.results(op).is_empty()
        }
        op => op.info().traits.has(Traits::EFFECT),
    };
    own || module.regions(op).iter().any(|&region| {
        let mut found = false;
        module.walk(region, |inner| {
            found |= match module.kind(inner) {
                Op::Custom(Custom::CustomCall(call)) => call.has_side_effect == Some(true),
                op => op.info().traits.has(Traits::EFFECT),
            };
        });
        found
    })
}
