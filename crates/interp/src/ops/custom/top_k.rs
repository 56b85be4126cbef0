//! Calls that select the first elements of some order.

use shard_ir::ops::CustomCall;
use shard_ir::{Attr, DYNAMIC, Dims, Module, Symbol};

use super::config::Config;
use crate::ops;
use crate::site::{Results, Site};
use crate::strided::{read, strides};
use crate::{Fault, Tensor, each_width};

/// The largest elements of the last dimension and their indices; as many as the result has.
pub(super) fn exact(
    site: &Site<'_>,
    config: &Config<'_>,
    operands: &[Tensor],
) -> Result<Results, Fault> {
    let [x, ..] = operands else { return Err(Fault::invalid("a selection from nothing")) };
    let declared = site.result_type(0)?.dims.last().copied().filter(|size| *size != DYNAMIC);
    let k = config.integer("k").or(declared);
    let k = k.ok_or_else(|| Fault::invalid("the call doesn't say how many"))?;
    ops::top_k(x, k, config.flag("largest").unwrap_or(true)).map(Results::from)
}

/// The first elements by a comparator. Here that is exact, which no approximation has to be.
pub(super) fn approximate(
    site: &Site<'_>,
    call: &CustomCall,
    config: &Config<'_>,
    operands: &[Tensor],
) -> Result<Results, Fault> {
    // As many initial values follow, for which there is no use where nothing is padded.
    let inputs = &operands[..operands.len() / 2];
    let comparator = comparator(site.module, call)
        .ok_or_else(|| Fault::invalid("the call names no comparator in the program"))?;
    let along = config
        .integer("reduction_dim")
        .ok_or_else(|| Fault::invalid("the call doesn't say 'reduction_dim'"))?;
    let sorted = ops::sort_by_function(site, comparator, along, inputs)?;
    let along = along.max(0) as usize;
    let first = |(at, x): (usize, &Tensor)| -> Result<Tensor, Fault> {
        let size = match site.result_type(at)?.dims.get(along) {
            Some(size) if *size != DYNAMIC => *size,
            _ => config.integer("top_k").unwrap_or(0),
        };
        let mut dims = Dims::from_slice(x.dims());
        if !(0..=dims[along]).contains(&size) {
            return Err(Fault::invalid(format!("the first {size} elements of {}", dims[along])));
        }
        dims[along] = size;
        let steps = strides(x.dims());
        let buffer = each_width!(x.buffer(), |words| read(words, 0, &steps, &dims));
        Ok(Tensor::new(x.element(), dims, buffer))
    };
    sorted.iter().enumerate().map(first).collect()
}

/// The function that a call names first.
fn comparator(module: &Module, call: &CustomCall) -> Option<shard_ir::BlockId> {
    let Attr::Array(names) = call.called_computations.as_ref()? else { return None };
    let Attr::SymbolRef(path) = names.first()? else { return None };
    let name: Symbol = *path.first()?;
    let func = module.find_func(name).filter(|func| !module.funcs[*func].is_declaration)?;
    Some(module.func_entry(func))
}
