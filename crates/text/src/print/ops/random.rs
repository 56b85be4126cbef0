//! Random numbers.

use shard_ir::OpId;
use shard_ir::ops::Random;

use super::super::Printer;

impl Printer<'_> {
    pub(super) fn random(&mut self, op: OpId, kind: &Random) {
        self.op_name(op);
        self.operands(op);
        match kind {
            Random::Rng(rng) => {
                self.str(", distribution = ");
                self.str(rng.distribution.text());
            }
            Random::RngBitGenerator(generator) => {
                self.str(", algorithm = ");
                self.str(generator.algorithm.text());
            }
        }
        self.functional(op);
    }
}
