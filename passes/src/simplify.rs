//! `simplify`: ops that do nothing go.
//!
//! Reshapes to the same shape, conversions to the same type, and reductions of precision to the
//! type's own format are what the other passes leave behind or bring along from the program.

use shard_ir::ops::{Elementwise, Movement, Op};
use shard_ir::{Diagnostic, ElementType, Module, OpId};

use crate::rewrite::{Rewrite, Rewriter, rewrite_module};

/// Runs the pass on every function, then removes dead code.
///
/// # Errors
/// None; the signature is that of all passes.
pub fn run(module: &mut Module) -> Result<(), Diagnostic> {
    rewrite_module(module, &mut Simplify)?;
    crate::dead_code::run(module);
    Ok(())
}

struct Simplify;

impl Rewrite for Simplify {
    fn op(&mut self, rw: &mut Rewriter<'_>, op: OpId) -> Result<(), Diagnostic> {
        if is_identity(rw.module, op) {
            let (operand, result) = (rw.module.operand(op, 0), rw.module.result(op, 0));
            rw.replace(result, operand);
        } else {
            rw.keep(op);
        }
        Ok(())
    }
}

fn is_identity(module: &Module, op: OpId) -> bool {
    let same_type = || {
        let (operand, result) = (module.operands(op)[0], module.results(op)[0]);
        module.value_type(operand) == module.value_type(result)
    };
    match module.kind(op) {
        Op::Movement(Movement::Reshape) | Op::Elementwise(Elementwise::Convert) => same_type(),
        Op::Elementwise(Elementwise::ReducePrecision(reduce)) => {
            let element = module.tensor_type(module.operands(op)[0]).map(|ty| ty.element);
            matches!(
                (element, reduce.exponent_bits, reduce.mantissa_bits),
                (Some(ElementType::F32), 8, 23)
                    | (Some(ElementType::BF16), 8, 7)
                    | (Some(ElementType::F16), 5, 10)
                    | (Some(ElementType::F64), 11, 52)
            ) && same_type()
        }
        _ => false,
    }
}
