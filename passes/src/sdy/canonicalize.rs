//! `canonicalize`: `sdy` ops that do nothing, or that one op can do, and dead ops.
//!
//! MLIR's pass of the name brings every dialect into its preferred form; what `sdy` asks of it is
//! here, with `simplify` for the rest.

use rustc_hash::{FxHashMap, FxHashSet};
use shard_ir::ops::{Op, Reshard, Sdy, SdyAllGather, SdyAllToAll, ShardingList, Traits};
use shard_ir::sharding::{AxisList, AxisRef, axes};
use shard_ir::{BlockId, Diagnostic, Module, OpId, ShardingId, ValueId};

use super::edges::manual_axes;
use super::values::sharding;
use super::{erase, forward, reduce_scatter};
use crate::rewrite::{Rewrite, Rewriter, rewrite_module};
use crate::shardings::walk_module;

/// Runs the pass until nothing changes any more.
pub(super) fn run(module: &mut Module) -> Result<(), Diagnostic> {
    loop {
        let mut pass = Canonicalize { users: users(module), ..Canonicalize::default() };
        rewrite_module(module, &mut pass)?;
        if !pass.changed {
            return Ok(());
        }
        for func in module.func_ids().collect::<Vec<_>>() {
            let body = module.funcs[func].body;
            erase(module, body, &pass.fused);
        }
    }
}

fn users(module: &Module) -> FxHashMap<ValueId, Vec<OpId>> {
    let mut users: FxHashMap<ValueId, Vec<OpId>> = FxHashMap::default();
    walk_module(module, |op| {
        for &operand in module.operands(op) {
            users.entry(operand).or_default().push(op);
        }
    });
    users
}

#[derive(Default)]
struct Canonicalize {
    changed: bool,
    users: FxHashMap<ValueId, Vec<OpId>>,
    /// The reshards of each value in each block.
    reshards: FxHashMap<(BlockId, ValueId), Vec<(ShardingId, ValueId)>>,
    /// All-reduces and slices that became reduce-scatters.
    fused: FxHashSet<OpId>,
}

impl Canonicalize {
    fn users(&self, value: ValueId) -> &[OpId] {
        self.users.get(&value).map_or(&[], Vec::as_slice)
    }

    /// Whether an op's only user is one use.
    fn has_one_use(&self, module: &Module, op: OpId) -> bool {
        self.users(module.result(op, 0)).len() == 1
    }
}

impl Rewrite for Canonicalize {
    fn op(&mut self, rw: &mut Rewriter<'_>, op: OpId) -> Result<(), Diagnostic> {
        if self.fused.contains(&op) {
            return Ok(());
        }
        if is_pure(rw.module, op)
            && rw.module.results(op).iter().all(|&value| self.users(value).is_empty())
        {
            self.changed = true;
            return Ok(());
        }
        let Op::Sdy(kind) = rw.module.kind(op).clone() else {
            rw.keep(op);
            return Ok(());
        };
        let done = match &kind {
            Sdy::ManualComputation(_) => return self.manual(rw, op),
            Sdy::Reshard(reshard) => self.reshard(rw, op, reshard.sharding),
            Sdy::SdyAllGather(gather) => drop_if(rw, op, is_empty(&gather.axes.dims)),
            Sdy::SdyReduceScatter(scatter) => drop_if(rw, op, is_empty(&scatter.axes.dims)),
            Sdy::SdyAllSlice(slice) => {
                if is_empty(&slice.axes.dims) {
                    drop_if(rw, op, true)
                } else {
                    undo_gather(rw, op, &slice.axes.dims) || self.fuse(rw, op)
                }
            }
            Sdy::SdyAllReduce(reduce) => {
                let axes = &reduce.axes.axes;
                drop_if(rw, op, axes.is_empty()) || complete(rw, op, axes, reduce.out)
            }
            Sdy::SdyCollectivePermute(permute) => {
                let operand = sharding(rw.module, rw.module.operand(op, 0));
                let out = rw.module.sharding(permute.out);
                let same = operand.is_some_and(|id| rw.module.sharding(id).is_equivalent(out));
                drop_if(rw, op, same)
            }
            Sdy::SdyAllToAll(exchange) => self.exchange(rw, op, exchange),
            Sdy::ShardingConstraint(_)
            | Sdy::ShardingGroup(_)
            | Sdy::SdyConstant(_)
            | Sdy::DataFlowEdge(_)
            | Sdy::FuncDataFlowEdge
            | Sdy::PropagationBarrier(_)
            | Sdy::NamedComputation(_)
            | Sdy::ShardedToUnreduced(_)
            | Sdy::ReplicatedToUnreduced(_) => false,
        };
        self.changed |= done;
        if !done {
            rw.keep(op);
        }
        Ok(())
    }
}

