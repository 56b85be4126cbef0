//! Control flow.

use crate::ops::Control;
use crate::{ElementType, FuncId, Item, Type, TypeId};

use super::InferredType;
use super::context::kinds::BOOL;
use super::context::{Cx, Found};
use super::reduction::predicate;

pub(super) fn infer(cx: &mut Cx, kind: &Control) -> Found {
    match kind {
        Control::While => {
            let operands = cx.operand_types();
            let (params, returns) = (cx.region_params(0)?, cx.region_returns(0)?);
            cx.same_types(("operands", &operands), ("parameters of the condition", &params))?;
            predicate(cx, "the condition", &returns)?;
            let (params, returns) = (cx.region_params(1)?, cx.region_returns(1)?);
            cx.same_types(("operands", &operands), ("parameters of the body", &params))?;
            cx.same_types(("operands", &operands), ("values that the body returns", &returns))?;
            Some(operands.into_iter().map(InferredType::Known).collect())
        }
        Control::If => {
            cx.scalar(0, "pred", BOOL)?;
            branches(cx)
        }
        Control::Case => {
            let index = cx.tensor(0, "index")?;
            check!(cx, index.rank() == 0, "index has rank {}, not 0", index.rank());
            let element = index.element;
            check!(
                cx,
                element == ElementType::I32,
                "index has element type {}, not i32",
                cx.show_element(element)
            );
            branches(cx)
        }
        Control::OptimizationBarrier => {
            Some(cx.operand_types().into_iter().map(InferredType::Known).collect())
        }
        Control::Return | Control::FuncReturn | Control::SdyReturn => Some(Vec::new()),
        Control::Call(op) => {
            let Some(func) = cx.func(op.callee.0) else {
                if has_modules(cx) {
                    // It may be a function of a module inside, which is kept whole.
                    return cx.all_given();
                }
                complain!(cx, "there is no function '@{}'", cx.module.str(op.callee.0));
                return None;
            };
            call(cx, func)
        }
    }
}

/// Whether a module lies in the module.
fn has_modules(cx: &Cx) -> bool {
    let module = cx.module;
    module.items.iter().any(|item| match item {
        Item::Op(op) => module.op_name(*op) == "builtin.module",
        Item::Func(_) | Item::Mesh(_) => false,
    })
}

/// Results of a call: operands and results are those of the function's signature.
pub(super) fn call(cx: &mut Cx, func: FuncId) -> Found {
    let module = cx.module;
    let Some(&entry) = module.region(module.funcs[func].body).blocks.first() else {
        complain!(cx, "function '@{}' has no block", module.str(module.funcs[func].name));
        return None;
    };
    let args: Vec<TypeId> = module.params(entry).iter().map(|&v| module.value_type(v)).collect();
    let operands = cx.operand_types();
    cx.same_types(("operands", &operands), ("arguments of the function", &args))?;
    let results: Vec<TypeId> = module.funcs[func].results.iter().map(|r| r.ty).collect();
    if let Some(declared) = cx.declared {
        cx.same_types(("results", declared), ("results of the function", &results))?;
    }
    Some(results.into_iter().map(InferredType::Known).collect())
}

fn branches(cx: &mut Cx) -> Found {
    let mut merged: Vec<TypeId> = Vec::new();
    let mut types: Vec<InferredType> = Vec::new();
    for at in 0..cx.regions.len() {
        let (params, returns) = (cx.region_params(at)?, cx.region_returns(at)?);
        require!(cx, params.is_empty(), "branch {at} has {} parameters, not 0", params.len());
        if at == 0 {
            types = returns.iter().map(|&ty| InferredType::Known(ty)).collect();
            merged = returns;
            continue;
        }
        let name = format!("values that branch {at} returns");
        cx.same_types(("values that branch 0 returns", &merged), (&name, &returns))?;
        for (ty, &other) in types.iter_mut().zip(&returns) {
            *ty = least_specific(cx, ty, other);
        }
    }
    Some(types)
}

/// The type of a value that has one of two compatible types: a size that differs is dynamic.
fn least_specific(cx: &Cx, a: &InferredType, b: TypeId) -> InferredType {
    let a_tensor = match a {
        InferredType::Tensor(ty) => ty,
        InferredType::Known(id) if *id == b => return a.clone(),
        InferredType::Known(id) => match cx.module.ty(*id) {
            Type::Tensor(ty) => ty,
            _ => return a.clone(),
        },
        _ => return a.clone(),
    };
    let Some(b) = cx.module.ty(b).as_tensor() else { return a.clone() };
    let mut ty = a_tensor.clone();
    for (dim, &other) in ty.dims.iter_mut().zip(&b.dims) {
        if *dim != other {
            *dim = crate::DYNAMIC;
        }
    }
    InferredType::Tensor(ty)
}
