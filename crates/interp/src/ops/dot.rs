//! Contractions.

use ndarray::ArrayViewMut2;
use shard_ir::ops::{Dot, DotDims};
use shard_ir::{Dims, ElementType};

use super::numeric::single;
use super::operands::exactly as expect;
use super::product::{Product, computed_in, each_product, finish, matrix, permuted, prepare};
use crate::site::{Results, Site};
use crate::tensor::element_count;
use crate::{Fault, Tensor};

pub(crate) fn eval(op: &Dot, site: &Site<'_>, operands: &[Tensor]) -> Result<Results, Fault> {
    let [lhs, rhs] = expect(operands)?;
    let element = site.result_element(0)?;
    match op {
        Dot::DotGeneral(op) => contract(lhs, rhs, &op.dims, element).map(single),
        Dot::DotPlain(_) => {
            let dims = DotDims {
                lhs_contracting: Dims::from_slice(&[lhs.rank() as i64 - 1]),
                rhs_contracting: Dims::from_slice(&[0]),
                ..DotDims::default()
            };
            contract(lhs, rhs, &dims, element).map(single)
        }
    }
}

/// An operand as a matrix for each index of the batch dimensions.
struct Side {
    /// Batch dimensions, then free ones, then contracting ones.
    by_row: Vec<usize>,
    /// Batch dimensions, then contracting ones, then free ones.
    by_column: Vec<usize>,
    batch: Dims,
    free: Dims,
    contracting: Dims,
}

impl Side {
    fn new(x: &Tensor, batch: &[i64], contracting: &[i64]) -> Result<Side, Fault> {
        let mut seen = vec![false; x.rank()];
        let mut numbers = |dims: &[i64]| {
            let number = |dim: &i64| {
                let at = usize::try_from(*dim).ok().filter(|at| *at < seen.len())?;
                (!std::mem::replace(&mut seen[at], true)).then_some(at)
            };
            dims.iter().map(number).collect::<Option<Vec<usize>>>()
        };
        let (Some(batch), Some(contracting)) = (numbers(batch), numbers(contracting)) else {
            return Err(Fault::invalid("dimensions of a contraction that aren't there"));
        };
        let free: Vec<usize> = (0..x.rank()).filter(|at| !seen[*at]).collect();
        let sizes = |dims: &[usize]| dims.iter().map(|d| x.dims()[*d]).collect();
        Ok(Side {
            by_row: [&batch[..], &free, &contracting].concat(),
            by_column: [&batch[..], &contracting, &free].concat(),
            batch: sizes(&batch),
            free: sizes(&free),
            contracting: sizes(&contracting),
        })
    }

    /// Whether the contracting dimensions come before the free ones in memory.
    fn contracting_first(&self, x: &Tensor) -> bool {
        let sorted = |order: &[usize]| order.iter().filter(|d| x.dims()[**d] != 1).is_sorted();
        !sorted(&self.by_row) && sorted(&self.by_column)
    }

    fn order(&self, contracting_first: bool) -> &[usize] {
        if contracting_first { &self.by_column } else { &self.by_row }
    }
}

fn contract(
    lhs: &Tensor,
    rhs: &Tensor,
    dims: &DotDims,
    element: ElementType,
) -> Result<Tensor, Fault> {
    let left = Side::new(lhs, &dims.lhs_batch, &dims.lhs_contracting)?;
    let right = Side::new(rhs, &dims.rhs_batch, &dims.rhs_contracting)?;
    if left.batch != right.batch || left.contracting != right.contracting {
        return Err(Fault::invalid(format!(
            "a contraction of shapes that don't fit: {:?} and {:?}",
            lhs.dims(),
            rhs.dims()
        )));
    }
    let computed = computed_in([lhs.element(), rhs.element()], element);
    let (lhs, rhs) = (prepare(lhs, computed)?, prepare(rhs, computed)?);
    let shape: Dims = left.batch.iter().chain(&left.free).chain(&right.free).copied().collect();
    element_count(&shape)?;
    each_product!(computed, |T| {
        let values = products::<T>((&lhs, &left), (&rhs, &right))?;
        finish(computed, shape, values, element)?
    })
}

fn products<T: Product>(
    (lhs, left): (&Tensor, &Side),
    (rhs, right): (&Tensor, &Side),
) -> Result<Vec<T>, Fault> {
    let count = |dims: &[i64]| dims.iter().product::<i64>() as usize;
    let (batches, depth) = (count(&left.batch), count(&left.contracting));
    let (rows, columns) = (count(&left.free), count(&right.free));
    let mut out: Vec<T> = vec![bytemuck::Zeroable::zeroed(); batches * rows * columns];
    if out.is_empty() || depth == 0 {
        return Ok(out);
    }
    // Whichever order is that of the memory needs no copy.
    let (turned_left, turned_right) = (left.contracting_first(lhs), right.contracting_first(rhs));
    let lhs = permuted(lhs.lanes::<T>(), lhs.dims(), left.order(turned_left));
    let rhs = permuted(rhs.lanes::<T>(), rhs.dims(), right.order(turned_right));
    let matrices = lhs.chunks(rows * depth).zip(rhs.chunks(depth * columns));
    for ((a, b), to) in matrices.zip(out.chunks_mut(rows * columns)) {
        let a = matrix(a, rows, depth, turned_left)?;
        let b = matrix(b, depth, columns, !turned_right)?;
        let to = ArrayViewMut2::from_shape((rows, columns), to)
            .map_err(|_| Fault::invalid("a matrix of another size than its elements"))?;
        T::multiply(a, b, to);
    }
    Ok(out)
}
