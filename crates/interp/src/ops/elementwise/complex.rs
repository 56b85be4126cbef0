//! Functions of complex numbers, in `f64`; those of two `f32` are computed here, too, and rounded.

use std::f64::consts::{FRAC_PI_2, LN_2};

use num_complex::Complex;

type C = Complex<f64>;

const I: C = C::new(0.0, 1.0);
const ONE: C = C::new(1.0, 0.0);

pub(super) fn square(z: C) -> C {
    let (x, y) = (z.re, z.im);
    // Parts of the same size leave nothing, even if their sum overflows.
    let re = if x.abs() == y.abs() && x.is_finite() { 0.0 } else { (x - y) * (x + y) };
    C::new(re, 2.0 * (x * y))
}

pub(super) fn sign(z: C) -> C {
    if z.re.is_nan() || z.im.is_nan() {
        return C::new(f64::NAN, f64::NAN);
    }
    if z.re == 0.0 && z.im == 0.0 {
        return C::new(0.0, 0.0);
    }
    let size = libm::hypot(z.re, z.im);
    C::new(z.re / size, z.im / size)
}

/// A quotient whose divisor is brought near 1 first, so that its square neither overflows nor
/// vanishes; infinities are those of C's Annex G.
pub(super) fn divide(a: C, b: C) -> C {
    let size = b.re.abs().max(b.im.abs());
    let scale = if size.is_finite() && size != 0.0 { libm::ilogb(size) } else { 0 };
    let (c, d) = (libm::scalbn(b.re, -scale), libm::scalbn(b.im, -scale));
    let square = c * c + d * d;
    let re = libm::scalbn((a.re * c + a.im * d) / square, -scale);
    let im = libm::scalbn((a.im * c - a.re * d) / square, -scale);
    if !(re.is_nan() && im.is_nan()) {
        return C::new(re, im);
    }
    let unit = |v: f64| f64::from(u8::from(v.is_infinite())).copysign(v);
    if square == 0.0 && !(a.re.is_nan() && a.im.is_nan()) {
        let infinity = f64::INFINITY.copysign(c);
        C::new(infinity * a.re, infinity * a.im)
    } else if (a.re.is_infinite() || a.im.is_infinite()) && c.is_finite() && d.is_finite() {
        let (x, y) = (unit(a.re), unit(a.im));
        C::new(f64::INFINITY * (x * c + y * d), f64::INFINITY * (y * c - x * d))
    } else if size.is_infinite() && a.re.is_finite() && a.im.is_finite() {
        let (c, d) = (unit(c), unit(d));
        C::new(0.0 * (a.re * c + a.im * d), 0.0 * (a.im * c - a.re * d))
    } else {
        C::new(re, im)
    }
}

pub(super) fn exp(z: C) -> C {
    if z.im == 0.0 {
        return C::new(libm::exp(z.re), z.im);
    }
    scaled_exp(z.re, libm::cos(z.im), libm::sin(z.im))
}

/// e^x times each, which may be a number where e^x alone isn't.
fn scaled_exp(x: f64, c: f64, s: f64) -> C {
    let times = |e: f64, v: f64| if v == 0.0 { v } else { e * v };
    if x.abs() > 700.0 && x.is_finite() {
        // In steps that don't overflow; beyond them, everything does.
        let x = x.clamp(-2100.0, 2100.0);
        let third = libm::exp(x / 3.0);
        // The rest makes up for what the division by three rounds.
        let rest = 1.0 + (x - 3.0 * (x / 3.0));
        let all = |v: f64| times(third, times(third, times(third * rest, v)));
        return C::new(all(c), all(s));
    }
    let e = libm::exp(x);
    C::new(times(e, c), times(e, s))
}

pub(super) fn exp_m1(z: C) -> C {
    if z.im == 0.0 {
        return C::new(libm::expm1(z.re), z.im);
    }
    let far = exp(z);
    if !far.re.is_finite() || !far.im.is_finite() || z.re.abs() > 30.0 {
        return C::new(far.re - 1.0, far.im);
    }
    let half = libm::sin(z.im / 2.0);
    let less = -2.0 * half * half;
    C::new(libm::expm1(z.re) * libm::cos(z.im) + less, far.im)
}

/// The sum of products without the loss of digits where they cancel: `a * b + c * d`, each product
/// with its own error.
fn sum_of_products(a: f64, b: f64, c: f64, d: f64) -> f64 {
    let (p, q) = (a * b, c * d);
    let (p_error, q_error) = (a.mul_add(b, -p), c.mul_add(d, -q));
    let sum = p + q;
    let virtual_q = sum - p;
    let error = (p - (sum - virtual_q)) + (q - virtual_q);
    sum + (error + (p_error + q_error))
}

