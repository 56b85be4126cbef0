//! Sorts: n log n comparisons.

use shard_ir::ops::Sorting;

use super::{Cx, Work, flops_only};

pub(super) fn work(cx: Cx, kind: &Sorting) -> Work {
    let Some(x) = cx.operand(0) else { return Work::default() };
    let elements = x.elements() as f64;
    match kind {
        Sorting::Sort(op) => {
            let rank = x.rank() as i64;
            let dim =
                if op.dimension < 0 { op.dimension.saturating_add(rank) } else { op.dimension };
            let size =
                usize::try_from(dim).ok().and_then(|d| x.dims.get(d)).map_or(1, |&n| n.max(1));
            let one = cx.body(0);
            let one = Work { flops: one.flops.max(1.0), ..one };
            one.times(elements * (size as f64).log2())
        }
        Sorting::TopK(op) => flops_only(elements * (op.k.max(1) as f64 + 1.0).log2()),
    }
}
