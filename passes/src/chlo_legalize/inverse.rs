//! Inverses of trigonometric and hyperbolic functions.
//!
//! Those of complex numbers are Hull, Fairgrieve and Tang's (ACM Transactions on Mathematical
//! Software 23, 1997) and Kahan's, with the choices that StableHLO's definitions make where a step
//! could overflow or lose digits.

use std::f64::consts::{PI, SQRT_2};

use shard_ir::{ElementType, NumberKind};

use super::math::X;

fn is_complex(x: X<'_>) -> bool {
    x.element().kind() == NumberKind::Complex
}

/// `-y` where `sign` is negative.
fn with_sign<'m>(y: X<'m>, sign: X<'m>) -> X<'m> {
    sign.lt(0.0).select(-y, y)
}

/// Arc sine.
pub(super) fn asin(z: X<'_>) -> X<'_> {
    if is_complex(z) {
        let w = asin_acos_kernel(z);
        return z.re().atan2(w.re()).complex(with_sign(w.im(), z.im()));
    }
    z.atan2(((1.0 - z) * (1.0 + z)).sqrt())
}

/// Arc cosine.
pub(super) fn acos(z: X<'_>) -> X<'_> {
    if is_complex(z) {
        let w = asin_acos_kernel(z);
        return w.re().atan2(z.re()).complex(-with_sign(w.im(), z.im()));
    }
    ((1.0 - z) * (1.0 + z)).sqrt().atan2(z)
}

/// Inverse of the hyperbolic cosine.
pub(super) fn acosh(z: X<'_>) -> X<'_> {
    if is_complex(z) {
        let w = asin_acos_kernel(z);
        return w.im().complex(with_sign(w.re().atan2(z.re()), z.im()));
    }
    let root = (z - 1.0).sqrt();
    let y = (root * ((z + 1.0).sqrt() + root)).ln_1p();
    z.ge(z.largest() / 2.0).select(z.c(2.0).ln() + z.ln(), y)
}

/// Inverse of the hyperbolic sine.
pub(super) fn asinh(z: X<'_>) -> X<'_> {
    if is_complex(z) {
        let (x, y) = (z.re(), z.im());
        let w = asin_acos_kernel((-y).complex(x));
        return with_sign(w.im(), x).complex(y.atan2(w.re()));
    }
    let x = z.abs();
    let xx = x * x;
    let y = (x + xx / (1.0 + (1.0 + xx).sqrt())).ln_1p();
    let large = x.ge(z.largest().sqrt());
    z.sign() * large.select(z.c(2.0).ln() + x.ln(), y)
}

/// Arc tangent.
pub(super) fn atan(z: X<'_>) -> X<'_> {
    if is_complex(z) {
        let w = atanh((-z.im()).complex(z.re()));
        return w.im().complex(-w.re());
    }
    z.atan2(1.0)
}

/// Inverse of the hyperbolic tangent.
pub(super) fn atanh(z: X<'_>) -> X<'_> {
    if is_complex(z) {
        return atanh_complex(z);
    }
    let y = (z.ln_1p() - (-z).ln_1p()) * 0.5;
    z.abs().gt(1.0).select(z.nan(), y)
}

/// sign(x) log1p(4 |x| / ((1 - |x|)² + y²)) / 4 + i atan2(2 y, (1 - |x|) (1 + |x|) - y²) / 2, and
/// what that approaches where a square would overflow.
fn atanh_complex<'m>(z: X<'m>) -> X<'m> {
    let (x, y) = (z.re(), z.im());
    let one = x.c(1.0);
    let (ax, ay) = (x.abs(), y.abs());
    // From where on adding 1 to a number, or taking it away, changes nothing.
    let precise = match x.element() {
        ElementType::F64 => 9_007_199_254_740_994.0,
        _ => 16_777_218.0,
    };
    let limit = x.c(precise) * precise;
    let safe = ax.lt(limit) & ay.lt(limit);
    let gap = 1.0 - ax;
    let yy = y * y;
    let ratio = ax / (gap * gap + yy);
    let infinite = |x: X<'m>| x.eq(f64::INFINITY) | x.eq(f64::NEG_INFINITY);
    let far = 1.0 / (ax / y + y / ax) / y;
    let far = (infinite(x) | infinite(y)).select(x.c(0.0), far);
    let far = (ay * precise).lt(ax).select(1.0 / ax, far);
    let sign = |x: X<'m>| x.ge(0.0).select(one, x.c(-1.0));
    let re = sign(x) * (4.0 * safe.select(ratio, far)).ln_1p() * 0.25;
    let angle = (y + y).atan2(gap * (1.0 + ax) - yy);
    re.complex(safe.select(angle, sign(y) * PI) * 0.5)
}

/// The length of the hypotenuse over two sides that aren't negative, without overflow.
fn hypotenuse<'m>(a: X<'m>, b: X<'m>) -> X<'m> {
    let (long, short) = (a.max(b), a.min(b));
    let ratio = short / long;
    let square = ratio * ratio;
    let root = (1.0 + square).sqrt();
    // Where the root has lost what the square adds, the first term of its series has it.
    let lost = root.eq(1.0) & square.gt(0.0);
    let length = lost.select(long + long * square / 2.0, long * root);
    long.eq(short).select(SQRT_2 * long, length)
}

/// What arc sine and arc cosine of a complex number x + iy are made of: √(1 - x²) for a real one,
/// and the absolute value of the imaginary part of both.
///
/// With r and s the distances to -1 and to 1, and a = (r + s) / 2, the parts are √(a² - x²) and
/// log(a + √(a² - 1)).
pub(super) fn asin_acos_kernel(z: X<'_>) -> X<'_> {
    let (x, y) = (z.re().abs(), z.im().abs());
    let largest = x.largest().sqrt() / 8.0;
    let (beyond, before) = (x + 1.0, x - 1.0);
    let (r, s) = (hypotenuse(beyond.abs(), y), hypotenuse(before.abs(), y));
    let a = 0.5 * (r + s);
    let half_sum = 0.5 * (a + x);
    let yy = y * y;
    // r - (x + 1) and s - (x - 1) are computed from what they are multiplied by.
    let (r_beyond, s_before, s_within) = (r + beyond, s + before, s - before);
    let narrow = (half_sum * (yy / r_beyond + s_within)).sqrt();
    let wide = y * (half_sum / r_beyond + half_sum / s_before).sqrt();
    let re = x.max(y).ge(largest).select(y, x.le(1.0).select(narrow, wide));

    // Too large to be squared: log 2|z|.
    let much = x.lt(largest * 1e12).select(largest * 1e-6, largest * 100.0);
    let steep = y.ge(much);
    let size = steep.select(y, x);
    let huge = size.ge(steep.select(much, largest));
    let finite_slope = steep & !y.eq(f64::INFINITY);
    let slope = finite_slope.select(x / y, x.c(0.0));
    let far = x.c(2.0).ln() + size.ln() + 0.5 * (slope * slope).ln_1p();

    // a - 1, without taking 1 from what is nearly 1.
    let flat = y.lt(x.smallest_normal().sqrt() * 4.0) & x.lt(1.0);
    let half_yy = 0.5 * yy;
    let share = half_yy / r_beyond;
    let near_one = a.le(1.5).select(share + half_yy / s_within, a - 1.0);
    let right = x.ge(1.0).select(share + 0.5 * s_before, near_one);
    let a_less = flat.select(-(beyond * before / (a + 1.0)), right);
    let root = (a_less * (a + 1.0)).sqrt();
    let near = flat.select(y / root, (a_less + root).ln_1p());
    re.complex(huge.select(far, near))
}
