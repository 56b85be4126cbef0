//! Numbers of a distribution, which the specification leaves to the implementation.
//!
//! Here they are made of Philox's bits with a key and a counter that never change: the same op on
//! the same operands gives the same numbers, in every run and on every device.

use shard_ir::ops::Distribution;
use shard_ir::{Dims, ElementType, NumberKind};

use super::bits::philox_block;
use crate::ops::operands::same_element;
use crate::tensor::element_count;
use crate::{Buffer, Fault, Tensor};

/// Two words of 64 bits for an element.
fn block(index: usize) -> [u64; 2] {
    const KEY: [u32; 2] = [0x5eed, 0];
    let [a, b, c, d] = philox_block(KEY, index as u128);
    [(a, b), (c, d)].map(|(low, high)| u64::from(low) | u64::from(high) << 32)
}

/// A number in `[0, 1)`.
fn fraction(word: u64) -> f64 {
    (word >> 11) as f64 / (1u64 << 53) as f64
}

pub(super) fn draw(
    distribution: Distribution,
    a: &Tensor,
    b: &Tensor,
    dims: &[i64],
) -> Result<Tensor, Fault> {
    same_element(a, b)?;
    let count = element_count(dims)?;
    let element = a.element();
    if a.is_empty() || b.is_empty() {
        return Err(Fault::invalid("a distribution without parameters"));
    }
    match (distribution, element.kind()) {
        (Distribution::Uniform, NumberKind::Float) => {
            let (a, b) = (a.floats()[0], b.floats()[0]);
            let values = (0..count).map(|i| a + fraction(block(i)[0]) * (b - a)).collect();
            Ok(below(Tensor::from_floats(element, dims, values), a, b))
        }
        (Distribution::Uniform, NumberKind::Bool | NumberKind::Signed | NumberKind::Unsigned) => {
            let value = |tensor: &Tensor| match element {
                ElementType::UI64 => i128::from(tensor.lanes::<u64>()[0]),
                _ => i128::from(tensor.integers()[0]),
            };
            let (a, b) = (value(a), value(b));
            // An empty interval has the lower bound alone.
            let size = (b - a).max(1);
            let width = element.storage_bytes();
            let value = |index: usize| a + i128::from(block(index)[0]) % size;
            let bytes: Vec<u8> = (0..count)
                .flat_map(|index| value(index).to_le_bytes().into_iter().take(width))
                .collect();
            Ok(Tensor::new(element, dims, Buffer::from_bytes(&bytes, width)))
        }
        // Box and Muller's transform.
        (Distribution::Normal, NumberKind::Float) => {
            let (mean, deviation) = (a.floats()[0], b.floats()[0]);
            let value = |index: usize| {
                let [u, v] = block(index).map(fraction);
                let radius = (-2.0 * (1.0 - u).ln()).sqrt();
                mean + deviation * radius * (std::f64::consts::TAU * v).cos()
            };
            Ok(Tensor::from_floats(element, dims, (0..count).map(value).collect()))
        }
        (distribution, _) => Err(Fault::invalid(format!(
            "numbers of type {element} of the distribution {}",
            distribution.text()
        ))),
    }
}

/// The upper bound isn't part of the interval, but numbers may be rounded to it.
fn below(values: Tensor, a: f64, b: f64) -> Tensor {
    if a >= b {
        return values;
    }
    let rounded = values.floats();
    if rounded.iter().all(|value| *value < b) {
        return values;
    }
    let dims = Dims::from_slice(values.dims());
    let inside = rounded.iter().map(|value| if *value < b { *value } else { a });
    Tensor::from_floats(values.element(), dims, inside.collect())
}
