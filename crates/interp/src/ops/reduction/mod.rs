//! Reductions over whole dimensions and over windows.
//!
//! Where the region is one op that has no order, such as a sum, elements are folded directly, sums
//! and products of floats in a wider type that is rounded once. Any other region is applied to
//! whole slabs of elements at once.

mod fold;
mod scatter;
mod whole;
mod windowed;

use shard_ir::Dims;
use shard_ir::ops::Reduction;

use super::quantized::convert;
use crate::site::{Results, Site};
use crate::{Fault, Tensor, each_width};

pub(crate) fn eval(op: &Reduction, site: &Site<'_>, operands: &[Tensor]) -> Result<Results, Fault> {
    match op {
        Reduction::Reduce(op) => {
            let inputs = Inputs::new(site, operands)?;
            whole::reduce(&op.dimensions, site, &inputs)
        }
        Reduction::ReduceWindow(op) => {
            let inputs = Inputs::new(site, operands)?;
            windowed::reduce_window(op, site, &inputs)
        }
        Reduction::SelectAndScatter(op) => scatter::select_and_scatter(op, site, operands),
    }
}

/// What a reduction reduces, in the types that it computes with.
struct Inputs {
    /// Of one shape.
    inputs: Vec<Tensor>,
    /// One element each.
    inits: Vec<Tensor>,
}

impl Inputs {
    fn new(site: &Site<'_>, operands: &[Tensor]) -> Result<Inputs, Fault> {
        let (inputs, inits) = operands.split_at(operands.len() / 2);
        let Some(first) = inputs.first() else {
            return Err(Fault::invalid("a reduction of nothing"));
        };
        if inputs.len() != inits.len() || inputs.iter().any(|x| x.dims() != first.dims()) {
            return Err(Fault::invalid("a reduction of inputs of different shapes"));
        }
        if inits.iter().any(|init| init.len() != 1) {
            return Err(Fault::invalid("an initial value that isn't one element"));
        }
        // The region may take a wider type than that of the inputs.
        let typed = |list: &[Tensor]| {
            let typed =
                |(at, x): (usize, &Tensor)| convert(x, site.result_element(at)?, site.module);
            list.iter().enumerate().map(typed).collect::<Result<Vec<_>, Fault>>()
        };
        Ok(Inputs { inputs: typed(inputs)?, inits: typed(inits)? })
    }

    fn dims(&self) -> &[i64] {
        self.inputs.first().map_or(&[], |x| x.dims())
    }
}

/// The elements at these places, as a list; `hole` stands where a place is
/// [`NOWHERE`](super::window::NOWHERE).
fn gathered(x: &Tensor, places: &[usize], hole: &Tensor) -> Tensor {
    let dims = Dims::from_slice(&[places.len() as i64]);
    let buffer = each_width!(x.buffer(), |words| {
        // Both have one element type, so that the bytes are as many.
        let hole = hole.buffer().bytes();
        let hole = bytemuck::try_pod_read_unaligned(hole).unwrap_or_default();
        places.iter().map(|at| words.get(*at).copied().unwrap_or(hole)).collect()
    });
    Tensor::new(x.element(), dims, buffer)
}

/// Lists of elements, one after the other.
fn joined(lists: &[Tensor], dims: Dims) -> Result<Tensor, Fault> {
    let Some(first) = lists.first() else {
        return Err(Fault::invalid("nothing is joined"));
    };
    if lists.iter().any(|list| list.element() != first.element()) {
        return Err(Fault::invalid("a region changes the type of what it reduces"));
    }
    let bytes: Vec<u8> = lists.iter().flat_map(|list| list.buffer().bytes()).copied().collect();
    let width = first.buffer().bytes().len() / first.len().max(1);
    Ok(Tensor::new(first.element(), dims, crate::Buffer::from_bytes(&bytes, width)))
}
