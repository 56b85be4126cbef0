//! Checks that programs state: `check.expect_*` of StableHLO's own tests.

use shard_ir::{Dims, ElementType, NumberKind};

use crate::{Fault, Tensor};

/// How equal two tensors have to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Rule {
    /// By value: zeros are equal whatever their sign, NaN is equal to nothing.
    Equal,
    /// The same, but NaN is equal to NaN, and floats may differ by so much.
    Almost(f64),
    /// Floats differ by at least and at most so many units in the last place.
    Close { least: u64, most: u64 },
}

/// What differs, if something does.
///
/// # Errors
/// If the tensors aren't of one type.
pub(super) fn difference(
    actual: &Tensor,
    expected: &Tensor,
    rule: Rule,
) -> Result<Option<String>, Fault> {
    if actual.dims() != expected.dims() || actual.element() != expected.element() {
        return Err(Fault::invalid(format!(
            "a value of {} {:?} is compared with one of {} {:?}",
            actual.element(),
            actual.dims(),
            expected.element(),
            expected.dims()
        )));
    }
    let (wrong, show): (Vec<usize>, Box<dyn Fn(usize) -> String>) = match actual.element().kind() {
        NumberKind::Bool | NumberKind::Signed | NumberKind::Unsigned => {
            let (a, b) = (actual.integers(), expected.integers());
            let wrong = (0..a.len()).filter(|&i| a[i] != b[i]).collect();
            (wrong, Box::new(move |i| format!("{} instead of {}", a[i], b[i])))
        }
        NumberKind::Float => {
            let element = actual.element();
            let (a, b) = (actual.floats(), expected.floats());
            let wrong = (0..a.len()).filter(|&i| !fits(a[i], b[i], element, rule)).collect();
            (wrong, Box::new(move |i| format!("{:e} instead of {:e}", a[i], b[i])))
        }
        NumberKind::Complex => {
            let (element, a, b) = (part(actual.element()), parts(actual), parts(expected));
            let fits_at = |i: usize| {
                fits(a[2 * i], b[2 * i], element, rule)
                    && fits(a[2 * i + 1], b[2 * i + 1], element, rule)
            };
            let wrong = (0..a.len() / 2).filter(|&i| !fits_at(i)).collect();
            let show = move |i: usize| {
                let [re, im] = [a[2 * i], a[2 * i + 1]];
                format!("({re:e}, {im:e}) instead of ({:e}, {:e})", b[2 * i], b[2 * i + 1])
            };
            (wrong, Box::new(show))
        }
        NumberKind::Quantized => {
            let differ = actual.buffer().bytes() != expected.buffer().bytes();
            (if differ { vec![0] } else { Vec::new() }, Box::new(|_| "other integers".to_owned()))
        }
    };
    let Some(&first) = wrong.first() else { return Ok(None) };
    let count = actual.len();
    let more = match wrong.len() {
        1 => format!("1 of {count} elements differs"),
        many => format!("{many} of {count} elements differ, the first"),
    };
    let index = index_of(first, actual.dims());
    Ok(Some(format!("{more} at {index:?}: {}", show(first))))
}

fn index_of(position: usize, dims: &[i64]) -> Dims {
    let mut index = Dims::from_elem(0, dims.len());
    let mut rest = position as i64;
    for (at, size) in index.iter_mut().zip(dims).rev() {
        *at = rest % (*size).max(1);
        rest /= (*size).max(1);
    }
    index
}

fn part(element: ElementType) -> ElementType {
    if element == ElementType::C64 { ElementType::F32 } else { ElementType::F64 }
}

/// Real and imaginary parts, one after the other.
fn parts(tensor: &Tensor) -> Vec<f64> {
    match tensor.element() {
        ElementType::C64 => tensor
            .lanes::<num_complex::Complex<f32>>()
            .iter()
            .flat_map(|z| [f64::from(z.re), f64::from(z.im)])
            .collect(),
        _ => {
            tensor.lanes::<num_complex::Complex<f64>>().iter().flat_map(|z| [z.re, z.im]).collect()
        }
    }
}

fn fits(actual: f64, expected: f64, element: ElementType, rule: Rule) -> bool {
    match rule {
        Rule::Equal => actual == expected,
        Rule::Almost(tolerance) => {
            actual == expected
                || actual.is_nan() && expected.is_nan()
                || (actual - expected).abs() <= tolerance
        }
        Rule::Close { least, most } => {
            let distance = ulps(actual, expected, element);
            (least..=most).contains(&distance)
        }
    }
}

/// Number of floats of the type between two.
fn ulps(a: f64, b: f64, element: ElementType) -> u64 {
    let bits = |value: f64| shard_ir::float::from_f64(value.abs(), element);
    if a.is_nan() && b.is_nan() {
        return 0;
    }
    if a == b && a.is_sign_negative() == b.is_sign_negative() {
        return 0;
    }
    if !a.is_finite() || !b.is_finite() {
        return u64::MAX;
    }
    if a.is_sign_negative() == b.is_sign_negative() {
        bits(a).abs_diff(bits(b))
    } else {
        bits(a).saturating_add(bits(b))
    }
}
