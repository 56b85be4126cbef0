//! Decisions: each op family's strategies with their prices, the choice between them, and the
//! reshard planner.

pub mod cheap;
pub mod factors;
mod pricing;
pub mod reshard;
pub mod strategies;

pub use pricing::Pricing;
