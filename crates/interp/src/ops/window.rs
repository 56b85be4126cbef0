//! Windows that slide over dimensions: which element of the base each tap of a window meets.

use shard_ir::Dims;
pub(crate) use shard_ir::infer::WindowFields;
use shard_ir::infer::{Window, WindowDim};

use crate::Fault;
use crate::strided::strides;
use crate::tensor::element_count;

/// No element: a tap that meets padding.
pub(crate) const NOWHERE: usize = usize::MAX;

/// The window of these sizes.
///
/// # Errors
/// If a size, stride or dilation isn't positive.
pub(crate) fn window(sizes: &[i64], fields: WindowFields<'_>) -> Result<Window, Fault> {
    let window = fields.window(sizes);
    for dim in &window {
        // So that no product of theirs with a size overflows.
        let far = |value: i64| value.unsigned_abs() > 1 << 48;
        let wide = |value: i64| value > 1 << 24;
        if far(dim.low) || far(dim.high) || wide(dim.base_dilation) || wide(dim.window_dilation) {
            return Err(Fault::unsupported("a window of that extent"));
        }
        let positive = [dim.stride, dim.base_dilation, dim.window_dilation];
        if dim.size < 0 || positive.iter().any(|value| *value <= 0) {
            return Err(Fault::invalid("a window with a size, stride or dilation below 1"));
        }
    }
    Ok(window)
}

/// How a window meets a base.
pub(crate) struct Meeting {
    /// The places of the window, one number a dimension.
    pub places: Dims,
    /// The window's sizes.
    pub taps: Dims,
    dims: Vec<Dimension>,
}

/// One dimension of a base.
struct Dimension {
    size: i64,
    /// From one element to the next in memory.
    step: usize,
    window: WindowDim,
}

impl Dimension {
    /// How far from the first the element lies that a tap meets at a place.
    fn offset(&self, place: i64, tap: i64) -> usize {
        let window = &self.window;
        // As wide as no stride can overflow.
        let at = i128::from(place) * i128::from(window.stride)
            + i128::from(tap) * i128::from(window.window_dilation)
            - i128::from(window.low);
        let Ok(at) = i64::try_from(at) else { return NOWHERE };
        // Divisions are slow, and dilations of a base are rare.
        let (index, between) = match window.base_dilation {
            1 => (at, 0),
            dilation => (at / dilation, at % dilation),
        };
        if at < 0 || between != 0 || index >= self.size {
            NOWHERE
        } else {
            index as usize * self.step
        }
    }
}

impl Meeting {
    /// A window over a base of these dimensions, which lie in memory with these strides.
    ///
    /// # Errors
    /// If there are more places than memory.
    pub fn new(base: &[i64], steps: &[isize], window: &[WindowDim]) -> Result<Meeting, Fault> {
        let places: Dims = base.iter().zip(window).map(|(size, dim)| dim.places(*size)).collect();
        element_count(&places)?;
        let taps: Dims = window.iter().map(|dim| dim.size).collect();
        element_count(&taps)?;
        let dims = base.iter().zip(steps).zip(window);
        let dims = dims.map(|((&size, &step), &window)| Dimension {
            size,
            step: step.unsigned_abs(),
            window,
        });
        Ok(Meeting { places, taps, dims: dims.collect() })
    }

    /// The same of a row-major base.
    ///
    /// # Errors
    /// As [`Meeting::new`].
    pub fn row_major(base: &[i64], window: &[WindowDim]) -> Result<Meeting, Fault> {
        Meeting::new(base, &strides(base), window)
    }

    /// Which element one tap meets at each place, row-major.
    pub fn elements(&self, tap: &[i64], to: &mut Vec<usize>) {
        let lists = self.dims.iter().zip(tap).zip(&self.places);
        product(
            to,
            lists.map(|((dim, &tap), &places)| (0..places).map(move |p| dim.offset(p, tap))),
        );
    }

    /// Which element each tap meets at one place, row-major.
    pub fn taps_at(&self, place: &[i64], to: &mut Vec<usize>) {
        let lists = self.dims.iter().zip(place).zip(&self.taps);
        product(
            to,
            lists.map(|((dim, &place), &taps)| (0..taps).map(move |t| dim.offset(place, t))),
        );
    }
}

/// The sum of each choice of one offset a dimension, the last changing fastest.
fn product(to: &mut Vec<usize>, lists: impl Iterator<Item = impl Iterator<Item = usize>>) {
    to.clear();
    to.push(0);
    let mut next = Vec::new();
    let mut offsets: Vec<usize> = Vec::new();
    for list in lists {
        offsets.clear();
        offsets.extend(list);
        next.clear();
        next.reserve(to.len() * offsets.len());
        for &from in to.iter() {
            if from == NOWHERE {
                next.resize(next.len() + offsets.len(), NOWHERE);
            } else {
                // No sum of offsets comes near the largest number, which stands for none.
                next.extend(offsets.iter().map(|offset| from.saturating_add(*offset)));
            }
        }
        std::mem::swap(to, &mut next);
    }
}
