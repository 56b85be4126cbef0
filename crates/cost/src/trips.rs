//! How often a loop runs.

use shard_ir::ops::{Control, Creation, Direction, Effects, Elementwise, Movement, Op, dense_i64};
use shard_ir::{Attr, BlockId, Module, OpId, ValueDef, ValueId};

/// How many steps a search for a constant may take.
const FUEL: usize = 64;

/// The number of times that the body of a `while` runs, where it can be read off: a counter
/// begins at a constant, is compared with a constant, and has a constant added. The constants may
/// be carried through the loop, or lie in a loop around it; carried values may be elements of one
/// tuple. A count that XLA has written into `backend_config` is taken as it is.
pub fn trip_count(module: &Module, op: OpId) -> Option<u64> {
    if *module.kind(op) != Op::Control(Control::While) {
        return None;
    }
    known(module, op).or_else(|| count(module, op))
}

/// `"known_trip_count":{"n":"8"}`.
fn known(module: &Module, op: OpId) -> Option<u64> {
    let text = match module.attr(module.op(op).attrs, "backend_config")? {
        Attr::String(text) | Attr::Text(text) => module.str(*text),
        _ => return None,
    };
    let rest = &text[text.find("known_trip_count")? + "known_trip_count".len()..];
    let digits = rest.find(|c: char| c.is_ascii_digit())?;
    let rest = &rest[digits..];
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().ok()
}

fn count(module: &Module, op: OpId) -> Option<u64> {
    let cond = block(module, op, 0)?;
    let &[predicate] = module.operands(module.terminator(cond)?) else { return None };
    let compare = module.defining_op(predicate)?;
    let Op::Elementwise(Elementwise::Compare(kind)) = module.kind(compare) else { return None };
    let &[lhs, rhs] = module.operands(compare) else { return None };
    // The counter is the side that the body changes.
    let (slot, limit, direction) = match (carried(module, lhs), carried(module, rhs)) {
        (Some(slot), other) if !is_invariant(module, op, slot) && other.is_none() => {
            (slot, rhs, kind.direction)
        }
        (Some(slot), Some(other)) if !is_invariant(module, op, slot) => {
            if !is_invariant(module, op, other) {
                return None;
            }
            (slot, rhs, kind.direction)
        }
        (_, Some(slot)) => (slot, lhs, flipped(kind.direction)),
        _ => return None,
    };
    let limit = i128::from(constant(module, limit)?);
    let start = i128::from(constant(module, initial(module, op, slot)?)?);
    let step = i128::from(step(module, op, slot)?);
    trips(start, limit, step, direction)
}

/// How often a counter from `start` with a step passes a comparison with `limit`.
fn trips(start: i128, limit: i128, step: i128, direction: Direction) -> Option<u64> {
    let distance = limit - start;
    let up = |distance: i128, step: i128| {
        if distance <= 0 {
            Some(0)
        } else if step > 0 {
            Some((distance + step - 1) / step)
        } else {
            None
        }
    };
    let count = match direction {
        Direction::Lt => up(distance, step),
        Direction::Le => up(distance + 1, step),
        Direction::Gt => up(-distance, -step),
        Direction::Ge => up(1 - distance, -step),
        Direction::Ne if distance == 0 => Some(0),
        Direction::Ne if step != 0 && distance % step == 0 && distance / step > 0 => {
            Some(distance / step)
        }
        Direction::Eq | Direction::Ne => None,
    }?;
    u64::try_from(count).ok()
}

fn flipped(direction: Direction) -> Direction {
    match direction {
        Direction::Lt => Direction::Gt,
        Direction::Le => Direction::Ge,
        Direction::Gt => Direction::Lt,
        Direction::Ge => Direction::Le,
        Direction::Eq => Direction::Eq,
        Direction::Ne => Direction::Ne,
    }
}

/// A value that a loop carries: its number, in the list of carried values or in their tuple.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Slot {
    block: BlockId,
    number: usize,
    in_tuple: bool,
}

fn block(module: &Module, op: OpId, region: usize) -> Option<BlockId> {
    module.region(*module.regions(op).get(region)?).blocks.first().copied()
}

