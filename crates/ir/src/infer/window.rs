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

/// The optional fields that describe a window.
#[derive(Clone, Copy, Default)]
pub(super) struct WindowFields<'a> {
    pub strides: Option<&'a Dims>,
    pub padding: Option<&'a Padding>,
    pub base_dilations: Option<&'a Dims>,
    pub window_dilations: Option<&'a Dims>,
    pub reversal: Option<&'a [bool]>,
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
    let number =
        |list: Option<&Dims>, at: usize| list.and_then(|l| l.get(at).copied()).unwrap_or(1);
    let mut window = Window::with_capacity(rank);
    for (at, &size) in sizes.iter().enumerate() {
        let [low, high] = fields.padding.and_then(|l| l.get(at).copied()).unwrap_or([0, 0]);
        let dim = WindowDim {
            size,
            stride: number(fields.strides, at),
            low,
            high,
            base_dilation: number(fields.base_dilations, at),
            window_dilation: number(fields.window_dilations, at),
            reversed: fields.reversal.and_then(|l| l.get(at).copied()).unwrap_or(false),
        };
        let positive = [
            ("size", if size == DYNAMIC { 1 } else { size }),
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
        window.push(dim);
    }
    Some(window)
}

/// The shape of the places of a window over a base of the given shape.
pub(super) fn places(base: &[i64], window: &[WindowDim]) -> Dims {
    base.iter().zip(window).map(|(&size, dim)| dim.places(size)).collect()
}
