//! Inputs: deterministic by seed, and such that results stay alive.

use fastrand::Rng;
use shard_ir::{HostArray, Module, NumberKind, TensorType};

use super::VerifyError;
use super::elements;
use super::inputs::RunKind;
use super::roles::Role;
use crate::run::Input;

mod edge;

/// Elements beyond this many would take more memory than a check is worth.
const MOST_ELEMENTS: u64 = 1 << 28;

/// What data and weights are multiplied with, in programs that update weights.
///
/// Of an update that is a small part of its weight nothing is seen. It is a larger part where data
/// are larger, and for kernels, which programs normalise after, where these are smaller. Larger
/// weights would serve as well, but make deep programs so sensitive that rounding shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scales {
    /// Arguments that the program doesn't update.
    pub data: f64,
    /// Kernels of convolutions that it updates.
    pub kernels: f64,
}

impl Scales {
    /// As they are.
    pub const ONE: Scales = Scales { data: 1.0, kernels: 1.0 };

    /// Those of a run, so that two runs see more than one.
    pub fn of_run(run: usize, roles: &[Role]) -> Scales {
        if run % 2 == 1 && roles.iter().any(|role| role.updated) {
            Scales { data: 8.0, kernels: 1.0 / 16.0 }
        } else {
            Scales::ONE
        }
    }
}

/// Draws the arguments of a program's main function.
#[derive(Clone, Copy, Debug)]
pub(super) struct Draw<'a> {
    /// The program, into which calls were inlined.
    pub module: &'a Module,
    /// The roles of its arguments.
    pub roles: &'a [Role],
    /// Arguments that aren't drawn.
    pub given: &'a [Input],
}

impl Draw<'_> {
    /// All arguments for a run.
    ///
    /// # Errors
    /// If an argument has a type or a shape that can't be drawn.
    pub fn arguments(
        &self,
        kind: RunKind,
        seed: u64,
        scales: Scales,
    ) -> Result<Vec<HostArray>, VerifyError> {
        let Some(func) = self.module.main_func() else { return Ok(Vec::new()) };
        let args = self.module.args(func).iter().zip(self.roles).enumerate();
        args.map(|(index, (&arg, role))| {
            if let Some(input) = Input::of(self.given, index) {
                return Ok(input.array.clone());
            }
            let ty = self
                .module
                .tensor_type(arg)
                .filter(|ty| ty.is_static() && ty.elements() <= MOST_ELEMENTS)
                .ok_or(VerifyError::Argument { index })?;
            // Each argument has a stream of its own, so that it keeps its values when others
            // change.
            let stream = (index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let mut rng = Rng::with_seed(seed.wrapping_add(stream));
            let mut array = draw(ty, role, scales, &mut rng);
            match kind {
                RunKind::Given | RunKind::Random => {}
                // Loops must end.
                _ if role.steering => {}
                RunKind::Extremes => edge::extremes(&mut array, role, &mut rng),
                RunKind::NonFinite => edge::not_finite(&mut array, &mut rng),
            }
            Ok(array)
        })
        .collect()
    }
}

