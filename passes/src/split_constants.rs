//! Gives every user of a constant, or of a broadcast of a scalar, its own copy.
//!
//! A constant costs nothing to make again, but a shared one would carry the sharding of one user to
//! the others. A *constant expression* is a constant, an iota, or an elementwise op, broadcast,
//! reshape or slice of constant expressions; it is copied whole, as deep as it goes, for each use
//! outside of constant expressions, and so is a broadcast of any scalar. Scalars themselves are
//! shared: they have no dimension to shard. Originals that nothing uses any more are gone.
//!
//! Calls are not looked into: inline them first.

use cranelift_entity::SecondaryMap;
use rustc_hash::FxHashMap;
use shard_ir::ops::{Creation, Elementwise, Movement, Op, Sdy};
use shard_ir::{BlockId, Module, OpId, RegionId, ValueId};

/// What an op is to this pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kind {
    /// Neither.
    #[default]
    Other,
    /// A constant expression.
    Constant,
    /// A broadcast of a scalar that isn't constant.
    Expansion,
}

/// Splits constants in all functions. Takes time linear in the module and in the copies.
pub fn split_constants(module: &mut Module) {
    for func in module.func_ids().collect::<Vec<_>>() {
        let body = module.funcs[func].body;
        Splitter::new(module, body).run();
    }
}

/// The work on one function.
struct Splitter<'m> {
    module: &'m mut Module,
    /// All ops, outer ones before those inside, with their blocks.
    ops: Vec<(OpId, BlockId)>,
    kinds: SecondaryMap<OpId, Kind>,
    /// The position of each op in `ops`.
    order: SecondaryMap<OpId, u32>,
    /// The sharding groups of a value.
    groups: FxHashMap<ValueId, Vec<OpId>>,
    /// Copies, by the op in front of which they go.
    copies: FxHashMap<OpId, Vec<OpId>>,
}

impl<'m> Splitter<'m> {
    fn new(module: &'m mut Module, body: RegionId) -> Self {
        let mut ops = Vec::new();
        let mut stack = vec![body];
        // Order within a function matters only within a block, and blocks come before those inside.
        while let Some(region) = stack.pop() {
            for &block in &module.region(region).blocks {
                for &op in module.block_ops(block) {
                    ops.push((op, block));
                    stack.extend_from_slice(module.regions(op));
                }
            }
        }
        Splitter {
            module,
            ops,
            kinds: SecondaryMap::new(),
            order: SecondaryMap::new(),
            groups: FxHashMap::default(),
            copies: FxHashMap::default(),
        }
    }

    fn run(mut self) {
        self.classify();
        for at in 0..self.ops.len() {
            let (op, _) = self.ops[at];
            let is_group = matches!(self.module.kind(op), Op::Sdy(Sdy::ShardingGroup(_)));
            if self.kinds[op] != Kind::Other || is_group {
                continue;
            }
            for operand in 0..self.module.operands(op).len() {
                let value = self.module.operand(op, operand);
                let made_by = self.module.defining_op(value);
                if made_by.is_some_and(|maker| self.kinds[maker] != Kind::Other)
                    && !self.is_scalar(value)
                {
                    let copy = self.copy(value);
                    self.module.operands_mut(op)[operand] = copy;
                }
            }
        }
        self.rebuild();
    }

    fn classify(&mut self) {
        for at in 0..self.ops.len() {
            let (op, _) = self.ops[at];
            self.order[op] = at as u32;
            if let Op::Sdy(Sdy::ShardingGroup(_)) = self.module.kind(op)
                && let Some(&value) = self.module.operands(op).first()
            {
                self.groups.entry(value).or_default().push(op);
            }
            let operands = self.module.operands(op);
            let constant = |value: &ValueId| {
                let maker = self.module.defining_op(*value);
                maker.is_some_and(|maker| self.kinds[maker] == Kind::Constant)
            };
            self.kinds[op] = match self.module.kind(op) {
                Op::Creation(Creation::Constant(_) | Creation::Iota(_)) => Kind::Constant,
                Op::Sdy(Sdy::SdyConstant(_)) => Kind::Constant,
                kind if keeps_constants(kind) && operands.iter().all(constant) => Kind::Constant,
                Op::Movement(Movement::BroadcastInDim(_)) if self.is_scalar(operands[0]) => {
                    Kind::Expansion
                }
                _ => Kind::Other,
            };
        }
    }

