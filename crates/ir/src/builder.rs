//! Building programs op by op, with the types of results found by inference.

use crate::infer::{InferError, result_types};
use crate::ops::{Control, Elementwise, Op};
use crate::{
    AttrsId, BlockId, Func, FuncId, FuncResult, LocId, Module, OpId, RegionId, ShardingId, TypeId,
    ValueId,
};

/// An op that can't be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{op}: {error}")]
pub struct BuildError {
    /// Name of the op.
    pub op: String,
    /// What is wrong with it.
    pub error: InferError,
}

/// Appends ops to a block.
///
/// ```
/// use shard_ir::ops::{Creation, Elementwise, Iota};
/// use shard_ir::{Builder, ElementType, Module};
///
/// let mut module = Module::new();
/// let vector = module.tensor(ElementType::F32, [8]);
/// Builder::func(&mut module, "main", &[vector], |b, args| {
///     let iota = b.typed(Iota { dimension: 0 }, &[], vector);
///     let sum = b.value(Elementwise::Add, &[args[0], iota])?;
///     Ok(vec![b.value(Elementwise::Tanh, &[sum])?])
/// })?;
/// assert_eq!(shard_ir::verify(&module), []);
/// # Ok::<(), shard_ir::BuildError>(())
/// ```
#[derive(Debug)]
pub struct Builder<'m> {
    /// The module.
    pub module: &'m mut Module,
    /// The block that grows.
    pub block: BlockId,
    /// The location that new ops get.
    pub loc: LocId,
}

impl<'m> Builder<'m> {
    /// A builder at the end of `block`.
    pub fn at_end(module: &'m mut Module, block: BlockId) -> Self {
        Builder { module, block, loc: LocId::UNKNOWN }
    }

    /// Adds a public function whose body `body` makes from its arguments; what that returns are
    /// the function's results.
    ///
    /// # Errors
    /// Those of `body`.
    pub fn func(
        module: &'m mut Module,
        name: &str,
        args: &[TypeId],
        body: impl FnOnce(&mut Builder<'_>, &[ValueId]) -> Result<Vec<ValueId>, BuildError>,
    ) -> Result<FuncId, BuildError> {
        let region = Builder::free_region(module, LocId::UNKNOWN, args, Control::FuncReturn, body)?;
        let end = module.terminator(module.entry(region));
        let returned = end.map(|end| module.operands(end).to_vec()).unwrap_or_default();
        let result = |value| FuncResult {
            ty: module.value_type(value),
            sharding: module.shardings[value],
            attrs: AttrsId::EMPTY,
        };
        let results = returned.into_iter().map(result).collect();
        let func = Func {
            name: module.symbol(name),
            visibility: Some(module.symbol("public")),
            body: region,
            is_declaration: false,
            arg_attrs: vec![AttrsId::EMPTY; args.len()],
            results,
            attrs: AttrsId::EMPTY,
            loc: LocId::UNKNOWN,
        };
        Ok(module.new_func(func))
    }

    /// Appends an op whose result types its operands, fields and regions determine.
    ///
    /// # Errors
    /// The constraints that the op breaks, or that its types must be given: see
    /// [`infer`](crate::infer::infer).
    pub fn op(
        &mut self,
        op: impl Into<Op>,
        operands: &[ValueId],
        regions: &[RegionId],
    ) -> Result<OpId, BuildError> {
        let op = op.into();
        match result_types(self.module, &op, operands, regions) {
            Ok(types) => Ok(self.op_typed(op, operands, &types, regions)),
            Err(error) => Err(BuildError { op: op.name(self.module).to_owned(), error }),
        }
    }

    /// [`Builder::op`] for an op with one result and no region: that result.
    ///
    /// # Errors
    /// As [`Builder::op`].
    ///
    /// # Panics
    /// If the op has no result.
    pub fn value(
        &mut self,
        op: impl Into<Op>,
        operands: &[ValueId],
    ) -> Result<ValueId, BuildError> {
        let op = self.op(op, operands, &[])?;
        Ok(self.module.result(op, 0))
    }

    /// Appends an op with the given result types, unchecked: [`verify`](crate::verify) checks.
    pub fn op_typed(
        &mut self,
        op: impl Into<Op>,
        operands: &[ValueId],
        types: &[TypeId],
        regions: &[RegionId],
    ) -> OpId {
        let op = self.module.new_op(op, operands, types, regions, self.loc);
        self.module.block_mut(self.block).ops.push(op);
        op
    }

    /// [`Builder::op_typed`] for an op with one result and no region: that result.
    pub fn typed(&mut self, op: impl Into<Op>, operands: &[ValueId], ty: TypeId) -> ValueId {
        let op = self.op_typed(op, operands, &[ty], &[]);
        self.module.result(op, 0)
    }

    /// Makes a region for an op to come: `body` makes its ops from the parameters and returns
    /// what the region returns.
    ///
    /// # Errors
    /// Those of `body`.
    pub fn region(
        &mut self,
        params: &[TypeId],
        body: impl FnOnce(&mut Builder<'_>, &[ValueId]) -> Result<Vec<ValueId>, BuildError>,
    ) -> Result<RegionId, BuildError> {
        Builder::free_region(self.module, self.loc, params, Control::Return, body)
    }

    /// [`Builder::region`] where no builder is at hand: a region that `end` ends.
    ///
    /// # Errors
    /// Those of `body`.
    pub fn free_region(
        module: &'m mut Module,
        loc: LocId,
        params: &[TypeId],
        end: Control,
        body: impl FnOnce(&mut Builder<'_>, &[ValueId]) -> Result<Vec<ValueId>, BuildError>,
    ) -> Result<RegionId, BuildError> {
        let region = module.new_region();
        let block = module.new_block(region);
        let params: Vec<ValueId> = params.iter().map(|&ty| module.new_param(block, ty)).collect();
        let mut inner = Builder { module, block, loc };
        let returned = body(&mut inner, &params)?;
        inner.op_typed(end, &returned, &[], &[]);
        Ok(region)
    }

    /// A region that combines two scalars, as reductions have it.
    ///
    /// # Errors
    /// As [`Builder::op`].
    pub fn reducer(&mut self, kind: Elementwise, scalar: TypeId) -> Result<RegionId, BuildError> {
        self.region(&[scalar, scalar], |b, params| Ok(vec![b.value(kind, params)?]))
    }

    /// Gives a value a sharding.
    pub fn shard(&mut self, value: ValueId, sharding: ShardingId) {
        self.module.shardings[value] = sharding.into();
    }
}