/// Whether an op does nothing but compute its results, as MLIR knows it: collectives stay.
fn is_pure(module: &Module, op: OpId) -> bool {
    let kind = module.kind(op);
    if kind.info().traits.has(Traits::EFFECT) || kind.is_terminator() {
        return false;
    }
    match kind {
        Op::Elementwise(_)
        | Op::Creation(_)
        | Op::Dot(_)
        | Op::Convolution(_)
        | Op::Reduction(_)
        | Op::Movement(_)
        | Op::Indexing(_)
        | Op::Sorting(_)
        | Op::Linalg(_)
        | Op::Normalization(_) => true,
        Op::Sdy(kind) => {
            matches!(kind, Sdy::Reshard(_) | Sdy::SdyConstant(_) | Sdy::PropagationBarrier(_))
        }
        Op::Random(_)
        | Op::Control(_)
        | Op::Collective(_)
        | Op::Effects(_)
        | Op::Custom(_)
        | Op::Hlo(_)
        | Op::Opaque(_) => false,
    }
}

fn is_empty(dims: &[AxisList]) -> bool {
    dims.iter().all(|axes| axes.is_empty())
}

/// Drops an op where it does nothing.
fn drop_if(rw: &mut Rewriter<'_>, op: OpId, nothing: bool) -> bool {
    if nothing {
        forward(rw, op);
    }
    nothing
}

/// The `sdy` op that makes an op's operand.
fn maker(module: &Module, op: OpId) -> Option<(OpId, &Sdy)> {
    let maker = module.defining_op(module.operand(op, 0))?;
    match module.kind(maker) {
        Op::Sdy(kind) => Some((maker, kind)),
        _ => None,
    }
}

/// A slice of what was gathered along the same axes.
fn undo_gather(rw: &mut Rewriter<'_>, op: OpId, dims: &[AxisList]) -> bool {
    let Some((maker, Sdy::SdyAllGather(gather))) = maker(rw.module, op) else { return false };
    let undone = *gather.axes.dims == *dims;
    if undone {
        rw.replace(rw.module.result(op, 0), rw.module.operand(maker, 0));
    }
    undone
}

/// The completion of a value that was made partial: nothing, or a gather.
fn complete(rw: &mut Rewriter<'_>, op: OpId, along: &[AxisRef], out: ShardingId) -> bool {
    let Some((maker, kind)) = maker(rw.module, op) else { return false };
    let (input, result) = (rw.module.operand(maker, 0), rw.module.result(op, 0));
    match kind {
        Sdy::ReplicatedToUnreduced(made) if *made.axes.axes == *along => {
            rw.replace(result, input);
            true
        }
        Sdy::ShardedToUnreduced(made) => {
            let all: AxisList = made.axes.dims.iter().flatten().copied().collect();
            if *axes::sorted(&all) != *along {
                return false;
            }
            let gather = SdyAllGather { axes: made.axes.clone(), out };
            let ty = rw.module.value_type(result);
            let value = rw.emit(gather, &[input], ty);
            rw.replace(result, value);
            true
        }
        _ => false,
    }
}

impl Canonicalize {
    /// A reshard of a reshard that nothing else uses, or one that was made already.
    fn reshard(&mut self, rw: &mut Rewriter<'_>, op: OpId, wanted: ShardingId) -> bool {
        let result = rw.module.result(op, 0);
        let mut input = rw.module.operand(op, 0);
        let inner = match maker(rw.module, op) {
            Some((inner, Sdy::Reshard(_))) if self.has_one_use(rw.module, inner) => Some(inner),
            _ => None,
        };
        if let Some(inner) = inner {
            input = rw.module.operand(inner, 0);
        }
        let known = self.reshards.entry((rw.block, input)).or_default();
        let same = known.iter().find(|(sharding, _)| {
            rw.module.sharding(*sharding).is_equivalent(rw.module.sharding(wanted))
        });
        if let Some(&(_, value)) = same {
            rw.replace(result, value);
            return true;
        }
        if inner.is_none() {
            known.push((wanted, result));
            return false;
        }
        let ty = rw.module.value_type(result);
        let value = rw.emit(Reshard { sharding: wanted }, &[input], ty);
        known.push((wanted, value));
        rw.replace(result, value);
        true
    }

    /// An exchange that nothing uses, or that follows one of other dimensions.
    fn exchange(&mut self, rw: &mut Rewriter<'_>, op: OpId, exchange: &SdyAllToAll) -> bool {
        if self.users(rw.module.result(op, 0)).is_empty() {
            return drop_if(rw, op, true);
        }
        let Some((inner, Sdy::SdyAllToAll(first))) = maker(rw.module, op) else { return false };
        let mut params = first.params.clone();
        params.params.extend(exchange.params.params.iter().cloned());
        let mut dims: Vec<_> = params.params.iter().flat_map(|p| [p.src, p.dst]).collect();
        dims.sort_unstable();
        let overlap = dims.windows(2).any(|pair| pair[0] == pair[1]);
        if overlap || !self.has_one_use(rw.module, inner) {
            return false;
        }
        params.params.sort_by_key(|param| param.src);
        let input = rw.module.operand(inner, 0);
        let result = rw.module.result(op, 0);
        let ty = rw.module.value_type(result);
        let value = rw.emit(SdyAllToAll { params, out: exchange.out }, &[input], ty);
        rw.replace(result, value);
        true
    }