    fn is_scalar(&self, value: ValueId) -> bool {
        self.module.tensor_type(value).is_some_and(|ty| ty.rank() == 0)
    }

    /// A copy of a value and of all that it is computed from, up to scalars.
    fn copy(&mut self, value: ValueId) -> ValueId {
        let Some(root) = self.module.defining_op(value) else { return value };
        let mut needed = vec![root];
        let mut at = 0;
        while let Some(&op) = needed.get(at) {
            at += 1;
            for &operand in self.module.operands(op) {
                let maker = self.module.defining_op(operand).filter(|_| !self.is_scalar(operand));
                needed.extend(maker.filter(|maker| self.kinds[*maker] != Kind::Other));
            }
        }
        needed.sort_unstable_by_key(|&op| self.order[op]);
        needed.dedup();
        let mut copied: FxHashMap<ValueId, ValueId> = FxHashMap::default();
        for op in needed {
            let copy = self.copy_op(op, &copied);
            self.copies.entry(op).or_default().push(copy);
            for index in 0..self.module.results(op).len() {
                let (old, new) = (self.module.result(op, index), self.module.result(copy, index));
                copied.insert(old, new);
                for group in self.groups.get(&old).cloned().unwrap_or_default() {
                    let group = self.copy_op(group, &copied);
                    self.copies.entry(op).or_default().push(group);
                }
            }
        }
        copied.get(&value).copied().unwrap_or(value)
    }

    fn copy_op(&mut self, op: OpId, copied: &FxHashMap<ValueId, ValueId>) -> OpId {
        let data = self.module.op(op).clone();
        let mapped = |value: &ValueId| copied.get(value).copied().unwrap_or(*value);
        let operands: Vec<ValueId> = self.module.operands(op).iter().map(mapped).collect();
        let results = self.module.results(op).to_vec();
        let types: Vec<_> = results.iter().map(|&value| self.module.value_type(value)).collect();
        let copy = self.module.new_op(data.op, &operands, &types, &[], data.loc);
        self.module.op_mut(copy).attrs = data.attrs;
        for (index, old) in results.into_iter().enumerate() {
            let new = self.module.result(copy, index);
            self.module.shardings[new] = self.module.shardings[old];
            self.module.value_names[new] = self.module.value_names[old];
        }
        copy
    }

    /// Puts the copies into their blocks, and takes out what is used no longer.
    fn rebuild(self) {
        let module = self.module;
        let mut uses: FxHashMap<ValueId, u32> = FxHashMap::default();
        for &(op, _) in &self.ops {
            if !matches!(module.kind(op), Op::Sdy(Sdy::ShardingGroup(_))) {
                module.operands(op).iter().for_each(|&value| *uses.entry(value).or_default() += 1);
            }
        }
        for &copy in self.copies.values().flatten() {
            module.operands(copy).iter().for_each(|&value| *uses.entry(value).or_default() += 1);
        }
        let mut gone: SecondaryMap<OpId, bool> = SecondaryMap::new();
        for &(op, _) in self.ops.iter().rev() {
            let used = |value: &ValueId| uses.get(value).is_some_and(|&count| count > 0);
            if self.kinds[op] == Kind::Other || module.results(op).iter().any(used) {
                continue;
            }
            gone[op] = true;
            for value in module.operands(op) {
                if let Some(count) = uses.get_mut(value) {
                    *count -= 1;
                }
            }
            for value in module.results(op) {
                self.groups.get(value).into_iter().flatten().for_each(|&group| gone[group] = true);
            }
        }
        let mut blocks: Vec<BlockId> = self.ops.iter().map(|&(_, block)| block).collect();
        blocks.sort_unstable();
        blocks.dedup();
        for block in blocks {
            let mut ops = Vec::new();
            for &op in module.block_ops(block) {
                ops.extend(self.copies.get(&op).into_iter().flatten());
                if !gone[op] {
                    ops.push(op);
                }
            }
            module.block_mut(block).ops = ops;
        }
    }
}

/// Whether an op of constant expressions is one itself.
fn keeps_constants(kind: &Op) -> bool {
    match kind {
        Op::Elementwise(kind) => !matches!(kind, Elementwise::Map(_)),
        Op::Movement(kind) => {
            matches!(kind, Movement::BroadcastInDim(_) | Movement::Reshape | Movement::Slice(_))
        }
        _ => false,
    }
}
