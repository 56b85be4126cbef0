//! Reductions over whole dimensions.

use shard_ir::Dims;

use super::super::product::permuted;
use super::fold::{Combine, Fold, Rounding, fold};
use super::{Inputs, gathered, joined};
use crate::region::Region;
use crate::site::{Results, Site};
use crate::{Fault, Tensor, each_width};

/// Reduces dimensions.
pub(super) fn reduce(
    dimensions: &[i64],
    site: &Site<'_>,
    inputs: &Inputs,
) -> Result<Results, Fault> {
    let dims = inputs.dims();
    let mut gone = vec![false; dims.len()];
    for dim in dimensions {
        let at = usize::try_from(*dim).ok().and_then(|at| gone.get_mut(at));
        *at.ok_or_else(|| Fault::invalid(format!("a reduction of dimension {dim}")))? = true;
    }
    let kept: Vec<usize> = (0..dims.len()).filter(|d| !gone[*d]).collect();
    let reduced: Vec<usize> = (0..dims.len()).filter(|d| gone[*d]).collect();
    let count = |of: &[usize]| of.iter().map(|d| dims[*d]).product::<i64>() as usize;
    let (places, terms) = (count(&kept), count(&reduced));
    let shape: Dims = kept.iter().map(|d| dims[*d]).collect();
    let columns: Vec<usize> = reduced.iter().chain(&kept).copied().collect();

    let region = site.region(0)?;
    if let ([x], [init]) = (&inputs.inputs[..], &inputs.inits[..])
        && let Some(combine) = Combine::of(&region, x.element(), Rounding::Once)
    {
        let in_memory = columns.iter().filter(|d| dims[**d] != 1).is_sorted();
        let result = if in_memory && places > 1 {
            fold(combine, Rounding::Once, x, init, shape, &Columns { places, terms })
        } else {
            let rows: Vec<usize> = kept.iter().chain(&reduced).copied().collect();
            let x = arranged(x, &rows);
            fold(combine, Rounding::Once, &x, init, shape, &Rows { places, terms })
        };
        return Ok(Results::from_iter([result]));
    }
    let slabs: Vec<Tensor> = inputs.inputs.iter().map(|x| arranged(x, &columns)).collect();
    let order = if site.backwards { Order::Backwards } else { Order::Forwards };
    let results = reduce_slabs(&region, slabs, inputs.inits.clone(), places, terms, order)?;
    results
        .iter()
        .zip(&inputs.inits)
        .map(|(result, init)| {
            // Without terms, the initial value is still one element.
            let all = if result.len() == places { result.clone() } else { repeated(init, places) };
            Ok(all.reshaped(shape.clone()))
        })
        .collect()
}

/// The elements with the dimensions in another order, as a list.
fn arranged(x: &Tensor, order: &[usize]) -> Tensor {
    let sorted = order.iter().filter(|d| x.dims()[**d] != 1).is_sorted();
    let dims = Dims::from_slice(&[x.len() as i64]);
    if sorted {
        return x.reshaped(dims);
    }
    let buffer = each_width!(x.buffer(), |words| permuted(words, x.dims(), order).into_owned());
    Tensor::new(x.element(), dims, buffer)
}

fn repeated(init: &Tensor, count: usize) -> Tensor {
    gathered(init, &vec![0; count], init)
}

/// How reductions are nested. The elements stay in their order either way, which is all that the
/// specification says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// From the first on: (a b) c.
    Forwards,
    /// From the last on: a (b c).
    Backwards,
}

