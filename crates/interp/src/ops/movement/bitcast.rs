//! The same bits as elements of another type.

use shard_ir::{Dims, ElementType};

use crate::site::Site;
use crate::tensor::{Lane, quantized, storage_bytes};
use crate::{Buffer, Fault, Tensor};

/// Reads the bits of a tensor as another type. Where that is narrower, each element becomes a row
/// of them, those of the lower bits first; where it is wider, each row of the last dimension
/// becomes one element.
pub(super) fn convert(site: &Site<'_>, x: &Tensor) -> Result<Tensor, Fault> {
    let element = site.result_element(0)?;
    let (from, to) = (bits(site, x.element())?, bits(site, element)?);
    let mut dims = Dims::from_slice(x.dims());
    if from > to {
        if from % to != 0 {
            return Err(unfit(x, element));
        }
        dims.push((from / to).into());
    } else if from < to {
        let last = dims.pop();
        if to % from != 0 || last != Some((to / from).into()) {
            return Err(unfit(x, element));
        }
    }
    let width = storage_bytes(element, site.module)?;
    let whole_bytes =
        |element: ElementType, bits: u32| element.bits() == bits && bits.is_multiple_of(8);
    if from == to && x.element() == element {
        return Ok(x.clone());
    }
    if whole_bytes(x.element(), from) && whole_bytes(element, to) {
        return Ok(Tensor::new(element, dims, Buffer::from_bytes(x.buffer().bytes(), width)));
    }
    let signed = signed(site, element)?;
    let buffer = repacked(x.buffer(), from, to, width, signed);
    Ok(Tensor::new(element, dims, buffer))
}

fn unfit(x: &Tensor, element: ElementType) -> Fault {
    Fault::invalid(format!(
        "the bits of {} of shape {:?} make no whole {element}",
        x.element(),
        x.dims()
    ))
}

/// Width of an element for conversions; here a boolean is one bit, unlike in memory.
fn bits(site: &Site<'_>, element: ElementType) -> Result<u32, Fault> {
    match element {
        ElementType::I1 => Ok(1),
        ElementType::Quantized(text) => Ok(quantized(site.module.str(text))?.width.max(1)),
        other => Ok(other.bits()),
    }
}

/// Whether elements are held with their sign in all upper bits.
fn signed(site: &Site<'_>, element: ElementType) -> Result<bool, Fault> {
    match element {
        ElementType::Quantized(text) => Ok(quantized(site.module.str(text))?.signed),
        ElementType::I2 | ElementType::I4 => Ok(true),
        _ => Ok(false),
    }
}

/// Elements of `from` bits as elements of `to` bits, held in `width` bytes each.
fn repacked(buffer: &Buffer, from: u32, to: u32, width: usize, signed: bool) -> Buffer {
    let words: Vec<u128> = match buffer {
        Buffer::B8(words) => words.iter().map(|w| u128::from(*w)).collect(),
        Buffer::B16(words) => words.iter().map(|w| u128::from(*w)).collect(),
        Buffer::B32(words) => words.iter().map(|w| u128::from(*w)).collect(),
        Buffer::B64(words) => words.iter().map(|w| u128::from(*w)).collect(),
        Buffer::B128(words) => words.clone(),
    };
    let mask = |bits: u32| if bits >= 128 { u128::MAX } else { (1u128 << bits) - 1 };
    let out: Vec<u128> = if from >= to {
        let parts = |w: u128| (0..from / to).map(move |i| w >> (i * to) & mask(to));
        words.iter().flat_map(|w| parts(*w)).collect()
    } else {
        let joined =
            |row: &[u128]| row.iter().rev().fold(0u128, |all, w| all << from | (w & mask(from)));
        words.chunks((to / from) as usize).map(joined).collect()
    };
    let value = |w: u128| match signed && to < 128 && w >> (to - 1) & 1 == 1 {
        true => w | !mask(to),
        false => w,
    };
    fn narrowed<W: Lane>(words: &[u128], cut: impl Fn(u128) -> W) -> Buffer {
        W::buffer(words.iter().map(|w| cut(*w)).collect())
    }
    let out: Vec<u128> = out.iter().map(|w| value(*w)).collect();
    match width {
        16 => Buffer::B128(out),
        8 => narrowed(&out, |w| w as u64),
        4 => narrowed(&out, |w| w as u32),
        2 => narrowed(&out, |w| w as u16),
        _ => narrowed(&out, |w| w as u8),
    }
}
