//! Random numbers.

use shard_ir::ops::{Distribution, Random, RngAlgorithm};

use super::{Cx, Work, flops_only};

pub(super) fn work(cx: Cx, kind: &Random) -> Work {
    match kind {
        Random::Rng(op) => {
            let elements = cx.result_elements(0);
            let transcendentals =
                if op.distribution == Distribution::Normal { elements } else { 0.0 };
            Work { flops: elements, transcendentals, bytes: 0.0 }
        }
        Random::RngBitGenerator(op) => {
            let words = cx.result(1).map_or(0.0, |ty| ty.bytes() as f64) / 4.0;
            // Integer operations for a 32-bit word: Threefry has 20 rounds of 5 (add, two shifts,
            // or, xor) for two words; Philox 10 rounds of 6 for four.
            let rounds = match op.algorithm {
                RngAlgorithm::Default | RngAlgorithm::ThreeFry => 50.0,
                RngAlgorithm::Philox => 30.0,
            };
            flops_only(words * rounds)
        }
    }
}
