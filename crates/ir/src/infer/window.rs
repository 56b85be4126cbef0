//! Windows that slide over dimensions: of convolutions, `reduce_window`, `select_and_scatter`.

use crate::ops::Padding;
use crate::{DYNAMIC, Dims};

use super::context::Cx;

/// How a window slides along one dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowDim {
    /// Elements of the window, before its dilation.
    pub size: i64,
    /// Step.
    pub stride: i64,
    /// Elements added before the first, after the base's dilation; negative removes.
    pub low: i64,
    /// Elements added after the last.
    pub high: i64,
    /// Distance between neighbours of the base.
    pub base_dilation: i64,
    /// Distance between neighbours in the window.
    pub window_dilation: i64,
    /// The window is reversed.
    pub reversed: bool,
}

impl WindowDim {
    /// The number of places of the window over a dimension of the given size; dynamic where that
    /// or the window's size is.
    pub fn places(&self, base: i64) -> i64 {
        if base == DYNAMIC || self.size == DYNAMIC {
            return DYNAMIC;
        }
        let padded =
            dilated(base, self.base_dilation).saturating_add(self.low).saturating_add(self.high);
        let window = dilated(self.size, self.window_dilation);
        if padded <= 0 || window > padded {
            return 0;
        }
        (padded - window) / self.stride.max(1) + 1
    }
}

/// The extent of `size` elements at a distance; 0 for none.
pub fn dilated(size: i64, distance: i64) -> i64 {
    if size <= 0 { 0 } else { (size - 1).saturating_mul(distance).saturating_add(1) }
}

/// A window, one entry a dimension.
pub type Window = Vec<WindowDim>;

/// The optional fields that describe a window; what is absent has its default.
#[derive(Clone, Copy, Debug, Default)]
pub struct WindowFields<'a> {
    /// Steps.
    pub strides: Option<&'a Dims>,
    /// Elements added before and after.
    pub padding: Option<&'a Padding>,
    /// Distances between neighbours of the base.
    pub base_dilations: Option<&'a Dims>,
    /// Distances between neighbours in the window.
    pub window_dilations: Option<&'a Dims>,
    /// Which dimensions are reversed.
    pub reversal: Option<&'a [bool]>,
}

impl WindowFields<'_> {
    /// The window of these sizes that they describe, whether or not it makes sense.
    pub fn window(&self, sizes: &[i64]) -> Window {
        let number =
            |list: Option<&Dims>, at: usize| list.and_then(|l| l.get(at).copied()).unwrap_or(1);
        let dim = |(at, &size): (usize, &i64)| {
            let [low, high] = self.padding.and_then(|l| l.get(at).copied()).unwrap_or([0, 0]);
            WindowDim {
                size,
                stride: number(self.strides, at),
                low,
                high,
                base_dilation: number(self.base_dilations, at),
                window_dilation: number(self.window_dilations, at),
                reversed: self.reversal.and_then(|l| l.get(at).copied()).unwrap_or(false),
            }
        };
        sizes.iter().enumerate().map(dim).collect()
    }
}

/// The window that the fields describe, each checked.
pub(super) fn window(cx: &mut Cx, sizes: &[i64], fields: WindowFields) -> Option<Window> {
    let rank = sizes.len();
    let lens = [
        ("window_strides", fields.strides.map(|list| list.len())),
        ("padding", fields.padding.map(|list| list.len())),
        ("base dilations", fields.base_dilations.map(|list| list.len())),
        ("window dilations", fields.window_dilations.map(|list| list.len())),
        ("window_reversal", fields.reversal.map(<[bool]>::len)),
    ];
    for (name, len) in lens {
        // An empty list stands for the default, as in StableHLO.
        if let Some(len) = len.filter(|&len| len != 0) {
            cx.per_dim(name, len, rank)?;
        }
    }
    let window = fields.window(sizes);
    for (at, dim) in window.iter().enumerate() {
        let positive = [
            ("size", if dim.size == DYNAMIC { 1 } else { dim.size }),
            ("stride", dim.stride),
            ("base dilation", dim.base_dilation),
            ("window dilation", dim.window_dilation),
        ];
        for (name, value) in positive {
            require!(
                cx,
                value > 0,
                "{name} of the window in dimension {at} is {value}, not positive"
            );
        }
    }
    Some(window)
}

/// The shape of the places of a window over a base of the given shape.
pub(super) fn places(base: &[i64], window: &[WindowDim]) -> Dims {
    base.iter().zip(window).map(|(&size, dim)| dim.places(size)).collect()
}
