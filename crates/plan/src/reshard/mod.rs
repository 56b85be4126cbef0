//! The reshard planner: from one sharding of a tensor to another at least cost.
//!
//! A reshard is a path through *states*: how the atoms of the mesh (the pieces into which both
//! shardings cut its axes) lie on the tensor's dimensions, and along which of them the value is
//! unreduced. Moves between states are the collectives; the planner finds the cheapest path by
//! Dijkstra's algorithm. It always finds one: gathering and then slicing is a path.

mod moves;
mod search;
mod state;

pub use moves::{Step, StepKind};
pub use search::{Plan, PlannedStep, Request, plan};
