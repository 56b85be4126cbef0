//! Constants and iotas: written once, or never.

use shard_ir::ops::Creation;

use super::Cx;

pub(super) fn bytes(cx: Cx, kind: &Creation) -> f64 {
    match kind {
        // A constant lies in memory already.
        Creation::Constant(_) => 0.0,
        Creation::Iota(_) | Creation::DynamicIota(_) => cx.result_bytes(),
    }
}
