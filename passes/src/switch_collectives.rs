//! `switch-collectives`: a per-device program whose collectives can be switched off one by one.
//!
//! It gets a further argument, a number. The collective of that number is replaced, at run time,
//! by an op of the same type that doesn't communicate; any other number, such as -1, leaves the
//! program as it was. This is how one compilation tests the removal of every collective.

use shard_ir::ops::{
    AllGather, AllToAll, Collective, Compare, Concatenate, Constant, Direction, Elementwise, Op,
    ReduceScatter, Slice,
};
use shard_ir::{
    AttrsId, Dense, DenseData, Diagnostic, Dims, ElementType, Module, OpId, TensorType, Type,
    TypeId, ValueId,
};

use crate::annotations::TILES;
use crate::rewrite::{Rewrite, Rewriter, rewrite};

/// The number that leaves every collective as it is.
pub const NONE: i32 = -1;

/// Runs the pass on the main function of a program that `export` has finished. Returns its
/// collectives in the order of their numbers; those that are wholly inside others' regions aren't
/// among them.
///
/// # Errors
/// If a collective has no shape from which the op that replaces it follows.
pub fn run(module: &mut Module) -> Result<Vec<OpId>, Diagnostic> {
    let Some(func) = module.main_func() else { return Ok(Vec::new()) };
    let entry = module.func_entry(func);
    let ty = module.tensor(ElementType::I32, []);
    let number = module.new_param(entry, ty);
    // Marks of XLA's partitioner, if the arguments have any.
    let first = module.funcs[func].arg_attrs.first().copied().unwrap_or(AttrsId::EMPTY);
    let mark = module.attr(first, TILES).cloned();
    let marks = module.with_attr(AttrsId::EMPTY, TILES, mark);
    module.funcs[func].arg_attrs.push(marks);
    let mut pass = Switch { number, found: Vec::new() };
    let body = module.funcs[func].body;
    rewrite(module, body, &mut pass)?;
    Ok(pass.found)
}

struct Switch {
    number: ValueId,
    found: Vec<OpId>,
}

impl Rewrite for Switch {
    fn op(&mut self, rw: &mut Rewriter<'_>, op: OpId) -> Result<(), Diagnostic> {
        rw.keep(op);
        let Op::Collective(kind) = rw.module.kind(op) else { return Ok(()) };
        let kind = kind.clone();
        if matches!(kind, Collective::PartitionId | Collective::ReplicaId) {
            return Ok(());
        }
        let mark = rw.module.attr(rw.module.op(op).attrs, TILES).cloned();
        let attrs = rw.module.with_attr(AttrsId::EMPTY, TILES, mark);
        let mut emit = Emit { rw, attrs };
        let index = emit.scalar(self.found.len() as i64);
        let flag = emit.rw.module.tensor(ElementType::I1, []);
        let compare = Compare { direction: Direction::Eq, compare_type: None };
        let off = emit.op(compare, &[self.number, index], flag);
        let operands = emit.rw.module.operands(op).to_vec();
        let results = emit.rw.module.results(op).to_vec();
        for (operand, result) in operands.into_iter().zip(results) {
            let ty = emit.rw.module.value_type(result);
            let local = emit.local(&kind, operand, ty).ok_or_else(|| {
                Diagnostic::error("has no op of its type that doesn't communicate")
                    .at_op(emit.rw.module, op)
            })?;
            let value = emit.op(Elementwise::Select, &[off, local, result], ty);
            emit.rw.replace(result, value);
        }
        self.found.push(op);
        Ok(())
    }
}

struct Emit<'r, 'm> {
    rw: &'r mut Rewriter<'m>,
    attrs: AttrsId,
}

impl Emit<'_, '_> {
    fn op(&mut self, op: impl Into<Op>, operands: &[ValueId], ty: TypeId) -> ValueId {
        let value = self.rw.emit(op, operands, ty);
        if let Some(op) = self.rw.module.defining_op(value) {
            self.rw.module.op_mut(op).attrs = self.attrs;
        }
        value
    }

