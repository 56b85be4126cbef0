//! From shardings of dimensions to shardings of factors, and back.
//!
//! A rule says which factors a dimension is made of, major to minor. Its axes are dealt out to them
//! in that order: a factor takes axes, and pieces of them, as long as they divide what is left of
//! its size; the minor-most factor takes whatever remains, whether it divides it or not. Where an
//! axis and what is left of a factor have nothing in common, that axis and all that follow are the
//! factor's *overflow*: they stay with the dimension, and no later factor may use it.
//!
//! With the mesh `"x"=4, "y"=2` and the rule `([ij])->([i, j]) {i=2, j=4}`, the operand sharding
//! `[{"x", "y"}]` gives `i` the axes `"x":(1)2` and `j` the axes `"x":(2)2, "y"`, and these make the
//! result sharding `[{"x":(1)2}, {"x":(2)2, "y"}]`.

use shard_ir::MeshId;
use shard_ir::sharding::{AxisList, AxisRef, Combiner, DimSharding, TensorSharding, axes};
use smallvec::SmallVec;

use crate::rules::{Factor, FactorIndex, OpRule, TensorMapping};

/// How one factor of a tensor is sharded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FactorSharding {
    /// The axes, major to minor.
    pub axes: AxisList,
    /// No axis may be added.
    pub closed: bool,
    /// It is the last factor of its dimension.
    pub minor_most: bool,
    /// Further axes of the dimension, of which the first has nothing in common with what is left
    /// of the factor.
    pub overflow: AxisList,
}

/// How the factors of a tensor are sharded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TensorFactors {
    /// Each factor of the tensor, in the order of its dimensions.
    pub factors: SmallVec<[(FactorIndex, FactorSharding); 4]>,
    /// Axes that the tensor stays replicated along.
    pub replicated: AxisList,
    /// Axes along which each device has a partial value.
    pub unreduced: AxisList,
    /// How partial values combine.
    pub combiner: Combiner,
}

/// How the factors of all operands and results of an op are sharded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Projection {
    /// The operands, then the results.
    pub tensors: SmallVec<[TensorFactors; 3]>,
    /// How many of the tensors are operands.
    pub operand_count: usize,
}

/// How two lists of axes relate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefix {
    /// They are equal.
    Equal,
    /// The second begins with the first and has more; the last part of the first may be a proper
    /// part of the second's.
    Strict,
    /// The second doesn't begin with the first.
    No,
}

impl Prefix {
    /// Whether the second of two lists begins with the first. Takes both as they are: neighbouring
    /// parts of an axis aren't merged first.
    pub fn of(first: &[AxisRef], second: &[AxisRef]) -> Prefix {
        let Some((last, firsts)) = first.split_last() else {
            return if second.is_empty() { Prefix::Equal } else { Prefix::Strict };
        };
        let at = firsts.len();
        if second.len() <= at || firsts != &second[..at] {
            Prefix::No
        } else if *last == second[at] && second.len() == first.len() {
            Prefix::Equal
        } else if last.prefix_of(second[at]) {
            Prefix::Strict
        } else {
            Prefix::No
        }
    }
}

/// The greatest common divisor; that of zero and a number is the number.
pub(crate) fn gcd(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The size of a factor as a number of elements; unknown sizes count as one.
pub(crate) fn factor_size(factor: &Factor) -> u64 {
    u64::try_from(factor.size).unwrap_or(1)
}

/// Appends an axis, as one with the last where it continues that.
fn push_merged(list: &mut AxisList, axis: AxisRef) {
    match list.last_mut().and_then(|last| Some((last.merge(axis)?, last))) {
        Some((merged, last)) => *last = merged,
        None => list.push(axis),
    }
}

/// The axes of a dimension that are still to be dealt out: the rest of one, and those after it.
struct Rest<'a> {
    first: Option<AxisRef>,
    others: &'a [AxisRef],
}

