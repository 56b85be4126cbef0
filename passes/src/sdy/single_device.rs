//! `sdy-resolve-single-device-sharding`: ops whose results lie on one device run there alone, and
//! give their results to all others.

use rustc_hash::FxHashSet;
use shard_ir::ops::{
    Collective, Compare, Constant, Control, Direction, Effects, Elementwise, MeshAxes, Op, Sdy,
    SdyAllReduce,
};
use shard_ir::sharding::{Combiner, TensorSharding};
use shard_ir::{
    Dense, DenseData, Diagnostic, ElementType, Item, MeshId, Module, OpId, RegionId, ShardingId,
    Type, ValueId,
};

use super::values::{rank, sharding};
use super::{erase, forward};
use crate::numbers::encode;
use crate::rewrite::{Rewrite, Rewriter, rewrite_module};
use crate::shardings::walk_module;

/// Runs the pass. A program without a mesh of several devices stays as it is.
///
/// # Errors
/// If the results of an op lie on different devices.
pub(super) fn run(module: &mut Module) -> Result<(), Diagnostic> {
    let mut meshes = module.items.iter().filter_map(|item| match item {
        Item::Mesh(mesh) => Some(*mesh),
        Item::Func(_) | Item::Op(_) => None,
    });
    let Some(mesh) = meshes.find(|&mesh| !module.meshes[mesh].mesh.is_empty()) else {
        return Ok(());
    };
    let mut pass = Resolve { mesh, given: FxHashSet::default(), entered: Vec::new() };
    rewrite_module(module, &mut pass)?;
    let mut used: FxHashSet<ValueId> = FxHashSet::default();
    walk_module(module, |op| used.extend(module.operands(op)));
    let unused = |op: &OpId| !used.contains(&module.result(*op, 0));
    let gone: FxHashSet<OpId> = pass.entered.into_iter().filter(unused).collect();
    for func in module.func_ids().collect::<Vec<_>>() {
        let body = module.funcs[func].body;
        erase(module, body, &gone);
    }
    Ok(())
}

struct Resolve {
    /// The mesh of all devices.
    mesh: MeshId,
    /// What single devices gave to all.
    given: FxHashSet<ValueId>,
    /// Reshards to a single device, which its op needs no more.
    entered: Vec<OpId>,
}

/// The device that a sharding places a value on alone.
fn device(module: &Module, sharding: ShardingId) -> Option<u64> {
    module.meshes[module.sharding(sharding).mesh].mesh.maximal_device()
}

/// The device that the results of an op lie on, if it is one.
fn device_of(module: &Module, op: OpId) -> Result<Option<u64>, Diagnostic> {
    if matches!(module.kind(op), Op::Sdy(_)) {
        return Ok(None);
    }
    let tensors = module.results(op).iter().filter(|&&value| module.tensor_type(value).is_some());
    let mut devices =
        tensors.filter_map(|&value| device(module, sharding(module, value)?)).collect::<Vec<_>>();
    devices.dedup();
    match devices[..] {
        [] => Ok(None),
        [device] => Ok(Some(device)),
        _ => Err(Diagnostic::error("the results lie on different single devices")
            .at_op(module, op)
            .help("place all of them on one device")),
    }
}

impl Resolve {
    /// The sharding by which all devices have the whole value.
    fn replicated(&self, module: &mut Module, value: ValueId) -> ShardingId {
        let rank = rank(module, value);
        module.sharding_id(TensorSharding::fully_replicated(self.mesh, rank))
    }

    /// Takes what enters a single device from where it came.
    fn enter(&mut self, module: &mut Module, op: OpId) {
        for index in 0..module.operands(op).len() {
            let Some(maker) = module.defining_op(module.operand(op, index)) else { continue };
            if let Op::Sdy(Sdy::Reshard(reshard)) = module.kind(maker)
                && device(module, reshard.sharding).is_some()
            {
                let input = module.operand(maker, 0);
                module.operands_mut(op)[index] = input;
                self.entered.push(maker);
            }
        }
    }

