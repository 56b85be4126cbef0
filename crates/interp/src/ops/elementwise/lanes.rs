//! Elements side by side: how the values of operands meet.

use shard_ir::{Dims, ElementType, NumberKind};

use super::super::numeric::{each_integer, from_singles, no_meaning, same_element, singles};
use crate::{Buffer, Fault, Lane, Tensor};

/// The shape of the result: of the operand that isn't one element alone, or where each is, of the
/// one with the most dimensions.
pub(super) fn common_dims(operands: &[&Tensor]) -> Dims {
    let mut best: Option<&Tensor> = None;
    for operand in operands {
        best = match best {
            Some(best) if best.len() != 1 => Some(best),
            Some(best) if operand.len() == 1 && operand.rank() <= best.rank() => Some(best),
            _ => Some(operand),
        };
    }
    best.map(|tensor| Dims::from_slice(tensor.dims())).unwrap_or_default()
}

fn mismatch(a: usize, b: usize) -> Fault {
    Fault::invalid(format!("{a} elements meet {b}"))
}

/// A function of each pair of elements.
pub(super) fn zip<A: Copy, B: Copy, R>(
    a: &[A],
    b: &[B],
    f: impl Fn(A, B) -> R,
) -> Result<Vec<R>, Fault> {
    match (a, b) {
        _ if a.len() == b.len() => Ok(a.iter().zip(b).map(|(a, b)| f(*a, *b)).collect()),
        ([a], _) => Ok(b.iter().map(|b| f(*a, *b)).collect()),
        (_, [b]) => Ok(a.iter().map(|a| f(*a, *b)).collect()),
        _ => Err(mismatch(a.len(), b.len())),
    }
}

/// A function of each three elements.
fn zip_three<A: Copy, B: Copy, R>(
    a: &[A],
    b: &[B],
    c: &[B],
    f: impl Fn(A, B, B) -> R,
) -> Result<Vec<R>, Fault> {
    let lens = [a.len(), b.len(), c.len()];
    let count = lens.into_iter().find(|len| *len != 1).unwrap_or(1);
    if let Some(other) = lens.into_iter().find(|len| *len != 1 && *len != count) {
        return Err(mismatch(count, other));
    }
    if lens == [count; 3] {
        return Ok(a.iter().zip(b).zip(c).map(|((a, b), c)| f(*a, *b, *c)).collect());
    }
    // Steps of 0 repeat.
    let [i, j, k] = lens.map(|len| usize::from(len != 1));
    Ok((0..count).map(|at| f(a[at * i], b[at * j], c[at * k])).collect())
}

/// `yes` where the predicate holds.
pub(super) fn select(predicate: &Tensor, yes: &Tensor, no: &Tensor) -> Result<Tensor, Fault> {
    if predicate.element() != ElementType::I1 {
        return Err(Fault::invalid(format!("a predicate of {} elements", predicate.element())));
    }
    same_element(yes, no)?;
    let dims = common_dims(&[yes, no, predicate]);
    let holds = predicate.lanes::<u8>();
    // One predicate for all copies nothing.
    if let [holds] = holds
        && yes.len() == no.len()
    {
        return Ok(if *holds != 0 { yes.reshaped(dims) } else { no.reshaped(dims) });
    }
    let choose = |p: u8, yes, no| if p != 0 { yes } else { no };
    let buffer = match (yes.buffer(), no.buffer()) {
        (Buffer::B8(a), Buffer::B8(b)) => Buffer::B8(zip_three(holds, a, b, choose)?),
        (Buffer::B16(a), Buffer::B16(b)) => {
            Buffer::B16(zip_three(holds, a, b, |p, yes, no| if p != 0 { yes } else { no })?)
        }
        (Buffer::B32(a), Buffer::B32(b)) => {
            Buffer::B32(zip_three(holds, a, b, |p, yes, no| if p != 0 { yes } else { no })?)
        }
        (Buffer::B64(a), Buffer::B64(b)) => {
            Buffer::B64(zip_three(holds, a, b, |p, yes, no| if p != 0 { yes } else { no })?)
        }
        (Buffer::B128(a), Buffer::B128(b)) => {
            Buffer::B128(zip_three(holds, a, b, |p, yes, no| if p != 0 { yes } else { no })?)
        }
        (Buffer::B8(_) | Buffer::B16(_) | Buffer::B32(_) | Buffer::B64(_) | Buffer::B128(_), _) => {
            return Err(Fault::invalid("elements of different widths"));
        }
    };
    Ok(Tensor::new(yes.element(), dims, buffer))
}

/// min(max(low, x), high)
pub(super) fn clamp(low: &Tensor, x: &Tensor, high: &Tensor) -> Result<Tensor, Fault> {
    same_element(low, x)?;
    same_element(x, high)?;
    match x.element().kind() {
        NumberKind::Float | NumberKind::Bool | NumberKind::Signed | NumberKind::Unsigned => {}
        // By maximum and minimum, as those are defined.
        NumberKind::Complex => {
            return super::binary::minimum(&super::binary::maximum(low, x)?, high);
        }
        NumberKind::Quantized => return Err(no_meaning(x.element())),
    }
    let dims = common_dims(&[x, low, high]);
    let element = x.element();
    fn between<T: Lane + PartialOrd>(
        low: &Tensor,
        x: &Tensor,
        high: &Tensor,
    ) -> Result<Vec<T>, Fault> {
        let (x, low, high) = (x.lanes::<T>(), low.lanes::<T>(), high.lanes::<T>());
        zip_three(x, low, high, |x, low, high| {
            let x = if x < low { low } else { x };
            if x > high { high } else { x }
        })
    }
    Ok(match element {
        ElementType::F64 => {
            let values = zip_three(
                x.lanes::<f64>(),
                low.lanes::<f64>(),
                high.lanes::<f64>(),
                |x, low, high| minimum(maximum(low, x), high),
            )?;
            Tensor::from_lanes(element, dims, values)
        }
        _ if element.is_float() => {
            let (x, low, high) = (singles(x), singles(low), singles(high));
            let values = zip_three(&x, &low, &high, |x, low, high| minimum(maximum(low, x), high))?;
            from_singles(element, dims, values)
        }
        _ => each_integer!(
            element,
            |Int| Tensor::from_lanes(element, dims, between::<Int>(low, x, high)?),
            else Tensor::from_lanes(element, dims, between::<u8>(low, x, high)?)
        ),
    })
}

/// What maximum and minimum need of a float.
pub(crate) trait Ordered: Copy + PartialOrd + std::ops::Add<Output = Self> {
    /// Whether the sign is set.
    fn negative(self) -> bool;
}

impl Ordered for f32 {
    fn negative(self) -> bool {
        self.is_sign_negative()
    }
}

impl Ordered for f64 {
    fn negative(self) -> bool {
        self.is_sign_negative()
    }
}

/// The larger, as IEEE 754-2019's `maximum`: NaN if one is NaN, and -0 is less than 0.
pub(crate) fn maximum<T: Ordered>(a: T, b: T) -> T {
    if a > b {
        a
    } else if b > a {
        b
    } else if a == b {
        if a.negative() { b } else { a }
    } else {
        // A sum of a NaN is a NaN.
        a + b
    }
}

/// The smaller.
pub(crate) fn minimum<T: Ordered>(a: T, b: T) -> T {
    if a < b {
        a
    } else if b < a {
        b
    } else if a == b {
        if a.negative() { a } else { b }
    } else {
        a + b
    }
}
