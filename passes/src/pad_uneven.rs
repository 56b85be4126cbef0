//! `pad-uneven`: dimensions that don't divide into their shards are padded, on global shapes.
//!
//! After this pass every sharding divides its tensor, function arguments and results included. What
//! the padding holds is anybody's guess, so that an op that would let it into a result (a sum over
//! a padded dimension) gets operands whose padding is replaced by the neutral element. All other
//! ops compute garbage from garbage.

use cranelift_entity::SecondaryMap;
use rustc_hash::FxHashMap;
use shard_ir::ops::{
    Compare, Constant, Creation, Direction, DynamicSlice, Elementwise, Gather, Indexing, Iota,
    Movement, Op, Pad, ReduceWindow, Reduction, Reshard, Sdy, Slice,
};
use shard_ir::sharding::{Combiner, TensorSharding, axes};
use shard_ir::{
    BlockId, Dense, DenseData, Diagnostic, Dims, ElementType, MeshId, Module, OpId, TensorType,
    Type, ValueId,
};
use shard_plan::factors::project;
use shard_propagate::rules::{FactorKind, rule};

use crate::insert_reshards::has_sharded_body;
use crate::rewrite::{Rewrite, Rewriter, rewrite};
use crate::shardings::walk_module;

/// Runs the pass on the main function; returns the number of values that were padded.
///
/// # Errors
/// If a value that has to be padded isn't a tensor of known shape.
pub fn run(module: &mut Module) -> Result<usize, Diagnostic> {
    let (Some(func), Some(mesh)) = (module.main_func(), crate::meshes::main_mesh(module)) else {
        return Ok(0);
    };
    let mut pass = PadUneven { mesh, padded: SecondaryMap::new(), masks: FxHashMap::default() };
    let count = pass.analyse(module);
    if count == 0 {
        return Ok(0);
    }
    let body = module.funcs[func].body;
    rewrite(module, body, &mut pass)?;
    for index in 0..module.funcs[func].results.len() {
        let result = module.funcs[func].results[index];
        let Type::Tensor(ty) = module.ty(result.ty) else { continue };
        let Some(sharding) = result.sharding.expand() else { continue };
        let Some(dims) = padded_dims(ty, module.sharding(sharding)) else { continue };
        let ty = Type::Tensor(ty.with_dims(dims));
        module.funcs[func].results[index].ty = module.type_id(ty);
    }
    Ok(count)
}

/// The shape with every dimension rounded up to a multiple of its shards; `None` if nothing
/// changes.
fn padded_dims(ty: &TensorType, sharding: &TensorSharding) -> Option<Dims> {
    if !ty.is_static() || sharding.is_even(&ty.dims) {
        return None;
    }
    let round = |(&size, count): (&i64, u64)| {
        let count = (count.max(1)) as i64;
        (size + count - 1) / count * count
    };
    Some(ty.dims.iter().zip(sharding.shard_counts()).map(round).collect())
}

/// An operand whose padding would get into a result.
#[derive(Clone, Debug)]
struct Mask {
    operand: usize,
    dims: Vec<usize>,
    combiner: Combiner,
}

struct PadUneven {
    mesh: MeshId,
    /// The unpadded shape of each value that gets padded.
    padded: SecondaryMap<ValueId, Option<Box<Dims>>>,
    masks: FxHashMap<OpId, Vec<Mask>>,
}

impl PadUneven {
    /// Finds the values that are padded and the operands that are masked, before any type changes.
    fn analyse(&mut self, module: &Module) -> usize {
        let mut count = 0;
        for index in 0..module.value_count() {
            let value = ValueId::from_u32(index as u32);
            if let (Some(ty), Some(sharding)) =
                (module.tensor_type(value), module.value_sharding(value))
                && padded_dims(ty, sharding).is_some()
            {
                self.padded[value] = Some(Box::new(ty.dims.clone()));
                count += 1;
            }
        }
        if count > 0 {
            walk_module(module, |op| self.find_masks(module, op));
        }
        count
    }

