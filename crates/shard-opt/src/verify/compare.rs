//! Comparing what a device has with its part of what was expected.

use shard_ir::{ElementType, HostArray, NumberKind};

use super::elements;
use super::report::Mismatch;
use super::shards::{self, Part};

/// How elements are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Rule {
    /// Bit for bit.
    Exact,
    /// |a - b| is at most `tolerance` times |b| + `rms`, and `noise`.
    Within {
        /// The part.
        tolerance: f64,
        /// Root mean square of what is expected.
        rms: f64,
        /// What rounding errors inside the program do to the result.
        noise: f64,
    },
}

impl Found {
    /// Adds what another comparison found.
    pub fn add(&mut self, other: Found) {
        self.compared += other.compared;
        self.open += other.open;
        self.differing += other.differing;
        self.worst = self.worst.max(other.worst);
        let room = EXAMPLES.saturating_sub(self.examples.len());
        self.examples.extend(other.examples.into_iter().take(room));
    }
}

impl Rule {
    /// The rule with more noise allowed.
    pub fn with_noise(self, more: f64) -> Rule {
        match self {
            Rule::Exact => Rule::Exact,
            Rule::Within { tolerance, rms, noise } => {
                Rule::Within { tolerance, rms, noise: noise + more }
            }
        }
    }

    /// The rule for an expected array.
    pub fn of(expected: &HostArray, tolerance: Option<f64>, noise: f64) -> Rule {
        match tolerance {
            None => Rule::Exact,
            Some(tolerance) => Rule::Within { tolerance, rms: rms(expected), noise },
        }
    }
}

/// What comparisons found.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    /// Elements compared.
    pub compared: u64,
    /// Elements of these whose value is open.
    pub open: u64,
    /// Elements that differ.
    pub differing: u64,
    /// The largest error, in units of what is allowed.
    pub worst: f64,
    /// The first differences.
    pub examples: Vec<Mismatch>,
    /// Nothing is looked at after the first row that differs.
    pub first_only: bool,
}

/// Where a comparison happens.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// The run, from 0.
    pub run: usize,
    /// The device.
    pub device: usize,
}

/// Differences that are kept to be shown.
const EXAMPLES: usize = 3;

/// Compares a device's array with its part of the expected one, padding left out, and elements that
/// are open; where nothing is, `open` is empty.
pub(super) fn compare(
    expected: &HostArray,
    found: &HostArray,
    part: &Part,
    (rule, open): (Rule, &[bool]),
    place: Place,
    sum: &mut Found,
) {
    let element = expected.element_type;
    let width = element.storage_bytes();
    // Rows of the last dimension are looked at whole: most are equal.
    let (rows, length) = match part.inside.split_last() {
        Some((&last, rows)) => (rows, last),
        None => (&[][..], 1),
    };
    if length <= 0 {
        return;
    }
    let size = length as usize * width;
    shard_interp::each_index(rows, |row| {
        if sum.first_only && sum.differing > 0 {
            return;
        }
        let inside = row.iter().copied().chain((!part.inside.is_empty()).then_some(0));
        let global = inside.clone().zip(&part.offsets).map(|(at, offset)| at + offset);
        let first = shards::position(&expected.dims, global.clone());
        let from = first * width;
        let at = shards::position(&part.shape, inside) * width;
        let (want, have) = (&expected.bytes[from..from + size], &found.bytes[at..at + size]);
        sum.compared += length as u64;
        if want == have {
            return;
        }
        let pairs = want.chunks_exact(width).zip(have.chunks_exact(width)).enumerate();
        for (place_in_row, (want, have)) in pairs {
            if want != have && open.get(first + place_in_row) == Some(&true) {
                sum.open += 1;
                continue;
            }
            let error = error(element, want, have, rule);
            if error > 1.0 {
                sum.differing += 1;
                if sum.examples.len() < EXAMPLES {
                    let mut index: Vec<i64> = global.clone().collect();
                    if let Some(last) = index.last_mut() {
                        *last += place_in_row as i64;
                    }
                    sum.examples.push(Mismatch {
                        run: place.run,
                        device: place.device,
                        index,
                        expected: elements::text(element, want),
                        found: elements::text(element, have),
                    });
                }
            }
            sum.worst = sum.worst.max(error);
        }
    });
}

/// The error in units of what is allowed; infinite where nothing is allowed.
pub(super) fn error(element: ElementType, want: &[u8], have: &[u8], rule: Rule) -> f64 {
    if want == have {
        return 0.0;
    }
    let Rule::Within { tolerance, rms, noise } = rule else { return f64::INFINITY };
    let (want, have) = (elements::parts(element, want), elements::parts(element, have));
    let error = apart(want, have);
    if error == 0.0 {
        return 0.0;
    }
    // Beside a part that is infinite, as is the other's, the other part counts by itself.
    let [real, imaginary] = want.map(|part| if part.is_finite() { part } else { 0.0 });
    let allowed = tolerance * (real.hypot(imaginary) + rms) + noise;
    match error / allowed {
        ratio if ratio.is_finite() => ratio,
        _ => f64::INFINITY,
    }
}

