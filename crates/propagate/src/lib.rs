//! Sharding propagation: op sharding rules, and the engine that gives every value a sharding.

pub mod engine;
pub mod projection;
pub mod rules;

pub use engine::{
    Direction, Log, Options, Placement, Propagation, SharedSharding, Strategy, Tracer, propagate,
    propagate_traced,
};
pub use projection::{FactorSharding, Projection, TensorFactors};
pub use rules::{
    DimMapping, Factor, FactorIndex, FactorKind, OpRule, Reducer, TensorMapping, rule, rule_with,
};