    fn find_masks(&mut self, module: &Module, op: OpId) {
        let operands = module.operands(op);
        if operands.iter().all(|&value| self.padded[value].is_none()) {
            return;
        }
        let Some(rule) = rule(module, op) else { return };
        let mut masks = Vec::new();
        for (index, (&value, mapping)) in operands.iter().zip(&rule.operands).enumerate() {
            let (Some(size), Some(sharding)) = (&self.padded[value], module.value_sharding(value))
            else {
                continue;
            };
            let assignment = project(&rule, mapping, sharding);
            let leaks = |dim: &usize| {
                let count = axes::product(sharding.dim_axes(*dim)) as i64;
                let uneven = count > 0 && size[*dim] % count != 0;
                uneven
                    && mapping[*dim].iter().any(|&factor| {
                        !assignment[factor].is_empty()
                            && matches!(rule.factors[factor].kind, FactorKind::Reduction(_))
                    })
            };
            let dims: Vec<usize> = (0..mapping.len()).filter(leaks).collect();
            if !dims.is_empty() {
                let combiner = module
                    .results(op)
                    .first()
                    .and_then(|&result| module.value_sharding(result))
                    .map_or(Combiner::Sum, |sharding| sharding.combiner);
                masks.push(Mask { operand: index, dims, combiner });
            }
        }
        if !masks.is_empty() {
            self.masks.insert(op, masks);
        }
    }

    /// Gives a value its padded type.
    fn grow(&self, module: &mut Module, value: ValueId) {
        if self.padded[value].is_none() {
            return;
        }
        let (Some(ty), Some(sharding)) = (module.tensor_type(value), module.value_sharding(value))
        else {
            return;
        };
        if let Some(dims) = padded_dims(ty, sharding) {
            let ty = Type::Tensor(ty.with_dims(dims));
            let ty = module.type_id(ty);
            module.set_value_type(value, ty);
        }
    }

    /// The shape that a value had before.
    fn unpadded(&self, module: &Module, value: ValueId) -> Dims {
        match &self.padded[value] {
            Some(dims) => (**dims).clone(),
            None => module.tensor_type(value).map(|ty| ty.dims.clone()).unwrap_or_default(),
        }
    }

    fn mask(&mut self, rw: &mut Rewriter<'_>, op: OpId, mask: &Mask) {
        let value = rw.module.operand(op, mask.operand);
        let Some(ty) = rw.module.tensor_type(value).cloned() else { return };
        let size = self.unpadded(rw.module, value);
        let sharding = rw.module.shardings[value];
        let scalar = rw.module.sharding_id(TensorSharding::fully_replicated(self.mesh, 0));
        let neutral = crate::numbers::neutral(rw.module, ty.element, mask.combiner);
        let neutral_ty = rw.module.tensor(ty.element, []);
        let neutral = rw.emit_sharded(neutral, &[], neutral_ty, scalar);
        let same = rw.module.value_type(value);
        let Some(sharding) = sharding.expand() else { return };
        let broadcast = || shard_ir::ops::BroadcastInDim { dimensions: Dims::new() };
        let neutral = rw.emit_sharded(broadcast(), &[neutral], same, sharding);
        let index_ty = rw.module.tensor(ElementType::I32, ty.dims.iter().copied());
        let flag_ty = rw.module.tensor(ElementType::I1, ty.dims.iter().copied());
        let mut masked = value;
        for &dim in &mask.dims {
            let iota = Iota { dimension: dim as i64 };
            let index = rw.emit_sharded(iota, &[], index_ty, sharding);
            let limit = crate::local::scalar_op(rw.module, ElementType::I32, size[dim]);
            let limit_ty = rw.module.tensor(ElementType::I32, []);
            let limit = rw.emit_sharded(limit, &[], limit_ty, scalar);
            let limit = rw.emit_sharded(broadcast(), &[limit], index_ty, sharding);
            let compare = Compare {
                direction: Direction::Lt,
                compare_type: Some(shard_ir::ops::CompareType::Signed),
            };
            let inside = rw.emit_sharded(compare, &[index, limit], flag_ty, sharding);
            let select = Elementwise::Select;
            masked = rw.emit_sharded(select, &[inside, masked, neutral], same, sharding);
        }
        rw.module.operands_mut(op)[mask.operand] = masked;
    }

