//! Comparators of sorts, taken apart so that comparing two elements is quick.
//!
//! What a comparator does to one of its two sides alone is done to all elements beforehand, such
//! as that zeros lose their sign. What remains are comparisons of the two sides, and boolean ops
//! on what comes of them.

use rustc_hash::FxHashMap;
use shard_ir::ops::{Compare, CompareType, Direction, Elementwise, Op};
use shard_ir::{BlockId, Dims, NumberKind, ValueId};
use smallvec::SmallVec;

use super::keys::total_order;
use crate::ops;
use crate::site::Site;
use crate::{Fault, Tensor};

/// Which elements a value of the region belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    /// None: it is the same for all.
    Neither,
    Left,
    Right,
}

/// A value of the region.
#[derive(Clone)]
enum Known {
    /// One element for each of the operands', or one for all.
    Elements(Side, Tensor),
    /// What comes of a step.
    Step(usize),
}

/// One value for each element, or one for all.
struct Column<T>(Vec<T>);

impl<T: Copy> Column<T> {
    fn at(&self, index: usize) -> T {
        self.0[if self.0.len() == 1 { 0 } else { index }]
    }
}

/// Something computed of two elements.
enum Step {
    Integers { direction: Direction, left: Column<i64>, right: Column<i64> },
    Floats { direction: Direction, left: Column<f64>, right: Column<f64> },
    OfLeft(Column<i64>),
    OfRight(Column<i64>),
    Not(usize),
    And(usize, usize),
    Or(usize, usize),
    Xor(usize, usize),
    Select(usize, usize, usize),
}

/// A comparator that was taken apart.
pub(super) struct Comparator {
    steps: Vec<Step>,
    result: usize,
}

impl Comparator {
    /// The comparator that a block is. `None` if it consists of anything else, too.
    ///
    /// # Errors
    /// Those of the ops in the region.
    pub fn new(
        site: &Site<'_>,
        block: BlockId,
        operands: &[Tensor],
    ) -> Result<Option<Comparator>, Fault> {
        let module = site.module;
        if module.params(block).len() != 2 * operands.len() {
            return Err(Fault::invalid("a comparator with another number of parameters"));
        }
        let mut known: FxHashMap<ValueId, Known> = FxHashMap::default();
        for (at, param) in module.params(block).iter().enumerate() {
            let side = if at % 2 == 0 { Side::Left } else { Side::Right };
            let x = &operands[at / 2];
            let flat = x.reshaped(Dims::from_slice(&[x.len() as i64]));
            known.insert(*param, Known::Elements(side, flat));
        }
        let mut steps = Vec::new();
        for &op in module.block_ops(block) {
            let mut values: SmallVec<[Known; 3]> = SmallVec::new();
            for value in module.operands(op) {
                let outside = || {
                    let tensor = site.outside.value(*value)?.tensor().ok()?.clone();
                    Some(Known::Elements(Side::Neither, tensor))
                };
                let Some(value) = known.get(value).cloned().or_else(outside) else {
                    return Ok(None);
                };
                values.push(value);
            }
            if module.kind(op).is_terminator() {
                let result = values.first().and_then(|value| boolean(value, &mut steps));
                return Ok(result.map(|result| Comparator { steps, result }));
            }
            let &[result] = module.results(op) else { return Ok(None) };
            let found = match one_side(&values) {
                Some((side, tensors)) => {
                    if !matches!(module.kind(op), Op::Elementwise(_) | Op::Creation(_)) {
                        return Ok(None);
                    }
                    let inner = Site { op, ..*site };
                    let Some(tensor) = ops::eval(&inner, &tensors)?.into_iter().next() else {
                        return Ok(None);
                    };
                    // A constant of some shape has no business here.
                    let len = operands.first().map_or(0, Tensor::len);
                    if tensor.len() != 1 && (side == Side::Neither || tensor.len() != len) {
                        return Ok(None);
                    }
                    Known::Elements(side, tensor)
                }
                None => match step(module.kind(op), &values, &mut steps) {
                    Some(step) => Known::Step(step),
                    None => return Ok(None),
                },
            };
            known.insert(result, found);
        }
        Ok(None)
    }

    /// The keys of the only comparison, if it is one that any sort can do: of integers in the order
    /// that they have, or (`true`) in the reverse.
    pub fn keys(&self) -> Option<(&[i64], bool)> {
        let [Step::Integers { direction, left, right }] = &self.steps[..] else { return None };
        if left.0 != right.0 {
            return None;
        }
        match direction {
            Direction::Lt => Some((&left.0, false)),
            Direction::Gt => Some((&left.0, true)),
            Direction::Eq | Direction::Ne | Direction::Ge | Direction::Le => None,
        }
    }