/// The logarithm of the absolute value.
fn ln_abs(z: C) -> f64 {
    let (mut large, mut small) = (z.re.abs(), z.im.abs());
    if large.is_infinite() || small.is_infinite() {
        return f64::INFINITY;
    }
    if small > large {
        (large, small) = (small, large);
    }
    if large > 0.5 && large < 2.0 {
        // |z|² - 1 is small where |z| is near 1.
        return 0.5 * libm::log1p(sum_of_products(large - 1.0, large + 1.0, small, small));
    }
    if large.is_nan() || small.is_nan() {
        return f64::NAN;
    }
    if large == 0.0 {
        return f64::NEG_INFINITY;
    }
    let ratio = small / large;
    libm::log(large) + 0.5 * libm::log1p(ratio * ratio)
}

pub(super) fn ln(z: C) -> C {
    C::new(ln_abs(z), libm::atan2(z.im, z.re))
}

pub(super) fn ln_1p(z: C) -> C {
    let (x, y) = (z.re, z.im);
    let angle = libm::atan2(y, 1.0 + x);
    if x.abs() < 0.75 && y.abs() < 1.5 {
        // |1 + z|² - 1 = x (2 + x) + y², and 2 + x may round.
        let two = 2.0 + x;
        let lost = x - (two - 2.0);
        let less = sum_of_products(x, two, y, y) + x * lost;
        return C::new(0.5 * libm::log1p(less), angle);
    }
    C::new(ln_abs(C::new(1.0 + x, y)), angle)
}

/// The root in the right half plane.
pub(super) fn sqrt(z: C) -> C {
    let (x, y) = (z.re, z.im);
    if y.is_infinite() {
        return C::new(f64::INFINITY, y);
    }
    if x.is_infinite() {
        if y.is_nan() {
            return if x > 0.0 { C::new(x, y) } else { C::new(y, x) };
        }
        let zero = 0.0f64.copysign(y);
        return if x > 0.0 { C::new(x, zero) } else { C::new(0.0, x.abs().copysign(y)) };
    }
    if x == 0.0 && y == 0.0 {
        return C::new(0.0, y);
    }
    // By an even power of two to where sums and squares have all their digits.
    let exponent = libm::ilogb(x.abs().max(y.abs()));
    let scale = if x.is_nan() || y.is_nan() { 0 } else { exponent / 2 * 2 };
    let (sx, sy) = (libm::scalbn(x, -scale), libm::scalbn(y, -scale));
    let root = ((sx.abs() + libm::hypot(sx, sy)) / 2.0).sqrt();
    let root = libm::scalbn(root, scale / 2);
    let other = y.abs() / (2.0 * root);
    if x >= 0.0 { C::new(root, other.copysign(y)) } else { C::new(other, root.copysign(y)) }
}

pub(super) fn rsqrt(z: C) -> C {
    if z.re == 0.0 && z.im == 0.0 {
        return C::new(f64::INFINITY, f64::NAN);
    }
    if z.re.is_infinite() || z.im.is_infinite() {
        return C::new(0.0, 0.0 * -1f64.copysign(z.im));
    }
    divide(ONE, sqrt(z))
}

pub(super) fn cbrt(z: C) -> C {
    let angle = libm::atan2(z.im, z.re) / 3.0;
    let size = libm::cbrt(libm::hypot(z.re, z.im));
    C::new(size * libm::cos(angle), size * libm::sin(angle))
}

pub(super) fn logistic(z: C) -> C {
    divide(ONE, ONE + exp(-z))
}

/// (cosh x, sinh x) as a multiple of what doesn't overflow: `(cosh, sinh, exponent)`.
fn hyperbolic(x: f64) -> (f64, f64, f64) {
    if x.abs() < 700.0 || !x.is_finite() {
        return (libm::cosh(x), libm::sinh(x), 0.0);
    }
    (0.5, 0.5f64.copysign(x), x.abs())
}

/// `c cosh y + i s sinh y`
fn stretched(c: f64, s: f64, y: f64) -> C {
    let (cosh, sinh, exponent) = hyperbolic(y);
    if exponent != 0.0 {
        return scaled_exp(exponent, c * cosh, s * sinh);
    }
    // Nothing of an infinity is nothing.
    let times = |v: f64, w: f64| if v == 0.0 { v * w.signum() } else { v * w };
    let (re, im) = (times(c, cosh), times(s, sinh));
    C::new(re, im)
}

