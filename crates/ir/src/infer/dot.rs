//! Contractions.

use crate::ops::{Dot, DotGeneral, Precision, Precisions};
use crate::{Dims, TensorType};

use super::InferredType;
use super::context::{Cx, Found, compatible_dim, dims_text, merge_dims, size};

pub(super) fn infer(cx: &mut Cx, kind: &Dot) -> Found {
    match kind {
        Dot::DotGeneral(op) => dot_general(cx, op),
        Dot::DotPlain(op) => {
            precision(cx, &op.precision);
            dot_plain(cx)
        }
    }
}

/// Precisions are left out or given for the operands.
pub(super) fn precision(cx: &mut Cx, list: &Precisions) {
    check!(cx, list.0.len() <= 2, "precision_config has {} elements for 2 operands", list.0.len());
}

fn contracted(cx: &mut Cx, what: &str, lhs: (usize, i64), rhs: (usize, i64)) -> Option<()> {
    require!(
        cx,
        compatible_dim(lhs.1, rhs.1),
        "{what} dimension {} of lhs is {}, dimension {} of rhs {}",
        lhs.0,
        size(lhs.1),
        rhs.0,
        size(rhs.1)
    );
    Some(())
}

fn dot_general(cx: &mut Cx, op: &DotGeneral) -> Found {
    let (lhs, rhs) = (cx.tensor(0, "lhs")?, cx.tensor(1, "rhs")?);
    precision(cx, &op.precision);
    let plain = op.precision.0.iter().all(|&p| p == Precision::Default);
    check!(
        cx,
        op.algorithm.is_none() || plain,
        "precision_config must be DEFAULT where an algorithm is given"
    );
    let dims = &op.dims;
    let (lb, rb) = (&dims.lhs_batch, &dims.rhs_batch);
    let (lc, rc) = (&dims.lhs_contracting, &dims.rhs_contracting);
    require!(
        cx,
        lb.len() == rb.len(),
        "lhs has {} batching dimensions, rhs {}",
        lb.len(),
        rb.len()
    );
    require!(
        cx,
        lc.len() == rc.len(),
        "lhs has {} contracting dimensions, rhs {}",
        lc.len(),
        rc.len()
    );
    let used = |a: &[i64], b: &[i64]| -> Dims { a.iter().chain(b).copied().collect() };
    let names = ["batching and contracting dimensions of lhs", "those of rhs"];
    let l = cx.dims(names[0], &used(lb, lc), lhs.rank())?;
    let r = cx.dims(names[1], &used(rb, rc), rhs.rank())?;
    for (at, (&l, &r)) in l.iter().zip(&r).enumerate() {
        let what = if at < lb.len() { "batching" } else { "contracting" };
        contracted(cx, what, (l, lhs.dims[l]), (r, rhs.dims[r]))?;
    }
    let batch = lb.len();
    let lhs_batch: Dims = l[..batch].iter().map(|&d| lhs.dims[d]).collect();
    let rhs_batch: Dims = r[..batch].iter().map(|&d| rhs.dims[d]).collect();
    let mut shape = merge_dims(&lhs_batch, &rhs_batch);
    shape.extend((0..lhs.rank()).filter(|d| !l.contains(d)).map(|d| lhs.dims[d]));
    shape.extend((0..rhs.rank()).filter(|d| !r.contains(d)).map(|d| rhs.dims[d]));
    Some(vec![InferredType::TensorOr(TensorType::new(lhs.element, shape))])
}

fn dot_plain(cx: &mut Cx) -> Found {
    let (lhs, rhs) = (cx.tensor(0, "lhs")?, cx.tensor(1, "rhs")?);
    require!(
        cx,
        matches!(lhs.rank(), 1 | 2) && matches!(rhs.rank(), 1 | 2),
        "lhs has shape {} and rhs {}; both must have rank 1 or 2",
        dims_text(&lhs.dims),
        dims_text(&rhs.dims)
    );
    let at = lhs.rank() - 1;
    contracted(cx, "contracting", (at, lhs.dims[at]), (0, rhs.dims[0]))?;
    let shape = lhs.dims[..at].iter().chain(&rhs.dims[1..]).copied();
    Some(vec![InferredType::TensorOr(TensorType::new(lhs.element, shape))])
}
