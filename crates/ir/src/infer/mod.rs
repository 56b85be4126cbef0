//! Types of results: what the specification says about the operands, fields, regions and results
//! of each op.
//!
//! Each family has one function that states its constraints once. [`infer`] calls it without
//! result types and returns what it finds; [`check`] calls it with the result types that the
//! program has, so that constraints on given types (of `reshape`, `iota`, ...) are seen too, and
//! compares. Constraints that need the values of operands are left to whoever executes.
//!
//! A dynamic size is compatible with every size; quantized element types are compatible with
//! quantized and floating-point ones; encodings of types are not compared.

#[macro_use]
mod context;
mod collective;
mod control;
mod convolution;
mod creation;
mod custom;
mod dot;
mod effects;
mod elementwise;
mod indexing;
mod linalg;
mod movement;
mod normalization;
mod opaque;
mod quantized;
mod random;
mod reducer;
mod reduction;
mod sdy;
mod sorting;
mod window;

use rustc_hash::FxHashMap;

use crate::ops::Op;
use crate::{Dims, FuncId, Module, OpId, RegionId, Symbol, TensorType, Type, TypeId, ValueId};

use context::{Cx, Found};
pub use context::{compatible_dims, compatible_element, type_text};
pub use window::{Window, WindowDim, WindowFields, dilated};

/// What is known about the type of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InferredType {
    /// A tensor of this type.
    Tensor(TensorType),
    /// A tensor of this shape; its element type is this one where the program gives no other.
    TensorOr(TensorType),
    /// A tensor of this shape; the program gives the element type.
    Shape(Dims),
    /// A type that the module has already.
    Known(TypeId),
    /// `!stablehlo.token`.
    Token,
    /// A tuple of these types.
    Tuple(Box<[TypeId]>),
    /// The program gives the type.
    Given,
}

/// Why types can't be inferred.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InferError {
    /// The op breaks constraints; one short sentence each.
    #[error("{}", .0.join("; "))]
    Invalid(Vec<String>),
    /// The types of the results, or their number, are not determined by the op.
    #[error("the program must give the types of the results")]
    NotDetermined,
}

/// The functions of a module by name.
pub type FuncTable = FxHashMap<Symbol, FuncId>;

/// Infers what is known about the types of the results of an op that may not be in the module yet.
///
/// # Errors
/// [`InferError::Invalid`] where operands, fields or regions break a constraint, and
/// [`InferError::NotDetermined`] where the number of results isn't known.
pub fn infer(
    module: &Module,
    op: &Op,
    operands: &[ValueId],
    regions: &[RegionId],
) -> Result<Vec<InferredType>, InferError> {
    let mut cx = Cx::new(module, operands, regions, None, None);
    arity(&mut cx, op);
    let found = if cx.errors.is_empty() { dispatch(&mut cx, op) } else { None };
    match found {
        _ if !cx.errors.is_empty() => Err(InferError::Invalid(cx.errors)),
        Some(found) => Ok(found),
        None => Err(InferError::NotDetermined),
    }
}

/// Infers the types of the results of an op, interned in the module: for ops whose types are fully
/// determined.
///
/// # Errors
/// As [`infer`]; [`InferError::NotDetermined`] also where a type is only constrained.
pub fn result_types(
    module: &mut Module,
    op: &Op,
    operands: &[ValueId],
    regions: &[RegionId],
) -> Result<Vec<TypeId>, InferError> {
    let found = infer(module, op, operands, regions)?;
    let id = |found| match found {
        InferredType::Tensor(ty) | InferredType::TensorOr(ty) => {
            Ok(module.type_id(Type::Tensor(ty)))
        }
        InferredType::Known(id) => Ok(id),
        InferredType::Token => Ok(module.type_id(Type::Token)),
        InferredType::Tuple(parts) => Ok(module.type_id(Type::Tuple(parts))),
        InferredType::Shape(_) | InferredType::Given => Err(InferError::NotDetermined),
    };
    found.into_iter().map(id).collect()
}

