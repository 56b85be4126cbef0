//! Calls of what the program doesn't contain: their work isn't known.

use shard_ir::ops::Custom;

use super::Cx;

pub(super) fn bytes(cx: Cx, kind: &Custom) -> f64 {
    match kind {
        Custom::CustomCall(_) => cx.all_bytes(),
        // Counted where its decomposition is.
        Custom::Composite(_) => 0.0,
    }
}

pub(super) fn is_unpriced(kind: &Custom) -> bool {
    match kind {
        Custom::CustomCall(_) => true,
        Custom::Composite(_) => false,
    }
}
