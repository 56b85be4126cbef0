//! Values out of nothing.

use shard_ir::ops::Creation;
use shard_ir::{Dims, ElementType, NumberKind};

use super::elementwise::convert;
use super::numeric::{no_meaning, single};
use super::operands::exactly as expect;
use crate::site::{Results, Site};
use crate::tensor::element_count;
use crate::{Fault, Tensor, each_width};

pub(crate) fn eval(op: &Creation, site: &Site<'_>, operands: &[Tensor]) -> Result<Results, Fault> {
    match op {
        Creation::Constant(op) => Tensor::from_dense(&op.value, site.module).map(single),
        Creation::Iota(op) => {
            iota(site.result_element(0)?, &site.result_dims(0)?, op.dimension).map(single)
        }
        Creation::DynamicIota(op) => {
            let [shape] = expect(operands)?;
            let integer = matches!(
                shape.element().kind(),
                NumberKind::Bool | NumberKind::Signed | NumberKind::Unsigned
            );
            if !integer {
                return Err(Fault::invalid(format!("a shape of {} elements", shape.element())));
            }
            let dims = Dims::from_vec(shape.integers());
            iota(site.result_element(0)?, &dims, op.dimension).map(single)
        }
    }
}

/// The index along a dimension.
fn iota(element: ElementType, dims: &[i64], dimension: i64) -> Result<Tensor, Fault> {
    let count = element_count(dims)?;
    let along = usize::try_from(dimension).ok().filter(|at| *at < dims.len());
    let Some(along) = along else {
        return Err(Fault::invalid(format!(
            "an iota along dimension {dimension} of a shape of rank {}",
            dims.len()
        )));
    };
    if element.kind() == NumberKind::Quantized {
        return Err(no_meaning(element));
    }
    if count == 0 {
        let none = Tensor::from_lanes(ElementType::I64, dims, Vec::<i64>::new());
        return convert(&none, element);
    }
    let size = dims[along];
    let indices = Tensor::from_lanes(ElementType::I64, [size].as_slice(), (0..size).collect());
    let indices = convert(&indices, element)?;
    let inner = dims[along + 1..].iter().product::<i64>() as usize;
    let outer = count / (inner * size as usize);
    let buffer = each_width!(indices.buffer(), |words| {
        let slab: Vec<_> =
            words.iter().flat_map(|word| std::iter::repeat_n(*word, inner)).collect();
        slab.repeat(outer)
    });
    Ok(Tensor::new(element, dims, buffer))
}