/// Draws one argument.
///
/// Numbers of type float are normal, of a size at which sums over the second-last dimension, which
/// products contract, stay near one; indices are inside what they index; numbers of which roots
/// are taken are positive.
fn draw(ty: &TensorType, role: &Role, scales: Scales, rng: &mut Rng) -> HostArray {
    let element = ty.element;
    let count = ty.elements() as usize;
    let mut bytes = Vec::with_capacity(count * element.storage_bytes());
    let fan_in = match ty.dims.as_slice() {
        [.., rows, _] => (*rows).max(1) as f64,
        _ => 1.0,
    };
    let size = fan_in.sqrt().recip().max(0.02);
    let narrow = element.bits() <= 16;
    match element.kind() {
        NumberKind::Bool => bytes.extend((0..count).map(|_| u8::from(rng.bool()))),
        NumberKind::Float if role.positive => {
            let size = match (role.average, narrow) {
                (true, false) => 1e-6,
                (true, true) => 1e-3,
                (false, _) => 1.0,
            };
            for _ in 0..count {
                elements::push_float(element, size * (0.25 + normal(rng).abs()), &mut bytes);
            }
        }
        NumberKind::Float => {
            let size = match (role.average, narrow) {
                (true, false) => 1e-3,
                (true, true) => 0.05,
                (false, _) if role.updated && role.kernel => size * scales.kernels,
                (false, _) if role.updated => size,
                (false, _) => size * scales.data,
            };
            for _ in 0..count {
                elements::push_float(element, size * normal(rng), &mut bytes);
            }
        }
        NumberKind::Complex => {
            let part = elements::part_of(element);
            for _ in 0..2 * count {
                elements::push_float(part, size * normal(rng), &mut bytes);
            }
        }
        NumberKind::Signed | NumberKind::Unsigned | NumberKind::Quantized => {
            let signed = element.kind() == NumberKind::Signed;
            let most = (1i128 << (element.bits().min(64) - u32::from(signed))) - 1;
            for value in integers(count, role, signed, most, rng) {
                elements::push_integer(element, value, &mut bytes);
            }
        }
    }
    HostArray { element_type: element, dims: ty.dims.to_vec(), bytes }
}

fn integers(count: usize, role: &Role, signed: bool, most: i128, rng: &mut Rng) -> Vec<i128> {
    let limit = role.below.map(|below| i128::from(below.max(1)).min(most.saturating_add(1)));
    let mut values: Vec<i128> = match limit {
        Some(limit) if role.distinct && count as i128 <= limit && limit <= 1 << 24 => {
            let mut places: Vec<i128> = (0..limit).collect();
            rng.shuffle(&mut places);
            places.truncate(count);
            places
        }
        Some(limit) => (0..count).map(|_| i128::from(rng.u64(0..limit as u64))).collect(),
        None if role.positive => (0..count).map(|_| i128::from(rng.u8(1..=9)).min(most)).collect(),
        None if signed => {
            let size = most.min(100) as i64;
            (0..count).map(|_| i128::from(rng.i64(-size..=size))).collect()
        }
        // Keys of random numbers, masks, hashes: any bits.
        None => (0..count).map(|_| i128::from(rng.u64(..)) & most).collect(),
    };
    if role.sorted {
        values.sort_unstable();
    }
    values
}

/// A number of the normal distribution, by Box and Muller's method, cut off at 4.
fn normal(rng: &mut Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.f64()).ln()).sqrt();
    (radius * (std::f64::consts::TAU * rng.f64()).cos()).clamp(-4.0, 4.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use shard_ir::ElementType;

    fn ty(element: ElementType, dims: &[i64]) -> TensorType {
        TensorType::new(element, dims.iter().copied())
    }

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let ty = ty(ElementType::F32, &[64, 64]);
        let draw = |seed| draw(&ty, &Role::default(), Scales::ONE, &mut Rng::with_seed(seed));
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }

    #[test]
    fn indices_lie_inside() {
        let role = Role { below: Some(7), ..Role::default() };
        let array =
            draw(&ty(ElementType::I32, &[1000]), &role, Scales::ONE, &mut Rng::with_seed(3));
        let values: Vec<i128> =
            array.bytes.chunks(4).map(|b| elements::integer(ElementType::I32, b)).collect();
        assert_eq!(values.iter().min(), Some(&0));
        assert_eq!(values.iter().max(), Some(&6));

        let role = Role { below: Some(8), distinct: true, ..Role::default() };
        let array = draw(&ty(ElementType::UI8, &[8]), &role, Scales::ONE, &mut Rng::with_seed(3));
        let mut values = array.bytes.clone();
        values.sort_unstable();
        assert_eq!(values, [0, 1, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn roots_are_taken_of_positive_numbers() {
        for average in [false, true] {
            let role = Role { positive: true, average, ..Role::default() };
            for element in [ElementType::F32, ElementType::BF16, ElementType::F16] {
                let array = draw(&ty(element, &[100]), &role, Scales::ONE, &mut Rng::with_seed(5));
                let width = element.storage_bytes();
                assert!(array.bytes.chunks(width).all(|b| elements::float(element, b) > 0.0));
            }
        }
    }
}
