//! Gathers and scatters.
//!
//! A gather's operand dimension that is addressed by indices is a reduction: each device looks up
//! what lies in its part, zero elsewhere, and the results are summed. A scatter's is pass-through:
//! each device applies the updates that fall into its part. The other way round, along the batch
//! dimensions of the indices a gather is pass-through, and a scatter a reduction with the combiner
//! of its region.

use shard_ir::ops::Indexing;
use shard_ir::{Module, OpId};

use super::builder::{self, DimChoice, dims, lists};
use super::reducer::region_reducer;
use super::{FactorKind, OpRule, Reducer, RuleBuilder};

/// A gather or a scatter, as one shape of thing: slices of the input lie in the slices tensor (a
/// gather's result, a scatter's updates).
struct Slices<'a> {
    input: &'a [i64],
    indices: &'a [i64],
    slices: &'a [i64],
    /// Dimensions of `slices` that hold a slice; the others go along with the indices.
    offset_dims: &'a [i64],
    collapsed: &'a [i64],
    input_batching: &'a [i64],
    indices_batching: &'a [i64],
    index_vector_dim: i64,
    scatter: Option<Reducer>,
}

/// A factor of a gather or scatter: which dimension it is of the input, the indices, the slices.
struct SliceFactor {
    input: DimChoice,
    indices: DimChoice,
    slices: DimChoice,
    size: i64,
    kind: FactorKind,
    blocked: bool,
}

pub(super) fn rule(module: &Module, op: OpId, kind: &Indexing) -> Option<OpRule> {
    let mut builder = RuleBuilder::new(module, op);
    match kind {
        Indexing::Gather(gather) => {
            let &[input, indices] = module.operands(op) else { return None };
            let result = *module.results(op).first()?;
            let numbers = &gather.dims;
            let slices = Slices {
                input: builder::shape(module, input),
                indices: builder::shape(module, indices),
                slices: builder::shape(module, result),
                offset_dims: &numbers.offset_dims,
                collapsed: &numbers.collapsed_slice_dims,
                input_batching: &numbers.operand_batching_dims,
                indices_batching: &numbers.start_indices_batching_dims,
                index_vector_dim: numbers.index_vector_dim,
                scatter: None,
            };
            let sum = Reducer::sum_of(module, result);
            slices.factors(sum, |f| {
                builder.add(&[f.input, f.indices], &[f.slices], f.size, f.kind, f.blocked);
            })?;
        }
        Indexing::Scatter(scatter) => {
            let operands = module.operands(op);
            let count = module.results(op).len();
            let (input, indices) = (*operands.first()?, *operands.get(count)?);
            let updates = *operands.get(count + 1)?;
            let reducer = match module.regions(op).first() {
                Some(&region) => region_reducer(module, region, count),
                None => Reducer::Other,
            };
            let numbers = &scatter.dims;
            let slices = Slices {
                input: builder::shape(module, input),
                indices: builder::shape(module, indices),
                slices: builder::shape(module, updates),
                offset_dims: &numbers.update_window_dims,
                collapsed: &numbers.inserted_window_dims,
                input_batching: &numbers.input_batching_dims,
                indices_batching: &numbers.scatter_indices_batching_dims,
                index_vector_dim: numbers.index_vector_dim,
                scatter: Some(reducer),
            };
            slices.factors(Reducer::Other, |f| {
                let mut operands = vec![f.input; count];
                operands.push(f.indices);
                operands.resize(2 * count + 1, f.slices);
                builder.add(&operands, &vec![f.input; count], f.size, f.kind, f.blocked);
            })?;
        }
        Indexing::DynamicGather(_) | Indexing::TorchIndexSelect(_) => return None,
    }
    Some(builder.build())
}

impl Slices<'_> {
    /// The factors, in the order of the slices' dimensions; `None` where the dimension numbers
    /// don't fit the shapes.
    fn factors(&self, gather_sum: Reducer, mut add: impl FnMut(SliceFactor)) -> Option<()> {
        let plain = |input, indices, slices, size, kind| SliceFactor {
            input,
            indices,
            slices,
            size,
            kind,
            blocked: false,
        };
        let whole = FactorKind::NeedReplication;
        let is_window = |dim| !lists(self.collapsed, dim) && !lists(self.input_batching, dim);
        let mut window_dims = (0..self.input.len()).filter(|&dim| is_window(dim));
        let mut batch_dims =
            (0..self.indices.len()).filter(|&dim| !lists(&[self.index_vector_dim], dim));
        for (slices_dim, &size) in self.slices.iter().enumerate() {
            if !lists(self.offset_dims, slices_dim) {
                let indices_dim = batch_dims.next()?;
                let explicit = self.indices_batching.iter().position(|&d| d == indices_dim as i64);
                let input_dim = explicit.and_then(|at| dims_at(self.input_batching, at));
                let kind = match self.scatter {
                    // Devices with different updates have partial results.
                    Some(reducer) if explicit.is_none() => match reducer {
                        Reducer::Sum
                        | Reducer::Product
                        | Reducer::Max
                        | Reducer::Min
                        | Reducer::And
                        | Reducer::Or => FactorKind::Reduction(reducer),
                        Reducer::Xor | Reducer::Other => whole,
                    },
                    Some(_) | None => FactorKind::PassThrough,
                };
                add(plain(input_dim, Some(indices_dim), Some(slices_dim), size, kind));
                continue;
            }
            let input_dim = window_dims.next()?;
            let input_size = self.input[input_dim];
            let (on_input, on_slices) = (Some(input_dim), Some(slices_dim));
            if input_size == size {
                add(plain(on_input, None, on_slices, size, FactorKind::PassThrough));
            } else if self.scatter.is_some() {
                add(plain(on_input, None, None, input_size, whole));
                add(plain(None, None, on_slices, size, whole));
            } else if size == 1 {
                let kind = FactorKind::Reduction(gather_sum);
                add(plain(on_input, None, None, input_size, kind));
                add(plain(None, None, on_slices, size, whole));
            } else {
                let factor = plain(on_input, None, on_slices, input_size, whole);
                add(SliceFactor { blocked: true, ..factor });
            }
        }
        for dim in dims(&self.collapsed.into()) {
            let size = *self.input.get(dim)?;
            let kind = match self.scatter {
                Some(_) => FactorKind::PassThrough,
                None if size == 1 => whole,
                None => FactorKind::Reduction(gather_sum),
            };
            add(plain(Some(dim), None, None, size, kind));
        }
        if let Some(dim) =
            usize::try_from(self.index_vector_dim).ok().filter(|&d| d < self.indices.len())
        {
            add(plain(None, Some(dim), None, self.indices[dim], whole));
        }
        Some(())
    }
}

fn dims_at(numbers: &[i64], at: usize) -> DimChoice {
    numbers.get(at).and_then(|&dim| usize::try_from(dim).ok())
}
