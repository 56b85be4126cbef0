//! Linear algebra.

use shard_ir::OpId;
use shard_ir::ops::Linalg;

use super::super::Printer;

impl Printer<'_> {
    pub(super) fn linalg(&mut self, op: OpId, kind: &Linalg) {
        match kind {
            Linalg::Cholesky(cholesky) => {
                self.op_name(op);
                self.operands(op);
                self.str(match cholesky.lower {
                    Some(true) => ", lower = true",
                    Some(false) => ", lower = false",
                    None => "",
                });
                self.same_types(op);
            }
            Linalg::TriangularSolve(_) => self.generic_op(op),
            Linalg::Fft(fft) => {
                self.op_name(op);
                self.operands(op);
                self.str(", type = ");
                self.str(fft.kind.text());
                self.keyed("length", &fft.length);
                self.functional(op);
            }
        }
    }
}