impl<'a> Rest<'a> {
    fn new(axes: &'a [AxisRef]) -> Rest<'a> {
        let mut rest = Rest { first: None, others: axes };
        rest.advance();
        rest
    }

    fn advance(&mut self) {
        self.first = self.others.split_first().map(|(&first, others)| {
            self.others = others;
            first
        });
    }

    fn take_all(&mut self, into: &mut AxisList) {
        while let Some(axis) = self.first {
            push_merged(into, axis);
            self.advance();
        }
    }

    /// Takes axes and pieces of them as long as they divide `size`; returns what is left of it.
    fn take_dividing(&mut self, mut size: u64, into: &mut AxisList) -> u64 {
        while let Some(axis) = self.first {
            let common = gcd(size, u64::from(axis.size));
            if axis.size != 1 && common <= 1 {
                break;
            }
            let piece = u32::try_from(common).ok().and_then(|common| axis.split(common));
            match piece {
                Some((piece, rest)) => {
                    into.push(piece);
                    self.first = Some(rest);
                    size /= common;
                }
                None => {
                    into.push(axis);
                    size /= u64::from(axis.size.max(1));
                    self.advance();
                }
            }
        }
        size
    }
}

impl TensorFactors {
    /// The factor shardings of a tensor. A tensor without a sharding has no axes, and is open
    /// unless `closed_if_missing`.
    pub fn new(
        mapping: &TensorMapping,
        factors: &[Factor],
        sharding: Option<&TensorSharding>,
        closed_if_missing: bool,
    ) -> TensorFactors {
        let mut tensor = TensorFactors::default();
        tensor.assign(mapping, factors, sharding, closed_if_missing);
        tensor
    }

    /// Like [`TensorFactors::new`], in place.
    pub(crate) fn assign(
        &mut self,
        mapping: &TensorMapping,
        factors: &[Factor],
        sharding: Option<&TensorSharding>,
        closed_if_missing: bool,
    ) {
        self.factors.clear();
        for (dim, mapped) in mapping.iter().enumerate() {
            let dim_sharding = sharding.and_then(|sharding| sharding.dims.get(dim));
            let closed = dim_sharding.map_or(closed_if_missing, |dim| !dim.open);
            let mut rest = Rest::new(dim_sharding.map_or(&[], |dim| &dim.axes));
            for (at, &factor) in mapped.iter().enumerate() {
                let mut sharding = FactorSharding {
                    closed,
                    minor_most: at + 1 == mapped.len(),
                    ..FactorSharding::default()
                };
                if sharding.minor_most {
                    rest.take_all(&mut sharding.axes);
                    self.factors.push((factor, sharding));
                    break;
                }
                let size = factor_size(&factors[factor]);
                let left = rest.take_dividing(size, &mut sharding.axes);
                let overflows = left > 1 && rest.first.is_some();
                if overflows {
                    rest.take_all(&mut sharding.overflow);
                }
                self.factors.push((factor, sharding));
                if overflows {
                    // The factors after this one can't be sharded.
                    let next = FactorSharding {
                        closed: true,
                        minor_most: at + 2 == mapped.len(),
                        ..FactorSharding::default()
                    };
                    self.factors.push((mapped[at + 1], next));
                    break;
                }
            }
        }
        match sharding {
            Some(sharding) => {
                self.replicated.clone_from(&sharding.replicated);
                self.unreduced.clone_from(&sharding.unreduced);
                self.combiner = sharding.combiner;
            }
            None => {
                self.replicated.clear();
                self.unreduced.clear();
                self.combiner = Combiner::Sum;
            }
        }
    }

    /// The sharding of a factor; `None` where the tensor doesn't have it.
    pub fn get(&self, factor: FactorIndex) -> Option<&FactorSharding> {
        self.factors.iter().find(|(index, _)| *index == factor).map(|(_, sharding)| sharding)
    }

    /// The sharding of a factor, to change it.
    pub fn get_mut(&mut self, factor: FactorIndex) -> Option<&mut FactorSharding> {
        self.factors.iter_mut().find(|(index, _)| *index == factor).map(|(_, sharding)| sharding)
    }

    /// The axes of a factor; none where the tensor doesn't have it.
    pub fn axes(&self, factor: FactorIndex) -> &[AxisRef] {
        self.get(factor).map_or(&[], |sharding| &sharding.axes)
    }

    /// Gives a factor the axes `new`, where the tensor has the factor and its axes are a strict
    /// prefix of them. Returns whether that was so.
    pub fn expand(&mut self, factor: FactorIndex, new: &[AxisRef]) -> bool {
        match self.get_mut(factor) {
            Some(sharding) if Prefix::of(&sharding.axes, new) == Prefix::Strict => {
                sharding.axes = new.into();
                true
            }
            Some(_) | None => false,
        }
    }

