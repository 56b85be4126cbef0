//! Random numbers.

mod bits;
mod distribution;

use shard_ir::ops::{Random, RngAlgorithm};

use super::operands::{exactly, integers};
use crate::site::{Results, Site};
use crate::{Fault, Tensor};

pub(crate) fn eval(op: &Random, site: &Site<'_>, operands: &[Tensor]) -> Result<Results, Fault> {
    match op {
        Random::Rng(op) => {
            let [a, b, shape] = exactly(operands)?;
            let result = distribution::draw(op.distribution, a, b, &integers(shape)?)?;
            Ok(Results::from_iter([result]))
        }
        Random::RngBitGenerator(op) => {
            let [state] = exactly(operands)?;
            let (element, dims) = (site.result_element(1)?, site.result_dims(1)?);
            match op.algorithm {
                RngAlgorithm::ThreeFry => bits::three_fry(state, element, &dims),
                // The choice of XLA's CPU backend.
                RngAlgorithm::Philox | RngAlgorithm::Default => bits::philox(state, element, &dims),
            }
            .map(Results::from)
        }
    }
}