    fn resolve(&mut self, rw: &mut Rewriter<'_>, op: OpId, device: u64) -> Result<(), Diagnostic> {
        self.enter(rw.module, op);
        let here = is_device(rw, device);
        let results = rw.module.results(op).to_vec();
        let types: Vec<_> = results.iter().map(|&value| rw.module.value_type(value)).collect();
        for &result in &results {
            rw.module.shardings[result] = None.into();
        }
        let alone = region(rw, &[op], &results);
        let zeros = zeros(rw, op)?;
        let results_of = |&zero: &OpId| rw.module.result(zero, 0);
        let values: Vec<_> = zeros.iter().map(results_of).collect();
        let elsewhere = region(rw, &zeros, &values);
        let branch = rw.module.new_op(Control::If, &[here], &types, &[alone, elsewhere], rw.loc);
        rw.place(branch);
        for (index, result) in results.into_iter().enumerate() {
            let value = rw.module.result(branch, index);
            if rw.module.tensor_type(value).is_none() {
                rw.replace(result, value);
                continue;
            }
            let out = self.replicated(rw.module, value);
            let axes = rw.module.meshes[self.mesh].mesh.all_axes().collect();
            let axes = MeshAxes { mesh: self.mesh, axes };
            let sum = SdyAllReduce { axes, combiner: Combiner::Sum, out };
            let given = rw.emit(sum, &[value], types[index]);
            self.given.insert(given);
            rw.replace(result, given);
        }
        Ok(())
    }
}

/// Whether this is the device.
fn is_device(rw: &mut Rewriter<'_>, device: u64) -> ValueId {
    let number = rw.module.tensor(ElementType::UI32, []);
    let wide = rw.module.tensor(ElementType::I64, []);
    let id = rw.emit(Collective::PartitionId, &[], number);
    let id = rw.emit(Elementwise::Convert, &[id], wide);
    let bytes = DenseData::splat(&encode(ElementType::I64, device as i64));
    let wanted = rw.emit(Constant { value: Dense { ty: wide, data: bytes } }, &[], wide);
    let truth = rw.module.tensor(ElementType::I1, []);
    rw.emit(Compare { direction: Direction::Eq, compare_type: None }, &[id, wanted], truth)
}

/// A region of ops that returns values.
fn region(rw: &mut Rewriter<'_>, ops: &[OpId], returned: &[ValueId]) -> RegionId {
    let region = rw.module.new_region();
    let block = rw.module.new_block(region);
    let last = rw.module.new_op(Control::Return, returned, &[], &[], rw.loc);
    rw.module.block_mut(block).ops = ops.iter().copied().chain([last]).collect();
    region
}

/// What other devices have in the place of an op's results.
fn zeros(rw: &mut Rewriter<'_>, op: OpId) -> Result<Vec<OpId>, Diagnostic> {
    let mut ops = Vec::new();
    for result in rw.module.results(op).to_vec() {
        let ty = rw.module.value_type(result);
        let zero: Op = match rw.module.ty(ty) {
            Type::Tensor(tensor) if tensor.is_static() => {
                let data = DenseData::splat(&encode(tensor.element, 0));
                Constant { value: Dense { ty, data } }.into()
            }
            Type::Token => Effects::CreateToken.into(),
            _ => {
                return Err(Diagnostic::error("a result has no value that stands for nothing")
                    .at_op(rw.module, op)
                    .help("only tensors of static shape and tokens can lie on one device"));
            }
        };
        ops.push(rw.module.new_op(zero, &[], &[ty], &[], rw.loc));
    }
    Ok(ops)
}

impl Rewrite for Resolve {
    fn op(&mut self, rw: &mut Rewriter<'_>, op: OpId) -> Result<(), Diagnostic> {
        if let Some(device) = device_of(rw.module, op)? {
            return self.resolve(rw, op, device);
        }
        if let Op::Sdy(Sdy::Reshard(reshard)) = rw.module.kind(op) {
            let sharding = reshard.sharding;
            let operand = rw.module.operand(op, 0);
            if self.given.contains(&operand) && sharding == self.replicated(rw.module, operand) {
                forward(rw, op);
                return Ok(());
            }
        }
        rw.keep(op);
        Ok(())
    }
}
