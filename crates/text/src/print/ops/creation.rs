//! Constants and iotas.

use shard_ir::ops::Creation;
use shard_ir::{Dense, OpId};

use super::super::Printer;

impl Printer<'_> {
    pub(super) fn creation(&mut self, op: OpId, kind: &Creation) {
        match kind {
            Creation::Constant(constant) => self.constant(op, &constant.value),
            Creation::Iota(iota) => {
                self.op_name(op);
                self.str(" dim = ");
                self.integer(iota.dimension);
                self.attr_dict(op);
                self.str(" : ");
                self.type_of(self.m.result(op, 0));
            }
            Creation::DynamicIota(iota) => {
                self.op_name(op);
                self.operands(op);
                self.str(", dim = ");
                self.integer(iota.dimension);
                self.functional(op);
            }
        }
    }

    pub(super) fn constant(&mut self, op: OpId, value: &Dense) {
        self.op_name(op);
        if self.m.value_type(self.m.result(op, 0)) != value.ty {
            // The type of the result isn't that of the elements.
            self.str("() <{value = ");
            self.dense(value);
            self.str("}>");
            self.functional(op);
            return;
        }
        self.attr_dict(op);
        self.str(" ");
        self.dense(value);
    }
}
