//! Numbers with their sources, and the figures of devices.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use shard_ir::ElementType;

/// A number and where it comes from. In a file it may be just the number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "FigureText")]
pub struct Figure {
    /// The number, in the unit that its field names.
    pub value: f64,
    /// Where it comes from.
    pub source: Cow<'static, str>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum FigureText {
    Plain(f64),
    Sourced { value: f64, source: String },
}

impl From<FigureText> for Figure {
    fn from(text: FigureText) -> Figure {
        match text {
            FigureText::Plain(value) => Figure { value, source: Cow::Borrowed("topology file") },
            FigureText::Sourced { value, source } => Figure { value, source: Cow::Owned(source) },
        }
    }
}

impl Figure {
    /// A number with its source.
    pub const fn new(value: f64, source: &'static str) -> Figure {
        Figure { value, source: Cow::Borrowed(source) }
    }

    pub(super) fn one() -> Figure {
        Figure::new(1.0, "the formulas' own: no allowance")
    }
}

/// One device of a machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Device {
    /// What reports call it.
    pub name: Cow<'static, str>,
    /// Peak rate of matrix products of 16-bit floats and anything narrower, in FLOP a second.
    pub narrow_flops: Figure,
    /// Peak rate of matrix products of 32-bit numbers, in FLOP a second.
    pub single_flops: Figure,
    /// Peak rate of matrix products of 64-bit numbers, in FLOP a second.
    pub double_flops: Figure,
    /// Memory, in bytes.
    pub memory_bytes: Figure,
    /// Memory bandwidth, in bytes a second.
    pub memory_bandwidth: Figure,
}

impl Device {
    /// The peak rate of matrix products with operands of an element type, in FLOP a second (a
    /// multiplication and an addition are two; complex products count as their real parts).
    pub fn peak_flops(&self, element: ElementType) -> f64 {
        use ElementType::*;
        match element {
            I1 | I2 | I4 | I8 | UI2 | UI4 | UI8 | F4E2M1FN | F6E2M3FN | F6E3M2FN | F8E3M4
            | F8E4M3 | F8E4M3FN | F8E4M3FNUZ | F8E4M3B11FNUZ | F8E5M2 | F8E5M2FNUZ | F8E8M0FNU
            | BF16 | F16 | Quantized(_) => self.narrow_flops.value,
            I16 | I32 | UI16 | UI32 | TF32 | F32 | C64 | Index => self.single_flops.value,
            I64 | UI64 | F64 | C128 => self.double_flops.value,
        }
    }

    /// A TPU v4 chip: two cores that act as one device.
    pub(super) fn tpu_v4() -> Device {
        let cloud = "Google Cloud, TPU v4 page";
        Device {
            name: Cow::Borrowed("TPU v4 chip"),
            narrow_flops: Figure::new(275e12, cloud),
            single_flops: Figure::new(275e12, SINGLE_PASS),
            double_flops: Figure::new(275e12 / 64.0, SOFTWARE_DOUBLE),
            memory_bytes: Figure::new(32.0 * GIB, cloud),
            memory_bandwidth: Figure::new(1.2e12, cloud),
        }
    }

    /// A TPU v3 chip.
    pub(super) fn tpu_v3() -> Device {
        let cloud = "Google Cloud, TPU v3 page";
        Device {
            name: Cow::Borrowed("TPU v3 chip"),
            narrow_flops: Figure::new(
                123e12,
                "Google Cloud, TPU v3 page (140e12 in How to Scale Your Model)",
            ),
            single_flops: Figure::new(123e12, SINGLE_PASS),
            double_flops: Figure::new(123e12 / 64.0, SOFTWARE_DOUBLE),
            memory_bytes: Figure::new(32.0 * GIB, cloud),
            memory_bandwidth: Figure::new(0.9e12, cloud),
        }
    }
}

const GIB: f64 = (1u64 << 30) as f64;
const SINGLE_PASS: &str =
    "assumed: XLA's default precision multiplies f32 operands in one bf16 pass on TPU";
const SOFTWARE_DOUBLE: &str =
    "assumed: 64-bit numbers are emulated; an order of magnitude, not a measurement";