    /// A reshard between shardings that pad differently cuts the padding off in between.
    fn reshard(&mut self, rw: &mut Rewriter<'_>, op: OpId) {
        let (operand, result) = (rw.module.operand(op, 0), rw.module.result(op, 0));
        self.grow(rw.module, result);
        let dims = |rw: &Rewriter<'_>, value| {
            rw.module.tensor_type(value).map(|ty| ty.dims.clone()).unwrap_or_default()
        };
        let (from, to) = (dims(rw, operand), dims(rw, result));
        let (Some(source), Some(target)) =
            (rw.module.value_sharding(operand).cloned(), rw.module.shardings[result].expand())
        else {
            return rw.keep(op);
        };
        if from == to {
            return rw.keep(op);
        }
        let Some(element) = rw.module.tensor_type(operand).map(|ty| ty.element) else {
            return rw.keep(op);
        };
        // Along the dimensions whose padding changes, the value is whole in between; it is not
        // partial, since what is cut off need not be the same in all parts.
        let size = self.unpadded(rw.module, result);
        let mut whole = TensorSharding { unreduced: Default::default(), ..source };
        whole.combiner = Combiner::Sum;
        for dim in (0..from.len()).filter(|&dim| from[dim] != to[dim]) {
            whole = whole.with_dim_axes(dim, &[]);
        }
        let cut: Dims =
            (0..from.len()).map(|d| if from[d] == to[d] { from[d] } else { size[d] }).collect();
        let whole = rw.module.sharding_id(whole);
        let ty = rw.module.value_type(operand);
        let mut value = rw.emit_sharded(Reshard { sharding: whole }, &[operand], ty, whole);
        if cut != from {
            let ty = rw.module.tensor(element, cut.iter().copied());
            let slice = Slice {
                start: Dims::from_elem(0, cut.len()),
                limit: cut.clone(),
                strides: Dims::from_elem(1, cut.len()),
            };
            value = rw.emit_sharded(slice, &[value], ty, whole);
        }
        let ty = rw.module.value_type(result);
        if cut != to {
            let scalar = rw.module.sharding_id(TensorSharding::fully_replicated(self.mesh, 0));
            let zero = crate::local::scalar_op(rw.module, element, 0);
            let zero_ty = rw.module.tensor(element, []);
            let zero = rw.emit_sharded(zero, &[], zero_ty, scalar);
            let pad = Pad {
                low: Dims::from_elem(0, cut.len()),
                high: to.iter().zip(&cut).map(|(to, cut)| to - cut).collect(),
                interior: Dims::from_elem(0, cut.len()),
            };
            value = rw.emit_sharded(pad, &[value, zero], ty, whole);
        }
        let value = rw.emit_sharded(Reshard { sharding: target }, &[value], ty, target);
        self.padded[value] = Some(Box::new(size));
        rw.replace(result, value);
    }
}

impl Rewrite for PadUneven {
    fn enter(&mut self, rw: &mut Rewriter<'_>, block: BlockId) -> Result<(), Diagnostic> {
        for param in rw.module.params(block).to_vec() {
            self.grow(rw.module, param);
        }
        Ok(())
    }

    fn op(&mut self, rw: &mut Rewriter<'_>, op: OpId) -> Result<(), Diagnostic> {
        let parent = rw.module.parent_op(rw.block);
        if parent.is_some_and(|parent| !has_sharded_body(rw.module.kind(parent))) {
            rw.keep(op);
            return Ok(());
        }
        if matches!(rw.module.kind(op), Op::Sdy(Sdy::Reshard(_))) {
            self.reshard(rw, op);
            return Ok(());
        }
        for mask in self.masks.remove(&op).unwrap_or_default() {
            self.mask(rw, op, &mask);
        }
        self.sizes(rw.module, op);
        for result in rw.module.results(op).to_vec() {
            self.grow(rw.module, result);
        }
        rw.keep(op);
        Ok(())
    }
}

