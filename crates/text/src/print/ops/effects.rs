//! Tokens, tuples, hosts and point-to-point transfers.

use shard_ir::OpId;
use shard_ir::ops::Effects;

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
