//! Functions of real numbers beyond those of `libm`, in `f64`.

mod gamma;

use shard_ir::{ElementType, float};

pub(super) use gamma::{digamma, lgamma, polygamma, zeta};

pub(super) fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-x))
}

/// `x - log 2`, rounded to `f32`: StableHLO defines the hyperbolic functions by powers of it, and
/// their values in `f32` are as far from the exact ones as this makes them.
pub(super) fn less_log_two(x: f32) -> f64 {
    f64::from(x - std::f32::consts::LN_2)
}

/// `libm`'s has values for large negative numbers.
pub(super) fn acosh(x: f64) -> f64 {
    if x < 1.0 { f64::NAN } else { libm::acosh(x) }
}

pub(super) fn rsqrt(x: f64) -> f64 {
    1.0 / x.sqrt()
}

/// The modified Bessel function of order 1, times e^-|x|.
pub(super) fn bessel_i1e(x: f64) -> f64 {
    let size = x.abs();
    let value = if size <= 24.0 {
        // The power series, whose terms are all positive.
        let quarter = size * size / 4.0;
        let (mut term, mut sum) = (1.0, 1.0);
        for k in 1..100 {
            let k = f64::from(k);
            term *= quarter / (k * (k + 1.0));
            sum += term;
            if term < sum * 1e-18 {
                break;
            }
        }
        size / 2.0 * sum * libm::exp(-size)
    } else {
        // The asymptotic series; its terms fall until they are smaller than the last digit.
        let (mut term, mut sum) = (1.0f64, 1.0);
        for k in 1..60 {
            let odd = f64::from(2 * k - 1);
            term *= (odd * odd - 4.0) / (f64::from(8 * k) * size);
            sum += term;
            if term.abs() < sum.abs() * 1e-18 {
                break;
            }
        }
        sum / (std::f64::consts::TAU * size).sqrt()
    };
    if x.is_nan() { x } else { value.copysign(x) }
}

/// The inverse of the error function: Giles' approximation in single precision, and Newton's steps
/// from there.
pub(super) fn erf_inv(x: f64) -> f64 {
    const NEAR: [f64; 9] = [
        2.810_226_36e-8,
        3.432_739_39e-7,
        -3.523_387_7e-6,
        -4.391_506_54e-6,
        0.000_218_580_87,
        -0.001_253_725_03,
        -0.004_177_681_64,
        0.246_640_727,
        1.501_409_41,
    ];
    const FAR: [f64; 9] = [
        -0.000_200_214_257,
        0.000_100_950_558,
        0.001_349_343_22,
        -0.003_673_428_44,
        0.005_739_507_73,
        -0.007_622_461_3,
        0.009_438_870_47,
        1.001_674_06,
        2.832_976_82,
    ];
    if x.abs() == 1.0 {
        return f64::INFINITY.copysign(x);
    }
    if x.is_nan() || x.abs() > 1.0 {
        return f64::NAN;
    }
    let w = -libm::log1p(-x * x);
    let (coefficients, w) = if w < 5.0 { (&NEAR, w - 2.5) } else { (&FAR, w.sqrt() - 3.0) };
    let mut y = x.abs() * coefficients.iter().fold(0.0, |sum, c| sum * w + c);
    for _ in 0..3 {
        // What is small is the difference near 0, and the complement near 1.
        let excess =
            if x.abs() < 0.5 { libm::erf(y) - x.abs() } else { (1.0 - x.abs()) - libm::erfc(y) };
        let slope = std::f64::consts::FRAC_2_SQRT_PI * libm::exp(-y * y);
        let step = excess / slope;
        // The second derivative is -2y times the first.
        y -= step / (1.0 + y * step);
    }
    y.copysign(x)
}

/// The bits of the float after `from` in the direction of `to`.
pub(super) fn next_after(from: u64, to: u64, element: ElementType) -> u64 {
    let (a, b) = (float::to_f64(from, element), float::to_f64(to, element));
    if a.is_nan() || b.is_nan() {
        return float::from_f64(f64::NAN, element);
    }
    if a == b {
        return to;
    }
    if element == ElementType::F8E8M0FNU {
        // The bits are the exponent alone.
        return if a < b { from + 1 } else { from - 1 };
    }
    let sign_bit = 1u64 << (element.bits() - 1);
    if a == 0.0 {
        return 1 | if b < 0.0 { sign_bit } else { 0 };
    }
    // Farther from zero is one more, whatever the sign.
    let next = if (a < b) == (a > 0.0) { from + 1 } else { from - 1 };
    // Some types have a NaN in the place of the negative zero.
    if next & (sign_bit - 1) == 0 && float::to_f64(next, element).is_nan() { 0 } else { next }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverse_error_function_is_one() {
        for x in [1e-300, 1e-9, 0.1, 0.499, 0.5, 0.7, 0.999, 1.0 - 1e-15] {
            let y = erf_inv(x);
            let back = libm::erf(y);
            assert!((back - x).abs() <= 4.0 * f64::EPSILON * x, "{x} {y} {back}");
            assert_eq!(erf_inv(-x), -y);
        }
    }

    #[test]
    fn both_series_of_bessel_meet() {
        let (below, above) = (bessel_i1e(24.0), bessel_i1e(24.000_000_000_000_004));
        assert!((below - above).abs() < 1e-15, "{below} {above}");
        // Abramowitz and Stegun, table 9.8.
        assert!((bessel_i1e(1.0) - 0.207_910_415_3).abs() < 1e-9);
        assert!((bessel_i1e(-5.0) + 0.163_972_266_9).abs() < 1e-9);
    }
}