/// Applies a region to `terms` slabs of `places` elements each. `starts` have as many elements, or
/// one. Without slabs, they are what comes out.
///
/// # Errors
/// Those of the region.
pub(super) fn reduce_slabs(
    region: &Region<'_>,
    mut slabs: Vec<Tensor>,
    starts: Vec<Tensor>,
    places: usize,
    mut terms: usize,
    order: Order,
) -> Result<Vec<Tensor>, Fault> {
    /// From so many elements on, what an op costs besides them doesn't count.
    const WIDE: usize = 512;
    /// So many are taken one after the other.
    const FEW: usize = 64;
    if places == 0 || terms == 0 {
        return Ok(starts);
    }
    let apply = |left: Vec<Tensor>, right: Vec<Tensor>| {
        let count = left.len();
        let results = region.apply(&[left, right].concat())?;
        if results.len() != count {
            return Err(Fault::invalid("a region returns another number of values"));
        }
        Ok(results)
    };
    // Neighbours with each other, until few are left: the order stays, the nesting doesn't matter.
    while terms > FEW && places < WIDE {
        let pairs = terms / 2;
        let every_other = |slab: &Tensor, first: usize| rows(slab, places, first, 2, pairs);
        let left = slabs.iter().map(|slab| every_other(slab, 0)).collect();
        let right = slabs.iter().map(|slab| every_other(slab, 1)).collect();
        let mut next = apply(left, right)?;
        if terms % 2 == 1 {
            for (next, slab) in next.iter_mut().zip(&slabs) {
                let last = rows(slab, places, terms - 1, 1, 1);
                let dims = Dims::from_slice(&[((pairs + 1) * places) as i64]);
                *next = joined(&[next.clone(), last], dims)?;
            }
        }
        slabs = next;
        terms = terms.div_ceil(2);
    }
    let mut found = starts;
    for step in 0..terms {
        let slab = |term| slabs.iter().map(|slab| rows(slab, places, term, 1, 1)).collect();
        found = match order {
            Order::Forwards => apply(found, slab(step))?,
            Order::Backwards => apply(slab(terms - 1 - step), found)?,
        };
    }
    Ok(found)
}

/// Some rows of `width` elements each, as a list.
fn rows(x: &Tensor, width: usize, first: usize, step: usize, count: usize) -> Tensor {
    let dims = Dims::from_slice(&[(count * width) as i64]);
    let buffer = each_width!(x.buffer(), |words| {
        words.chunks(width).skip(first).step_by(step).take(count).flatten().copied().collect()
    });
    Tensor::new(x.element(), dims, buffer)
}

/// Each result is of elements that lie side by side.
struct Rows {
    places: usize,
    terms: usize,
}

impl Fold for Rows {
    fn run<T: Copy, A: Copy>(
        &self,
        x: &[T],
        init: A,
        widen: impl Fn(T) -> A + Copy,
        combine: impl Fn(A, A) -> A + Copy,
    ) -> Vec<A> {
        if self.terms == 0 {
            return vec![init; self.places];
        }
        x.chunks(self.terms).map(|row| fold_row(row, init, widen, combine)).collect()
    }
}

/// Eight folds side by side, so that none waits for the one before.
fn fold_row<T: Copy, A: Copy>(
    row: &[T],
    init: A,
    widen: impl Fn(T) -> A,
    combine: impl Fn(A, A) -> A,
) -> A {
    let (chunks, rest) = row.as_chunks::<8>();
    let mut found = init;
    if let Some((first, others)) = chunks.split_first() {
        let mut lanes = first.map(&widen);
        for chunk in others {
            for (lane, value) in lanes.iter_mut().zip(chunk) {
                *lane = combine(*lane, widen(*value));
            }
        }
        found = lanes.into_iter().fold(found, &combine);
    }
    rest.iter().fold(found, |found, value| combine(found, widen(*value)))
}

/// The elements that lie side by side are of different results.
struct Columns {
    places: usize,
    terms: usize,
}

impl Fold for Columns {
    fn run<T: Copy, A: Copy>(
        &self,
        x: &[T],
        init: A,
        widen: impl Fn(T) -> A + Copy,
        combine: impl Fn(A, A) -> A + Copy,
    ) -> Vec<A> {
        let mut found = vec![init; self.places];
        if self.places > 0 && self.terms > 0 {
            for row in x.chunks(self.places) {
                for (found, value) in found.iter_mut().zip(row) {
                    *found = combine(*found, widen(*value));
                }
            }
        }
        found
    }
}
