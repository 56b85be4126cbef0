//! Quantized elements: integers that stand for floats.
//!
//! An op that computes takes the floats that its operands stand for, and its results are quantized
//! again. One that only moves elements moves the integers. Regions are executed op by op, so that
//! an op with a region moves elements, and the ops in the region compute.

use shard_ir::ops::{Creation, Elementwise, Hlo, Op, Sorting};
use shard_ir::quant::{QuantParam, QuantType};
use shard_ir::{ElementType, Module};

use super::elementwise;
use crate::site::{Results, Site};
use crate::strided::each_index;
use crate::tensor::quantized;
use crate::{Buffer, Fault, Tensor};

/// Whether an op has quantized operands or results.
pub(crate) fn concerns(site: &Site<'_>, operands: &[Tensor]) -> bool {
    let is_quantized = |element| matches!(element, ElementType::Quantized(_));
    operands.iter().any(|operand| is_quantized(operand.element()))
        || site.module.results(site.op).iter().any(|result| {
            site.module.tensor_type(*result).is_some_and(|ty| is_quantized(ty.element))
        })
}

/// Executes an op that has some.
///
/// # Errors
/// Those of the op, and for quantized types that don't fit their tensors.
pub(crate) fn eval(site: &Site<'_>, operands: &[Tensor]) -> Result<Results, Fault> {
    let moves = moves(site, operands);
    let results = if moves {
        super::kernel(site, operands)?
    } else {
        let floats = operands.iter().map(|x| dequantized(x, site.module));
        let floats = floats.collect::<Result<Vec<_>, Fault>>()?;
        super::kernel(&Site { expressed: true, ..*site }, &floats)?
    };
    let typed = |(at, result): (usize, &Tensor)| {
        let element = site
            .module
            .results(site.op)
            .get(at)
            .and_then(|result| site.module.tensor_type(*result).map(|ty| ty.element));
        match element {
            // A dimension with scales may have another number in the result.
            Some(element @ ElementType::Quantized(_)) if moves => Ok(result.retyped(element)),
            Some(element @ ElementType::Quantized(_)) => convert(result, element, site.module),
            _ => Ok(result.clone()),
        }
    };
    results.iter().enumerate().map(typed).collect()
}

/// Whether an op moves the integers, and computes nothing but what its regions do.
fn moves(site: &Site<'_>, operands: &[Tensor]) -> bool {
    match site.kind() {
        Op::Elementwise(Elementwise::Map(_)) => true,
        Op::Elementwise(Elementwise::Select) => {
            let result = site.result_element(0).ok();
            operands.iter().skip(1).all(|operand| Some(operand.element()) == result)
        }
        Op::Creation(op) => matches!(op, Creation::Constant(_)),
        Op::Sorting(op) => matches!(op, Sorting::Sort(_)),
        Op::Hlo(op) => matches!(op, Hlo::Copy | Hlo::AddDependency),
        Op::Movement(_) | Op::Indexing(_) | Op::Reduction(_) => true,
        Op::Control(_)
        | Op::Collective(_)
        | Op::Sdy(_)
        | Op::Effects(_)
        | Op::Custom(_)
        | Op::Opaque(_) => true,
        Op::Elementwise(_)
        | Op::Dot(_)
        | Op::Convolution(_)
        | Op::Linalg(_)
        | Op::Random(_)
        | Op::Normalization(_) => false,
    }
}

/// The elements as another type, either of which may be quantized.
///
/// # Errors
/// For quantized types that don't fit the tensor.
pub(super) fn convert(x: &Tensor, element: ElementType, module: &Module) -> Result<Tensor, Fault> {
    if x.element() == element {
        return Ok(x.clone());
    }
    let floats = dequantized(x, module)?;
    match element {
        ElementType::Quantized(text) => {
            let ty = quantized(module.str(text))?;
            quantize(&elementwise::convert(&floats, ty.expressed)?, element, &ty)
        }
        _ => elementwise::convert(&floats, element),
    }
}

