//! Constants and iotas.

use shard_ir::ops::{Constant, Creation, DynamicSlice, Elementwise, Iota};
use shard_ir::{DenseData, Diagnostic, ElementType, OpId, ValueId};

use super::Local;
use crate::rewrite::Rewriter;

pub(super) fn lower(
    local: &mut Local,
    rw: &mut Rewriter<'_>,
    op: OpId,
    kind: Creation,
) -> Result<(), Diagnostic> {
    match kind {
        Creation::Constant(constant) => self::constant(local, rw, op, &constant),
        Creation::Iota(iota) => self::iota(local, rw, op, &iota),
        Creation::DynamicIota(_) => local.shrink(rw, op),
    }
}

/// A splat just gets smaller; of other constants each device cuts its part.
fn constant(
    local: &mut Local,
    rw: &mut Rewriter<'_>,
    op: OpId,
    constant: &Constant,
) -> Result<(), Diagnostic> {
    let result = rw.module.result(op, 0);
    let global = rw.module.value_type(result);
    local.localize(rw.module, result)?;
    let ty = rw.module.value_type(result);
    if ty == global {
        rw.keep(op);
        return Ok(());
    }
    if let DenseData::Splat(_) = constant.value.data {
        let mut value = constant.value.clone();
        value.ty = ty;
        rw.module.op_mut(op).op = Constant { value }.into();
        rw.keep(op);
        return Ok(());
    }
    let whole = rw.emit(constant.clone(), &[], global);
    let sizes = local.local(rw.module, result).dims;
    let starts: Vec<ValueId> = (0..sizes.len())
        .map(|dim| {
            let along = local.dim_axes(rw.module, result, dim);
            local.offset(rw.module, &along, sizes[dim], ElementType::I32)
        })
        .collect();
    let mut operands = vec![whole];
    operands.extend(starts);
    let value = rw.emit(DynamicSlice { sizes }, &operands, ty);
    local.stand_in(rw, result, value);
    Ok(())
}

/// Along a sharded dimension the device's offset is added, in an integer type that holds every
/// index, so that the values are those of the whole iota.
fn iota(local: &mut Local, rw: &mut Rewriter<'_>, op: OpId, iota: &Iota) -> Result<(), Diagnostic> {
    let result = rw.module.result(op, 0);
    local.localize(rw.module, result)?;
    let dim = usize::try_from(iota.dimension).unwrap_or_default();
    let along = local.dim_axes(rw.module, result, dim);
    if along.is_empty() {
        rw.keep(op);
        return Ok(());
    }
    let ty = local.local(rw.module, result);
    let index = match ty.element {
        ElementType::I32 | ElementType::I64 | ElementType::UI32 | ElementType::UI64 => ty.element,
        _ => ElementType::I32,
    };
    let index_ty = rw.module.tensor(index, ty.dims.iter().copied());
    let part = rw.emit(iota.clone(), &[], index_ty);
    let offset = local.offset(rw.module, &along, ty.dims[dim], index);
    let offset = rw.broadcast_scalar(offset, &ty.dims);
    let mut value = rw.emit(Elementwise::Add, &[part, offset], index_ty);
    if index != ty.element {
        let ty = rw.module.value_type(result);
        value = rw.emit(Elementwise::Convert, &[value], ty);
    }
    local.stand_in(rw, result, value);
    Ok(())
}
