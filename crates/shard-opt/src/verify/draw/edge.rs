//! Values at the edges of what programs are written for: where indices are clamped, where a mask is
//! off by one, and where zero times something isn't zero.

use fastrand::Rng;
use shard_ir::{ElementType, HostArray, NumberKind};

use super::Role;
use super::elements;

/// Arrays of fewer floats stay as they are drawn: a scale of zero or NaN leaves nothing to be seen.
const FEW: usize = 4;

/// Puts in values at which ops begin to do something else: indices outside, the type's extremes,
/// zeros of both signs, and booleans that are the same in a row.
pub(super) fn extremes(array: &mut HostArray, role: &Role, rng: &mut Rng) {
    match array.element_type.kind() {
        NumberKind::Bool => bools(&mut array.bytes, rng),
        NumberKind::Float | NumberKind::Complex => zeros(array, rng),
        NumberKind::Signed | NumberKind::Unsigned => integers(array, role, rng),
        // Its elements are integers of which only the program knows what they stand for.
        NumberKind::Quantized => {}
    }
}

/// Puts in NaN and infinities: few, so that not all is NaN, and at both ends, since these are
/// beside what devices pad.
pub(super) fn not_finite(array: &mut HostArray, rng: &mut Rng) {
    if !matches!(array.element_type.kind(), NumberKind::Float | NumberKind::Complex) {
        return;
    }
    let count = parts(array);
    if count < FEW {
        return;
    }
    let mut values = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    rng.shuffle(&mut values);
    for (at, value) in [0, rng.usize(1..count - 1), count - 1].into_iter().zip(values) {
        set_part(array, at, value);
    }
}

/// A third false, a third true, and a third as drawn.
fn bools(bytes: &mut [u8], rng: &mut Rng) {
    let third = bytes.len() / 3;
    let first = u8::from(rng.bool());
    bytes[..third].fill(first);
    bytes[third..2 * third].fill(1 - first);
}

/// At both ends, and an eighth of what is between.
fn zeros(array: &mut HostArray, rng: &mut Rng) {
    let count = parts(array);
    if count < FEW {
        return;
    }
    for at in 0..count {
        if at == 0 || at == count - 1 || rng.u8(0..8) == 0 {
            set_part(array, at, if rng.bool() { 0.0 } else { -0.0 });
        }
    }
}

fn integers(array: &mut HostArray, role: &Role, rng: &mut Rng) {
    let element = array.element_type;
    let width = element.storage_bytes();
    let mut values: Vec<i128> =
        array.bytes.chunks_exact(width).map(|bytes| elements::integer(element, bytes)).collect();
    let mut edges = edges(element, role);
    rng.shuffle(&mut edges);
    if values.is_empty() || edges.is_empty() {
        return;
    }
    if role.distinct {
        put_distinct(&mut values, &edges, role.below, rng);
    } else {
        // Half of them, in turn, and one at least.
        let one = rng.usize(0..values.len());
        let mut next = edges.iter().cycle();
        for (at, value) in values.iter_mut().enumerate() {
            if at == one || rng.bool() {
                *value = next.next().copied().unwrap_or(*value);
            }
        }
    }
    if role.sorted {
        values.sort_unstable();
    }
    array.bytes.clear();
    for value in values {
        elements::push_integer(element, value, &mut array.bytes);
    }
}

/// Puts each edge into the place of one value, where all values are different and stay so.
fn put_distinct(values: &mut [i128], edges: &[i128], below: Option<i64>, rng: &mut Rng) {
    let limit = below.map_or(0, i128::from);
    let mut seen: Vec<i128> = values.to_vec();
    seen.sort_unstable();
    // Of more values than there are places some are equal anyhow.
    if seen.windows(2).any(|pair| pair[0] == pair[1]) {
        return;
    }
    let mut places: Vec<usize> = (0..values.len()).collect();
    rng.shuffle(&mut places);
    for &edge in edges {
        // Programs count -1 from the end, where it is the last.
        let last = values.iter().position(|&value| value == limit - 1);
        let at = match last {
            Some(last) if edge == -1 => places.iter().position(|&place| place == last),
            _ => Some(0).filter(|_| !places.is_empty()),
        };
        if let Some(at) = at {
            values[places.swap_remove(at)] = edge;
        }
    }
}

