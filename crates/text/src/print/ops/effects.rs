//! Tokens, tuples, hosts and point-to-point transfers.

use shard_ir::ops::Effects;
use shard_ir::{OpId, Type};

use super::super::Printer;

impl Printer<'_> {
    pub(super) fn effects(&mut self, op: OpId, kind: &Effects) {
        match kind {
            Effects::CreateToken => self.nullary(op),
            Effects::AfterAll => {
                self.op_name(op);
                self.operands(op);
                self.same_types(op);
            }
            Effects::Tuple => {
                let m = self.m;
                let items = match m.ty(m.value_type(m.result(op, 0))) {
                    Type::Tuple(items) => &items[..],
                    _ => return self.generic_op(op),
                };
                if !m
                    .operands(op)
                    .iter()
                    .map(|value| m.value_type(*value))
                    .eq(items.iter().copied())
                {
                    return self.generic_op(op);
                }
                self.op_name(op);
                self.operands(op);
                self.attr_dict(op);
                self.str(" : ");
                self.type_of(self.m.result(op, 0));
            }
            Effects::GetTupleElement(element) => {
                self.op_name(op);
                self.operands(op);
                self.str("[");
                self.integer(element.index.into());
                self.str("]");
                self.functional(op);
            }
            Effects::Infeed(_) | Effects::Outfeed(_) | Effects::Send(_) | Effects::Recv(_) => {
                self.generic_op(op);
            }
        }
    }
}
