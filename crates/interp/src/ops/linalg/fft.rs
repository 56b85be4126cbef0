//! Fourier transforms of any length, computed in `f64`.

use num_complex::Complex;
use shard_ir::ops::FftType;
use shard_ir::{Dims, ElementType, NumberKind};

use crate::matrix::Scalar;
use crate::tensor::element_count;
use crate::{Fault, Tensor};

type Number = Complex<f64>;

pub(super) fn transform(kind: FftType, length: &[i64], x: &Tensor) -> Result<Tensor, Fault> {
    let rank = x.rank();
    let Some(first) = rank.checked_sub(length.len()) else {
        return Err(Fault::invalid(format!("a transform of {length:?} in rank {rank}")));
    };
    let Some(&last_length) = length.last() else { return Ok(x.clone()) };
    let half = if last_length == 0 { 0 } else { last_length / 2 + 1 };
    let mut wanted = Dims::from_slice(length);
    if let (FftType::Irfft, Some(last)) = (kind, wanted.last_mut()) {
        *last = half;
    }
    if wanted[..] != x.dims()[first..] {
        return Err(Fault::invalid(format!(
            "a transform of {length:?} of a tensor of shape {:?}",
            x.dims()
        )));
    }
    let mut values = match (kind, x.element().kind()) {
        (FftType::Rfft, NumberKind::Float) => {
            x.floats().into_iter().map(|re| Number::new(re, 0.0)).collect()
        }
        (FftType::Fft | FftType::Ifft | FftType::Irfft, NumberKind::Complex) => Number::elements(x),
        (kind, _) => {
            let element = x.element();
            return Err(Fault::invalid(format!("{} of elements of type {element}", kind.text())));
        }
    };
    let mut dims = Dims::from_slice(x.dims());
    let along = |values: &mut Vec<Number>, dims: &[i64], d: usize, direction| {
        let plan = Plan::new(dims[d] as usize, direction);
        let step = dims[d + 1..].iter().product::<i64>() as usize;
        each_line(values, dims[d] as usize, step, |line| plan.run(line));
    };
    match kind {
        FftType::Fft => {
            for d in (first..rank).rev() {
                along(&mut values, &dims, d, Direction::Forward);
            }
        }
        FftType::Ifft => {
            for d in first..rank {
                along(&mut values, &dims, d, Direction::Inverse);
            }
        }
        FftType::Rfft => {
            along(&mut values, &dims, rank - 1, Direction::Forward);
            values = resized(&values, last_length, half, |line, i| line[i]);
            dims[rank - 1] = half;
            element_count(&dims)?;
            for d in (first..rank - 1).rev() {
                along(&mut values, &dims, d, Direction::Forward);
            }
        }
        FftType::Irfft => {
            for d in first..rank - 1 {
                along(&mut values, &dims, d, Direction::Inverse);
            }
            // The other half is the conjugate of this one.
            values = resized(&values, half, last_length, |line, i| match line.get(i) {
                Some(value) => *value,
                None => line[last_length as usize - i].conj(),
            });
            dims[rank - 1] = last_length;
            element_count(&dims)?;
            along(&mut values, &dims, rank - 1, Direction::Inverse);
        }
    }
    Ok(match (kind, x.element()) {
        (FftType::Irfft, element) => {
            let real =
                if element == ElementType::C128 { ElementType::F64 } else { ElementType::F32 };
            Tensor::from_floats(real, dims, values.iter().map(|value| value.re).collect())
        }
        (_, ElementType::F64 | ElementType::C128) => {
            Number::tensor(ElementType::C128, &dims, values)
        }
        _ => Number::tensor(ElementType::C64, &dims, values),
    })
}

/// Makes rows of another length.
fn resized(
    values: &[Number],
    from: i64,
    to: i64,
    element: impl Fn(&[Number], usize) -> Number,
) -> Vec<Number> {
    let lines = values.chunks(from.max(1) as usize);
    lines.flat_map(|line| (0..to as usize).map(|i| element(line, i)).collect::<Vec<_>>()).collect()
}

