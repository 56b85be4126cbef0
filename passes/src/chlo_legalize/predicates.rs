//! Which infinity a number is.

use super::math::X;

/// Whether infinite.
pub(super) fn is_inf(x: X<'_>) -> X<'_> {
    is_pos_inf(x.abs())
}

/// Whether plus infinity.
pub(super) fn is_pos_inf(x: X<'_>) -> X<'_> {
    x.eq(f64::INFINITY)
}

/// Whether minus infinity.
pub(super) fn is_neg_inf(x: X<'_>) -> X<'_> {
    x.eq(f64::NEG_INFINITY)
}
