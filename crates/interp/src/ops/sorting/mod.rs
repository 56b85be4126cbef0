//! Sorts, and selections by order.

mod comparator;
mod keys;
mod merge;
mod top_k;

use shard_ir::BlockId;
use shard_ir::ops::{Sort, Sorting};

pub(crate) use top_k::top_k;

use super::operands::exactly;
use crate::site::{Results, Site};
use crate::{Fault, Tensor, each_width};
use comparator::Comparator;

pub(crate) fn eval(op: &Sorting, site: &Site<'_>, operands: &[Tensor]) -> Result<Results, Fault> {
    match op {
        Sorting::Sort(op) => sort(op, site, operands),
        Sorting::TopK(op) => {
            let [x] = exactly(operands)?;
            top_k(x, op.k, true).map(Results::from)
        }
    }
}

/// The rows that a tensor is sorted in: elements along one dimension.
#[derive(Clone, Copy)]
struct Rows {
    /// Elements of a row.
    len: usize,
    /// Distance between them.
    step: usize,
    /// Elements in all.
    count: usize,
}

impl Rows {
    /// Where the first element of each row is.
    fn firsts(self) -> impl Iterator<Item = usize> {
        let block = (self.len * self.step).max(1);
        (0..self.count.div_ceil(block))
            .flat_map(move |outer| (0..self.step).map(move |inner| outer * block + inner))
    }
}

impl Rows {
    /// Those along one dimension; negative ones count from the end.
    fn along(dimension: i64, operands: &[Tensor]) -> Result<Rows, Fault> {
        let Some(first) = operands.first() else {
            return Err(Fault::invalid("a sort of nothing"));
        };
        if operands.iter().any(|x| x.dims() != first.dims()) {
            return Err(Fault::invalid("a sort of operands of different shapes"));
        }
        let rank = first.rank() as i64;
        let along = if dimension < 0 { dimension + rank } else { dimension };
        let Some(along) = usize::try_from(along).ok().filter(|along| *along < first.rank()) else {
            return Err(Fault::invalid(format!(
                "dimension {dimension} of a tensor of rank {rank}"
            )));
        };
        Ok(Rows {
            len: first.dims()[along] as usize,
            step: first.dims()[along + 1..].iter().product::<i64>() as usize,
            count: first.len(),
        })
    }

    /// Whether there is nothing to sort.
    fn are_sorted(self) -> bool {
        self.len < 2 || self.count == 0
    }
}

/// Every sort is stable.
fn sort(op: &Sort, site: &Site<'_>, operands: &[Tensor]) -> Result<Results, Fault> {
    let rows = Rows::along(op.dimension, operands)?;
    if rows.are_sorted() {
        return Ok(operands.iter().cloned().collect());
    }
    let module = site.module;
    let comparator = match module.regions(site.op) {
        [region] if module.region(*region).blocks.len() == 1 => {
            Comparator::new(site, module.entry(*region), operands)?
        }
        _ => None,
    };
    let order = match comparator {
        Some(comparator) => merge::sorted(rows, &comparator),
        None => merge::sorted_in_batches(rows, &site.region(0)?, operands)?,
    };
    Ok(permuted(operands, &order))
}

/// Sorts by a comparator that is a function of its own, as some custom calls have it.
pub(crate) fn sort_by_function(
    site: &Site<'_>,
    comparator: BlockId,
    dimension: i64,
    operands: &[Tensor],
) -> Result<Results, Fault> {
    let rows = Rows::along(dimension, operands)?;
    if rows.are_sorted() {
        return Ok(operands.iter().cloned().collect());
    }
    let comparator = Comparator::new(site, comparator, operands)?
        .ok_or_else(|| Fault::unsupported("a comparator of this kind"))?;
    Ok(permuted(operands, &merge::sorted(rows, &comparator)))
}

fn permuted(operands: &[Tensor], order: &[usize]) -> Results {
    let permuted = |x: &Tensor| {
        let buffer = each_width!(x.buffer(), |words| order.iter().map(|i| words[*i]).collect());
        Tensor::new(x.element(), x.dims(), buffer)
    };
    operands.iter().map(permuted).collect()
}
