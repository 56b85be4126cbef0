//! `split-reductions`: a reduction whose partial results no sharding can state becomes two.
//!
//! Partial sums, maxima and minima travel as unreduced values. For any other region (a product, an
//! arg-max over several operands) the reduced dimension is cut into its shards: each is reduced on
//! its device, and the few partial results are gathered and reduced again. The program stays one on
//! global values; `[b, v]` becomes `[b, n, v/n]`, whose dimension `n` is sharded as `v` was.
//!
//! A reduction by a single op that starts from anything but the op's neutral element starts from
//! that, and the initial value is combined with its result: parts then start alike, and XLA's CPU
//! compiler, which loses initial values where it takes a reduction apart, has none to lose.

use shard_ir::ops::{
    BroadcastInDim, Constant, Creation, Elementwise, Movement, Op, Reduce, Reduction, Reshard,
};
use shard_ir::sharding::{AxisList, AxisRef, DimSharding, TensorSharding, axes};
use shard_ir::{Dense, DenseData, Diagnostic, Dims, Module, OpId, ValueId};
use shard_propagate::rules::{Reducer, region_reducer};

use crate::insert_reshards::has_sharded_body;
use crate::reasons::because;
use crate::rewrite::{Rewrite, Rewriter, rewrite_module};
use shard_ir::clone::{ValueMap, clone_region};

/// Runs the pass on every function. Every value must have a sharding.
///
/// # Errors
/// None; the signature is that of all passes.
pub fn run(module: &mut Module) -> Result<(), Diagnostic> {
    rewrite_module(module, &mut SplitReductions)
}

struct SplitReductions;

impl Rewrite for SplitReductions {
    fn op(&mut self, rw: &mut Rewriter<'_>, op: OpId) -> Result<(), Diagnostic> {
        let parent = rw.module.parent_op(rw.block);
        let scalars = parent.is_some_and(|parent| !has_sharded_body(rw.module.kind(parent)));
        match rw.module.kind(op).clone() {
            Op::Reduction(Reduction::Reduce(reduce)) if !scalars => {
                let init = start_from_neutral(rw, op);
                match cuts(rw.module, op, &reduce) {
                    Some(cuts) => split(rw, op, &reduce, &cuts),
                    None => rw.keep(op),
                }
                if let Some((init, kind)) = init {
                    combine(rw, op, init, kind);
                }
            }
            _ => rw.keep(op),
        }
        Ok(())
    }
}

/// Has a reduction by a single op start from its neutral element; returns the initial value that it
/// had and the op, if that was another one.
fn start_from_neutral(rw: &mut Rewriter<'_>, op: OpId) -> Option<(ValueId, Elementwise)> {
    let [_, init] = *rw.module.operands(op) else { return None };
    let ty = rw.module.value_type(init);
    let element = rw.module.tensor_type(init)?.element;
    let reducer = region_reducer(rw.module, rw.module.regions(op)[0], 1);
    let kind = match reducer {
        Reducer::Sum => Elementwise::Add,
        Reducer::Product => Elementwise::Multiply,
        Reducer::Max => Elementwise::Maximum,
        Reducer::Min => Elementwise::Minimum,
        Reducer::And => Elementwise::And,
        Reducer::Or => Elementwise::Or,
        Reducer::Xor => Elementwise::Xor,
        Reducer::Other => return None,
    };
    let neutral = crate::numbers::identity(element, reducer)?;
    if let Some(made) = rw.module.defining_op(init)
        && let Op::Creation(Creation::Constant(constant)) = rw.module.kind(made)
        && let DenseData::Splat(bytes) = &constant.value.data
    {
        let zero = reducer == Reducer::Sum && bytes[..] == crate::numbers::encode(element, 0)[..];
        if zero || bytes[..] == neutral[..] {
            return None;
        }
    }
    let value = Dense { ty, data: DenseData::splat(&neutral) };
    let sharding = rw.module.shardings[init];
    let start = rw.emit(Constant { value }, &[], ty);
    rw.module.shardings[start] = sharding;
    rw.module.operands_mut(op)[1] = start;
    Some((init, kind))
}

/// Combines the result of a reduction with an initial value.
fn combine(rw: &mut Rewriter<'_>, op: OpId, init: ValueId, kind: Elementwise) {
    let result = rw.module.result(op, 0);
    let ty = rw.module.value_type(result);
    let sharding = rw.module.shardings[result];
    let broadcast = rw.emit(BroadcastInDim { dimensions: Dims::new() }, &[init], ty);
    let combined = rw.emit(kind, &[result, broadcast], ty);
    for value in [broadcast, combined] {
        rw.module.shardings[value] = sharding;
    }
    rw.replace(result, combined);
}

/// The reduced dimensions that are to be cut, with their axes: those that are sharded, where the
/// region isn't one whose partial results can stay on their devices.
fn cuts(module: &Module, op: OpId, reduce: &Reduce) -> Option<Vec<(usize, AxisList)>> {
    let count = module.results(op).len();
    let region = *module.regions(op).first()?;
    let element = module.tensor_type(module.operand(op, 0))?.element;
    if shard_plan::strategies::combiner(region_reducer(module, region, count), element).is_some() {
        return None;
    }
    let first = module.operand(op, 0);
    let sharding = module.value_sharding(first)?;
    let shape = &module.tensor_type(first)?.dims;
    let found: Vec<(usize, AxisList)> = reduce
        .dimensions
        .iter()
        .filter_map(|&dim| {
            let dim = usize::try_from(dim).ok()?;
            let along = axes::without_unit_axes(sharding.dims.get(dim)?.axes.as_slice());
            let count = axes::product(&along) as i64;
            (count > 1 && shape[dim] > count && shape[dim] % count == 0).then_some((dim, along))
        })
        .collect();
    (!found.is_empty()).then_some(found)
}

