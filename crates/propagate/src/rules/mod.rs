//! Op sharding rules: how the dimensions of an op's operands and results hang together.
//!
//! A rule names *factors* and says for each dimension of each tensor which factors it is made of,
//! major to minor. Two dimensions with the same factor are sharded alike. `dot_general` of two
//! matrices has the rule `([i, k], [k, j])->([i, j])` with `k` a reduction; a reshape from 8 to 2x4
//! has `([ij])->([i, j])`.
//!
//! [`rule`] is an exhaustive match over the op table; each family has a file of its own. Explicit
//! rules in the text (`sdy.sharding_rule`) win over what the table says.
//!
//! What a kind promises to a partitioner, when every tensor that has the factor is sharded along it
//! in the same way:
//! - [`FactorKind::PassThrough`]: each device computes its part of the results from its parts of
//!   the operands. Ops that depend on positions (traits `POSITION`: iota, the indexed dimensions of
//!   a scatter, random bits) need the part's offset.
//! - [`FactorKind::Reduction`]: each device gets a partial result, to be combined as stated.
//! - [`FactorKind::Permutation`]: elements move between devices: halos, parts of an update, or of a
//!   reshape between dimensions that have no size in common. The dimensions of the factor may be of
//!   different sizes.
//! - [`FactorKind::NeedReplication`]: the op needs the whole dimension.
//!
//! The rules say what those of the Shardy in jaxlib 0.12.0.1 say, but for the kinds of a few factors
//! where Shardy's answer would make a partitioned program compute something else. These are
//! `NeedReplication` here, and pass-through there: the non-batch dimensions of an eigenvalue
//! decomposition, the reduced dimension of an approximate top-k, and the last dimension of a top-k
//! that keeps every element. Padding that keeps a dimension's size, and a window reduction of a
//! dilated input, are permutations. The kind of a factor decides only in which round propagation
//! looks at it, so that this hardly ever changes a sharding. Batch normalisations that compute
//! statistics, `chlo.top_k` and elementwise `chlo` ops have rules, which jaxlib's Shardy alone
//! doesn't give them (XLA rewrites these ops before it propagates).

mod builder;
mod collective;
mod control;
mod convolution;
mod creation;
mod custom;
mod dot;
mod effects;
mod elementwise;
mod indexing;
mod linalg;
mod movement;
mod normalization;
mod random;
mod reducer;
mod reduction;
mod sdy;
mod sorting;
mod text;

use shard_ir::ops::Op;
use shard_ir::{Attr, Module, OpId};
use smallvec::SmallVec;

pub(crate) use builder::RuleBuilder;
pub use reducer::{Reducer, region_reducer};
pub use text::{RuleTextError, factor_name};

/// The number of a factor in its rule.
pub type FactorIndex = usize;

/// The factors that a dimension is made of, major to minor; at least one.
pub type DimMapping = SmallVec<[FactorIndex; 2]>;

/// The factors of each dimension of a tensor.
pub type TensorMapping = Vec<DimMapping>;

/// What sharding along a factor asks for; see the module's documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FactorKind {
    /// Devices compute their parts independently.
    PassThrough,
    /// Results are partial and must be combined.
    Reduction(Reducer),
    /// The dimension must be whole.
    NeedReplication,
    /// Elements move between neighbouring devices.
    Permutation,
}

impl FactorKind {
    /// Whether it is a reduction, whatever its combiner.
    pub fn is_reduction(self) -> bool {
        matches!(self, FactorKind::Reduction(_))
    }
}

/// A factor of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Factor {
    /// Number of elements along it; [`shard_ir::DYNAMIC`] for a dimension of unknown size, which
    /// is blocked and needs replication.
    pub size: i64,
    /// What sharding along it asks for.
    pub kind: FactorKind,
    /// Propagation doesn't go along it.
    pub blocked: bool,
}

/// The sharding rule of an op.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct OpRule {
    /// The factors.
    pub factors: Vec<Factor>,
    /// The factors of each operand's dimensions; empty for scalars and what isn't a tensor.
    pub operands: Vec<TensorMapping>,
    /// The factors of each result's dimensions.
    pub results: Vec<TensorMapping>,
    /// The program states this rule itself.
    pub is_custom: bool,
}

impl OpRule {
    /// The number of operands and results.
    pub fn tensor_count(&self) -> usize {
        self.operands.len() + self.results.len()
    }

    /// The mapping of an operand, or after those, of a result.
    pub fn tensor(&self, index: usize) -> &TensorMapping {
        match index.checked_sub(self.operands.len()) {
            None => &self.operands[index],
            Some(result) => &self.results[result],
        }
    }

