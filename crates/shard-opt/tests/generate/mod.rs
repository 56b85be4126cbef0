//! Random programs: well-typed StableHLO functions over all families of ops, with control flow, on
//! random meshes, with random shardings on arguments, results and inside.
//!
//! A program is made from a [`Recipe`] of plain numbers, and every recipe makes a valid program: a
//! number picks an operand among the values that fit, or a parameter among those that are allowed.
//! So whatever shrinking does to the numbers, the program stays valid.

mod ops;
mod program;
mod shardings;

use std::fmt;

use proptest::collection::vec;
use proptest::prelude::*;

pub use program::Program;

/// Numbers that a step of a program is made from.
pub type Numbers = [u16; 8];

/// What a program is made from.
#[derive(Clone)]
pub struct Recipe {
    /// Sizes of the mesh's axes, and the order of its devices.
    pub mesh: Numbers,
    /// Each argument: element type, shape, sharding.
    pub args: Vec<Numbers>,
    /// Each op.
    pub steps: Vec<Numbers>,
    /// Each result: which value, and its sharding.
    pub results: Vec<Numbers>,
}

impl Recipe {
    /// The program.
    pub fn program(&self) -> Program {
        Program::of(self)
    }
}

/// A failing case shows its program.
impl fmt::Debug for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{}", self.program().text)
    }
}

/// Recipes of at most so many ops.
pub fn recipes(steps: usize) -> impl Strategy<Value = Recipe> {
    let numbers = || any::<Numbers>();
    (numbers(), vec(numbers(), 1..4), vec(numbers(), 1..steps + 1), vec(numbers(), 1..6))
        .prop_map(|(mesh, args, steps, results)| Recipe { mesh, args, steps, results })
}
