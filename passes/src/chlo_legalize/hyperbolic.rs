//! Hyperbolic functions.

use shard_ir::NumberKind;

use super::math::{X, in_f32};

/// (e^x + e^-x) / 2
pub(super) fn cosh(x: X<'_>) -> X<'_> {
    in_f32([x], |[x]| {
        let (up, down) = halves(x);
        up + down
    })
}

/// (e^x - e^-x) / 2, from e^x - 1 where the difference of the powers would lose digits.
pub(super) fn sinh(x: X<'_>) -> X<'_> {
    let far = |x| {
        let (up, down) = halves(x);
        up - down
    };
    if x.element().kind() == NumberKind::Complex {
        return far(x);
    }
    in_f32([x], |[x]| {
        let y = x.exp_m1();
        let near = 0.5 * (y + y / (y + 1.0));
        x.abs().lt(1.0).select(near, far(x))
    })
}

/// Half of e^x and half of e^-x, which become infinite no sooner than the result.
fn halves(x: X<'_>) -> (X<'_>, X<'_>) {
    let log_half = x.c(0.5).ln();
    ((x + log_half).exp(), (log_half - x).exp())
}
