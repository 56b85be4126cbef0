//! `common-ops`: of equal ops on equal operands one is enough.
//!
//! Equal means the same op with the same fields, attributes, operands, result types and shardings;
//! where it comes from doesn't matter. Collectives are such ops too: two gathers of one value become
//! one. Ops with regions, effects or a random state are left alone.

use rustc_hash::FxHashMap;
use shard_ir::ops::{Control, Op, Traits};
use shard_ir::{AttrsId, BlockId, Channel, Diagnostic, Module, OpId, ShardingId, TypeId, ValueId};
use smallvec::SmallVec;

use crate::rewrite::{Rewrite, Rewriter, rewrite_module};

/// Runs the pass on every function.
///
/// # Errors
/// None; the signature is that of all passes.
pub fn run(module: &mut Module) -> Result<(), Diagnostic> {
    rewrite_module(module, &mut CommonOps { scopes: Vec::new() })
}

#[derive(PartialEq, Eq, Hash)]
struct Key {
    op: Op,
    attrs: AttrsId,
    operands: SmallVec<[ValueId; 3]>,
    results: SmallVec<[(TypeId, Option<ShardingId>); 1]>,
}

struct CommonOps {
    /// What each open block has computed so far, outermost first.
    scopes: Vec<FxHashMap<Key, OpId>>,
}

impl Rewrite for CommonOps {
    fn enter(&mut self, _: &mut Rewriter<'_>, _: BlockId) -> Result<(), Diagnostic> {
        self.scopes.push(FxHashMap::default());
        Ok(())
    }

    fn leave(&mut self, _: &mut Rewriter<'_>, _: BlockId) -> Result<(), Diagnostic> {
        self.scopes.pop();
        Ok(())
    }

    fn op(&mut self, rw: &mut Rewriter<'_>, op: OpId) -> Result<(), Diagnostic> {
        if !is_pure(rw.module, op) {
            rw.keep(op);
            return Ok(());
        }
        let key = key(rw.module, op);
        // Regions of some ops see nothing from outside; a value from an outer block can only be
        // an operand there if it is visible, but constants have no operands to tell.
        let visible = match rw.module.operands(op).is_empty() {
            true => self.scopes.len().saturating_sub(1),
            false => 0,
        };
        let found = self.scopes[visible..].iter().rev().find_map(|scope| scope.get(&key)).copied();
        match found {
            Some(first) => {
                let old = rw.module.results(op).to_vec();
                let new = rw.module.results(first).to_vec();
                for (old, new) in old.into_iter().zip(new) {
                    rw.replace(old, new);
                }
            }
            None => {
                rw.keep(op);
                if let Some(scope) = self.scopes.last_mut() {
                    scope.insert(key, op);
                }
            }
        }
        Ok(())
    }
}

/// Ops without regions whose results depend on nothing but their operands. (The bodies of
/// collectives may be anything, so only those without a body are compared.)
fn is_pure(module: &Module, op: OpId) -> bool {
    let kind = module.kind(op);
    let traits = kind.info().traits;
    let opaque = matches!(
        kind,
        Op::Control(Control::OptimizationBarrier)
            | Op::Custom(_)
            | Op::Random(_)
            | Op::Hlo(_)
            | Op::Opaque(_)
    );
    !opaque
        && module.regions(op).is_empty()
        && !traits.has(Traits::EFFECT)
        && !traits.has(Traits::TERMINATOR)
}

fn key(module: &Module, op: OpId) -> Key {
    let data = module.op(op);
    Key {
        op: without_channel(&data.op),
        attrs: data.attrs,
        operands: module.operands(op).into(),
        results: module
            .results(op)
            .iter()
            .map(|&value| (module.value_type(value), module.shardings[value].expand()))
            .collect(),
    }
}

/// A collective with channel 0: the number of a channel says nothing about what is sent.
fn without_channel(op: &Op) -> Op {
    let Op::Collective(kind) = op else { return op.clone() };
    let mut kind = kind.clone();
    if let Some(Channel { handle, .. }) = kind.channel_mut().and_then(Option::as_mut) {
        *handle = 0;
    }
    kind.into()
}
