//! Small changes of a program, out of which mutations are made.

use std::collections::{BTreeMap, BTreeSet};

use shard_opt::ir::ops::{Constant, Creation, Elementwise, Op};
use shard_opt::ir::{
    BlockId, Dense, DenseData, Dims, ElementType, Module, NumberKind, OpId, Type, TypeId, ValueDef,
    ValueId,
};

/// The block that holds an op, and the op's place there.
pub fn place(module: &Module, op: OpId) -> Option<(BlockId, usize)> {
    let body = module.funcs[module.main_func()?].body;
    let mut regions = vec![body];
    module.walk(body, |op| regions.extend_from_slice(module.regions(op)));
    regions.iter().flat_map(|&region| &module.region(region).blocks).find_map(|&block| {
        let at = module.block_ops(block).iter().position(|&other| other == op)?;
        Some((block, at))
    })
}

/// Every op of the main function.
pub fn all_ops(module: &Module) -> Vec<OpId> {
    let mut ops = Vec::new();
    if let Some(func) = module.main_func() {
        module.walk(module.funcs[func].body, |op| ops.push(op));
    }
    ops
}

/// Replaces the uses of a value.
pub fn replace(module: &mut Module, old: ValueId, new: ValueId) {
    for op in all_ops(module) {
        for operand in module.operands_mut(op) {
            if *operand == old {
                *operand = new;
            }
        }
    }
}

/// Replaces an op with one result by a value that is there before it.
pub fn bypass(module: &mut Module, op: OpId, value: ValueId) -> bool {
    let result = module.result(op, 0);
    if module.value_type(result) != module.value_type(value) {
        return false;
    }
    let Some((block, at)) = place(module, op) else { return false };
    replace(module, result, value);
    module.block_mut(block).ops.remove(at);
    true
}

/// Replaces an op with one result by an operand.
pub fn skip(module: &mut Module, op: OpId, index: usize) -> bool {
    let operand = module.operand(op, index);
    bypass(module, op, operand)
}

/// Puts a new op before `op`, in its location. Its results have no shardings.
pub fn before(
    module: &mut Module,
    op: OpId,
    kind: impl Into<Op>,
    operands: &[ValueId],
    ty: TypeId,
) -> ValueId {
    let loc = module.op(op).loc;
    let new = module.new_op(kind, operands, &[ty], &[], loc);
    if let Some((block, at)) = place(module, op) {
        module.block_mut(block).ops.insert(at, new);
    }
    module.result(new, 0)
}

/// A constant with one element everywhere, before `op`.
pub fn splat(module: &mut Module, op: OpId, ty: TypeId, bytes: &[u8]) -> ValueId {
    let value = Dense { ty, data: DenseData::splat(bytes) };
    before(module, op, Constant { value }, &[], ty)
}

/// A value plus a number, before `op`.
pub fn plus(module: &mut Module, op: OpId, value: ValueId, number: i64) -> Option<ValueId> {
    let element = module.tensor_type(value)?.element;
    if !is_integer(element) {
        return None;
    }
    let ty = module.value_type(value);
    let bytes = shard_opt::passes::numbers::encode(element, number);
    let number = splat(module, op, ty, &bytes);
    Some(before(module, op, Elementwise::Add, &[value, number], ty))
}

pub fn is_integer(element: ElementType) -> bool {
    matches!(element.kind(), NumberKind::Signed | NumberKind::Unsigned)
}

/// The dimensions of a value.
pub fn dims(module: &Module, value: ValueId) -> Dims {
    module.tensor_type(value).map(|ty| ty.dims.clone()).unwrap_or_default()
}

/// The type of a value with other dimensions.
pub fn resized(module: &mut Module, value: ValueId, dims: &[i64]) -> Option<TypeId> {
    let ty = module.tensor_type(value)?.with_dims(dims.iter().copied());
    Some(module.type_id(Type::Tensor(ty)))
}

/// The one element of a constant, also of one that is broadcast.
pub fn constant(module: &Module, mut value: ValueId) -> Option<(ElementType, Vec<u8>)> {
    loop {
        let op = module.defining_op(value)?;
        match module.kind(op) {
            Op::Creation(Creation::Constant(constant)) => match &constant.value.data {
                DenseData::Splat(bytes) => {
                    return Some((module.tensor_type(value)?.element, bytes.to_vec()));
                }
                DenseData::Bytes(_) | DenseData::Resource(_) | DenseData::Text(_) => return None,
            },
            Op::Movement(shard_opt::ir::ops::Movement::BroadcastInDim(_)) => {
                value = module.operand(op, 0);
            }
            _ => return None,
        }
    }
}

/// Whether a value is zero everywhere, of whatever sign.
pub fn is_zero(module: &Module, value: ValueId) -> bool {
    constant(module, value).is_some_and(|(element, mut bytes)| {
        if let (NumberKind::Float, Some(last)) = (element.kind(), bytes.last_mut()) {
            *last &= 0x7f;
        }
        bytes.iter().all(|byte| *byte == 0)
    })
}

/// The op of a region that combines two elements, where one op does it.
pub fn combiner(module: &Module, op: OpId) -> Option<OpId> {
    let &[region] = module.regions(op) else { return None };
    match module.block_ops(module.entry(region)) {
        &[combiner, _] => Some(combiner),
        _ => None,
    }
}

/// An op, those that use its results, those that use theirs, and so on. What happens inside of an
/// op's regions comes out of the op.
pub fn affected(module: &Module, op: OpId) -> BTreeSet<OpId> {
    let mut next: BTreeMap<OpId, Vec<OpId>> = BTreeMap::new();
    for user in all_ops(module) {
        for &operand in module.operands(user) {
            let from = match module.value_def(operand) {
                ValueDef::Result(op, _) => Some(op),
                // Loops hand their operands to their regions' parameters.
                ValueDef::Param(block, _) => module.parent_op(block),
            };
            next.entry(from.unwrap_or(user)).or_default().push(user);
        }
        for &region in module.regions(user) {
            for &inner in module.block_ops(module.entry(region)) {
                next.entry(inner).or_default().push(user);
            }
        }
    }
    let mut seen = BTreeSet::from([op]);
    let mut stack = vec![op];
    while let Some(op) = stack.pop() {
        for &op in next.get(&op).into_iter().flatten() {
            if seen.insert(op) {
                stack.push(op);
            }
        }
    }
    seen
}
