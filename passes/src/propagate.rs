//! `propagate`: every value gets a sharding.
//!
//! The engine finds the shardings; this pass writes them into the module, closed: what propagation
//! left open is replicated from here on. Ops stay as they are, but that uses behind a sharding
//! constraint take its result, as the engine took them.

use rustc_hash::FxHashMap;
use shard_ir::ops::{Op, Sdy, ShardingConstraint};
use shard_ir::sharding::TensorSharding;
use shard_ir::{BlockId, Diagnostic, MeshId, Module, OpId, ShardingId, ValueId};
use shard_propagate::engine::{Options, Propagation, Rewired, RewiredTo, propagate};

use crate::rewrite::{Rewrite, Rewriter, rewrite_module};

/// Runs the pass.
///
/// # Errors
/// None; the signature is that of all passes.
pub fn run(module: &mut Module) -> Result<(), Diagnostic> {
    run_with(module, &Options::default())
}

/// Runs the pass with other options than Shardy's pipeline has.
///
/// # Errors
/// None; the signature is that of all passes.
pub fn run_with(module: &mut Module, options: &Options) -> Result<(), Diagnostic> {
    let Some(mesh) = crate::meshes::main_mesh(module) else { return Ok(()) };
    let found = propagate(module, options);
    let mut ids: FxHashMap<TensorSharding, ShardingId> = FxHashMap::default();
    let mut close = |module: &mut Module, sharding: Option<&TensorSharding>, rank: usize| {
        let closed = match sharding {
            Some(sharding) => finished(sharding, mesh),
            None => TensorSharding::fully_replicated(mesh, rank),
        };
        match ids.get(&closed) {
            Some(&id) => id,
            None => {
                let id = module.sharding_id(closed.clone());
                ids.insert(closed, id);
                id
            }
        }
    };

    for value in placed_values(module) {
        let Some(rank) = module.tensor_type(value).map(|ty| ty.rank()) else { continue };
        let id = close(module, found.sharding(value), rank);
        module.shardings[value] = id.into();
    }
    let funcs: Vec<_> = module.func_ids().collect();
    for func in funcs {
        for index in 0..module.funcs[func].results.len() {
            let ty = module.funcs[func].results[index].ty;
            let Some(rank) = module.ty(ty).as_tensor().map(|ty| ty.rank()) else { continue };
            let id = close(module, found.func_result(func, index), rank);
            module.funcs[func].results[index].sharding = id.into();
        }
    }
    for border in &found.borders {
        let mut side = |module: &mut Module, list: &[_], values: &[ValueId]| -> Vec<ShardingId> {
            list.iter()
                .zip(values)
                .map(|(&shared, &value)| {
                    let rank = module.tensor_type(value).map_or(0, |ty| ty.rank());
                    close(module, found.table.get(shared), rank)
                })
                .collect()
        };
        let operands = module.operands(border.op).to_vec();
        let results = module.results(border.op).to_vec();
        let ins = side(module, &border.operands, &operands);
        let outs = side(module, &border.results, &results);
        if let Op::Sdy(Sdy::ManualComputation(manual)) = &mut module.op_mut(border.op).op {
            manual.in_shardings.0 = ins;
            manual.out_shardings.0 = outs;
        }
    }
    rewire(module, &found, mesh)
}

/// A sharding as it stands when nothing propagates any more.
fn finished(sharding: &TensorSharding, mesh: MeshId) -> TensorSharding {
    let mut closed = sharding.clone().closed().without_priorities().normalized();
    closed.replicated.clear();
    closed.mesh = mesh;
    closed
}

/// Every value of the functions' bodies whose op or block works on whole tensors (reducers'
/// scalars aside).
fn placed_values(module: &Module) -> Vec<ValueId> {
    let mut values = Vec::new();
    for func in module.func_ids() {
        values.extend_from_slice(module.args(func));
        let mut stack = vec![module.funcs[func].body];
        while let Some(region) = stack.pop() {
            for &block in &module.region(region).blocks {
                values.extend_from_slice(module.params(block));
                for &op in module.block_ops(block) {
                    values.extend_from_slice(module.results(op));
                    if crate::insert_reshards::has_sharded_body(module.kind(op)) {
                        stack.extend_from_slice(module.regions(op));
                    }
                }
            }
        }
    }
    values
}

fn rewire(module: &mut Module, found: &Propagation, mesh: MeshId) -> Result<(), Diagnostic> {
    if found.rewired.is_empty() {
        return Ok(());
    }
    let mut uses: FxHashMap<OpId, Vec<&Rewired>> = FxHashMap::default();
    for rewired in &found.rewired {
        uses.entry(rewired.op).or_default().push(rewired);
    }
    let placed = FxHashMap::default();
    rewrite_module(module, &mut Rewire { found, uses, mesh, placed })
}

struct Rewire<'a> {
    found: &'a Propagation,
    uses: FxHashMap<OpId, Vec<&'a Rewired>>,
    mesh: MeshId,
    /// The blocks of the ops met so far.
    placed: FxHashMap<OpId, BlockId>,
}

impl Rewire<'_> {
    /// A constraint's result, if it is visible here. The engine has uses take it that stand before
    /// the constraint: those get a constraint of their own.
    fn visible(&self, rw: &mut Rewriter<'_>, value: ValueId) -> ValueId {
        let Some(constraint) = rw.module.defining_op(value) else { return value };
        let home = self.placed.get(&constraint);
        let mut block = Some(rw.block);
        while let Some(here) = block {
            if home == Some(&here) {
                return value;
            }
            block = rw.module.parent_op(here).and_then(|op| self.placed.get(&op).copied());
        }
        let Some(sharding) = rw.module.shardings[value].expand() else { return value };
        let (input, ty) = (rw.module.operand(constraint, 0), rw.module.value_type(value));
        let input = rw.current(input);
        rw.emit_sharded(ShardingConstraint { sharding }, &[input], ty, sharding)
    }
}

impl Rewrite for Rewire<'_> {
    fn op(&mut self, rw: &mut Rewriter<'_>, op: OpId) -> Result<(), Diagnostic> {
        for rewired in self.uses.remove(&op).unwrap_or_default() {
            let value = match rewired.to {
                RewiredTo::Value(value) => self.visible(rw, value),
                RewiredTo::Constraint(value, shared) => {
                    let Some(sharding) = self.found.table.get(shared) else { continue };
                    let sharding = rw.module.sharding_id(finished(sharding, self.mesh));
                    let ty = rw.module.value_type(value);
                    rw.emit_sharded(ShardingConstraint { sharding }, &[value], ty, sharding)
                }
            };
            rw.module.operands_mut(op)[rewired.operand] = value;
        }
        self.placed.insert(op, rw.block);
        rw.keep(op);
        Ok(())
    }
}
