//! `simplify`: ops that do nothing go.
//!
//! Reshapes to the same shape, conversions to the same type, and reductions of precision to the
//! type's own format are what the other passes leave behind or bring along from the program. An op
//! whose results have no elements is a constant, and of a branch that a constant decides only what
//! is taken stays: nothing need be moved for what isn't computed.

use shard_ir::ops::{Constant, Control, Creation, Elementwise, Movement, Op};
use shard_ir::{BlockId, Dense, DenseData, Diagnostic, ElementType, Module, OpId, ValueId};

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
        } else if has_no_elements(rw.module, op) {
            for result in rw.module.results(op).to_vec() {
                let constant = empty(rw, result);
                rw.replace(result, constant);
            }
        } else if let Some(block) = taken(rw.module, op) {
            let results = rw.module.results(op).to_vec();
            let returned = rw.inline(block, self)?;
            for (result, value) in results.into_iter().zip(returned) {
                rw.replace(result, value);
            }
        } else {
            rw.keep(op);
        }
        Ok(())
    }
}

/// Whether an op computes results that have no elements, and does nothing else.
fn has_no_elements(module: &Module, op: OpId) -> bool {
    let computes = match module.kind(op) {
        // A constraint says where a value lies, and a loop may never end.
        Op::Creation(Creation::Constant(_)) | Op::Control(_) | Op::Sdy(_) => false,
        Op::Elementwise(_)
        | Op::Creation(_)
        | Op::Dot(_)
        | Op::Convolution(_)
        | Op::Reduction(_)
        | Op::Movement(_)
        | Op::Indexing(_)
        | Op::Sorting(_)
        | Op::Linalg(_)
        | Op::Random(_)
        | Op::Normalization(_)
        | Op::Collective(_) => true,
        Op::Effects(_) | Op::Custom(_) | Op::Hlo(_) | Op::Opaque(_) => false,
    };
    let is_empty = |value: &ValueId| {
        let ty = module.tensor_type(*value);
        ty.is_some_and(|ty| ty.is_static() && ty.elements() == 0 && ty.encoding.is_none())
    };
    let results = module.results(op);
    computes && !results.is_empty() && results.iter().all(is_empty)
}

/// A constant of the type of a value that has no elements.
fn empty(rw: &mut Rewriter<'_>, value: ValueId) -> ValueId {
    let ty = rw.module.value_type(value);
    let width = rw.module.tensor_type(value).map_or(1, |ty| ty.element.storage_bytes());
    let data = DenseData::from_bytes(Vec::new(), width);
    let constant = rw.emit(Constant { value: Dense { ty, data } }, &[], ty);
    rw.module.shardings[constant] = rw.module.shardings[value];
    constant
}

/// The block of a branch that a constant decides. One whose results have shardings of their own
/// stays as it is.
fn taken(module: &Module, op: OpId) -> Option<BlockId> {
    let Op::Control(kind @ (Control::If | Control::Case)) = module.kind(op) else { return None };
    if module.results(op).iter().any(|&result| module.shardings[result].is_some()) {
        return None;
    }
    let index = module.defining_op(module.operand(op, 0))?;
    let Op::Creation(Creation::Constant(constant)) = module.kind(index) else { return None };
    let width = if matches!(kind, Control::If) { 1 } else { 4 };
    let bytes = constant.value.data.element(0, width)?;
    let regions = module.regions(op);
    let region = match kind {
        Control::If => usize::from(bytes[0] == 0),
        // An index out of range takes the last.
        _ => match i32::from_le_bytes(bytes.as_slice().try_into().ok()?) {
            index if (0..regions.len() as i64).contains(&i64::from(index)) => index as usize,
            _ => regions.len().checked_sub(1)?,
        },
    };
    Some(module.entry(*regions.get(region)?))
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