pub(super) fn sin(z: C) -> C {
    let (s, c) = (libm::sin(z.re), libm::cos(z.re));
    stretched(s, c, z.im)
}

pub(super) fn cos(z: C) -> C {
    let (s, c) = (libm::sin(z.re), libm::cos(z.re));
    stretched(c, -s, z.im)
}

pub(super) fn cosh(z: C) -> C {
    cos(C::new(-z.im, z.re))
}

pub(super) fn sinh(z: C) -> C {
    let turned = sin(C::new(-z.im, z.re));
    C::new(turned.im, -turned.re)
}

/// Kahan's, in terms of tan y and sinh x.
pub(super) fn tanh(z: C) -> C {
    let (x, y) = (z.re, z.im);
    if x.is_infinite() {
        let turn = if y.is_finite() { libm::sin(2.0 * y) } else { 0.0 };
        return C::new(1f64.copysign(x), 0f64.copysign(turn));
    }
    if x.abs() > 22.0 {
        let im = 4.0 * libm::sin(y) * libm::cos(y) * libm::exp(-2.0 * x.abs());
        return C::new(1f64.copysign(x), im);
    }
    let t = libm::tan(y);
    let beta = 1.0 + t * t;
    let s = libm::sinh(x);
    let rho = (1.0 + s * s).sqrt();
    if t.is_infinite() {
        return C::new(rho / s, 1.0 / t);
    }
    let denominator = 1.0 + beta * s * s;
    C::new(beta * rho * s / denominator, t / denominator)
}

pub(super) fn tan(z: C) -> C {
    let turned = tanh(C::new(-z.im, z.re));
    C::new(turned.im, -turned.re)
}

pub(super) fn power(a: C, b: C) -> C {
    if b == C::new(0.0, 0.0) || a == ONE {
        return ONE;
    }
    if a == C::new(0.0, 0.0) {
        return if b.re > 0.0 { C::new(0.0, 0.0) } else { C::new(f64::NAN, f64::NAN) };
    }
    if a.im == 0.0 && a.re == f64::INFINITY && b.im == 0.0 {
        return if b.re > 0.0 { a } else { C::new(0.0, 0.0) };
    }
    if a.re > 0.0 && a.im == 0.0 && b.im == 0.0 {
        return C::new(libm::pow(a.re, b.re), 0.0);
    }
    let (size, angle) = (ln_abs(a), libm::atan2(a.im, a.re));
    let turn = b.im * size + b.re * angle;
    if b.im == 0.0 {
        let size = libm::pow(libm::hypot(a.re, a.im), b.re);
        return C::new(size * libm::cos(turn), size * libm::sin(turn));
    }
    exp(C::new(b.re * size - b.im * angle, turn))
}

/// -i log((x + iy) / √(x² + y²))
pub(super) fn atan2(y: C, x: C) -> C {
    let root = sqrt(x * x + y * y);
    -I * ln(divide(x + I * y, root))
}

fn with_sign(value: f64, sign: f64) -> f64 {
    if sign < 0.0 { -value } else { value }
}

pub(super) fn asin(z: C) -> C {
    let w = inverse_parts(z);
    C::new(libm::atan2(z.re, w.re), with_sign(w.im, z.im))
}

pub(super) fn acos(z: C) -> C {
    let w = inverse_parts(z);
    C::new(libm::atan2(w.re, z.re), -with_sign(w.im, z.im))
}

pub(super) fn acosh(z: C) -> C {
    let w = inverse_parts(z);
    C::new(w.im, with_sign(libm::atan2(w.re, z.re), z.im))
}

pub(super) fn asinh(z: C) -> C {
    let w = inverse_parts(C::new(-z.im, z.re));
    C::new(with_sign(w.im, z.re), libm::atan2(z.im, w.re))
}

