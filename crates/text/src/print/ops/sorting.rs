//! Sorts.

use shard_ir::OpId;
use shard_ir::ops::Sorting;

use super::super::Printer;

impl Printer<'_> {
    pub(super) fn sorting(&mut self, op: OpId, kind: &Sorting) {
        match kind {
            Sorting::Sort(_) => self.generic_op(op),
            Sorting::TopK(top) => {
                let m = self.m;
                if m.attr(m.op(op).attrs, "is_stable").is_some() {
                    return self.generic_op(op);
                }
                self.op_name(op);
                self.str("(");
                self.values(m.operands(op));
                self.str(", k = ");
                self.integer(top.k);
                self.str(")");
                self.attr_dict(op);
                self.str(" : ");
                self.types_of(m.operands(op));
                self.str(" -> (");
                self.types_of(m.results(op));
                self.str(")");
            }
        }
    }
}