/// The floats that quantized elements stand for; others as they are.
fn dequantized(x: &Tensor, module: &Module) -> Result<Tensor, Fault> {
    let ElementType::Quantized(text) = x.element() else { return Ok(x.clone()) };
    let ty = quantized(module.str(text))?;
    let params = Params::new(&ty, x.dims())?;
    let stored = stored(x, &ty)?;
    // Each step is rounded to the float that the type stands for.
    let less = params.map(&stored, |stored, param| stored.wrapping_sub(param.zero_point) as f64);
    let less = rounded(ty.expressed, less);
    let scaled = params.map(&less, |less, param| less * param.scale);
    Ok(Tensor::from_floats(ty.expressed, x.dims(), scaled))
}

/// The integers nearest to floats, within the bounds of the type.
fn quantize(x: &Tensor, element: ElementType, ty: &QuantType) -> Result<Tensor, Fault> {
    let params = Params::new(ty, x.dims())?;
    let scaled = params.map(&x.floats(), |value, param| value / param.scale);
    let scaled = rounded(ty.expressed, scaled);
    let moved = params.map(&scaled, |value, param| value + param.zero_point as f64);
    let moved = rounded(ty.expressed, moved);
    let (low, high) = (ty.bounds.0 as f64, ty.bounds.1 as f64);
    // NaN becomes 0, as where a float becomes an integer.
    let values = moved.iter().map(|value| value.clamp(low, high).round_ties_even() as i64);
    let buffer = match ty.width {
        ..=8 => Buffer::B8(values.map(|value| value as u8).collect()),
        9..=16 => Buffer::B16(values.map(|value| value as u16).collect()),
        _ => Buffer::B32(values.map(|value| value as u32).collect()),
    };
    Ok(Tensor::new(element, x.dims(), buffer))
}

/// Values of a float type.
fn rounded(element: ElementType, values: Vec<f64>) -> Vec<f64> {
    match element {
        ElementType::F64 => values,
        _ => {
            let dims = [values.len() as i64];
            Tensor::from_floats(element, dims.as_slice(), values).floats()
        }
    }
}

/// The stored integers.
fn stored(x: &Tensor, ty: &QuantType) -> Result<Vec<i64>, Fault> {
    let extend = |value: u64| {
        let unused = 64 - ty.width;
        if ty.signed {
            (value << unused) as i64 >> unused
        } else {
            (value << unused >> unused) as i64
        }
    };
    match (x.buffer(), ty.width) {
        (Buffer::B8(words), ..=8) => Ok(words.iter().map(|w| extend(u64::from(*w))).collect()),
        (Buffer::B16(words), 9..=16) => Ok(words.iter().map(|w| extend(u64::from(*w))).collect()),
        (Buffer::B32(words), 17..=32) => Ok(words.iter().map(|w| extend(u64::from(*w))).collect()),
        _ => Err(Fault::invalid("quantized elements of another width than their type")),
    }
}

/// The parameters of each element.
struct Params {
    /// Rounded to the float that the type stands for.
    all: Vec<QuantParam>,
    /// For each element, which of them it has; empty where there is one.
    of: Vec<usize>,
}

impl Params {
    fn new(ty: &QuantType, dims: &[i64]) -> Result<Params, Fault> {
        let mut all = ty.all_params();
        let scales = rounded(ty.expressed, all.iter().map(|param| param.scale).collect());
        all.iter_mut().zip(scales).for_each(|(param, scale)| param.scale = scale);
        let steps = ty.param_steps(dims).ok_or_else(|| {
            Fault::invalid(format!("a quantized type that doesn't fit a tensor of {dims:?}"))
        })?;
        let mut of = Vec::new();
        if all.len() > 1 {
            each_index(dims, |index| {
                let at = index.iter().zip(&steps);
                of.push(at.map(|(index, (block, step))| (index / block) as usize * step).sum());
            });
        }
        Ok(Params { all, of })
    }

    fn map<T: Copy>(&self, values: &[T], f: impl Fn(T, &QuantParam) -> f64) -> Vec<f64> {
        match &self.all[..] {
            [one] => values.iter().map(|value| f(*value, one)).collect(),
            all => values.iter().zip(&self.of).map(|(value, at)| f(*value, &all[*at])).collect(),
        }
    }
}
