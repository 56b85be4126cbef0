//! Iterations of a loop whose compiler didn't write them down.
//!
//! TPU's compiler drops `known_trip_count`. Nearly every loop counts a scalar from a constant to
//! a constant, so the loop is run here with just the scalars that its condition depends on.

use rustc_hash::FxHashMap;

use super::graph::{Graph, Node};
use crate::proto;

/// Longer loops are of unknown length.
const MOST: u64 = 1 << 20;
/// Instructions evaluated for one loop before giving up.
const BUDGET: u32 = 1 << 26;
/// Depth of operands and calls.
const DEPTH: u32 = 64;

/// How often the body of `node`, a `while`, runs; `None` where that isn't plain.
pub(super) fn infer(graph: &Graph<'_>, node: Node) -> Option<u64> {
    let mut called = graph.called(node);
    let (body, condition) = (called.next()?, called.next()?);
    let initial = graph.operand(node, 0)?;
    let mut evaluator = Evaluator { graph, budget: BUDGET };
    // What the condition reads first is what has to be followed; what that depends on is found
    // as it is needed.
    let mut carried: FxHashMap<usize, i128> = FxHashMap::default();
    let mut followed = Vec::new();
    for count in 0..=MOST {
        let running = loop {
            match evaluator.value(graph.root(condition), &Scope::Loop(&carried), 0) {
                Ok(value) => break value != 0,
                Err(Unknown::Carried(index)) if count == 0 && !carried.contains_key(&index) => {
                    let value = evaluator.element(initial, index, &Scope::Outer, 0).ok()?;
                    carried.insert(index, value);
                    followed.push(index);
                }
                Err(_) => return None,
            }
        };
        if !running {
            return Some(count);
        }
        let mut next = FxHashMap::default();
        let mut position = 0;
        while let Some(index) = followed.get(position).copied() {
            match evaluator.element(graph.root(body), index, &Scope::Loop(&carried), 0) {
                Ok(value) => {
                    next.insert(index, value);
                    position += 1;
                }
                Err(Unknown::Carried(other)) if count == 0 && !carried.contains_key(&other) => {
                    let value = evaluator.element(initial, other, &Scope::Outer, 0).ok()?;
                    carried.insert(other, value);
                    followed.push(other);
                }
                Err(_) => return None,
            }
        }
        carried = next;
    }
    None
}

/// Why a value isn't known.
enum Unknown {
    /// It depends on this element of the loop's state, which isn't followed yet.
    Carried(usize),
    /// It depends on something else.
    Other,
}

/// What a computation's parameters stand for.
enum Scope<'a> {
    /// Nothing that is known: the computation around the loop.
    Outer,
    /// The loop's state, of which some elements are known.
    Loop(&'a FxHashMap<usize, i128>),
    /// The operands of the call or fusion `call`, in its own scope.
    Call { call: Node, scope: &'a Scope<'a> },
}

struct Evaluator<'a> {
    graph: &'a Graph<'a>,
    budget: u32,
}