    /// What the comparator says of two elements. `scratch` has room for the steps.
    pub fn holds(&self, left: usize, right: usize, scratch: &mut Vec<bool>) -> bool {
        scratch.clear();
        for step in &self.steps {
            let value = match step {
                Step::Integers { direction, left: a, right: b } => {
                    compare(*direction, a.at(left), b.at(right))
                }
                Step::Floats { direction, left: a, right: b } => {
                    compare(*direction, a.at(left), b.at(right))
                }
                Step::OfLeft(column) => column.at(left) != 0,
                Step::OfRight(column) => column.at(right) != 0,
                Step::Not(a) => !scratch[*a],
                Step::And(a, b) => scratch[*a] & scratch[*b],
                Step::Or(a, b) => scratch[*a] | scratch[*b],
                Step::Xor(a, b) => scratch[*a] ^ scratch[*b],
                Step::Select(p, a, b) => scratch[if scratch[*p] { *a } else { *b }],
            };
            scratch.push(value);
        }
        scratch[self.result]
    }
}

fn compare<T: PartialOrd>(direction: Direction, a: T, b: T) -> bool {
    match direction {
        Direction::Eq => a == b,
        Direction::Ne => a != b,
        Direction::Ge => a >= b,
        Direction::Gt => a > b,
        Direction::Le => a <= b,
        Direction::Lt => a < b,
    }
}

/// The tensors, if all values belong to one side.
fn one_side(values: &[Known]) -> Option<(Side, Vec<Tensor>)> {
    let mut side = Side::Neither;
    let mut tensors = Vec::new();
    for value in values {
        let Known::Elements(own, tensor) = value else { return None };
        match (side, own) {
            (_, Side::Neither) => {}
            (Side::Neither, _) => side = *own,
            _ if side == *own => {}
            _ => return None,
        }
        tensors.push(tensor.clone());
    }
    Some((side, tensors))
}

/// Adds an op on both sides to the steps.
fn step(op: &Op, values: &[Known], steps: &mut Vec<Step>) -> Option<usize> {
    let Op::Elementwise(op) = op else { return None };
    let step = match (op, values) {
        (Elementwise::Compare(op), [Known::Elements(side, a), Known::Elements(_, b)]) => {
            let (direction, a, b) = match side {
                Side::Right => (mirrored(op.direction), b, a),
                Side::Left | Side::Neither => (op.direction, a, b),
            };
            comparison(direction, op, a, b)?
        }
        (Elementwise::Not, [a]) => Step::Not(boolean(a, steps)?),
        (Elementwise::And | Elementwise::Multiply | Elementwise::Minimum, [a, b]) => {
            Step::And(boolean(a, steps)?, boolean(b, steps)?)
        }
        (Elementwise::Or | Elementwise::Add | Elementwise::Maximum, [a, b]) => {
            Step::Or(boolean(a, steps)?, boolean(b, steps)?)
        }
        (Elementwise::Xor, [a, b]) => Step::Xor(boolean(a, steps)?, boolean(b, steps)?),
        (Elementwise::Select, [p, a, b]) => {
            Step::Select(boolean(p, steps)?, boolean(a, steps)?, boolean(b, steps)?)
        }
        (Elementwise::Compare(op), [a, b]) => {
            // Of booleans, one of which comes from both sides.
            let (a, b) = (boolean(a, steps)?, boolean(b, steps)?);
            match op.direction {
                Direction::Ne => Step::Xor(a, b),
                Direction::Eq => {
                    steps.push(Step::Xor(a, b));
                    Step::Not(steps.len() - 1)
                }
                Direction::Ge | Direction::Gt | Direction::Le | Direction::Lt => return None,
            }
        }
        _ => return None,
    };
    steps.push(step);
    Some(steps.len() - 1)
}

/// The step that computes a boolean.
fn boolean(value: &Known, steps: &mut Vec<Step>) -> Option<usize> {
    match value {
        Known::Step(step) => return Some(*step),
        Known::Elements(side, tensor) => {
            if tensor.element().kind() != NumberKind::Bool {
                return None;
            }
            let column = Column(tensor.integers());
            steps.push(match side {
                Side::Neither | Side::Left => Step::OfLeft(column),
                Side::Right => Step::OfRight(column),
            });
        }
    }
    Some(steps.len() - 1)
}

/// The comparison with its sides exchanged.
fn mirrored(direction: Direction) -> Direction {
    match direction {
        Direction::Eq | Direction::Ne => direction,
        Direction::Ge => Direction::Le,
        Direction::Gt => Direction::Lt,
        Direction::Le => Direction::Ge,
        Direction::Lt => Direction::Gt,
    }
}

fn comparison(direction: Direction, op: &Compare, a: &Tensor, b: &Tensor) -> Option<Step> {
    if a.element() != b.element() {
        return None;
    }
    let total = op.compare_type == Some(CompareType::TotalOrder);
    match a.element().kind() {
        NumberKind::Float if !total => {
            let (left, right) = (Column(a.floats()), Column(b.floats()));
            Some(Step::Floats { direction, left, right })
        }
        _ => {
            let (left, right) = (Column(total_order(a)?), Column(total_order(b)?));
            Some(Step::Integers { direction, left, right })
        }
    }
}
