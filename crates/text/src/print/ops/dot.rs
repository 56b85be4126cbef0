//! Dots.

use shard_ir::ops::{Dot, Precisions};
use shard_ir::{Attr, OpId};

use super::super::Printer;

impl Printer<'_> {
    pub(super) fn dot(&mut self, op: OpId, kind: &Dot) {
        match kind {
            Dot::DotGeneral(dot) => {
                let algorithm = match &dot.algorithm {
                    Some(Attr::Text(text)) => {
                        match self.m.str(*text).strip_prefix("#stablehlo.dot_algorithm") {
                            Some(body) => Some(body),
                            None => return self.generic_op(op),
                        }
                    }
                    Some(_) => return self.generic_op(op),
                    None => None,
                };
                self.op_name(op);
                self.operands(op);
                if !dot.dims.lhs_batch.is_empty() || !dot.dims.rhs_batch.is_empty() {
                    self.str(", batching_dims = ");
                    self.number_list(&dot.dims.lhs_batch);
                    self.str(" x ");
                    self.number_list(&dot.dims.rhs_batch);
                }
                self.str(", contracting_dims = ");
                self.number_list(&dot.dims.lhs_contracting);
                self.str(" x ");
                self.number_list(&dot.dims.rhs_contracting);
                self.precisions(&dot.precision);
                if let Some(body) = algorithm {
                    self.str(", algorithm = ");
                    self.str(body);
                }
                self.functional(op);
            }
            Dot::DotPlain(dot) => {
                self.op_name(op);
                self.operands(op);
                self.precisions(&dot.precision);
                self.functional(op);
            }
        }
    }

    fn precisions(&mut self, list: &Precisions) {
        if list.0.is_empty() {
            return;
        }
        self.str(", precision = [");
        for (at, precision) in list.0.iter().enumerate() {
            if at > 0 {
                self.str(", ");
            }
            self.str(precision.text());
        }
        self.str("]");
    }
}