/// Calls `work` with all lines along one dimension.
fn each_line(
    values: &mut [Number],
    len: usize,
    step: usize,
    mut work: impl FnMut(&mut Vec<Number>),
) {
    if values.is_empty() {
        return;
    }
    let mut line = Vec::with_capacity(len);
    for block in values.chunks_mut(len * step) {
        for at in 0..step {
            line.clear();
            line.extend(block[at..].iter().step_by(step));
            work(&mut line);
            block[at..].iter_mut().step_by(step).zip(&line).for_each(|(to, from)| *to = *from);
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Forward,
    Inverse,
}

/// How lines of one length are transformed.
struct Plan {
    len: usize,
    direction: Direction,
    /// The roots of unity.
    roots: Vec<Number>,
    way: Way,
}

enum Way {
    /// The transform is divided by each prime factor in turn.
    Factors(Vec<usize>),
    /// A convolution with a chirp, as one with a length that is a power of two (Bluestein).
    Chirp { chirp: Vec<Number>, filter: Vec<Number>, inner: Box<Plan> },
}

/// Beyond this prime factor a convolution is quicker.
const LARGEST_FACTOR: usize = 64;

impl Plan {
    fn new(len: usize, direction: Direction) -> Plan {
        let forward = |k: usize, n: usize| {
            let (sin, cos) = (-std::f64::consts::TAU * k as f64 / n as f64).sin_cos();
            Number::new(cos, sin)
        };
        let roots: Vec<Number> = (0..len).map(|k| forward(k, len)).collect();
        let factors = factors(len);
        if factors.iter().all(|factor| *factor <= LARGEST_FACTOR) {
            return Plan { len, direction, roots, way: Way::Factors(factors) };
        }
        let inner_len = (2 * len - 1).next_power_of_two();
        let inner = Plan::new(inner_len, Direction::Forward);
        // The squares are taken modulo the period, so that angles stay exact.
        let square = |k: usize| (k as u128 * k as u128 % (2 * len as u128)) as usize;
        let chirp: Vec<Number> = (0..len).map(|k| forward(square(k), 2 * len)).collect();
        let mut filter = vec![Number::default(); inner_len];
        for (k, value) in chirp.iter().enumerate() {
            filter[k] = value.conj();
            filter[(inner_len - k) % inner_len] = value.conj();
        }
        inner.run(&mut filter);
        Plan { len, direction, roots, way: Way::Chirp { chirp, filter, inner: Box::new(inner) } }
    }

    fn run(&self, line: &mut Vec<Number>) {
        let conjugate = |line: &mut [Number], scale: f64| {
            line.iter_mut().for_each(|value| *value = value.conj() * scale);
        };
        if self.direction == Direction::Inverse {
            conjugate(line, 1.0);
        }
        match &self.way {
            Way::Factors(factors) => {
                let mut out = vec![Number::default(); self.len];
                let mut scratch = Vec::new();
                self.divide(line, 1, &mut out, factors, &mut scratch);
                *line = out;
            }
            Way::Chirp { chirp, filter, inner } => {
                let mut padded: Vec<Number> = line.iter().zip(chirp).map(|(a, b)| a * b).collect();
                padded.resize(filter.len(), Number::default());
                inner.run(&mut padded);
                // The inverse of the product, by conjugation.
                padded.iter_mut().zip(filter).for_each(|(a, b)| *a = (*a * b).conj());
                inner.run(&mut padded);
                let scale = 1.0 / filter.len() as f64;
                let products = padded.iter().zip(chirp).map(|(a, b)| a.conj() * b * scale);
                *line = products.collect();
            }
        }
        if self.direction == Direction::Inverse {
            conjugate(line, 1.0 / self.len as f64);
        }
    }

    /// The transform of every `step`th element, as many as `out` has room for.
    fn divide(
        &self,
        line: &[Number],
        step: usize,
        out: &mut [Number],
        factors: &[usize],
        scratch: &mut Vec<Number>,
    ) {
        let Some((&radix, rest)) = factors.split_first() else {
            if let (Some(to), Some(from)) = (out.first_mut(), line.first()) {
                *to = *from;
            }
            return;
        };
        let part = out.len() / radix;
        for (i, out) in out.chunks_mut(part).enumerate() {
            self.divide(&line[i * step..], step * radix, out, rest, scratch);
        }
        for k in 0..part {
            scratch.clear();
            scratch.extend((0..radix).map(|i| out[i * part + k] * self.roots[i * k * step]));
            match scratch[..] {
                [a, b] => {
                    out[k] = a + b;
                    out[part + k] = a - b;
                }
                [a, b, c, d] => {
                    let (even, odd) = (a + c, b + d);
                    let (even_difference, difference) = (a - c, b - d);
                    // Times -i.
                    let odd_difference = Number::new(difference.im, -difference.re);
                    out[k] = even + odd;
                    out[part + k] = even_difference + odd_difference;
                    out[2 * part + k] = even - odd;
                    out[3 * part + k] = even_difference - odd_difference;
                }
                _ => {
                    for j in 0..radix {
                        let root = |i: usize| self.roots[i * j % radix * (self.len / radix)];
                        let terms = scratch.iter().enumerate().map(|(i, value)| value * root(i));
                        out[j * part + k] = terms.sum();
                    }
                }
            }
        }
    }
}

/// The prime factors, but 4 for each two factors of 2.
fn factors(mut n: usize) -> Vec<usize> {
    let mut found = Vec::new();
    let mut factor = 4;
    while n > 1 {
        while n.is_multiple_of(factor) {
            found.push(factor);
            n /= factor;
        }
        factor = match factor {
            4 => 2,
            2 => 3,
            _ if factor * factor > n => n.max(2),
            _ => factor + 2,
        };
    }
    found
}
