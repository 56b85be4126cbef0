//! Reductions: the body's work for each element that is combined into another.

use shard_ir::ops::Reduction;

use super::{Cx, Work};

pub(super) fn work(cx: Cx, kind: &Reduction) -> Work {
    let (inputs, results) = (cx.operand_elements(0), cx.result_elements(0));
    let window = |sizes: &[i64]| sizes.iter().map(|&n| n.max(0) as f64).product::<f64>();
    match kind {
        Reduction::Reduce(_) => cx.body(0).times((inputs - results).max(0.0)),
        Reduction::ReduceWindow(op) => {
            cx.body(0).times(results * (window(&op.window) - 1.0).max(0.0))
        }
        Reduction::SelectAndScatter(op) => {
            // Each source element selects among its window, and is combined once.
            let sources = cx.operand_elements(1);
            let sizes = window(op.window.as_deref().unwrap_or_default());
            let select = cx.body(0).times(sources * (sizes - 1.0).max(0.0));
            select.plus(cx.body(1).times(sources))
        }
    }
}
