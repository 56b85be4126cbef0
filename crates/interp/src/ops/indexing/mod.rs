//! Gathers and scatters.

mod combine;
mod gather;
mod places;
mod scatter;

use shard_ir::ops::Indexing;

use super::operands::{exactly, integers_per_dim};
use crate::site::{Results, Site};
use crate::{Fault, Tensor};

pub(crate) fn eval(op: &Indexing, site: &Site<'_>, operands: &[Tensor]) -> Result<Results, Fault> {
    match op {
        Indexing::Gather(op) => {
            let [x, indices] = exactly(operands)?;
            Ok(Results::from_iter([gather::gather(&op.dims, &op.slice_sizes, x, indices)?]))
        }
        Indexing::DynamicGather(op) => {
            let [x, indices, sizes] = exactly(operands)?;
            let sizes = integers_per_dim(sizes, x.rank())?;
            Ok(Results::from_iter([gather::gather(&op.dims, &sizes, x, indices)?]))
        }
        Indexing::Scatter(op) => scatter::scatter(&op.dims, site, operands),
        Indexing::TorchIndexSelect(op) => {
            let [x, index] = exactly(operands)?;
            Ok(Results::from_iter([gather::index_select(op, x, index)?]))
        }
    }
}
