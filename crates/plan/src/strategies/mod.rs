//! Ways to compute an op in parts.
//!
//! A strategy assigns axes to the factors of the op's rule. What a factor allows is its
//! [`Capability`], which each op family states in a file of its own: that is all a family has to
//! say, and the rest is shared: proposals come from the shardings that the operands and results
//! have, and are made consistent.

mod capability;
mod choose;

pub use capability::{Capability, capabilities, combiner};
pub use choose::{Advice, Strategy, Wanted, advise, choose, strategies};