    fn scalar(&mut self, value: i64) -> ValueId {
        let ty = self.rw.module.tensor(ElementType::I32, []);
        let data = DenseData::splat(&crate::numbers::encode(ElementType::I32, value));
        self.op(Constant { value: Dense { ty, data } }, &[], ty)
    }

    /// A value of the type of the collective's result, out of this device's operand alone.
    fn local(&mut self, kind: &Collective, operand: ValueId, ty: TypeId) -> Option<ValueId> {
        let from = self.rw.module.tensor_type(operand)?.clone();
        let to = self.rw.module.ty(ty).as_tensor()?.clone();
        match kind {
            Collective::AllReduce(_)
            | Collective::CollectivePermute(_)
            | Collective::CollectiveBroadcast(_) => Some(operand),
            Collective::AllGather(gather) => self.repeated(gather, operand, &from, &to),
            Collective::ReduceScatter(scatter) => self.first(scatter, operand, &from, &to),
            Collective::AllToAll(exchange) => self.own_blocks(exchange, operand, &from),
            Collective::PartitionId | Collective::ReplicaId => None,
        }
    }

    /// All-gather: this device's shard in every place.
    fn repeated(
        &mut self,
        gather: &AllGather,
        operand: ValueId,
        from: &TensorType,
        to: &TensorType,
    ) -> Option<ValueId> {
        let dim = usize::try_from(gather.dimension).ok()?;
        let count = to.dims.get(dim)?.checked_div(*from.dims.get(dim)?)?;
        let operands = vec![operand; usize::try_from(count).ok()?];
        let ty = self.rw.module.type_id(Type::Tensor(to.clone()));
        Some(self.op(Concatenate { dimension: gather.dimension }, &operands, ty))
    }

    /// Reduce-scatter: the first block of this device's operand.
    fn first(
        &mut self,
        scatter: &ReduceScatter,
        operand: ValueId,
        from: &TensorType,
        to: &TensorType,
    ) -> Option<ValueId> {
        let dim = usize::try_from(scatter.dimension).ok()?;
        self.block(operand, from, dim, 0, *to.dims.get(dim)?)
    }

    /// All-to-all: this device's own blocks, where the others' belong.
    fn own_blocks(
        &mut self,
        exchange: &AllToAll,
        operand: ValueId,
        from: &TensorType,
    ) -> Option<ValueId> {
        let split = usize::try_from(exchange.split).ok()?;
        let concat = usize::try_from(exchange.concat).ok()?;
        let size = from.dims.get(split)?.checked_div(exchange.count)?;
        let blocks: Vec<ValueId> = (0..exchange.count)
            .map(|block| self.block(operand, from, split, block * size, size))
            .collect::<Option<_>>()?;
        let mut dims = from.dims.clone();
        dims[split] = size;
        *dims.get_mut(concat)? *= exchange.count;
        let ty = self.rw.module.type_id(Type::Tensor(from.with_dims(dims)));
        Some(self.op(Concatenate { dimension: exchange.concat }, &blocks, ty))
    }

    fn block(
        &mut self,
        operand: ValueId,
        from: &TensorType,
        dim: usize,
        begin: i64,
        size: i64,
    ) -> Option<ValueId> {
        let mut start: Dims = from.dims.iter().map(|_| 0).collect();
        let mut limit: Dims = from.dims.clone();
        *start.get_mut(dim)? = begin;
        limit[dim] = begin + size;
        let strides: Dims = from.dims.iter().map(|_| 1).collect();
        let dims: Dims = limit.iter().zip(&start).map(|(limit, start)| limit - start).collect();
        let ty = self.rw.module.type_id(Type::Tensor(from.with_dims(dims)));
        Some(self.op(Slice { start, limit, strides }, &[operand], ty))
    }
}
