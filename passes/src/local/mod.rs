//! `global-to-local`: global shapes become the shapes of one device's shards.
//!
//! Every op comes in with operands and results that agree on its factors (see
//! [`crate::insert_reshards`]), so that most ops just get smaller types. What depends on the
//! position of a shard (iota, slices of constants, indices into a sharded dimension, ...) gets
//! offsets and masks; `sdy` collectives become `stablehlo` collectives; bodies of manual
//! computations, which are written for one device already, are inlined. The pass adds no
//! communication of its own.

mod collective;
mod context;
mod convolution;
mod creation;
mod indexing;
mod movement;

use shard_ir::ops::{Control, Movement, Op, Random, Sdy};
use shard_ir::{Attr, BlockId, Diagnostic, FuncId, Module, OpId, ValueId};

use crate::rewrite::{Rewrite, Rewriter, rewrite};
pub(crate) use context::{Local, scalar_op};

/// Runs the pass on the main function.
///
/// # Errors
/// If a value's sharding doesn't divide its shape, or a call is left.
pub fn run(module: &mut Module) -> Result<(), Diagnostic> {
    let Some(func) = module.main_func() else {
        return Err(Diagnostic::error("the module has no function to partition"));
    };
    let Some(mesh) = crate::meshes::main_mesh(module) else {
        return Ok(());
    };
    let body = module.funcs[func].body;
    let mut pass = Local::new(module, mesh);
    rewrite(module, body, &mut pass)?;
    pass.place_prologue(module, func);
    for index in 0..module.funcs[func].results.len() {
        let result = module.funcs[func].results[index];
        let sharding = result.sharding.expand();
        let ty = context::local_type(module, result.ty, sharding)
            .map_err(|error| error.at_loc(module, module.funcs[func].loc))?;
        module.funcs[func].results[index].ty = ty;
    }
    settle_aliases(module, func);
    Ok(())
}

/// An argument whose memory a result was to take gives it away to whoever can use it, where their
/// shards are of different shapes.
fn settle_aliases(module: &mut Module, func: FuncId) {
    for (index, arg) in module.args(func).to_vec().into_iter().enumerate() {
        let attrs = module.funcs[func].arg_attrs[index];
        let Some(Attr::Int(result, _)) = module.attr(attrs, "tf.aliasing_output") else { continue };
        let result = usize::try_from(*result).ok();
        let result = result.and_then(|result| module.funcs[func].results.get(result));
        if result.is_some_and(|result| result.ty == module.value_type(arg)) {
            continue;
        }
        let attrs = module.with_attr(attrs, "tf.aliasing_output", None);
        let attrs = module.with_attr(attrs, "jax.buffer_donor", Some(Attr::Bool(true)));
        module.funcs[func].arg_attrs[index] = attrs;
    }
}

impl Rewrite for Local {
    fn enter(&mut self, rw: &mut Rewriter<'_>, block: BlockId) -> Result<(), Diagnostic> {
        for param in rw.module.params(block).to_vec() {
            self.localize(rw.module, param)?;
        }
        Ok(())
    }

    fn op(&mut self, rw: &mut Rewriter<'_>, op: OpId) -> Result<(), Diagnostic> {
        let kind = rw.module.kind(op).clone();
        match kind {
            Op::Creation(kind) => creation::lower(self, rw, op, kind),
            Op::Convolution(kind) => convolution::lower(self, rw, op, kind),
            Op::Movement(kind) => movement::lower(self, rw, op, kind),
            Op::Indexing(kind) => indexing::lower(self, rw, op, kind),
            Op::Sdy(Sdy::ManualComputation(_)) => self.inline_body(rw, op),
            Op::Sdy(kind) => collective::lower(self, rw, op, kind),
            Op::Control(Control::Call(call)) => Err(Diagnostic::error(format!(
                "a call of @{} is left in the program",
                rw.module.str(call.callee.0)
            ))
            .at_op(rw.module, op)
            .help("run 'inline-calls' before 'global-to-local'")),
            // Every device would draw numbers of its own, and replicas would differ.
            Op::Random(Random::Rng(_)) => Err(Diagnostic::error(
                "draws other numbers on every device, so the program can't be partitioned",
            )
            .at_op(rw.module, op)
            .help("use stablehlo.rng_bit_generator, whose bits its state decides")),
            Op::Elementwise(_)
            | Op::Dot(_)
            | Op::Reduction(_)
            | Op::Sorting(_)
            | Op::Linalg(_)
            | Op::Random(_)
            | Op::Normalization(_)
            | Op::Control(_)
            | Op::Collective(_)
            | Op::Effects(_)
            | Op::Custom(_)
            | Op::Hlo(_)
            | Op::Opaque(_) => self.shrink(rw, op),
        }
    }
}

impl Local {
    /// Keeps an op, with local types for its results.
    pub fn shrink(&mut self, rw: &mut Rewriter<'_>, op: OpId) -> Result<(), Diagnostic> {
        for result in rw.module.results(op).to_vec() {
            self.localize(rw.module, result)?;
        }
        rw.keep(op);
        Ok(())
    }

    /// Puts the body of a manual computation in its place. A value that crosses the border has
    /// other global shapes and shardings inside than outside, so it becomes another value by a
    /// reshape to its own shape, which `simplify` removes.
    fn inline_body(&mut self, rw: &mut Rewriter<'_>, op: OpId) -> Result<(), Diagnostic> {
        let region = rw.module.regions(op)[0];
        let block = rw.module.entry(region);
        let operands: Vec<ValueId> = rw.module.operands(op).to_vec();
        let results: Vec<ValueId> = rw.module.results(op).to_vec();
        for (param, operand) in rw.module.params(block).to_vec().into_iter().zip(operands) {
            self.cross(rw, param, operand)?;
        }
        let returned = rw.inline(block, self)?;
        for (result, value) in results.into_iter().zip(returned) {
            self.cross(rw, result, value)?;
        }
        Ok(())
    }

    fn cross(
        &mut self,
        rw: &mut Rewriter<'_>,
        old: ValueId,
        value: ValueId,
    ) -> Result<(), Diagnostic> {
        self.localize(rw.module, old)?;
        if rw.module.tensor_type(old).is_none() {
            rw.replace(old, value);
            return Ok(());
        }
        let ty = rw.module.value_type(old);
        let copy = rw.emit(Movement::Reshape, &[value], ty);
        self.stand_in(rw, old, copy);
        Ok(())
    }
}
