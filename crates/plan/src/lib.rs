//! Decisions: each op family's strategies with their prices, the choice between them, and the
//! reshard planner.

pub mod reshard;
