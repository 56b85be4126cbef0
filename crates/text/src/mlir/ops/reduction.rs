//! `stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [0] : ...`, and the form
//! with a region.

use shard_ir::ops::{Control, Op, Reduce, Traits};
use shard_ir::{Dims, LocId, OpId, TensorType, Type};
use smallvec::SmallVec;

use super::super::parser::{OpStart, Parser, Parts, Read, Values};
use super::super::regions::RegionArg;
use super::{Entry, Pretty};

pub(super) fn pretty(name: &str) -> Option<Pretty> {
    match name {
        "stablehlo.reduce" => Some(reduce),
        _ => None,
    }
}

fn reduce<'a>(p: &mut Parser<'a>, start: &OpStart<'a>, _: &'static Entry) -> Read<OpId> {
    let mut parts = Parts::default();
    let mut inits = Values::new();
    loop {
        p.expect(b'(')?;
        parts.operands.push(p.operand()?);
        p.expect_word("init")?;
        p.expect(b':')?;
        inits.push(p.operand()?);
        p.expect(b')')?;
        if !p.c.eat(b',') {
            break;
        }
    }
    parts.operands.extend(inits);
    p.c.skip_space();
    let inner = if p.c.eat_word("applies") {
        p.c.skip_space();
        let at = p.c.pos();
        let name = p.c.ident();
        match super::find(name) {
            Some(entry) if entry.info.traits.has(Traits::COMMUTATIVE) => {
                Some(p.plain(start, entry)?)
            }
            _ => {
                let end = at + name.len().max(1);
                return p.error(at..end, "expected a commutative op of two operands");
            }
        }
    } else {
        None
    };
    p.expect_word("across")?;
    p.key("dimensions")?;
    let dimensions: Dims = p.dims()?;
    p.optional_attr_dict(&mut parts.attrs)?;
    p.expect(b':')?;
    p.c.skip_space();
    let at = p.c.pos();
    let (inputs, results) = p.function_type()?;
    p.check_types(at, &parts.operands, &inputs)?;
    parts.results = results;
    let region = match inner {
        Some(inner) => {
            let loc = p.trailing_loc()?;
            let element = match p.m.ty(inputs[0]) {
                Type::Tensor(tensor) => tensor.element,
                Type::Unranked(element) => *element,
                _ => {
                    let end = p.c.pos();
                    return p.error(at..end, "only tensors can be reduced");
                }
            };
            let region = applied(p, inner, element, loc.unwrap_or(LocId::input(start.start)));
            parts.regions.push(region);
            let op = p.finish(start, Reduce { dimensions }.into(), parts)?;
            if let Some(loc) = loc {
                p.m.op_mut(op).loc = loc;
            }
            return Ok(op);
        }
        None => {
            p.expect_word("reducer")?;
            let mut elements: SmallVec<[RegionArg<'a>; 4]> = SmallVec::new();
            let mut accumulators: SmallVec<[RegionArg<'a>; 4]> = SmallVec::new();
            while p.c.eat(b'(') {
                elements.push(p.region_arg()?);
                p.expect(b',')?;
                accumulators.push(p.region_arg()?);
                p.expect(b')')?;
            }
            elements.extend(accumulators);
            p.region(&elements, false)?
        }
    };
    parts.regions.push(region);
    p.finish(start, Reduce { dimensions }.into(), parts)
}

/// The region that applies one op to an element and the accumulator.
fn applied(
    p: &mut Parser<'_>,
    inner: Op,
    element: shard_ir::ElementType,
    loc: LocId,
) -> shard_ir::RegionId {
    let scalar = p.m.type_id(Type::Tensor(TensorType::new(element, [])));
    let region = p.m.new_region();
    let block = p.m.new_block(region);
    let lhs = p.m.new_param(block, scalar);
    let rhs = p.m.new_param(block, scalar);
    for param in [lhs, rhs] {
        if loc.input_offset().is_none() {
            p.m.param_locs[param] = loc.into();
        }
    }
    let op = p.m.new_op(inner, &[lhs, rhs], &[scalar], &[], loc);
    let result = p.m.result(op, 0);
    let end = p.m.new_op(Control::Return, &[result], &[], &[], loc);
    p.m.block_mut(block).ops.extend([op, end]);
    region
}
