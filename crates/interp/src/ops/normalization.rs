//! Batch normalisations, computed in `f64` and rounded once.

use shard_ir::ops::Normalization;
use shard_ir::{Dims, NumberKind};

use super::numeric::{no_meaning, single};
use super::operands::exactly as expect;
use crate::site::{Results, Site};
use crate::{Fault, Tensor};

pub(crate) fn eval(
    op: &Normalization,
    site: &Site<'_>,
    operands: &[Tensor],
) -> Result<Results, Fault> {
    match op {
        Normalization::BatchNormInference(op) => {
            let [x, scale, offset, mean, variance] = expect(operands)?;
            let layout = Layout::new(x, op.feature)?;
            let [scale, offset, mean, variance] =
                per_feature(&layout, [scale, offset, mean, variance])?;
            let statistics = Statistics { mean, variance };
            let epsilon = f64::from_bits(op.epsilon.0);
            let values = normalized(&layout, &floats(x)?, &statistics, epsilon, &scale, &offset);
            Ok(single(Tensor::from_floats(x.element(), x.dims(), values)))
        }
        Normalization::BatchNormTraining(op) => {
            let [x, scale, offset] = expect(operands)?;
            let layout = Layout::new(x, op.feature)?;
            let [scale, offset] = per_feature(&layout, [scale, offset])?;
            let values = floats(x)?;
            let statistics = statistics(&layout, &values);
            let epsilon = f64::from_bits(op.epsilon.0);
            let values = normalized(&layout, &values, &statistics, epsilon, &scale, &offset);
            Ok(Results::from_iter([
                Tensor::from_floats(x.element(), x.dims(), values),
                feature_tensor(site, 1, &layout, statistics.mean)?,
                feature_tensor(site, 2, &layout, statistics.variance)?,
            ]))
        }
        Normalization::BatchNormGrad(op) => {
            gradient(site, operands, op.feature, f64::from_bits(op.epsilon.0))
        }
    }
}

fn floats(x: &Tensor) -> Result<Vec<f64>, Fault> {
    if x.element().kind() == NumberKind::Float {
        Ok(x.floats())
    } else {
        Err(no_meaning(x.element()))
    }
}

/// Which feature each element is of: `inner` neighbours are of one, and those of the next follow.
struct Layout {
    features: usize,
    inner: usize,
    /// Elements of one feature.
    count: f64,
}

impl Layout {
    fn new(x: &Tensor, feature: i64) -> Result<Layout, Fault> {
        let at = usize::try_from(feature).ok().filter(|at| *at < x.rank());
        let at = at.ok_or_else(|| {
            Fault::invalid(format!("feature dimension {feature} of rank {}", x.rank()))
        })?;
        let size = |dims: &[i64]| dims.iter().product::<i64>() as usize;
        let features = size(&x.dims()[at..=at]);
        let count = x.len().checked_div(features).unwrap_or(0) as f64;
        Ok(Layout { features, inner: size(&x.dims()[at + 1..]), count })
    }

    /// Runs of elements, each with the number of its feature.
    fn runs<'a>(&self, values: &'a [f64]) -> impl Iterator<Item = (usize, &'a [f64])> {
        (0..self.features).cycle().zip(values.chunks(self.inner.max(1)))
    }

    /// The sum over each feature of what `term` makes of an element, the feature and its place.
    fn sums(&self, values: &[f64], term: impl Fn(f64, usize, usize) -> f64) -> Vec<f64> {
        let mut sums = vec![0.0; self.features];
        let mut place = 0;
        for (feature, run) in self.runs(values) {
            for value in run {
                sums[feature] += term(*value, feature, place);
                place += 1;
            }
        }
        sums
    }

    /// What `term` makes of each element, its feature and its place.
    fn map(&self, values: &[f64], term: impl Fn(f64, usize, usize) -> f64) -> Vec<f64> {
        let mut out = Vec::with_capacity(values.len());
        for (feature, run) in self.runs(values) {
            let first = out.len();
            out.extend(run.iter().enumerate().map(|(at, v)| term(*v, feature, first + at)));
        }
        out
    }
}

/// One number a feature.
fn per_feature<const N: usize>(
    layout: &Layout,
    tensors: [&Tensor; N],
) -> Result<[Vec<f64>; N], Fault> {
    if tensors.iter().any(|tensor| tensor.len() != layout.features) {
        return Err(Fault::invalid("as many numbers as features are wanted"));
    }
    let mut all = [const { Vec::new() }; N];
    for (values, tensor) in all.iter_mut().zip(tensors) {
        *values = floats(tensor)?;
    }
    Ok(all)
}

struct Statistics {
    mean: Vec<f64>,
    variance: Vec<f64>,
}

fn statistics(layout: &Layout, values: &[f64]) -> Statistics {
    let average = |sums: Vec<f64>| sums.iter().map(|sum| sum / layout.count).collect::<Vec<_>>();
    let mean = average(layout.sums(values, |v, _, _| v));
    let variance = average(layout.sums(values, |v, feature, _| {
        let centered = v - mean[feature];
        centered * centered
    }));
    Statistics { mean, variance }
}

fn normalized(
    layout: &Layout,
    values: &[f64],
    statistics: &Statistics,
    epsilon: f64,
    scale: &[f64],
    offset: &[f64],
) -> Vec<f64> {
    let deviation: Vec<f64> =
        statistics.variance.iter().map(|variance| (variance + epsilon).sqrt()).collect();
    layout
        .map(values, |v, at, _| (v - statistics.mean[at]) / deviation[at] * scale[at] + offset[at])
}

fn gradient(
    site: &Site<'_>,
    operands: &[Tensor],
    feature: i64,
    epsilon: f64,
) -> Result<Results, Fault> {
    let [x, scale, mean, variance, grad] = expect(operands)?;
    let layout = Layout::new(x, feature)?;
    let [scale, mean, variance] = per_feature(&layout, [scale, mean, variance])?;
    if grad.dims() != x.dims() {
        return Err(Fault::invalid("a gradient of another shape than the operand"));
    }
    let (values, grad) = (floats(x)?, floats(grad)?);
    let variance: Vec<f64> = variance.iter().map(|variance| variance + epsilon).collect();
    let of_offset = layout.sums(&grad, |g, _, _| g);
    // The sum of the gradient times the centered operand, which both other results are made of.
    let moment = layout.sums(&grad, |g, at, place| g * (values[place] - mean[at]));
    let of_operand = layout.map(&grad, |g, at, place| {
        let centered = values[place] - mean[at];
        let rest = layout.count * g - of_offset[at] - moment[at] * centered / variance[at];
        scale[at] / variance[at].sqrt() / layout.count * rest
    });
    let of_scale = moment.iter().zip(&variance).map(|(sum, v)| sum / v.sqrt()).collect();
    Ok(Results::from_iter([
        Tensor::from_floats(x.element(), x.dims(), of_operand),
        feature_tensor(site, 1, &layout, of_scale)?,
        feature_tensor(site, 2, &layout, of_offset)?,
    ]))
}

/// A result of one number a feature.
fn feature_tensor(
    site: &Site<'_>,
    result: usize,
    layout: &Layout,
    values: Vec<f64>,
) -> Result<Tensor, Fault> {
    let element = site.result_element(result)?;
    if !element.is_float() {
        return Err(no_meaning(element));
    }
    let dims = Dims::from_slice(&[layout.features as i64]);
    Ok(Tensor::from_floats(element, dims, values))
}
