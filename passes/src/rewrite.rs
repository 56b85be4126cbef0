//! Rewriting a module op by op in one walk.

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use shard_ir::ops::Op;
use shard_ir::{BlockId, Diagnostic, LocId, Module, OpId, RegionId, ShardingId, TypeId, ValueId};

/// A pass over all ops of a region that keeps, replaces or removes each.
pub trait Rewrite {
    /// Treats one op, whose operands are already the new ones. To keep it, call
    /// [`Rewriter::keep`]; whatever is emitted instead takes its place. Its regions are
    /// rewritten after this call if the op is kept.
    fn op(&mut self, rw: &mut Rewriter<'_>, op: OpId) -> Result<(), Diagnostic>;

    /// Called when a block's parameters are in scope and none of its ops is rewritten yet.
    fn enter(&mut self, _rw: &mut Rewriter<'_>, _block: BlockId) -> Result<(), Diagnostic> {
        Ok(())
    }

    /// Called when all ops of a block are rewritten.
    fn leave(&mut self, _rw: &mut Rewriter<'_>, _block: BlockId) -> Result<(), Diagnostic> {
        Ok(())
    }
}

/// The state of a walk: the module, the ops emitted so far, and which value stands for which.
pub struct Rewriter<'m> {
    /// The module.
    pub module: &'m mut Module,
    replaced: SecondaryMap<ValueId, PackedOption<ValueId>>,
    out: Vec<OpId>,
    kept: bool,
    /// The block whose ops are being rewritten.
    pub block: BlockId,
    /// Location that emitted ops get.
    pub loc: LocId,
}

/// Rewrites a region and everything inside it.
pub fn rewrite(
    module: &mut Module,
    region: RegionId,
    pass: &mut impl Rewrite,
) -> Result<(), Diagnostic> {
    let mut rw = Rewriter {
        module,
        replaced: SecondaryMap::new(),
        out: Vec::new(),
        kept: false,
        block: BlockId::from_const(0),
        loc: LocId::UNKNOWN,
    };
    rw.region(region, pass)
}

/// Rewrites the body of every function.
pub fn rewrite_module(module: &mut Module, pass: &mut impl Rewrite) -> Result<(), Diagnostic> {
    let bodies: Vec<RegionId> = module.func_ids().map(|func| module.funcs[func].body).collect();
    bodies.into_iter().try_for_each(|body| rewrite(module, body, pass))
}

impl Rewriter<'_> {
    fn region(&mut self, region: RegionId, pass: &mut impl Rewrite) -> Result<(), Diagnostic> {
        for block in self.module.region(region).blocks.clone() {
            let ops = std::mem::take(&mut self.module.block_mut(block).ops);
            let outer = std::mem::replace(&mut self.out, Vec::with_capacity(ops.len()));
            let outer_block = std::mem::replace(&mut self.block, block);
            pass.enter(self, block)?;
            for op in ops {
                self.update_operands(op);
                self.one(op, pass)?;
            }
            pass.leave(self, block)?;
            self.module.block_mut(block).ops = std::mem::replace(&mut self.out, outer);
            self.block = outer_block;
        }
        Ok(())
    }

    /// Gives an op the values that stand for its operands now.
    pub fn update_operands(&mut self, op: OpId) {
        for index in 0..self.module.operands(op).len() {
            let operand = self.current(self.module.operand(op, index));
            self.module.operands_mut(op)[index] = operand;
        }
    }

    /// Rewrites one more op at this place.
    pub fn one(&mut self, op: OpId, pass: &mut impl Rewrite) -> Result<(), Diagnostic> {
        // The op may take the place of another that is being rewritten.
        let outer = (self.loc, self.kept);
        self.loc = self.module.op(op).loc;
        self.kept = false;
        pass.op(self, op)?;
        if self.kept {
            for inner in self.module.regions(op).to_vec() {
                self.region(inner, pass)?;
            }
        }
        (self.loc, self.kept) = outer;
        Ok(())
    }

    /// Keeps the op that is being rewritten, at this place.
    pub fn keep(&mut self, op: OpId) {
        self.out.push(op);
        self.kept = true;
    }

    /// Rewrites the regions of an op that was placed.
    pub fn rewrite_regions(&mut self, op: OpId, pass: &mut impl Rewrite) -> Result<(), Diagnostic> {
        let regions = self.module.regions(op).to_vec();
        regions.into_iter().try_for_each(|region| self.region(region, pass))
    }

    /// Places an op made elsewhere, without rewriting its regions.
    pub fn place(&mut self, op: OpId) {
        self.out.push(op);
    }

    /// Emits an op with one result.
    pub fn emit(&mut self, op: impl Into<Op>, operands: &[ValueId], ty: TypeId) -> ValueId {
        let op = self.module.new_op(op, operands, &[ty], &[], self.loc);
        self.out.push(op);
        self.module.result(op, 0)
    }

    /// Emits an op with one result that has a sharding.
    pub fn emit_sharded(
        &mut self,
        op: impl Into<Op>,
        operands: &[ValueId],
        ty: TypeId,
        sharding: ShardingId,
    ) -> ValueId {
        let value = self.emit(op, operands, ty);
        self.module.shardings[value] = sharding.into();
        value
    }

    /// From here on, `new` stands for `old`.
    pub fn replace(&mut self, old: ValueId, new: ValueId) {
        self.replaced[old] = new.into();
    }

    /// The value that stands for `value` now.
    pub fn current(&self, mut value: ValueId) -> ValueId {
        while let Some(next) = self.replaced[value].expand() {
            value = next;
        }
        value
    }
}

impl Rewriter<'_> {
    /// Rewrites the ops of another block at this place, whose parameters must have been replaced
    /// already. Returns what its terminator returned.
    pub fn inline(
        &mut self,
        block: BlockId,
        pass: &mut impl Rewrite,
    ) -> Result<Vec<ValueId>, Diagnostic> {
        let ops = std::mem::take(&mut self.module.block_mut(block).ops);
        for op in ops {
            self.update_operands(op);
            if self.module.kind(op).is_terminator() {
                return Ok(self.module.operands(op).to_vec());
            }
            self.one(op, pass)?;
        }
        Ok(Vec::new())
    }
}