    /// The sharding of the tensor's dimensions. Where a factor isn't filled by its axes, those of
    /// the factors after it in the same dimension can't be expressed, and are left out.
    pub fn to_sharding(
        &self,
        mesh: MeshId,
        mapping: &TensorMapping,
        factors: &[Factor],
    ) -> TensorSharding {
        let dims = mapping.iter().map(|mapped| {
            let (mut closed, mut axes) = (false, AxisList::new());
            for &factor in mapped {
                let Some(sharding) = self.get(factor) else { break };
                closed |= sharding.closed;
                let mut add = |list: &[AxisRef]| {
                    if let Some((&first, others)) = list.split_first() {
                        push_merged(&mut axes, first);
                        axes.extend_from_slice(others);
                    }
                };
                add(&sharding.axes);
                add(&sharding.overflow);
                let filled = axes::product(&sharding.axes) >= factor_size(&factors[factor]);
                if !sharding.overflow.is_empty() || !filled {
                    break;
                }
            }
            DimSharding { axes, open: !closed, priority: None }
        });
        TensorSharding {
            mesh,
            dims: dims.collect(),
            replicated: self.replicated.clone(),
            unreduced: self.unreduced.clone(),
            combiner: self.combiner,
        }
    }
}

impl Projection {
    /// Projects the shardings of an op's operands and results, in that order; too few count as
    /// missing. All must be of one mesh.
    pub fn new(
        rule: &OpRule,
        shardings: &[Option<&TensorSharding>],
        closed_if_missing: bool,
    ) -> Projection {
        let mut projection = Projection::default();
        projection.assign(rule, |at| shardings.get(at).copied().flatten(), closed_if_missing);
        projection
    }

    /// Like [`Projection::new`], in place.
    pub(crate) fn assign<'a>(
        &mut self,
        rule: &OpRule,
        sharding: impl Fn(usize) -> Option<&'a TensorSharding>,
        closed_if_missing: bool,
    ) {
        self.operand_count = rule.operands.len();
        self.tensors.resize_with(rule.tensor_count(), TensorFactors::default);
        for (at, (tensor, mapping)) in self.tensors.iter_mut().zip(rule.tensors()).enumerate() {
            tensor.assign(mapping, &rule.factors, sharding(at), closed_if_missing);
        }
    }

    /// The projection in which every tensor has, for each of its factors, the given axes. All
    /// factors are closed.
    pub fn from_factor_axes(rule: &OpRule, axes: &[AxisList]) -> Projection {
        let tensor = |mapping: &TensorMapping| {
            let mut tensor = TensorFactors::default();
            for mapped in mapping {
                for (at, &factor) in mapped.iter().enumerate() {
                    let sharding = FactorSharding {
                        axes: axes.get(factor).cloned().unwrap_or_default(),
                        closed: true,
                        minor_most: at + 1 == mapped.len(),
                        overflow: AxisList::new(),
                    };
                    tensor.factors.push((factor, sharding));
                }
            }
            tensor
        };
        Projection {
            tensors: rule.tensors().map(tensor).collect(),
            operand_count: rule.operands.len(),
        }
    }

    /// The operands.
    pub fn operands(&self) -> &[TensorFactors] {
        &self.tensors[..self.operand_count]
    }

    /// The results.
    pub fn results(&self) -> &[TensorFactors] {
        &self.tensors[self.operand_count..]
    }

    /// For each factor, the longest list of axes that all tensors which have the factor begin with.
    pub fn common_axes(&self, factor_count: usize) -> Vec<AxisList> {
        let mut common: Vec<Option<AxisList>> = vec![None; factor_count];
        for (factor, sharding) in self.tensors.iter().flat_map(|tensor| &tensor.factors) {
            let Some(common) = common.get_mut(*factor) else { continue };
            *common = Some(match common.take() {
                None => sharding.axes.clone(),
                Some(axes) => axes::common_prefix(&axes, &sharding.axes),
            });
        }
        common.into_iter().map(Option::unwrap_or_default).collect()
    }
}

#[cfg(test)]
mod tests;
