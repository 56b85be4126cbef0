//! `chlo.ragged_dot`: a product in which the rows of a dimension belong to groups of given sizes.
//!
//! Each group is a product of its own, with the rows of all others made zero: simple, and as many
//! times the work as there are groups.

use shard_ir::ops::{
    BroadcastInDim, Compare, Concatenate, Constant, Direction, DotDims, DotGeneral, Elementwise,
    Iota, Movement, Opaque, Precision, Precisions, RaggedDims, Slice,
};
use shard_ir::{Attr, Dense, DenseData, Diagnostic, Dims, ElementType, OpId, TypeId, ValueId};

use super::{INDEX, attr, no_expansion, replace};
use crate::numbers;
use crate::rewrite::Rewriter;

pub(super) fn expand(rw: &mut Rewriter<'_>, op: OpId, opaque: &Opaque) -> Result<(), Diagnostic> {
    let Some(value) = product(rw, op, opaque) else { return Err(no_expansion(rw.module, op)) };
    replace(rw, op, &[value]);
    Ok(())
}

fn product(rw: &mut Rewriter<'_>, op: OpId, opaque: &Opaque) -> Option<ValueId> {
    let dims = match attr(rw.module, op, opaque, "ragged_dot_dimension_numbers")? {
        Attr::Text(text) => RaggedDims::from_text(rw.module.str(*text))?,
        _ => return None,
    };
    let precision = precisions(rw, op, opaque);
    let &[lhs, rhs, sizes] = rw.module.operands(op) else { return None };
    for value in [lhs, rhs, sizes] {
        rw.module.tensor_type(value).filter(|ty| ty.is_static())?;
    }
    let result = rw.module.value_type(rw.module.result(op, 0));
    let result_ty = rw.module.ty(result).as_tensor().cloned()?;
    let [lhs_batch, rhs_batch] = dims.batch.clone();
    let [lhs_contracting, rhs_contracting] = dims.contracting.clone();
    let &[ragged] = &dims.ragged[..] else { return None };
    let dot = |rhs_batch, rhs_contracting| DotGeneral {
        dims: DotDims {
            lhs_batch: lhs_batch.clone(),
            rhs_batch,
            lhs_contracting: lhs_contracting.clone(),
            rhs_contracting,
        },
        precision: precision.clone(),
        algorithm: None,
    };
    if lhs_batch.contains(&ragged) {
        // No row of one group meets one of another.
        return Some(rw.emit(dot(rhs_batch, rhs_contracting), &[lhs, rhs], result));
    }
    let groups = Groups::new(rw, lhs, sizes, &dims)?;
    if let &[group] = &dims.group[..] {
        // Each group has its own right-hand side, and the sum has the rows of all.
        let without = |dims: &Dims| dims.iter().map(|&dim| dim - i64::from(dim > group)).collect();
        let dot = dot(without(&rhs_batch), without(&rhs_contracting));
        let mut sum = None;
        let mut start = groups.zero(rw);
        for index in 0..groups.count {
            let (rows, end) = groups.rows(rw, index, start);
            let part = slice_off(rw, rhs, group, index)?;
            let product = rw.emit(dot.clone(), &[rows, part], result);
            sum = Some(match sum {
                None => product,
                Some(sum) => rw.emit(Elementwise::Add, &[sum, product], result),
            });
            start = end;
        }
        return sum;
    }
    // The ragged dimension is summed over: each group has its own result.
    let dot = dot(rhs_batch, rhs_contracting);
    let one = rw.module.tensor(result_ty.element, result_ty.dims[1..].iter().copied());
    let listed = std::iter::once(1).chain(result_ty.dims[1..].iter().copied());
    let listed = rw.module.tensor(result_ty.element, listed);
    let mut products = Vec::new();
    let mut start = groups.zero(rw);
    for index in 0..groups.count {
        let (rows, end) = groups.rows(rw, index, start);
        let product = rw.emit(dot.clone(), &[rows, rhs], one);
        products.push(rw.emit(Movement::Reshape, &[product], listed));
        start = end;
    }
    Some(rw.emit(Concatenate { dimension: 0 }, &products, result))
}

fn precisions(rw: &Rewriter<'_>, op: OpId, opaque: &Opaque) -> Precisions {
    let Some(Attr::Array(list)) = attr(rw.module, op, opaque, "precision_config") else {
        return Precisions::default();
    };
    let read = |attr: &Attr| match attr {
        Attr::Enum { value, .. } => Precision::from_text(rw.module.str(*value)),
        _ => None,
    };
    Precisions(list.iter().filter_map(read).collect())
}