/// The integers at the edges of a role, as far as the type has them.
///
/// Where a program promises that indices are in order or all different, they are near what is
/// indexed, so that what programs do to indices, such as adding to negative ones, keeps the promise.
fn edges(element: ElementType, role: &Role) -> Vec<i128> {
    let signed = element.kind() == NumberKind::Signed;
    let bits = element.bits().min(64);
    let (least, most) = match signed {
        true => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
        false => (0, (1i128 << bits) - 1),
    };
    let mut edges = match role.below.map(i128::from) {
        Some(limit) if role.sorted => vec![limit, limit + 1],
        Some(limit) if role.distinct => vec![-1, limit, limit + 1],
        Some(limit) => vec![-1, limit, limit + 1, least, most],
        None if role.sorted || role.distinct => Vec::new(),
        None if role.positive => vec![0, most],
        None => vec![0, -1, least, most],
    };
    edges.retain(|edge| (least..=most).contains(edge));
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// The type of the floats that an element consists of.
fn part_type(array: &HostArray) -> ElementType {
    match array.element_type.kind() {
        NumberKind::Complex => elements::part_of(array.element_type),
        _ => array.element_type,
    }
}

/// How many floats an array of floats or complex numbers consists of.
fn parts(array: &HostArray) -> usize {
    array.bytes.len() / part_type(array).storage_bytes().max(1)
}

fn set_part(array: &mut HostArray, at: usize, value: f64) {
    let part = part_type(array);
    let width = part.storage_bytes();
    let mut bytes = Vec::with_capacity(width);
    elements::push_float(part, value, &mut bytes);
    array.bytes[at * width..(at + 1) * width].copy_from_slice(&bytes);
}

#[cfg(test)]
mod tests {
    use shard_ir::TensorType;

    use super::super::{Scales, draw};
    use super::*;

    /// An array of a role, drawn with extremes.
    fn extreme(element: ElementType, count: i64, role: &Role, seed: u64) -> HostArray {
        let mut rng = Rng::with_seed(seed);
        let mut array = draw(&TensorType::new(element, [count]), role, Scales::ONE, &mut rng);
        extremes(&mut array, role, &mut rng);
        assert_eq!(array.check(), Ok(()));
        array
    }

    fn integers_of(array: &HostArray) -> Vec<i128> {
        let element = array.element_type;
        let width = element.storage_bytes();
        array.bytes.chunks_exact(width).map(|bytes| elements::integer(element, bytes)).collect()
    }

    fn floats_of(array: &HostArray) -> Vec<f64> {
        let element = array.element_type;
        let width = element.storage_bytes();
        array.bytes.chunks_exact(width).map(|bytes| elements::float(element, bytes)).collect()
    }

    #[test]
    fn indices_lie_outside_on_both_sides() {
        let role = Role { below: Some(7), ..Role::default() };
        let values = integers_of(&extreme(ElementType::I32, 64, &role, 1));
        for edge in [-1, 7, 8, i32::MIN.into(), i32::MAX.into()] {
            assert!(values.contains(&edge), "{edge} is missing");
        }
        assert!(values.iter().filter(|value| (0..7).contains(*value)).count() > 16);
        // A start index alone is outside, each in some draw.
        let mut alone: Vec<i128> = (0..64)
            .flat_map(|seed| integers_of(&extreme(ElementType::I32, 1, &role, seed)))
            .collect();
        alone.sort_unstable();
        alone.dedup();
        assert_eq!(alone, [i32::MIN.into(), -1, 7, 8, i32::MAX.into()]);
        // As far as the type goes.
        let role = Role { below: Some(300), ..Role::default() };
        let values = integers_of(&extreme(ElementType::UI8, 64, &role, 1));
        assert!(values.contains(&0) && values.contains(&255));
    }

    #[test]
    fn promises_are_kept() {
        for seed in 0..32 {
            let role = Role { below: Some(9), distinct: true, ..Role::default() };
            let mut values = integers_of(&extreme(ElementType::I64, 9, &role, seed));
            assert!(values.contains(&9) && values.contains(&10) && values.contains(&-1));
            // What programs make of negative indices is different as well.
            for value in &mut values {
                *value = if *value < 0 { *value + 9 } else { *value };
            }
            values.sort_unstable();
            assert!(values.windows(2).all(|pair| pair[0] < pair[1]), "{values:?}");

            let role = Role { below: Some(9), sorted: true, ..Role::default() };
            let values = integers_of(&extreme(ElementType::I16, 30, &role, seed));
            assert!(values.is_sorted() && values.contains(&9) && values.contains(&10));
        }
    }

    #[test]
    fn other_integers_are_extreme() {
        let values = integers_of(&extreme(ElementType::I8, 64, &Role::default(), 1));
        assert!([0, -1, -128, 127].iter().all(|edge| values.contains(edge)));
        let role = Role { positive: true, ..Role::default() };
        let values = integers_of(&extreme(ElementType::I8, 64, &role, 1));
        assert!(values.iter().all(|value| *value >= 0));
    }

    #[test]
    fn floats_have_zeros_of_both_signs() {
        let values = floats_of(&extreme(ElementType::BF16, 256, &Role::default(), 1));
        let negative = |value: &&f64| **value == 0.0 && value.is_sign_negative();
        let zeros = values.iter().filter(|value| **value == 0.0).count();
        let negatives = values.iter().filter(negative).count();
        assert!(negatives > 4 && zeros > negatives + 4 && zeros < 64);
        assert_eq!((values[0], values[255]), (0.0, 0.0));
    }

    #[test]
    fn bools_are_the_same_in_parts() {
        let array = extreme(ElementType::I1, 30, &Role::default(), 1);
        let (first, second) = (&array.bytes[..10], &array.bytes[10..20]);
        assert!(first.iter().all(|value| *value == first[0]));
        assert!(second.iter().all(|value| *value == 1 - first[0]));
    }

    #[test]
    fn few_elements_are_not_finite() {
        for element in [ElementType::F32, ElementType::F16, ElementType::C64] {
            let mut rng = Rng::with_seed(2);
            let ty = TensorType::new(element, [64]);
            let mut array = draw(&ty, &Role::default(), Scales::ONE, &mut rng);
            not_finite(&mut array, &mut rng);
            let width = element.storage_bytes();
            let finite: Vec<bool> = array
                .bytes
                .chunks_exact(width)
                .map(|bytes| elements::parts(element, bytes).iter().all(|part| part.is_finite()))
                .collect();
            assert!(!finite[0] && !finite[63]);
            assert!(finite.iter().filter(|finite| **finite).count() >= 61);
        }
        // A scalar stays.
        let mut rng = Rng::with_seed(2);
        let ty = TensorType::new(ElementType::F32, []);
        let mut array = draw(&ty, &Role::default(), Scales::ONE, &mut rng);
        let before = array.clone();
        not_finite(&mut array, &mut rng);
        assert_eq!(array, before);
    }
}
