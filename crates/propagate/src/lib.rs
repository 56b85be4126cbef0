//! Sharding propagation: op sharding rules, and the engine that gives every value a sharding.

pub mod projection;
pub mod rules;

pub use projection::{FactorSharding, Projection, TensorFactors};
pub use rules::{
    DimMapping, Factor, FactorIndex, FactorKind, OpRule, Reducer, TensorMapping, rule, rule_with,
};
