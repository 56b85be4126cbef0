//! Padding: elements added at the edges and between, or with negative amounts taken away.

use shard_ir::Dims;
use smallvec::SmallVec;

use crate::ops::operands::{per_dim, same_element};
use crate::strided::{read, strides, write};
use crate::tensor::{Lane, element_count};
use crate::{Fault, Tensor, each_width};

/// What of a dimension remains, and where it goes.
struct Kept {
    /// Size of the dimension in the result.
    size: i64,
    /// The first element of the operand that is inside the result.
    first: i64,
    /// How many are inside.
    count: i64,
    /// Place of the first one in the result.
    place: i64,
    /// Distance of neighbours there.
    step: i64,
}

impl Kept {
    fn new(operand: i64, low: i64, high: i64, interior: i64) -> Option<Kept> {
        if interior < 0 {
            return None;
        }
        // Amounts are whatever the program computed: nothing may overflow.
        let (wide_operand, low, step) =
            (i128::from(operand), i128::from(low), i128::from(interior) + 1);
        let inner = if operand > 0 { (wide_operand - 1) * step + 1 } else { 0 };
        let size = inner + low + i128::from(high);
        if size < 0 || size > i128::from(i64::MAX) {
            return None;
        }
        let first = if low < 0 { (-low + step - 1) / step } else { 0 };
        let last = (size - 1 - low).div_euclid(step).min(wide_operand - 1);
        let count = (last - first + 1).max(0);
        let (first, place) = if count > 0 { (first, low + first * step) } else { (0, 0) };
        Some(Kept {
            size: size as i64,
            first: first as i64,
            count: count as i64,
            place: place as i64,
            // Of a single element the step is of no concern, and may be huge.
            step: if count > 1 { step as i64 } else { 1 },
        })
    }
}

pub(super) fn pad(
    x: &Tensor,
    value: &Tensor,
    low: &[i64],
    high: &[i64],
    interior: &[i64],
) -> Result<Tensor, Fault> {
    same_element(x, value)?;
    for amounts in [low, high, interior] {
        per_dim("amounts", amounts, x.rank())?;
    }
    if value.is_empty() {
        return Err(Fault::invalid("there is no value to pad with"));
    }
    let mut kept: SmallVec<[Kept; 4]> = SmallVec::new();
    for (at, &size) in x.dims().iter().enumerate() {
        let (low, high, interior) = (low[at], high[at], interior[at]);
        kept.push(Kept::new(size, low, high, interior).ok_or_else(|| {
            Fault::invalid(format!(
                "dimension {at} of size {size} padded by {low}, {high} and {interior} between"
            ))
        })?);
    }
    let dims: Dims = kept.iter().map(|k| k.size).collect();
    let block: Dims = kept.iter().map(|k| k.count).collect();
    let count = element_count(&dims)?;
    if count == 0 {
        return Ok(Tensor::new(x.element(), dims, each_width!(x.buffer(), |_words| Vec::new())));
    }
    let (from, to) = (strides(x.dims()), strides(&dims));
    let whole = block[..] == *x.dims();
    let source: isize = kept.iter().zip(&from).map(|(k, s)| k.first as isize * s).sum();
    let target: isize = kept.iter().zip(&to).map(|(k, s)| k.place as isize * s).sum();
    let steps: SmallVec<[isize; 4]> =
        kept.iter().zip(&to).map(|(k, s)| k.step as isize * s).collect();
    let buffer = each_width!(x.buffer(), |words| {
        let mut out = vec![Lane::of(value.buffer())[0]; count];
        if whole {
            write(&mut out, target, &steps, &block, words);
        } else {
            write(&mut out, target, &steps, &block, &read(words, source, &from, &block));
        }
        out
    });
    Ok(Tensor::new(x.element(), dims, buffer))
}
