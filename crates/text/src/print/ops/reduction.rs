//! Reductions.

use shard_ir::ops::{Control, Op, Reduction, Traits};
use shard_ir::{ElementType, OpId, Type};

use super::super::Printer;

impl Printer<'_> {
    pub(super) fn reduction(&mut self, op: OpId, kind: &Reduction) {
        let m = self.m;
        match kind {
            Reduction::Reduce(reduce) => {
                let operands = m.operands(op);
                let pairs = operands.len() / 2;
                let params = m.params(m.entry(m.regions(op)[0]));
                if params.len() != 2 * pairs || !operands.len().is_multiple_of(2) {
                    return self.generic_op(op);
                }
                self.op_name(op);
                for at in 0..pairs {
                    self.str(if at > 0 { ", (" } else { "(" });
                    self.value(operands[at]);
                    self.str(" init: ");
                    self.value(operands[at + pairs]);
                    self.str(")");
                }
                let inner = self.compact_reduce(op);
                if let Some(inner) = inner {
                    self.str(" applies ");
                    self.op_name(inner);
                }
                self.str(" across dimensions = ");
                self.number_list(&reduce.dimensions);
                self.functional(op);
                if inner.is_none() {
                    self.newline();
                    self.str(" reducer");
                    for at in 0..pairs {
                        self.str("(");
                        self.region_arg(params[at]);
                        self.str(", ");
                        self.region_arg(params[at + pairs]);
                        self.str(") ");
                    }
                    self.str(" ");
                    self.region(m.regions(op)[0], false, false);
                }
            }
            Reduction::ReduceWindow(_) | Reduction::SelectAndScatter(_) => self.generic_op(op),
        }
    }

    /// The one op that a reduction applies, if its region is that op on the two arguments in order.
    pub(in crate::print) fn compact_reduce(&self, op: OpId) -> Option<OpId> {
        let m = self.m;
        let &[region] = m.regions(op) else { return None };
        let &[block] = &m.region(region).blocks[..] else { return None };
        let &[inner, end] = m.block_ops(block) else { return None };
        let info = m.kind(inner).info();
        let plain = m.op(inner).attrs == shard_ir::AttrsId::EMPTY
            && m.results(inner).iter().all(|value| m.shardings[*value].is_none());
        if !info.traits.has(Traits::COMMUTATIVE)
            || !info.name.starts_with("stablehlo.")
            || !m.regions(inner).is_empty()
            || !plain
            || !matches!(m.kind(end), Op::Control(Control::Return))
        {
            return None;
        }
        let element: ElementType = match m.ty(m.value_type(*m.operands(op).first()?)) {
            Type::Tensor(tensor) => tensor.element,
            Type::Unranked(element) => *element,
            _ => return None,
        };
        let &[result] = m.results(inner) else { return None };
        let scalar = |value: &shard_ir::ValueId| {
            m.tensor_type(*value).is_some_and(|tensor| {
                tensor.element == element && tensor.dims.is_empty() && tensor.encoding.is_none()
            })
        };
        let fits = m.operands(inner) == m.params(block)
            && m.operands(inner).iter().all(scalar)
            && scalar(&result)
            && m.operands(end) == [result];
        fits.then_some(inner)
    }
}