    /// The mappings of the operands, then those of the results.
    pub fn tensors(&self) -> impl Iterator<Item = &TensorMapping> {
        self.operands.iter().chain(&self.results)
    }

    /// The factors of a kind.
    pub fn factors_where(
        &self,
        keep: impl Fn(FactorKind) -> bool,
    ) -> impl Iterator<Item = FactorIndex> {
        let chosen = move |(index, factor): (usize, &Factor)| keep(factor.kind).then_some(index);
        self.factors.iter().enumerate().filter_map(chosen)
    }

    /// The rule that has the same factors for the same dimensions of every tensor: a tensor of the
    /// given shape, so many operands, so many results.
    pub fn identity(shape: &[i64], operands: usize, results: usize) -> OpRule {
        let mapping: TensorMapping =
            (0..shape.len()).map(|dim| DimMapping::from_slice(&[dim])).collect();
        OpRule {
            factors: shape
                .iter()
                .map(|&size| builder::factor(size, FactorKind::PassThrough, false))
                .collect(),
            operands: vec![mapping.clone(); operands],
            results: vec![mapping; results],
            is_custom: false,
        }
    }
}

/// The sharding rule of an op; `None` for ops whose operands and results propagation connects in
/// another way (data flow, calls), or not at all (tokens, tuples, unknown ops).
///
/// Takes time linear in the op's own operands, results and dimensions.
pub fn rule(module: &Module, op: OpId) -> Option<OpRule> {
    rule_with(module, op, false)
}

/// Like [`rule`]; a conservative rule doesn't let shardings through where they may not divide the
/// dimensions (concatenations, pads, slices, windows).
pub fn rule_with(module: &Module, op: OpId, conservative: bool) -> Option<OpRule> {
    if let Some(rule) = explicit(module, op) {
        return Some(rule);
    }
    match module.kind(op) {
        Op::Elementwise(kind) => elementwise::rule(module, op, kind),
        Op::Creation(kind) => creation::rule(module, op, kind),
        Op::Dot(kind) => dot::rule(module, op, kind),
        Op::Convolution(kind) => convolution::rule(module, op, kind, conservative),
        Op::Reduction(kind) => reduction::rule(module, op, kind, conservative),
        Op::Movement(kind) => movement::rule(module, op, kind, conservative),
        Op::Indexing(kind) => indexing::rule(module, op, kind),
        Op::Sorting(kind) => sorting::rule(module, op, kind),
        Op::Linalg(kind) => linalg::rule(module, op, kind),
        Op::Random(kind) => random::rule(module, op, kind),
        Op::Normalization(kind) => normalization::rule(module, op, kind),
        Op::Control(kind) => control::rule(module, op, kind),
        Op::Collective(kind) => collective::rule(module, op, kind),
        Op::Sdy(kind) => sdy::rule(module, op, kind),
        Op::Effects(kind) => effects::rule(module, op, kind),
        Op::Custom(kind) => custom::rule(module, op, kind),
        Op::Hlo(_) | Op::Opaque(_) => None,
    }
}

/// The name of the attribute that states a rule.
pub const RULE_ATTR: &str = "sdy.sharding_rule";

/// The rule that the text states for an op, if it fits the op.
fn explicit(module: &Module, op: OpId) -> Option<OpRule> {
    let text = match module.attr(module.op(op).attrs, RULE_ATTR)? {
        Attr::Text(text) | Attr::String(text) => module.str(*text),
        _ => return None,
    };
    let rule: OpRule = text.parse().ok()?;
    let fits = |mappings: &[TensorMapping], values: &[shard_ir::ValueId]| {
        mappings.len() == values.len()
            && mappings
                .iter()
                .zip(values)
                .all(|(mapping, &value)| mapping.len() == builder::rank(module, value))
    };
    (fits(&rule.operands, module.operands(op)) && fits(&rule.results, module.results(op)))
        .then_some(rule)
}

/// Whether an op is elementwise for propagation's schedule: also sdy's constraints, reshards and
/// barriers, and a bitcast that keeps the shape.
pub fn is_elementwise(module: &Module, op: OpId) -> bool {
    use shard_ir::ops::{Elementwise, Movement, Sdy};
    match module.kind(op) {
        Op::Elementwise(Elementwise::Map(_)) => false,
        Op::Elementwise(_) => true,
        Op::Movement(Movement::BitcastConvert) => {
            builder::shape(module, module.operand(op, 0))
                == builder::shape(module, module.result(op, 0))
        }
        Op::Sdy(kind) => {
            matches!(
                kind,
                Sdy::ShardingConstraint(_) | Sdy::Reshard(_) | Sdy::PropagationBarrier(_)
            )
        }
        _ => false,
    }
}