fn split(rw: &mut Rewriter<'_>, op: OpId, reduce: &Reduce, cuts: &[(usize, AxisList)]) {
    let results: Vec<ValueId> = rw.module.results(op).to_vec();
    let count = results.len();
    let operands: Vec<ValueId> = rw.module.operands(op).to_vec();
    let (inputs, inits) = operands.split_at(count);
    let cut_of = |dim: usize| cuts.iter().find(|(cut, _)| *cut == dim);
    let reduced = |dim: usize| reduce.dimensions.contains(&(dim as i64));
    let rank = rw.module.tensor_type(inputs[0]).map_or(0, |ty| ty.rank());

    // Dimensions of the reshaped inputs: a cut dimension is two, of which the first stays.
    let mut inner: Dims = Dims::new();
    let mut outer: Dims = Dims::new();
    let (mut at, mut left) = (0i64, 0i64);
    for dim in 0..rank {
        if cut_of(dim).is_some() {
            inner.push(at + 1);
            outer.push(left);
            at += 1;
            left += 1;
        } else if reduced(dim) {
            inner.push(at);
        } else {
            left += 1;
        }
        at += 1;
    }

    let mut partial_shardings: Vec<TensorSharding> = Vec::new();
    let mut partial_types = Vec::new();
    let mut reshaped: Vec<ValueId> = Vec::new();
    // The axes of a cut dimension keep it: no other dimension of any input may have them too, as
    // where another input lies otherwise.
    let taken: Vec<AxisRef> = cuts.iter().flat_map(|(_, along)| along.iter().copied()).collect();
    for &input in inputs {
        let (Some(ty), Some(sharding)) =
            (rw.module.tensor_type(input).cloned(), rw.module.value_sharding(input).cloned())
        else {
            return rw.keep(op);
        };
        let (mut dims, mut kept) = (Dims::new(), Dims::new());
        let (mut split_dims, mut kept_dims) = (Vec::new(), Vec::new());
        for dim in 0..rank {
            let own: Vec<AxisRef> = sharding
                .dim_axes(dim)
                .iter()
                .copied()
                .filter(|axis| taken.iter().all(|other| !axis.overlaps(*other)))
                .collect();
            let own = DimSharding::closed(&own);
            match cut_of(dim) {
                Some((_, along)) => {
                    let n = axes::product(along) as i64;
                    dims.extend([n, ty.dims[dim] / n]);
                    kept.push(n);
                    split_dims.extend([DimSharding::closed(along), DimSharding::closed(&[])]);
                    kept_dims.push(DimSharding::closed(along));
                }
                None => {
                    dims.push(ty.dims[dim]);
                    let own = if reduced(dim) { DimSharding::closed(&[]) } else { own };
                    split_dims.push(own.clone());
                    if !reduced(dim) {
                        kept.push(ty.dims[dim]);
                        kept_dims.push(own);
                    }
                }
            }
        }
        let mesh = sharding.mesh;
        let split = rw.module.sharding_id(TensorSharding::from_dims(mesh, split_dims));
        let shape = rw.module.tensor(ty.element, dims);
        reshaped.push(rw.emit_sharded(Movement::Reshape, &[input], shape, split));
        partial_shardings.push(TensorSharding::from_dims(mesh, kept_dims));
        partial_types.push(rw.module.tensor(ty.element, kept));
    }

    let region = rw.module.regions(op)[0];
    // The initial values count once, in the second reduction. Of a region that is no single op
    // nothing is known but what the specification asks for: that they are neutral.
    let reducer = region_reducer(rw.module, region, count);
    for &init in inits {
        let ty = rw.module.value_type(init);
        let element = rw.module.tensor_type(init).map(|ty| ty.element);
        let neutral = element.and_then(|element| crate::numbers::identity(element, reducer));
        reshaped.push(match neutral {
            Some(bytes) => {
                let value = Dense { ty, data: DenseData::splat(&bytes) };
                let sharding = rw.module.shardings[init];
                let neutral = rw.emit(Constant { value }, &[], ty);
                rw.module.shardings[neutral] = sharding;
                neutral
            }
            None => init,
        });
    }
    let copy = clone_region(rw.module, region, &mut ValueMap::default(), &mut |_, loc| loc);
    let first = Reduce { dimensions: inner };
    let first = rw.module.new_op(first, &reshaped, &partial_types, &[copy], rw.loc);
    rw.place(first);

    let mut gathered: Vec<ValueId> = Vec::new();
    let here = rw.loc;
    for (index, sharding) in partial_shardings.into_iter().enumerate() {
        let value = rw.module.result(first, index);
        let mut whole = sharding.clone();
        for &dim in &outer {
            whole = whole.with_dim_axes(dim as usize, &[]);
        }
        let id = rw.module.sharding_id(sharding);
        rw.module.shardings[value] = id.into();
        let whole = rw.module.sharding_id(whole);
        let ty = rw.module.value_type(value);
        rw.loc = because(rw.module, here, "partial results of reduce");
        gathered.push(rw.emit_sharded(Reshard { sharding: whole }, &[value], ty, whole));
        rw.loc = here;
    }
    gathered.extend_from_slice(inits);
    rw.module.set_operands(op, &gathered);
    rw.module.op_mut(op).op = Reduce { dimensions: outer }.into();
    rw.keep(op);
}
