//! Makes rules step by step.

use shard_ir::{DYNAMIC, Dims, Module, OpId, ValueId};

use super::{DimMapping, Factor, FactorIndex, FactorKind, OpRule, TensorMapping};

/// The dimension of each operand or result that a factor belongs to.
pub(crate) type DimChoice = Option<usize>;

/// The rank of a value; 0 for what isn't a ranked tensor.
pub(crate) fn rank(module: &Module, value: ValueId) -> usize {
    module.tensor_type(value).map_or(0, |ty| ty.rank())
}

/// The shape of a value; empty for what isn't a ranked tensor.
pub(crate) fn shape(module: &Module, value: ValueId) -> &[i64] {
    module.tensor_type(value).map_or(&[], |ty| &ty.dims)
}

/// A factor; one of unknown size is blocked.
pub(crate) fn factor(size: i64, kind: FactorKind, blocked: bool) -> Factor {
    if size == DYNAMIC {
        Factor { size, kind: FactorKind::NeedReplication, blocked: true }
    } else {
        Factor { size, kind, blocked }
    }
}

/// A rule in the making. Dimensions that don't exist are passed over, so that a malformed op gets
/// a rule without sense rather than a panic.
pub(crate) struct RuleBuilder {
    rule: OpRule,
}

impl RuleBuilder {
    /// A rule without factors for an op's operands and results.
    pub fn new(module: &Module, op: OpId) -> RuleBuilder {
        let blank = |values: &[ValueId]| -> Vec<TensorMapping> {
            values.iter().map(|&value| vec![DimMapping::new(); rank(module, value)]).collect()
        };
        let operands = blank(module.operands(op));
        let results = blank(module.results(op));
        RuleBuilder { rule: OpRule { factors: Vec::new(), operands, results, is_custom: false } }
    }

    fn reserve(&mut self, size: i64, kind: FactorKind, blocked: bool) -> FactorIndex {
        self.rule.factors.push(factor(size, kind, blocked));
        self.rule.factors.len() - 1
    }

    /// Adds a factor to the given dimension of each operand and of each result. A factor of size
    /// one joins only dimensions that have no factor yet.
    pub fn add(
        &mut self,
        operands: &[DimChoice],
        results: &[DimChoice],
        size: i64,
        kind: FactorKind,
        blocked: bool,
    ) {
        let index = self.reserve(size, kind, blocked);
        let choices = [(&mut self.rule.operands, operands), (&mut self.rule.results, results)];
        for (mappings, dims) in choices {
            for (mapping, &dim) in mappings.iter_mut().zip(dims) {
                let Some(mapped) = dim.and_then(|dim| mapping.get_mut(dim)) else { continue };
                if size != 1 || mapped.is_empty() {
                    mapped.push(index);
                }
            }
        }
    }

    /// Adds a pass-through factor.
    pub fn pass(&mut self, operands: &[DimChoice], results: &[DimChoice], size: i64) {
        self.add(operands, results, size, FactorKind::PassThrough, false);
    }

    /// Adds a factor that needs replication.
    pub fn whole(&mut self, operands: &[DimChoice], results: &[DimChoice], size: i64) {
        self.add(operands, results, size, FactorKind::NeedReplication, false);
    }

    /// Adds a factor to the same dimension of every operand and result that has it.
    pub fn everywhere(&mut self, dim: usize, size: i64, kind: FactorKind, blocked: bool) {
        let index = self.reserve(size, kind, blocked);
        for mapping in self.rule.operands.iter_mut().chain(&mut self.rule.results) {
            if let Some(mapped) = mapping.get_mut(dim) {
                mapped.push(index);
            }
        }
    }

    /// Adds a factor to the same dimension of every operand.
    pub fn all_operands(&mut self, dim: usize, size: i64, kind: FactorKind) {
        let index = self.reserve(size, kind, false);
        for mapped in self.rule.operands.iter_mut().filter_map(|mapping| mapping.get_mut(dim)) {
            mapped.push(index);
        }
    }

    /// Adds a factor to the same dimension of every result.
    pub fn all_results(&mut self, dim: usize, size: i64, kind: FactorKind) {
        let index = self.reserve(size, kind, false);
        for mapped in self.rule.results.iter_mut().filter_map(|mapping| mapping.get_mut(dim)) {
            mapped.push(index);
        }
    }

    /// Adds a pass-through factor for each dimension of a shape, everywhere.
    pub fn pointwise(&mut self, shape: &[i64]) {
        for (dim, &size) in shape.iter().enumerate() {
            self.everywhere(dim, size, FactorKind::PassThrough, false);
        }
    }

    /// Adds a factor everywhere for each dimension: pass-through where the two shapes agree, of
    /// the given kind where they don't.
    pub fn pointwise_but_mismatches(
        &mut self,
        input: &[i64],
        output: &[i64],
        kind: FactorKind,
        blocked: bool,
    ) {
        for (dim, (&size, &out)) in input.iter().zip(output).enumerate() {
            if size == out {
                self.everywhere(dim, size, FactorKind::PassThrough, false);
            } else {
                self.everywhere(dim, size, kind, blocked);
            }
        }
    }

    /// The rule; dimensions without a factor get one of size one.
    pub fn build(mut self) -> OpRule {
        let OpRule { factors, operands, results, .. } = &mut self.rule;
        for mapped in operands.iter_mut().chain(results).flatten().filter(|dim| dim.is_empty()) {
            mapped.push(factors.len());
            factors.push(factor(1, FactorKind::PassThrough, false));
        }
        self.rule
    }
}

/// The rule of an op whose results are all computed element by element.
pub(crate) fn pointwise(module: &Module, op: OpId) -> Option<OpRule> {
    let first = *module.results(op).first()?;
    module.tensor_type(first)?;
    let mut builder = RuleBuilder::new(module, op);
    builder.pointwise(shape(module, first));
    Some(builder.build())
}

/// Dimension numbers of the table as indices; negative ones are passed over.
pub(crate) fn dims(numbers: &Dims) -> impl Iterator<Item = usize> + '_ {
    numbers.iter().filter_map(|&dim| usize::try_from(dim).ok())
}

/// Whether `numbers` lists a dimension.
pub(crate) fn lists(numbers: &[i64], dim: usize) -> bool {
    i64::try_from(dim).is_ok_and(|dim| numbers.contains(&dim))
}