/// The slot that a value is, in the condition or the body of a loop.
fn carried(module: &Module, value: ValueId) -> Option<Slot> {
    let value = through_copies(module, value);
    match module.value_def(value) {
        ValueDef::Param(block, number) => {
            let op = module.parent_op(block)?;
            (*module.kind(op) == Op::Control(Control::While)).then_some(Slot {
                block,
                number: number as usize,
                in_tuple: false,
            })
        }
        ValueDef::Result(op, _) => {
            let Op::Effects(Effects::GetTupleElement(element)) = module.kind(op) else {
                return None;
            };
            let tuple = carried(module, *module.operands(op).first()?).filter(|s| !s.in_tuple)?;
            (tuple.number == 0).then_some(Slot {
                block: tuple.block,
                number: usize::try_from(element.index).ok()?,
                in_tuple: true,
            })
        }
    }
}

/// Follows ops that pass integers on.
fn through_copies(module: &Module, mut value: ValueId) -> ValueId {
    for _ in 0..FUEL {
        let ValueDef::Result(op, number) = module.value_def(value) else { break };
        value = match module.kind(op) {
            Op::Movement(Movement::Reshape) | Op::Elementwise(Elementwise::Convert) => {
                let source = module.operands(op)[0];
                let integer = |v| module.tensor_type(v).is_some_and(|ty| ty.element.is_integer());
                if !integer(source) || !integer(value) {
                    break;
                }
                source
            }
            Op::Control(Control::OptimizationBarrier) => module.operands(op)[number as usize],
            _ => break,
        };
    }
    value
}

/// What a list of carried values, or their tuple, has at a slot.
fn at(module: &Module, values: &[ValueId], slot: Slot) -> Option<ValueId> {
    if !slot.in_tuple {
        return values.get(slot.number).copied();
    }
    let tuple = module.defining_op(*values.first()?)?;
    match module.kind(tuple) {
        Op::Effects(Effects::Tuple) => module.operands(tuple).get(slot.number).copied(),
        _ => None,
    }
}

/// What the slot holds before the first run.
fn initial(module: &Module, op: OpId, slot: Slot) -> Option<ValueId> {
    at(module, module.operands(op), slot)
}

/// What the body returns at the slot.
fn returned(module: &Module, op: OpId, slot: Slot) -> Option<ValueId> {
    let body = block(module, op, 1)?;
    at(module, module.operands(module.terminator(body)?), slot)
}

/// Whether a value is the slot's own at the begin of the body.
fn is_own(module: &Module, op: OpId, slot: Slot, value: ValueId) -> bool {
    carried(module, value).is_some_and(|own| {
        Some(own.block) == block(module, op, 1)
            && (own.number, own.in_tuple) == (slot.number, slot.in_tuple)
    })
}

/// Whether the body returns the slot as it was.
fn is_invariant(module: &Module, op: OpId, slot: Slot) -> bool {
    returned(module, op, slot).is_some_and(|value| is_own(module, op, slot, value))
}

/// The constant that the body adds to the slot.
fn step(module: &Module, op: OpId, slot: Slot) -> Option<i64> {
    let next = through_copies(module, returned(module, op, slot)?);
    let add = module.defining_op(next)?;
    let &[a, b] = module.operands(add) else { return None };
    match module.kind(add) {
        Op::Elementwise(Elementwise::Add) if is_own(module, op, slot, a) => constant(module, b),
        Op::Elementwise(Elementwise::Add) if is_own(module, op, slot, b) => constant(module, a),
        Op::Elementwise(Elementwise::Subtract) if is_own(module, op, slot, a) => {
            constant(module, b)?.checked_neg()
        }
        _ => None,
    }
}

/// The integer that a value is, by way of what loops carry unchanged.
fn constant(module: &Module, mut value: ValueId) -> Option<i64> {
    for _ in 0..FUEL {
        value = through_copies(module, value);
        if let Some(slot) = carried(module, value) {
            let around = module.parent_op(slot.block)?;
            if !is_invariant(module, around, slot) {
                return None;
            }
            value = initial(module, around, slot)?;
            continue;
        }
        let op = module.defining_op(value)?;
        return match module.kind(op) {
            Op::Creation(Creation::Constant(op)) => match dense_i64(&op.value, module)?[..] {
                [number] => Some(number),
                _ => None,
            },
            _ => None,
        };
    }
    None
}