impl PadUneven {
    /// Attributes that state sizes of whole dimensions get the padded ones.
    fn sizes(&self, module: &mut Module, op: OpId) {
        let operand = module.operands(op).first().copied();
        let widen = |module: &Module, sizes: &mut Dims| {
            let Some(operand) = operand else { return };
            let before = self.unpadded(module, operand);
            let Some(now) = module.tensor_type(operand) else { return };
            for (dim, size) in sizes.iter_mut().enumerate() {
                if before.get(dim) == Some(size) {
                    *size = now.dims[dim];
                }
            }
        };
        // Steps over a dimension that is kept whole say nothing where it has one element, and
        // something wrong once it has more.
        let plain = |module: &Module, steps: &mut Dims, plain: i64| {
            let Some(operand) = operand else { return };
            let before = self.unpadded(module, operand);
            let Some(now) = module.tensor_type(operand) else { return };
            for (dim, step) in steps.iter_mut().enumerate() {
                if before.get(dim) != now.dims.get(dim) {
                    *step = plain;
                }
            }
        };
        let new: Op = match module.kind(op).clone() {
            Op::Movement(Movement::Slice(mut slice)) => {
                widen(module, &mut slice.limit);
                plain(module, &mut slice.strides, 1);
                Slice { ..*slice }.into()
            }
            Op::Movement(Movement::Pad(mut pad)) => {
                plain(module, &mut pad.interior, 0);
                Pad { ..*pad }.into()
            }
            Op::Reduction(Reduction::ReduceWindow(mut window)) => {
                let steps = [&mut window.base_dilations, &mut window.strides];
                for steps in steps.into_iter().flatten() {
                    plain(module, steps, 1);
                }
                ReduceWindow { ..*window }.into()
            }
            Op::Movement(Movement::DynamicSlice(mut slice)) => {
                widen(module, &mut slice.sizes);
                DynamicSlice { ..*slice }.into()
            }
            Op::Indexing(Indexing::Gather(mut gather)) => {
                widen(module, &mut gather.slice_sizes);
                Gather { ..*gather }.into()
            }
            Op::Movement(Movement::GetDimensionSize(get)) => {
                let Some(operand) = operand else { return };
                let size = self.unpadded(module, operand);
                let size = size.get(get.dimension as usize).copied().unwrap_or_default();
                module.set_operands(op, &[]);
                crate::local::scalar_op(module, ElementType::I32, size)
            }
            Op::Creation(Creation::Constant(constant)) => {
                let result = module.results(op)[0];
                if self.padded[result].is_none() {
                    return;
                }
                let before = self.unpadded(module, result);
                self.grow(module, result);
                let ty = module.value_type(result);
                let after = module.tensor_type(result).cloned();
                let data = match (&constant.value.data, after) {
                    (DenseData::Bytes(bytes), Some(after)) => {
                        let width = after.element.storage_bytes();
                        DenseData::Bytes(
                            pad_bytes(&bytes.bytes(), width, &before, &after.dims).into(),
                        )
                    }
                    (other, _) => other.clone(),
                };
                Constant { value: Dense { ty, data } }.into()
            }
            _ => return,
        };
        module.op_mut(op).op = new;
    }
}

/// Copies a row-major array into a larger one filled with zeros.
fn pad_bytes(bytes: &[u8], width: usize, from: &[i64], to: &[i64]) -> Vec<u8> {
    let total: i64 = to.iter().product();
    let mut out = vec![0; total as usize * width];
    let Some((&row, outer)) = from.split_last() else { return bytes.to_vec() };
    let row_bytes = row as usize * width;
    let mut index = vec![0i64; outer.len()];
    for chunk in bytes.chunks_exact(row_bytes.max(1)) {
        let at = index.iter().zip(to).fold(0, |at, (i, size)| at * size + i);
        let at = (at * to[to.len() - 1]) as usize * width;
        out[at..at + row_bytes].copy_from_slice(chunk);
        for (position, size) in index.iter_mut().zip(outer).rev() {
            *position += 1;
            if *position < *size {
                break;
            }
            *position = 0;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::pad_bytes;

    #[test]
    fn rows_keep_their_place() {
        let padded = pad_bytes(&[1, 2, 3, 4, 5, 6], 1, &[2, 3], &[3, 4]);
        assert_eq!(padded, [1, 2, 3, 0, 4, 5, 6, 0, 0, 0, 0, 0]);
    }
}
