//! Custom calls and composites.

use shard_ir::OpId;
use shard_ir::ops::Custom;

use super::super::{Printer, push_string};

impl Printer<'_> {
    pub(super) fn custom(&mut self, op: OpId, kind: &Custom) {
        let m = self.m;
        match kind {
            Custom::CustomCall(call) => {
                self.op_name(op);
                self.str(" ");
                self.symbol(call.target);
                self.str("(");
                self.values(m.operands(op));
                self.str(")");
                self.attr_dict_with_fields(op, &["call_target_name"]);
            }
            Custom::Composite(composite) => {
                if !m.regions(op).is_empty() {
                    return self.generic_op(op);
                }
                self.op_name(op);
                self.str(" ");
                push_string(m.str(composite.name), &mut self.out);
                self.operands(op);
                self.attr_dict_with_fields(op, &["name"]);
            }
        }
        self.str(" : ");
        self.function_type(op);
    }
}