impl Evaluator<'_> {
    fn spend(&mut self, depth: u32) -> Result<(), Unknown> {
        if depth >= DEPTH || self.budget == 0 {
            return Err(Unknown::Other);
        }
        self.budget -= 1;
        Ok(())
    }

    /// The value of a scalar.
    fn value(&mut self, node: Node, scope: &Scope<'_>, depth: u32) -> Result<i128, Unknown> {
        self.spend(depth)?;
        let graph = self.graph;
        let proto = graph.get(node);
        let mut operand = |position: usize| {
            let operand = graph.operand(node, position).ok_or(Unknown::Other)?;
            self.value(operand, scope, depth + 1)
        };
        let value = match proto.opcode.as_str() {
            "constant" => literal(proto)?,
            "parameter" => return self.parameter(proto, scope, depth),
            "get-tuple-element" => {
                let tuple = graph.operand(node, 0).ok_or(Unknown::Other)?;
                let index = usize::try_from(proto.tuple_index).map_err(|_| Unknown::Other)?;
                return self.element(tuple, index, scope, depth + 1);
            }
            "copy" | "bitcast" | "reshape" | "broadcast" | "optimization-barrier" => operand(0)?,
            "convert" => operand(0)?,
            "add" => operand(0)? + operand(1)?,
            "subtract" => operand(0)? - operand(1)?,
            "multiply" => operand(0)?.checked_mul(operand(1)?).ok_or(Unknown::Other)?,
            "minimum" => operand(0)?.min(operand(1)?),
            "maximum" => operand(0)?.max(operand(1)?),
            "and" => operand(0)? & operand(1)?,
            "or" => operand(0)? | operand(1)?,
            "select" => {
                let chosen = if operand(0)? != 0 { 1 } else { 2 };
                operand(chosen)?
            }
            "compare" => {
                let (lhs, rhs) = (operand(0)?, operand(1)?);
                i128::from(match proto.comparison_direction.as_str() {
                    "EQ" => lhs == rhs,
                    "NE" => lhs != rhs,
                    "LT" => lhs < rhs,
                    "LE" => lhs <= rhs,
                    "GT" => lhs > rhs,
                    "GE" => lhs >= rhs,
                    _ => return Err(Unknown::Other),
                })
            }
            "fusion" | "call" => {
                let callee = graph.called(node).next().ok_or(Unknown::Other)?;
                let scope = Scope::Call { call: node, scope };
                return self.value(graph.root(callee), &scope, depth + 1);
            }
            _ => return Err(Unknown::Other),
        };
        wrap(value, proto)
    }

    /// The value of element `index` of a tuple.
    fn element(
        &mut self,
        node: Node,
        index: usize,
        scope: &Scope<'_>,
        depth: u32,
    ) -> Result<i128, Unknown> {
        self.spend(depth)?;
        let graph = self.graph;
        let proto = graph.get(node);
        match (proto.opcode.as_str(), scope) {
            ("tuple", _) => {
                let operand = graph.operand(node, index).ok_or(Unknown::Other)?;
                self.value(operand, scope, depth + 1)
            }
            ("copy" | "bitcast" | "optimization-barrier", _) => {
                let operand = graph.operand(node, 0).ok_or(Unknown::Other)?;
                self.element(operand, index, scope, depth + 1)
            }
            ("fusion" | "call", _) => {
                let callee = graph.called(node).next().ok_or(Unknown::Other)?;
                let scope = Scope::Call { call: node, scope };
                self.element(graph.root(callee), index, &scope, depth + 1)
            }
            ("parameter", Scope::Loop(carried)) => {
                carried.get(&index).copied().ok_or(Unknown::Carried(index))
            }
            ("parameter", Scope::Call { call, scope }) => {
                let operand = self.argument(proto, *call)?;
                self.element(operand, index, scope, depth + 1)
            }
            _ => Err(Unknown::Other),
        }
    }

    fn parameter(
        &mut self,
        proto: &proto::Instruction,
        scope: &Scope<'_>,
        depth: u32,
    ) -> Result<i128, Unknown> {
        match scope {
            Scope::Call { call, scope } => {
                let operand = self.argument(proto, *call)?;
                self.value(operand, scope, depth + 1)
            }
            // A loop's parameter is a tuple, which has no value of its own.
            Scope::Loop(_) | Scope::Outer => Err(Unknown::Other),
        }
    }

    fn argument(&self, parameter: &proto::Instruction, call: Node) -> Result<Node, Unknown> {
        let position = usize::try_from(parameter.parameter_number).map_err(|_| Unknown::Other)?;
        self.graph.operand(call, position).ok_or(Unknown::Other)
    }
}

fn literal(constant: &proto::Instruction) -> Result<i128, Unknown> {
    let literal = constant.literal.as_ref().ok_or(Unknown::Other)?;
    let proto::Literal { preds, s32s, s64s, u32s, u64s } = literal;
    if preds.len() + s32s.len() + s64s.len() + u32s.len() + u64s.len() != 1 {
        return Err(Unknown::Other);
    }
    let first = preds.first().map(|value| i128::from(*value));
    let first = first.or_else(|| s32s.first().map(|value| i128::from(*value)));
    let first = first.or_else(|| s64s.first().map(|value| i128::from(*value)));
    let first = first.or_else(|| u32s.first().map(|value| i128::from(*value)));
    first.or_else(|| u64s.first().map(|value| i128::from(*value))).ok_or(Unknown::Other)
}

/// Wraps a result as its type does; types that don't count loops are unknown.
fn wrap(value: i128, instruction: &proto::Instruction) -> Result<i128, Unknown> {
    let shape = instruction.shape.as_ref().ok_or(Unknown::Other)?;
    if shape.dimensions.iter().any(|dim| *dim != 1) {
        return Err(Unknown::Other);
    }
    Ok(match shape.element_type {
        1 => i128::from(value != 0),
        4 => i128::from(value as i32),
        5 => i128::from(value as i64),
        8 => i128::from(value as u32),
        9 => i128::from(value as u64),
        _ => return Err(Unknown::Other),
    })
}
