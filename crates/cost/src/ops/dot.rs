//! Contractions: two operations for each result element and contracted element.

use shard_ir::ops::Dot;

use super::{Cx, Work, complex_factor, flops_only};

pub(super) fn work(cx: Cx, kind: &Dot) -> Work {
    let Some(lhs) = cx.operand(0) else { return Work::default() };
    let size = |dim: i64| usize::try_from(dim).ok().and_then(|d| lhs.dims.get(d)).copied();
    let contracted: f64 = match kind {
        Dot::DotGeneral(op) => op.dims.lhs_contracting.iter().map(|&d| count(size(d))).product(),
        Dot::DotPlain(_) => count(lhs.dims.last().copied()),
    };
    flops_only(2.0 * cx.result_elements(0) * contracted * complex_factor(lhs.element))
}

fn count(size: Option<i64>) -> f64 {
    match size {
        Some(size) if size >= 0 => size as f64,
        _ => 1.0,
    }
}
