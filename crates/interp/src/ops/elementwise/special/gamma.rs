//! The gamma function's relatives.

use std::f64::consts::PI;

/// The logarithm of the absolute value of the gamma function.
pub(in super::super) fn lgamma(x: f64) -> f64 {
    if x.is_infinite() {
        return f64::INFINITY;
    }
    libm::lgamma(x)
}

/// The derivative of [`lgamma`]: the asymptotic series, to where the recurrence brings it.
pub(in super::super) fn digamma(x: f64) -> f64 {
    /// B(2k) / 2k of the Bernoulli numbers.
    const SERIES: [f64; 8] = [
        1.0 / 12.0,
        -1.0 / 120.0,
        1.0 / 252.0,
        -1.0 / 240.0,
        1.0 / 132.0,
        -691.0 / 32760.0,
        1.0 / 12.0,
        -3617.0 / 8160.0,
    ];
    if x == 0.0 {
        return f64::NEG_INFINITY;
    }
    if x < 0.0 {
        if x == x.floor() {
            return f64::NAN;
        }
        // The tangent has the period of the whole numbers.
        let part = x - x.round_ties_even();
        return digamma(1.0 - x) - PI / libm::tan(PI * part);
    }
    let mut x = x;
    let mut less = 0.0;
    while x < 10.0 {
        less += 1.0 / x;
        x += 1.0;
    }
    let inverse = 1.0 / (x * x);
    let series = SERIES.iter().rev().fold(0.0, |sum, c| (sum + c) * inverse);
    libm::log(x) - 0.5 / x - series - less
}

/// The derivative of order n of [`digamma`].
pub(in super::super) fn polygamma(n: f64, x: f64) -> f64 {
    if n != n.floor() || n < 0.0 {
        return f64::NAN;
    }
    if n == 0.0 {
        return digamma(x);
    }
    let sign = if n % 2.0 == 0.0 { -1.0 } else { 1.0 };
    let zeta = zeta(n + 1.0, x);
    if n < 170.0 {
        sign * libm::tgamma(n + 1.0) * zeta
    } else {
        sign * libm::exp(lgamma(n + 1.0)) * zeta
    }
}

/// Hurwitz' zeta function, the sum of (q + k)^-x over all k from 0: nine terms, and twelve of the
/// Euler-Maclaurin formula for the others (Johansson, arXiv:1309.2877).
pub(in super::super) fn zeta(x: f64, q: f64) -> f64 {
    /// (2k)! over the Bernoulli number of order 2k.
    const EULER_MACLAURIN: [f64; 12] = [
        12.0,
        -720.0,
        30240.0,
        -1_209_600.0,
        47_900_160.0,
        -1_892_437_580.318_379_2,
        74_724_249_600.0,
        -2_950_130_727_918.164,
        116_467_828_143_500.67,
        -4_597_978_722_407_473.0,
        1.815_210_540_194_354_6e17,
        -7.166_165_256_175_667e18,
    ];
    if x.is_nan() || q.is_nan() || x < 1.0 {
        return f64::NAN;
    }
    if x == 1.0 {
        return f64::INFINITY;
    }
    if q <= 0.0 {
        if q == q.floor() {
            return if x % 2.0 == 0.0 { f64::INFINITY } else { f64::NAN };
        }
        // Powers with a fraction of a negative number aren't real.
        if x != x.floor() {
            return f64::NAN;
        }
    }
    let mut sum = libm::pow(q, -x);
    let mut base = q;
    for k in 1..10 {
        base = q + f64::from(k);
        sum += libm::pow(base, -x);
    }
    // Of a negative q, terms grow until the base has passed zero.
    let mut k = 10.0;
    while base < 9.0 && k < 1e5 {
        base = q + k;
        sum += libm::pow(base, -x);
        k += 1.0;
    }
    base += 1.0;
    let power = libm::pow(base, -x);
    if power.abs() <= sum.abs() * f64::MIN_POSITIVE {
        return sum;
    }
    let integral = power * base / (x - 1.0);
    let mut factor = 1.0;
    let mut order = x;
    let mut step = power / base;
    let mut tail = 0.0;
    for divisor in EULER_MACLAURIN {
        // x (x + 1) ... (x + 2k) / base^(2k + 1)
        let term = order * factor * step / divisor;
        tail += term;
        if term.abs() < (sum + tail).abs() * 1e-18 {
            break;
        }
        factor *= order * (order + 1.0);
        order += 2.0;
        step /= base * base;
    }
    sum + integral + 0.5 * power + tail
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        let close = |a: f64, b: f64| assert!((a - b).abs() <= 1e-14 * b.abs(), "{a} {b}");
        close(zeta(2.0, 1.0), PI * PI / 6.0);
        close(zeta(4.0, 1.0), PI.powi(4) / 90.0);
        close(zeta(2.0, -0.5), PI * PI / 2.0 + 4.0);
        close(polygamma(1.0, 0.5), PI * PI / 2.0);
        close(polygamma(2.0, 1.0), -2.0 * 1.202_056_903_159_594_2);
        close(digamma(1.0), -0.577_215_664_901_532_9);
        close(digamma(0.5), -1.963_510_026_021_423_5);
        close(digamma(-0.5), 0.036_489_973_978_576_52);
    }
}
