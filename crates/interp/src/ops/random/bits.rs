//! Random bits by counters: Threefry and Philox, with XLA's order of the numbers.

use shard_ir::{ElementType, NumberKind};

use crate::tensor::{Lane, element_count};
use crate::{Fault, Tensor};

/// Threefry-2x32 with 20 rounds: Salmon et al., Parallel random numbers: as easy as 1, 2, 3.
fn three_fry_block(key: [u32; 2], counter: u64) -> [u32; 2] {
    const ROTATIONS: [[u32; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];
    let keys = [key[0], key[1], 0x1bd1_1bda ^ key[0] ^ key[1]];
    let (mut a, mut b) = (counter as u32, (counter >> 32) as u32);
    a = a.wrapping_add(keys[0]);
    b = b.wrapping_add(keys[1]);
    for group in 0..5 {
        for rotation in ROTATIONS[group % 2] {
            a = a.wrapping_add(b);
            b = b.rotate_left(rotation) ^ a;
        }
        a = a.wrapping_add(keys[(group + 1) % 3]);
        b = b.wrapping_add(keys[(group + 2) % 3]).wrapping_add(group as u32 + 1);
    }
    [a, b]
}

/// Philox-4x32 with 10 rounds, of the same paper.
pub(super) fn philox_block(mut key: [u32; 2], counter: u128) -> [u32; 4] {
    let product = |a: u32, b: u32| {
        let product = u64::from(a) * u64::from(b);
        ((product >> 32) as u32, product as u32)
    };
    let mut x = [0, 32, 64, 96].map(|shift| (counter >> shift) as u32);
    for _ in 0..10 {
        let (high, low) = product(x[0], 0xd251_1f53);
        let (other_high, other_low) = product(x[2], 0xcd9e_8d57);
        x = [other_high ^ x[1] ^ key[0], other_low, high ^ x[3] ^ key[1], low];
        key = [key[0].wrapping_add(0x9e37_79b9), key[1].wrapping_add(0xbb67_ae85)];
    }
    x
}

fn halves(word: u64) -> [u32; 2] {
    [word as u32, (word >> 32) as u32]
}

fn whole(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

/// The state: words of 64 bits.
fn words(state: &Tensor, algorithm: &str) -> Result<Vec<u64>, Fault> {
    match state.element() {
        ElementType::UI64 | ElementType::I64 if state.rank() == 1 => {
            Ok(state.lanes::<u64>().to_vec())
        }
        element => Err(Fault::unsupported(format!(
            "a state of {algorithm} that is {element} of {:?}",
            state.dims()
        ))),
    }
}

fn unfit(state: &Tensor, algorithm: &str) -> Fault {
    Fault::invalid(format!("a state of {algorithm} of {} words", state.len()))
}

fn next_state(state: &Tensor, words: Vec<u64>) -> Tensor {
    Tensor::from_lanes(state.element(), state.dims(), words)
}

/// The next state and the bits.
pub(super) fn three_fry(
    state: &Tensor,
    element: ElementType,
    dims: &[i64],
) -> Result<[Tensor; 2], Fault> {
    let [key, counter] = words(state, "Threefry")?[..] else {
        return Err(unfit(state, "Threefry"));
    };
    let block = |index: usize| three_fry_block(halves(key), counter.wrapping_add(index as u64));
    let count = element_count(dims)?;
    if element.bits() == 64 {
        let bits = (0..count).map(block).map(|[low, high]| whole(low, high));
        let next = next_state(state, vec![key, counter.wrapping_add(count as u64)]);
        return Ok([next, wide(element, dims, bits.collect())?]);
    }
    // A block's two numbers are neighbours along the first even dimension, or the largest.
    let even = dims.iter().position(|size| size % 2 == 0);
    let largest = || (0..dims.len()).rev().max_by_key(|d| dims[*d]);
    let (size, inner) = match even.or_else(largest) {
        Some(d) => (dims[d] as usize, dims[d + 1..].iter().product::<i64>() as usize),
        None => (1, 1),
    };
    let half = size.div_ceil(2);
    let outer = count.checked_div(size * inner).unwrap_or(0);
    let mut bits = vec![0; count];
    for row in 0..outer * half {
        let (outer, pair) = (row / half, row % half);
        let at = (outer * size + 2 * pair) * inner;
        for i in 0..inner {
            let [first, second] = block(row * inner + i);
            bits[at + i] = first;
            if 2 * pair + 1 < size {
                bits[at + inner + i] = second;
            }
        }
    }
    let blocks = (outer * half * inner) as u64;
    let next = next_state(state, vec![key, counter.wrapping_add(blocks)]);
    Ok([next, narrow(element, dims, bits)?])
}

/// The next state and the bits.
pub(super) fn philox(
    state: &Tensor,
    element: ElementType,
    dims: &[i64],
) -> Result<[Tensor; 2], Fault> {
    let words = words(state, "Philox")?;
    let (key, low, high) = match words[..] {
        [key, low, high] => (key, low, high),
        // The key is the upper half of the counter, too.
        [key, low] => (key, low, key),
        _ => return Err(unfit(state, "Philox")),
    };
    let counter = u128::from(low) | u128::from(high) << 64;
    let count = element_count(dims)?;
    let numbers = if element.bits() == 64 { count.saturating_mul(2) } else { count };
    let blocks = numbers.div_ceil(4);
    let block = |index: usize| philox_block(halves(key), counter.wrapping_add(index as u128));
    let next = counter.wrapping_add(blocks as u128);
    let next = [key, next as u64, (next >> 64) as u64];
    let next = next_state(state, next[..words.len()].to_vec());
    let bits = if element.bits() == 64 {
        let pairs = |[a, b, c, d]: [u32; 4]| [whole(a, b), whole(c, d)];
        wide(element, dims, (0..blocks).map(block).flat_map(pairs).take(count).collect())?
    } else {
        narrow(element, dims, (0..blocks).flat_map(block).take(count).collect())?
    };
    Ok([next, bits])
}

/// Elements of 64 bits.
fn wide(element: ElementType, dims: &[i64], bits: Vec<u64>) -> Result<Tensor, Fault> {
    match element.kind() {
        NumberKind::Signed | NumberKind::Unsigned | NumberKind::Float => {
            Ok(Tensor::new(element, dims, u64::buffer(bits)))
        }
        NumberKind::Bool | NumberKind::Complex | NumberKind::Quantized => {
            Err(Fault::invalid(format!("random bits of type {element}")))
        }
    }
}

/// Elements of at most 32 bits: the lower bits of each number.
fn narrow(element: ElementType, dims: &[i64], bits: Vec<u32>) -> Result<Tensor, Fault> {
    let fault = || Err(Fault::invalid(format!("random bits of type {element}")));
    let signed = match element.kind() {
        NumberKind::Signed => true,
        NumberKind::Unsigned | NumberKind::Float => false,
        NumberKind::Bool | NumberKind::Complex | NumberKind::Quantized => return fault(),
    };
    let buffer = match element.bits() {
        32 => u32::buffer(bits),
        16 => u16::buffer(bits.iter().map(|b| *b as u16).collect()),
        width @ 1..=8 => {
            let shift = 8 - width;
            u8::buffer(
                bits.iter()
                    .map(|b| (*b as u8) << shift)
                    .map(|b| if signed { (b as i8 >> shift) as u8 } else { b >> shift })
                    .collect(),
            )
        }
        _ => return fault(),
    };
    Ok(Tensor::new(element, dims, buffer))
}

#[cfg(test)]
mod tests {
    use super::*;

    // What jaxlib's CPU backend gives.

    fn state(words: [u64; 2]) -> Tensor {
        Tensor::from_lanes(ElementType::UI64, [2].as_slice(), words.to_vec())
    }

    #[test]
    fn three_fry_as_xla() {
        let start = state([0x0123_4567_89ab_cdef, 0xffff_ffff_ffff_fffe]);
        let [next, bits] = three_fry(&start, ElementType::UI32, &[3, 3]).expect("bits");
        assert_eq!(next, state([0x0123_4567_89ab_cdef, 4]));
        let expected = [
            0xb0f4_215b_u32,
            0x0b3d_7494,
            0xaaa4_d889,
            0xe19a_60b4,
            0xacf8_c4dc,
            0x6b35_c4f4,
            0x75a5_2907,
            0x35d0_e5f1,
            0x7c2f_19d8,
        ];
        assert_eq!(bits.lanes::<u32>(), expected);
        let [next, bits] = three_fry(&start, ElementType::UI64, &[2]).expect("bits");
        assert_eq!(next, state([0x0123_4567_89ab_cdef, 0]));
        assert_eq!(bits.lanes::<u64>(), [0xe19a_60b4_b0f4_215b, 0xacf8_c4dc_0b3d_7494]);
    }

    #[test]
    fn philox_as_xla() {
        let start = state([0x2_0000_0001, u64::MAX]);
        let [next, bits] = philox(&start, ElementType::UI32, &[5]).expect("bits");
        assert_eq!(next, state([0x2_0000_0001, 1]));
        let expected = [0x3427_fc20_u32, 0x9279_b540, 0x38cb_9485, 0x1ff5_c099, 0x0409_ecd8];
        assert_eq!(bits.lanes::<u32>(), expected);
        let [_, bits] = philox(&start, ElementType::UI64, &[3]).expect("bits");
        let expected = [0x9279_b540_3427_fc20, 0x1ff5_c099_38cb_9485, 0x0fd7_0ca4_0409_ecd8];
        assert_eq!(bits.lanes::<u64>(), expected);
        let [_, bits] = philox(&start, ElementType::UI8, &[3]).expect("bits");
        assert_eq!(bits.lanes::<u8>(), [0x20, 0x40, 0x85]);
    }
}
