//! The gamma function's relatives, by Lanczos' approximation (SIAM Journal on Numerical Analysis B,
//! volume 1), and Hurwitz' zeta function, by the Euler-Maclaurin formula (Johansson,
//! arXiv:1309.2877).

use std::f64::consts::PI;

use super::math::{X, in_f32};
use super::predicates::is_inf;

/// Lanczos' g, by which the coefficients are chosen.
const G: f64 = 7.0;
/// What the sum of his series begins with.
const BASE: f64 = 0.999_999_999_999_809_9;

/// The logarithm of the absolute value of the gamma function.
pub(super) fn lgamma(x: X<'_>) -> X<'_> {
    in_f32([x], |[x]| lgamma_wide(x))
}

/// The derivative of [`lgamma`].
pub(super) fn digamma(x: X<'_>) -> X<'_> {
    in_f32([x], |[x]| digamma_wide(x))
}

/// The derivative of order n of [`digamma`].
pub(super) fn polygamma<'m>(n: X<'m>, x: X<'m>) -> X<'m> {
    in_f32([n, x], |[n, x]| {
        let sign = 2.0 * (n % 2.0) - 1.0;
        let next = n + 1.0;
        let y = sign * lgamma_wide(next).exp() * zeta_wide(next, x);
        let y = n.eq(0.0).select(digamma_wide(x), y);
        let undefined = n.ne(n.floor()) | n.lt(0.0);
        undefined.select(x.nan(), y)
    })
}

/// Hurwitz' zeta function: the sum of (q + k)^-x over all k from 0.
pub(super) fn zeta<'m>(x: X<'m>, q: X<'m>) -> X<'m> {
    in_f32([x, q], |[x, q]| zeta_wide(x, q))
}

/// What both functions are computed from: the argument `z`, which is below 1/2 that of the
/// reflection, and whether it is.
fn reflection(x: X<'_>) -> (X<'_>, X<'_>) {
    let reflect = x.lt(0.5);
    (reflect.select(-x, x - 1.0), reflect)
}

/// `t = z + g + 1/2` and its logarithm, which is more exact as a logarithm of 1 + z / (g + 1/2).
fn t_and_log(z: X<'_>) -> (X<'_>, X<'_>) {
    let half = G + 0.5;
    (half + z, half.ln() + (z / half).ln_1p())
}

/// For z = x - 1, log(2π)/2 + (z + 1/2) log t - t + log a with Lanczos' series a. Below 1/2,
/// log(π / |sin πx|) less the value at 1 - x.
fn lgamma_wide(x: X<'_>) -> X<'_> {
    let (z, reflect) = reflection(x);
    let series = (1..).zip(&LANCZOS);
    let a = series.fold(x.c(BASE), |a, (k, &c)| a + c / (z + f64::from(k)));
    let (t, log_t) = t_and_log(z);
    // Written as a product, it becomes infinite no sooner than the result.
    let r = (z + 0.5 - t / log_t) * log_t;
    let y = (2f64.ln() + PI.ln()) / 2.0 + r + a.ln();
    // |sin πx| has the period 1 and is symmetric in each: the part behind the point, mirrored
    // where it is above 1/2, loses nothing.
    let ax = x.abs();
    let part = ax - ax.floor();
    let part = part.c(0.5).lt(part).select(1.0 - part, part);
    let log_sin = (PI * part).sin().ln();
    let reflected = PI.ln() - log_sin - y;
    // At a pole both are infinite, and the sine is what counts.
    let reflected = log_sin.is_finite().select(reflected, -log_sin);
    is_inf(x).select(x.inf(), reflect.select(reflected, y))
}

/// For z = x - 1, log t + a'/a - g/t. Below 1/2, the value at 1 - x less π cot πx.
fn digamma_wide(x: X<'_>) -> X<'_> {
    let (z, reflect) = reflection(x);
    let (mut a, mut slope) = (x.c(BASE), x.c(0.0));
    for (k, &c) in (1..).zip(&LANCZOS) {
        let term = z + f64::from(k);
        slope = slope - c / (term * term);
        a = a + c / term;
    }
    let (t, log_t) = t_and_log(z);
    let y = log_t + slope / a - G / t;
    // Moved to between -1/2 and 1/2, where πx is most exact.
    let angle = PI * (x + (x + 0.5).floor().abs());
    let reflected = y - PI * angle.cos() / angle.sin();
    let pole = x.lt(0.0) & x.is_whole();
    let y = pole.select(x.nan(), reflect.select(reflected, y));
    x.eq(0.0).select(x.c(f64::NEG_INFINITY), y)
}

/// Nine terms of the sum, and twelve of the Euler-Maclaurin formula for the others.
fn zeta_wide<'m>(x: X<'m>, q: X<'m>) -> X<'m> {
    const TERMS: u32 = 9;
    let minus_x = -x;
    let mut sum = q.pow(minus_x);
    let mut base = q;
    for _ in 0..TERMS {
        base = base + 1.0;
        sum = sum + base.pow(minus_x);
    }
    base = base + 1.0;
    let power = base.pow(minus_x);
    let integral = power * base / (x - 1.0);
    let inverse_square = 1.0 / (base * base);
    // From the last term to the first.
    let (&first, others) = EULER_MACLAURIN.split_last().unwrap_or((&1.0, &[]));
    let mut tail = x.c(0.0);
    for (k, &c) in others.iter().enumerate() {
        let order = f64::from(2 * (others.len() - k) as u32);
        let factor = (x + order) * (x + (order - 1.0));
        tail = factor * (inverse_square * (tail + 1.0 / c));
    }
    let tail = power * (0.5 + x / base * (1.0 / first + tail));
    let exact = sum + integral + tail;
    // The sum alone, where what is left is too small to count.
    let negligible = power.abs().lt(sum.abs() * base.smallest());
    let y = negligible.select(sum, exact);
    let y = x.lt(1.0).select(x.nan(), y);
    // At q of 0 and less, powers with a fraction aren't real, and whole q are poles.
    let not_positive = q.le(0.0);
    let y = (not_positive & x.ne(x.floor())).select(x.nan(), y);
    let even = x.is_whole() & (x % 2.0).eq(0.0);
    let at_pole = even.select(x.inf(), x.nan());
    let y = (not_positive & q.is_whole()).select(at_pole, y);
    x.eq(1.0).select(x.inf(), y)
}

/// Lanczos' coefficients for this g.
const LANCZOS: [f64; 8] = [
    676.5203681218851,
    -1259.1392167224028,
    771.3234287776531,
    -176.6150291621406,
    12.507343278686905,
    -0.13857109526572012,
    9.984369578019572e-6,
    1.5056327351493116e-7,
];

/// (2k)! over the Bernoulli number of order 2k, from the twelfth to the first.
const EULER_MACLAURIN: [f64; 12] = [
    -7.166165256175667e18,
    1.8152105401943546e17,
    -4597978722407473.0,
    116467828143500.67,
    -2950130727918.164,
    74724249600.0,
    -1892437580.3183792,
    47900160.0,
    -1209600.0,
    30240.0,
    -720.0,
    12.0,
];