/// √(1 - x²) of a real number, and the absolute value of the imaginary part of both the arc sine
/// and the arc cosine, after Hull, Fairgrieve and Tang (ACM Transactions on Mathematical Software
/// 23, 1997): with r and s the distances to -1 and to 1, and a = (r + s) / 2, they are √(a² - x²)
/// and log(a + √(a² - 1)).
fn inverse_parts(z: C) -> C {
    let (x, y) = (z.re.abs(), z.im.abs());
    let largest = f64::MAX.sqrt() / 8.0;
    let (beyond, before) = (x + 1.0, x - 1.0);
    let (r, s) = (libm::hypot(beyond, y), libm::hypot(before, y));
    let a = 0.5 * (r + s);
    let half_sum = 0.5 * (a + x);
    let yy = y * y;
    // r - (x + 1) and s - (x - 1) are computed from what they are multiplied by.
    let (r_beyond, s_before, s_within) = (r + beyond, s + before, s - before);
    let re = if x.max(y) >= largest {
        y
    } else if x <= 1.0 {
        (half_sum * (yy / r_beyond + s_within)).sqrt()
    } else {
        y * (half_sum / r_beyond + half_sum / s_before).sqrt()
    };
    // Too large to be squared: log 2|z|.
    if x.max(y) >= largest {
        let (long, short) = if x > y { (x, y) } else { (y, x) };
        let slope = if long.is_infinite() { 0.0 } else { short / long };
        let im = LN_2 + libm::log(long) + 0.5 * libm::log1p(slope * slope);
        return C::new(re, im);
    }
    // a - 1, without taking 1 from what is nearly 1.
    let half_yy = 0.5 * yy;
    let share = half_yy / r_beyond;
    let flat = y < f64::MIN_POSITIVE.sqrt() * 4.0 && x < 1.0;
    let a_less = if flat {
        -(beyond * before / (a + 1.0))
    } else if x >= 1.0 {
        share + 0.5 * s_before
    } else if a <= 1.5 {
        share + half_yy / s_within
    } else {
        a - 1.0
    };
    let root = (a_less * (a + 1.0)).sqrt();
    C::new(re, if flat { y / root } else { libm::log1p(a_less + root) })
}

/// log1p(4 |x| / ((1 - |x|)² + y²)) / 4 with the sign of x, and
/// atan2(2 y, (1 - |x|) (1 + |x|) - y²) / 2.
pub(super) fn atanh(z: C) -> C {
    let (x, y) = (z.re, z.im);
    let (ax, ay) = (x.abs(), y.abs());
    if x.is_nan() || y.is_nan() {
        return C::new(if ay.is_infinite() { 0f64.copysign(x) } else { f64::NAN }, f64::NAN);
    }
    // Where adding 1 changes nothing, and squares may overflow.
    let limit = 2f64.powi(106);
    if ax >= limit || ay >= limit {
        let re = if ax.is_infinite() || ay.is_infinite() {
            0.0
        } else {
            // x / (x² + y²)
            let (long, short) = (ax.max(ay), ax.min(ay));
            let ratio = short / long;
            ax / long / (1.0 + ratio * ratio) / long
        };
        return C::new(re.copysign(x), FRAC_PI_2.copysign(y));
    }
    let gap = 1.0 - ax;
    let re = 0.25 * libm::log1p(4.0 * (ax / (gap * gap + y * y)));
    let angle = libm::atan2(2.0 * y, gap * (1.0 + ax) - y * y);
    C::new(re.copysign(x), 0.5 * angle)
}

pub(super) fn atan(z: C) -> C {
    let turned = atanh(C::new(-z.im, z.re));
    C::new(turned.im, -turned.re)
}

#[cfg(test)]
mod tests {
    use std::f64::consts::{PI, SQRT_2};

    use super::*;

    fn near(a: C, b: C) -> bool {
        (a.re - b.re).abs() <= 1e-15 * (1.0 + b.re.abs())
            && (a.im - b.im).abs() <= 1e-15 * (1.0 + b.im.abs())
    }

    #[test]
    fn large_arguments_have_finite_functions() {
        let e = exp(C::new(710.0, FRAC_PI_2));
        assert!(e.im.is_infinite() || e.im > 1e308);
        assert!(exp(C::new(800.0, 1e-300)).re.is_infinite());
        assert!(near(tanh(C::new(1000.0, 1.0)), ONE));
        assert!(near(divide(C::new(1e300, 1e300), C::new(1e300, 1e300)), ONE));
        assert!(near(sqrt(C::new(-4.0, 0.0)), C::new(0.0, 2.0)));
        let root = sqrt(C::new(f64::MAX, f64::MAX));
        assert!(root.re.is_finite() && root.im.is_finite());
        let tiny = sqrt(C::new(5e-324, 5e-324));
        assert!(tiny.re > 0.0 && tiny.im > 0.0);
        assert_eq!(atanh(C::new(1e200, 1e200)).im, FRAC_PI_2);
        assert_eq!(asin(C::new(0.0, 1e300)).re, 0.0);
        assert!((acos(C::new(-1e300, 1e-300)).re - PI).abs() < 1e-15);
        assert!((acosh(C::new(SQRT_2, 0.0)).re - (SQRT_2 + 1.0).ln()).abs() < 1e-15);
    }
}