/// Checks an op with the given result types against every constraint that needs no run-time
/// values.
///
/// # Errors
/// The constraints that it breaks, one short sentence each.
pub fn check(
    module: &Module,
    op: &Op,
    operands: &[ValueId],
    regions: &[RegionId],
    results: &[TypeId],
) -> Result<(), Vec<String>> {
    check_with(Cx::new(module, operands, regions, Some(results), None), op)
}

/// [`check`] for an op of the module.
///
/// # Errors
/// As [`check`].
pub fn check_op(module: &Module, op: OpId) -> Result<(), Vec<String>> {
    check_op_with(module, None, op)
}

/// [`check_op`] with the functions by name, so that calls are looked up in constant time.
pub(crate) fn check_op_with(
    module: &Module,
    funcs: Option<&FuncTable>,
    op: OpId,
) -> Result<(), Vec<String>> {
    let results: smallvec::SmallVec<[TypeId; 4]> =
        module.results(op).iter().map(|&value| module.value_type(value)).collect();
    let mut cx = Cx::new(module, module.operands(op), module.regions(op), Some(&results), funcs);
    cx.attrs = module.op(op).attrs;
    check_with(cx, module.kind(op))
}

/// Whether a complaint is about a region that is empty or has no terminator.
pub(crate) fn is_about_ends(message: &str) -> bool {
    message.starts_with("region ")
        && (message.ends_with(context::IS_EMPTY) || message.ends_with(context::NO_RETURN))
}

fn check_with(mut cx: Cx, op: &Op) -> Result<(), Vec<String>> {
    let results = cx.declared.unwrap_or_default();
    arity(&mut cx, op);
    let count = op.info().results;
    if !count.fits(results.len()) {
        complain!(cx, "has {} results, {count}", results.len());
    }
    if cx.errors.is_empty() {
        quantized::check(&mut cx, op);
    }
    if cx.errors.is_empty()
        && let Some(found) = dispatch(&mut cx, op)
        && cx.errors.is_empty()
    {
        cx.compare(&found);
    }
    if cx.errors.is_empty() { Ok(()) } else { Err(cx.errors) }
}

fn arity(cx: &mut Cx, op: &Op) {
    let info = op.info();
    if !info.operands.fits(cx.operands.len()) {
        complain!(cx, "has {} operands, {}", cx.operands.len(), info.operands);
    }
    if !info.regions.fits(cx.regions.len()) {
        complain!(cx, "has {} regions, {}", cx.regions.len(), info.regions);
    }
}

fn dispatch(cx: &mut Cx, op: &Op) -> Found {
    match op {
        Op::Elementwise(kind) => elementwise::infer(cx, kind),
        Op::Creation(kind) => creation::infer(cx, kind),
        Op::Dot(kind) => dot::infer(cx, kind),
        Op::Convolution(kind) => convolution::infer(cx, kind),
        Op::Reduction(kind) => reduction::infer(cx, kind),
        Op::Movement(kind) => movement::infer(cx, kind),
        Op::Indexing(kind) => indexing::infer(cx, kind),
        Op::Sorting(kind) => sorting::infer(cx, kind),
        Op::Linalg(kind) => linalg::infer(cx, kind),
        Op::Random(kind) => random::infer(cx, kind),
        Op::Normalization(kind) => normalization::infer(cx, kind),
        Op::Control(kind) => control::infer(cx, kind),
        Op::Collective(kind) => collective::infer(cx, kind),
        Op::Sdy(kind) => sdy::infer(cx, kind),
        Op::Effects(kind) => effects::infer(cx, kind),
        Op::Custom(kind) => custom::infer(cx, kind),
        // Their types are HLO's; conversion to StableHLO takes them away.
        Op::Hlo(_) => cx.all_given(),
        Op::Opaque(op) => {
            opaque::check(cx, op);
            cx.all_given()
        }
    }
}