/// How far two numbers are apart: not finite where one has a part that isn't and the other hasn't
/// the same.
fn apart(a: [f64; 2], b: [f64; 2]) -> f64 {
    let part = |a: f64, b: f64| if a == b || a.is_nan() && b.is_nan() { 0.0 } else { a - b };
    part(a[0], b[0]).hypot(part(a[1], b[1]))
}

/// Root mean square of the finite elements.
fn rms(array: &HostArray) -> f64 {
    let (mut sum, mut count) = (0.0, 0u64);
    for_each_number(array, |[real, imaginary]| {
        let square = real * real + imaginary * imaginary;
        if square.is_finite() {
            sum += square;
            count += 1;
        }
    });
    if count == 0 { 0.0 } else { (sum / count as f64).sqrt() }
}

/// The largest difference between elements of two arrays of numbers, where it is finite.
pub(super) fn distance(a: &HostArray, b: &HostArray) -> f64 {
    let mut numbers = Vec::new();
    for_each_number(a, |parts| numbers.push(parts));
    let (mut at, mut most) = (0, 0.0f64);
    for_each_number(b, |parts| {
        if let Some(&other) = numbers.get(at) {
            let distance = apart(parts, other);
            if distance.is_finite() {
                most = most.max(distance);
            }
        }
        at += 1;
    });
    most
}

/// The part of the elements that is finite; 1 for types that have nothing else.
pub(super) fn finite(array: &HostArray) -> f64 {
    let (mut finite, mut count) = (0u64, 0u64);
    for_each_number(array, |parts| {
        count += 1;
        finite += u64::from(parts.iter().all(|part| part.is_finite()));
    });
    if count == 0 { 1.0 } else { finite as f64 / count as f64 }
}

fn for_each_number(array: &HostArray, mut visit: impl FnMut([f64; 2])) {
    let element = array.element_type;
    if !matches!(element.kind(), NumberKind::Float | NumberKind::Complex) {
        return;
    }
    for bytes in array.bytes.chunks_exact(element.storage_bytes()) {
        visit(elements::parts(element, bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats(values: &[f32]) -> HostArray {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        HostArray { element_type: ElementType::F32, dims: vec![values.len() as i64], bytes }
    }

    fn found(expected: &[f32], have: &[f32], tolerance: Option<f64>) -> Found {
        let expected = floats(expected);
        let dims = expected.dims.clone();
        let part = Part { offsets: vec![0], shape: dims.clone(), inside: dims };
        let rule = Rule::of(&expected, tolerance, 0.0);
        let mut sum = Found::default();
        let place = Place { run: 0, device: 3 };
        compare(&expected, &floats(have), &part, (rule, &[]), place, &mut sum);
        sum
    }

    #[test]
    fn errors_are_measured_against_size_and_rms() {
        let nan = f32::NAN;
        assert_eq!(found(&[1.0, nan], &[1.0, nan], Some(1e-4)).differing, 0);
        assert_eq!(found(&[1.0, 0.0], &[1.0, 5e-5], Some(1e-4)).differing, 0);
        assert_eq!(found(&[1.0, 0.0], &[1.0, 5e-5], None).differing, 1);
        let wrong = found(&[1.0, 0.0], &[1.0, nan], Some(1e-4));
        assert_eq!((wrong.differing, wrong.worst), (1, f64::INFINITY));
        assert_eq!(wrong.examples[0].index, [1]);
        assert_eq!(wrong.examples[0].device, 3);
        // Nothing but zero equals zero, of whatever sign.
        assert_eq!(found(&[0.0, 0.0], &[-0.0, 1e-30], Some(1e-4)).differing, 1);
    }

    #[test]
    fn what_is_not_finite_is_compared_by_kind_and_sign() {
        let (nan, inf) = (f32::NAN, f32::INFINITY);
        let same = [nan, inf, -inf, 1.0];
        assert_eq!(found(&same, &same, Some(1e-4)).differing, 0);
        assert_eq!(found(&same, &[inf, -inf, nan, 1.0], Some(1e-4)).differing, 3);
        // What is finite beside it is compared as finely as without.
        assert_eq!(found(&[inf, 1.0], &[inf, 1.001], Some(1e-4)).differing, 1);
        let rule = Rule::Within { tolerance: 1e-4, rms: 1.0, noise: 0.0 };
        let complex = |re: f32, im: f32| [re.to_le_bytes(), im.to_le_bytes()].concat();
        let error = |a: &[u8], b: &[u8]| error(ElementType::C64, a, b, rule);
        let a = complex(0.5, inf);
        assert!(error(&a, &complex(0.500_01, inf)) < 1.0);
        assert!(error(&a, &complex(0.51, inf)).is_finite());
        assert_eq!(error(&a, &complex(0.5, -inf)), f64::INFINITY);
        assert_eq!(error(&a, &complex(0.5, nan)), f64::INFINITY);
        assert_eq!(distance(&floats(&[nan, inf, 1.0, 2.0]), &floats(&[1.0, inf, nan, 2.5])), 0.5);
    }

    #[test]
    fn finite_parts() {
        assert_eq!(finite(&floats(&[1.0, f32::NAN, 2.0, f32::INFINITY])), 0.5);
    }
}