    /// A slice of a value that is completed along the same axes: both become a reduce-scatter,
    /// where every user of the completed value is such a slice.
    fn fuse(&mut self, rw: &mut Rewriter<'_>, op: OpId) -> bool {
        let Some((reduce, Sdy::SdyAllReduce(_))) = maker(rw.module, op) else { return false };
        let users = self.users(rw.module.result(reduce, 0)).to_vec();
        let axes_of = |op: OpId| match rw.module.kind(op) {
            Op::Sdy(Sdy::SdyAllSlice(slice)) => Some(&slice.axes),
            _ => None,
        };
        if users.iter().any(|&user| axes_of(user) != axes_of(op)) {
            return false;
        }
        let Some(value) = reduce_scatter::fuse(rw, reduce, op) else { return false };
        self.fused.insert(reduce);
        for user in users {
            rw.replace(rw.module.result(user, 0), value);
            self.fused.insert(user);
        }
        true
    }

    /// Drops what the body of a manual computation doesn't use, and the computation where it has
    /// nothing to do or is manual along no device.
    fn manual(&mut self, rw: &mut Rewriter<'_>, op: OpId) -> Result<(), Diagnostic> {
        let Op::Sdy(Sdy::ManualComputation(manual)) = rw.module.kind(op).clone() else {
            return Ok(());
        };
        let all = || manual.in_shardings.0.iter().chain(&manual.out_shardings.0);
        let entry = rw.module.entry(rw.module.regions(op)[0]);
        if all().next().is_none() && rw.module.block_ops(entry).len() == 1 {
            self.changed = true;
            return Ok(());
        }
        let sizes = all().find_map(|&id| {
            let mesh = &rw.module.meshes[rw.module.sharding(id).mesh].mesh;
            let size = |axis| mesh.axis_size(axis).map_or(1, u64::from);
            (!mesh.is_empty())
                .then(|| manual_axes(rw.module, &manual).into_iter().map(size).product())
        });
        if sizes.unwrap_or(1u64) == 1 {
            self.changed = true;
            let operands = rw.module.operands(op).to_vec();
            for (param, operand) in rw.module.params(entry).to_vec().into_iter().zip(operands) {
                rw.replace(param, operand);
            }
            let returned = rw.inline(entry, self)?;
            for (result, value) in rw.module.results(op).to_vec().into_iter().zip(returned) {
                rw.replace(result, value);
            }
            return Ok(());
        }
        let params = rw.module.params(entry).to_vec();
        let used: Vec<bool> = params.iter().map(|&param| !self.users(param).is_empty()).collect();
        if used.iter().all(|&used| used) {
            rw.keep(op);
            return Ok(());
        }
        self.changed = true;
        self.without_unused(rw, op, &used, *manual)
    }

    fn without_unused(
        &mut self,
        rw: &mut Rewriter<'_>,
        op: OpId,
        used: &[bool],
        mut manual: shard_ir::ops::ManualComputation,
    ) -> Result<(), Diagnostic> {
        let kept = |index: &usize| used[*index];
        let old = rw.module.regions(op)[0];
        let entry = rw.module.entry(old);
        let region = rw.module.new_region();
        let block = rw.module.new_block(region);
        for (index, param) in rw.module.params(entry).to_vec().into_iter().enumerate() {
            if used[index] {
                let ty = rw.module.value_type(param);
                let new = rw.module.new_param(block, ty);
                rw.module.value_names[new] = rw.module.value_names[param];
                rw.replace(param, new);
            }
        }
        rw.module.block_mut(block).ops = rw.module.block_ops(entry).to_vec();
        let operands = rw.module.operands(op).to_vec();
        let operands: Vec<_> = (0..used.len()).filter(kept).map(|index| operands[index]).collect();
        let shardings = &manual.in_shardings.0;
        let shardings = (0..used.len()).filter(kept).map(|index| shardings[index]).collect();
        manual.in_shardings = ShardingList(shardings);
        let results = rw.module.results(op).to_vec();
        let types: Vec<_> = results.iter().map(|&result| rw.module.value_type(result)).collect();
        let new = rw.module.new_op(manual, &operands, &types, &[region], rw.loc);
        rw.module.op_mut(new).attrs = rw.module.op(op).attrs;
        for (index, result) in results.into_iter().enumerate() {
            let value = rw.module.result(new, index);
            rw.module.value_names[value] = rw.module.value_names[result];
            rw.module.shardings[value] = rw.module.shardings[result];
            rw.replace(result, value);
        }
        rw.place(new);
        // The body takes the new parameters.
        rw.rewrite_regions(new, self)?;
        Ok(())
    }
}
