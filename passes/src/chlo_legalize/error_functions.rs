//! The error function and those made of it: Cephes' approximations for erfc and in `f64`, Eigen's
//! for erf in `f32`, Giles' for the inverse.

use super::math::{X, by_width, polynomial};

/// The error function.
pub(super) fn erf(x: X<'_>) -> X<'_> {
    by_width(x, erf_f32, |x| x.abs().lt(1.0).select(erf_near_f64(x), 1.0 - erfc_far_f64(x)))
}

/// One minus the error function.
pub(super) fn erfc(x: X<'_>) -> X<'_> {
    by_width(
        x,
        |x| x.abs().lt(1.0).select(1.0 - x * polynomial(x * x, &T_F32), erfc_far_f32(x)),
        |x| x.abs().lt(1.0).select(1.0 - erf_near_f64(x), erfc_far_f64(x)),
    )
}

/// `x α(x²) / β(x²)` for x between -4 and 4; beyond, the result is 1 to the last digit.
fn erf_f32(x: X<'_>) -> X<'_> {
    let x = x.clamp(-4.0, 4.0);
    let xx = x * x;
    (x * polynomial(xx, &ALPHA_F32) / polynomial(xx, &BETA_F32)).clamp(-1.0, 1.0)
}

/// `x T(x²) / U(x²)`, for |x| below 1.
fn erf_near_f64(x: X<'_>) -> X<'_> {
    let xx = x * x;
    x * polynomial(xx, &T_F64) / polynomial(xx, &U_F64)
}

/// For |x| of 1 and more: `e^-x² / |x| P(1/x²)` below 2, and with `R` in the place of `P` beyond.
fn erfc_far_f32(x: X<'_>) -> X<'_> {
    let xx = x * x;
    let z = -xx;
    let ax = x.abs();
    let scale = z.exp() * (1.0 / ax);
    let y = 1.0 / xx;
    let fraction = ax.lt(2.0).select(polynomial(y, &P_F32), polynomial(y, &R_F32));
    reflected(x, z, scale * fraction, 88.722_839_052_068_35)
}

/// For |x| of 1 and more: `e^-x² P(|x|) / Q(|x|)` below 8, and `R / S` in the place of `P / Q`
/// beyond.
fn erfc_far_f64(x: X<'_>) -> X<'_> {
    let z = -(x * x);
    let e = z.exp();
    let ax = x.abs();
    let middle = e * polynomial(ax, &P_F64) / polynomial(ax, &Q_F64);
    let far = e * polynomial(ax, &R_F64) / polynomial(ax, &S_F64);
    reflected(x, z, ax.lt(8.0).select(middle, far), 709.782_712_893_384)
}

/// erfc(x) from `y`, that of |x|: 0 where `e^z` is too small for a number, 2 - y for negative x.
fn reflected<'m>(x: X<'m>, z: X<'m>, y: X<'m>, largest_exponent: f64) -> X<'m> {
    let y = z.lt(-largest_exponent).select(x.c(0.0), y);
    x.lt(0.0).select(2.0 - y, y)
}

/// The inverse of the error function: x times a polynomial in a shifted `w = -log(1 - x²)`, or in
/// its root, with coefficients that depend on how large w is.
pub(super) fn erf_inv(x: X<'_>) -> X<'_> {
    let y = by_width(x, erf_inv_f32, erf_inv_f64);
    return y;

    fn erf_inv_f32(x: X<'_>) -> X<'_> {
        let w = -(x * -x).ln_1p();
        let near = w.lt(5.0);
        let w = near.select(w - 2.5, w.sqrt() - 3.0);
        let coefficients = NEAR_F32.iter().zip(&FAR_F32);
        let sum = coefficients.fold(None, |sum, (&a, &b)| {
            let c = near.select(x.c(a.into()), x.c(b.into()));
            Some(sum.map_or(c, |sum| c + sum * w))
        });
        at_one(x, sum.unwrap_or(w) * x)
    }

    /// The three polynomials have different degrees: the first steps serve all, the last only
    /// those that have so many coefficients.
    fn erf_inv_f64(x: X<'_>) -> X<'_> {
        let w = -(x * -x).ln_1p();
        let (near, middle) = (w.lt(6.25), w.lt(16.0));
        let root = w.sqrt() - middle.select(w.c(3.25), w.c(5.0));
        let w = near.select(w - 3.125, root);
        let coefficient = |at: usize| {
            let mut c = x.c(NEAR_F64[at]);
            if let Some(&other) = MIDDLE_F64.get(at) {
                c = near.select(c, x.c(other));
            }
            if let Some(&other) = FAR_F64.get(at) {
                c = middle.select(c, x.c(other));
            }
            c
        };
        let mut sum = coefficient(0);
        for at in 1..NEAR_F64.len() {
            let next = coefficient(at) + sum * w;
            sum = match at {
                _ if at < FAR_F64.len() => next,
                _ if at < MIDDLE_F64.len() => middle.select(next, sum),
                _ => near.select(next, sum),
            };
        }
        at_one(x, sum * x)
    }

    /// Infinite at 1 and -1, where the formula has no value.
    fn at_one<'m>(x: X<'m>, y: X<'m>) -> X<'m> {
        x.abs().eq(1.0).select(x * x.inf(), y)
    }
}

const P_F64: [f64; 9] = [
    2.461969814735305e-10,
    0.5641895648310689,
    7.463210564422699,
    48.63719709856814,
    196.5208329560771,
    526.4451949954773,
    934.5285271719576,
    1027.5518868951572,
    557.5353353693994,
];
const Q_F64: [f64; 9] = [
    1.0,
    13.228195115474499,
    86.70721408859897,
    354.9377788878199,
    975.7085017432055,
    1823.9091668790973,
    2246.3376081871097,
    1656.6630919416134,
    557.5353408177277,
];
const R_F64: [f64; 6] = [
    0.5641895835477551,
    1.275366707599781,
    5.019050422511805,
    6.160210979930536,
    7.4097426995044895,
    2.9788666537210022,
];
const S_F64: [f64; 7] = [
    1.0,
    2.2605286322011726,
    9.396035249380015,
    12.048953980809666,
    17.08144507475659,
    9.608968090632859,
    3.369076451000815,
];
const T_F64: [f64; 5] =
    [9.604973739870516, 90.02601972038427, 2232.005345946843, 7003.325141128051, 55592.30130103949];
const U_F64: [f64; 6] = [
    1.0,
    33.56171416475031,
    521.3579497801527,
    4594.323829709801,
    22629.000061389095,
    49267.39426086359,
];
const P_F32: [f32; 9] = [
    0.0232682,
    -0.13870394,
    0.36874247,
    -0.5824733,
    0.62100047,
    -0.49445152,
    0.340488,
    -0.2741127,
    0.56382596,
];
const R_F32: [f32; 8] =
    [-10.477664, 12.9772, -7.4955187, 2.921019, -1.0152652, 0.42184633, -0.28207675, 0.5641895];
// The last is near 2/√π, but is the fit's own number.
#[allow(clippy::approx_constant)]
const T_F32: [f32; 7] =
    [7.8538615e-5, -0.00080101937, 0.0051883277, -0.026853813, 0.112835854, -0.37612626, 1.1283791];
const ALPHA_F32: [f32; 7] = [
    -2.7261424e-10,
    2.7706815e-8,
    -2.101024e-6,
    -5.6925062e-5,
    -0.00073499064,
    -0.0029546,
    -0.016096033,
];
const BETA_F32: [f32; 5] =
    [-1.45660715e-5, -0.00021337405, -0.001682827, -0.0073733293, -0.014264739];
const NEAR_F32: [f32; 9] = [
    2.8102264e-8,
    3.4327394e-7,
    -3.5233877e-6,
    -4.3915065e-6,
    0.00021858087,
    -0.001253725,
    -0.0041776816,
    0.24664073,
    1.5014094,
];
const FAR_F32: [f32; 9] = [
    -0.00020021426,
    0.00010095056,
    0.0013493432,
    -0.0036734284,
    0.0057395077,
    -0.0076224613,
    0.0094388705,
    1.001674,
    2.8329768,
];
const NEAR_F64: [f64; 23] = [
    -3.64441206401782e-21,
    -1.6850591381820166e-19,
    1.28584807152564e-18,
    1.1157877678025181e-17,
    -1.333171662854621e-16,
    2.0972767875968562e-17,
    6.637638134358324e-15,
    -4.054566272975207e-14,
    -8.151934197605472e-14,
    2.6335093153082323e-12,
    -1.2975133253453532e-11,
    -5.415412054294628e-11,
    1.0512122733215323e-9,
    -4.112633980346984e-9,
    -2.9070369957882005e-8,
    4.2347877827932404e-7,
    -1.3654692000834679e-6,
    -1.3882523362786469e-5,
    0.00018673420803405714,
    -0.000740702534166267,
    -0.006033670871430149,
    0.24015818242558962,
    1.6536545626831027,
];
const MIDDLE_F64: [f64; 19] = [
    2.2137376921775787e-9,
    9.075656193888539e-8,
    -2.7517406297064545e-7,
    1.8239629214389228e-8,
    1.5027403968909828e-6,
    -4.013867526981546e-6,
    2.9234449089955446e-6,
    1.2475304481671779e-5,
    -4.7318229009055734e-5,
    6.828485145957318e-5,
    2.4031110387097894e-5,
    -0.0003550375203628475,
    0.0009532893797373805,
    -0.0016882755560235047,
    0.002491442096107851,
    -0.003751208507569241,
    0.005370914553590064,
    1.0052589676941592,
    3.0838856104922208,
];
const FAR_F64: [f64; 17] = [
    -2.7109920616438573e-11,
    -2.555641816996525e-10,
    1.5076572693500548e-9,
    -3.789465440126737e-9,
    7.61570120807834e-9,
    -1.496002662714924e-8,
    2.914795345090108e-8,
    -6.771199775845234e-8,
    2.2900482228026655e-7,
    -9.9298272942317e-7,
    4.526062597223154e-6,
    -1.968177810553167e-5,
    7.599527703001776e-5,
    -0.00021503011930044477,
    -0.00013871931833623122,
    1.0103004648645344,
    4.849906401408584,
];