/// Index `index` of a dimension, without that dimension.
fn slice_off(rw: &mut Rewriter<'_>, value: ValueId, dim: i64, index: i64) -> Option<ValueId> {
    let ty = rw.module.tensor_type(value).cloned()?;
    let at = dim as usize;
    let mut slice = Slice {
        start: ty.dims.iter().map(|_| 0).collect(),
        limit: ty.dims.clone(),
        strides: ty.dims.iter().map(|_| 1).collect(),
    };
    (slice.start[at], slice.limit[at]) = (index, index + 1);
    let mut dims = ty.dims.clone();
    dims[at] = 1;
    let one = rw.module.tensor(ty.element, dims.iter().copied());
    let part = rw.emit(slice, &[value], one);
    dims.remove(at);
    let ty = rw.module.tensor(ty.element, dims);
    Some(rw.emit(Movement::Reshape, &[part], ty))
}

/// The groups of rows of the left-hand side.
struct Groups {
    count: i64,
    lhs: ValueId,
    sizes: ValueId,
    /// The dimensions of the left-hand side that `sizes` has a list for.
    outer: Dims,
    /// The number of each row, in the shape of the left-hand side.
    position: ValueId,
    /// Zeros in the shape of the left-hand side.
    nothing: ValueId,
    /// The types of a size, and of a size for each element of the left-hand side.
    size_ty: TypeId,
    wide_ty: TypeId,
    mask_ty: TypeId,
}

impl Groups {
    fn new(
        rw: &mut Rewriter<'_>,
        lhs: ValueId,
        sizes: ValueId,
        dims: &RaggedDims,
    ) -> Option<Groups> {
        let ty = rw.module.tensor_type(lhs).cloned()?;
        let sizes_ty = rw.module.tensor_type(sizes).cloned()?;
        let (&count, lists) = sizes_ty.dims.split_last()?;
        let narrow = ty.element.is_float() && ty.element.bits() < 16;
        if count == 0 || narrow {
            return None;
        }
        let outer = match lists {
            [] => Dims::new(),
            _ => dims.outer(ty.rank())?,
        };
        let size_ty = rw.module.tensor(INDEX, lists.iter().copied());
        let wide_ty = rw.module.tensor(INDEX, ty.dims.clone());
        let mask_ty = rw.module.tensor(ElementType::I1, ty.dims.clone());
        let position = rw.emit(Iota { dimension: dims.ragged[0] }, &[], wide_ty);
        let lhs_ty = rw.module.value_type(lhs);
        let nothing = zeros(rw, ty.element, lhs_ty);
        Some(Groups { count, lhs, sizes, outer, position, nothing, size_ty, wide_ty, mask_ty })
    }

    /// Where the first group begins.
    fn zero(&self, rw: &mut Rewriter<'_>) -> ValueId {
        zeros(rw, INDEX, self.size_ty)
    }

    /// The left-hand side with zeros outside of a group that begins at `start`; and where it ends.
    fn rows(&self, rw: &mut Rewriter<'_>, index: i64, start: ValueId) -> (ValueId, ValueId) {
        let last = self.outer.len() as i64;
        let size = slice_off(rw, self.sizes, last, index).unwrap_or(self.sizes);
        let size = match rw.module.value_type(size) == self.size_ty {
            true => size,
            false => rw.emit(Elementwise::Convert, &[size], self.size_ty),
        };
        let end = rw.emit(Elementwise::Add, &[start, size], self.size_ty);
        let mut compare = |direction, bound| {
            let spread = BroadcastInDim { dimensions: self.outer.clone() };
            let bound = rw.emit(spread, &[bound], self.wide_ty);
            let compare = Compare { direction, compare_type: None };
            rw.emit(compare, &[self.position, bound], self.mask_ty)
        };
        let bounds = [compare(Direction::Ge, start), compare(Direction::Lt, end)];
        let inside = rw.emit(Elementwise::And, &bounds, self.mask_ty);
        let ty = rw.module.value_type(self.lhs);
        (rw.emit(Elementwise::Select, &[inside, self.lhs, self.nothing], ty), end)
    }
}

fn zeros(rw: &mut Rewriter<'_>, element: ElementType, ty: TypeId) -> ValueId {
    let value = Dense { ty, data: DenseData::splat(&numbers::encode(element, 0)) };
    rw.emit(Constant { value }, &[], ty)
}
