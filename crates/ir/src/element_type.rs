//! Element types of tensors: every one that StableHLO has.

use std::fmt;

use crate::Symbol;

/// The type of one element of a tensor.
///
/// Names and meanings follow the StableHLO specification, section "Types".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ElementType {
    /// `i1`, a boolean; a byte of 0 or 1 in memory.
    I1,
    /// Signed 2-bit integer.
    I2,
    /// Signed 4-bit integer.
    I4,
    /// Signed 8-bit integer.
    I8,
    /// Signed 16-bit integer.
    I16,
    /// Signed 32-bit integer.
    I32,
    /// Signed 64-bit integer.
    I64,
    /// Unsigned 2-bit integer.
    UI2,
    /// Unsigned 4-bit integer.
    UI4,
    /// Unsigned 8-bit integer.
    UI8,
    /// Unsigned 16-bit integer.
    UI16,
    /// Unsigned 32-bit integer.
    UI32,
    /// Unsigned 64-bit integer.
    UI64,
    /// 4-bit float, 2 exponent and 1 mantissa bits.
    F4E2M1FN,
    /// 6-bit float, 2 exponent and 3 mantissa bits.
    F6E2M3FN,
    /// 6-bit float, 3 exponent and 2 mantissa bits.
    F6E3M2FN,
    /// 8-bit float, 3 exponent and 4 mantissa bits.
    F8E3M4,
    /// 8-bit float, 4 exponent and 3 mantissa bits, IEEE style.
    F8E4M3,
    /// 8-bit float, 4 exponent and 3 mantissa bits, no infinities.
    F8E4M3FN,
    /// 8-bit float, 4 exponent and 3 mantissa bits, no negative zero.
    F8E4M3FNUZ,
    /// 8-bit float, 4 exponent and 3 mantissa bits, bias 11.
    F8E4M3B11FNUZ,
    /// 8-bit float, 5 exponent and 2 mantissa bits, IEEE style.
    F8E5M2,
    /// 8-bit float, 5 exponent and 2 mantissa bits, no negative zero.
    F8E5M2FNUZ,
    /// 8-bit float, exponent only.
    F8E8M0FNU,
    /// bfloat16.
    BF16,
    /// IEEE half precision.
    F16,
    /// NVIDIA's TensorFloat-32, stored in 32 bits.
    TF32,
    /// IEEE single precision.
    F32,
    /// IEEE double precision.
    F64,
    /// Complex number of two `f32`.
    C64,
    /// Complex number of two `f64`.
    C128,
    /// `index`, as the dialects `shape`, `tensor` and `arith` use it.
    Index,
    /// A quantized type `!quant.uniform<...>`, kept as its text.
    Quantized(Symbol),
}

/// What kind of number an element type holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NumberKind {
    /// `i1`.
    Bool,
    /// A signed integer, or `index`.
    Signed,
    /// An unsigned integer.
    Unsigned,
    /// A floating-point number.
    Float,
    /// A complex number.
    Complex,
    /// A quantized number.
    Quantized,
}

/// Every element type but the quantized ones, with its MLIR spelling.
pub const ELEMENT_TYPES: &[(ElementType, &str)] = {
    use ElementType::*;
    &[
        (I1, "i1"),
        (I2, "i2"),
        (I4, "i4"),
        (I8, "i8"),
        (I16, "i16"),
        (I32, "i32"),
        (I64, "i64"),
        (UI2, "ui2"),
        (UI4, "ui4"),
        (UI8, "ui8"),
        (UI16, "ui16"),
        (UI32, "ui32"),
        (UI64, "ui64"),
        (F4E2M1FN, "f4E2M1FN"),
        (F6E2M3FN, "f6E2M3FN"),
        (F6E3M2FN, "f6E3M2FN"),
        (F8E3M4, "f8E3M4"),
        (F8E4M3, "f8E4M3"),
        (F8E4M3FN, "f8E4M3FN"),
        (F8E4M3FNUZ, "f8E4M3FNUZ"),
        (F8E4M3B11FNUZ, "f8E4M3B11FNUZ"),
        (F8E5M2, "f8E5M2"),
        (F8E5M2FNUZ, "f8E5M2FNUZ"),
        (F8E8M0FNU, "f8E8M0FNU"),
        (BF16, "bf16"),
        (F16, "f16"),
        (TF32, "tf32"),
        (F32, "f32"),
        (F64, "f64"),
        (C64, "complex<f32>"),
        (C128, "complex<f64>"),
        (Index, "index"),
    ]
};

impl ElementType {
    /// Reads MLIR's spelling, such as `bf16` or `complex<f32>`.
    pub fn from_mlir(text: &str) -> Option<Self> {
        ELEMENT_TYPES.iter().find(|(_, name)| *name == text).map(|(ty, _)| *ty)
    }

    /// MLIR's spelling; for a quantized type just `!quant`, since its text is in the module.
    pub fn mlir_name(self) -> &'static str {
        match self {
            ElementType::Quantized(_) => "!quant",
            other => ELEMENT_TYPES.iter().find(|(ty, _)| *ty == other).map_or("", |(_, name)| name),
        }
    }

    /// Width of an element in bits as XLA lays it out in an array (a boolean takes a byte).
    pub fn bits(self) -> u32 {
        use ElementType::*;
        match self {
            I2 | UI2 => 2,
            I4 | UI4 | F4E2M1FN => 4,
            F6E2M3FN | F6E3M2FN => 6,
            I1 | I8 | UI8 | F8E3M4 | F8E4M3 | F8E4M3FN | F8E4M3FNUZ | F8E4M3B11FNUZ | F8E5M2
            | F8E5M2FNUZ | F8E8M0FNU | Quantized(_) => 8,
            I16 | UI16 | BF16 | F16 => 16,
            I32 | UI32 | F32 | TF32 => 32,
            I64 | UI64 | F64 | C64 | Index => 64,
            C128 => 128,
        }
    }

    /// Bytes that `count` elements take, sub-byte elements packed.
    pub fn bytes(self, count: u64) -> u64 {
        (u128::from(self.bits()) * u128::from(count)).div_ceil(8).try_into().unwrap_or(u64::MAX)
    }

    /// Bytes that one element takes in a constant's data: sub-byte elements take a byte each.
    pub fn storage_bytes(self) -> usize {
        self.bits().div_ceil(8) as usize
    }

    /// The kind of number.
    pub fn kind(self) -> NumberKind {
        use ElementType::*;
        match self {
            I1 => NumberKind::Bool,
            I2 | I4 | I8 | I16 | I32 | I64 | Index => NumberKind::Signed,
            UI2 | UI4 | UI8 | UI16 | UI32 | UI64 => NumberKind::Unsigned,
            F4E2M1FN | F6E2M3FN | F6E3M2FN | F8E3M4 | F8E4M3 | F8E4M3FN | F8E4M3FNUZ
            | F8E4M3B11FNUZ | F8E5M2 | F8E5M2FNUZ | F8E8M0FNU | BF16 | F16 | TF32 | F32 | F64 => {
                NumberKind::Float
            }
            C64 | C128 => NumberKind::Complex,
            Quantized(_) => NumberKind::Quantized,
        }
    }

    /// Whether it is a floating-point type.
    pub fn is_float(self) -> bool {
        self.kind() == NumberKind::Float
    }

    /// Whether it is an integer type (not a boolean).
    pub fn is_integer(self) -> bool {
        matches!(self.kind(), NumberKind::Signed | NumberKind::Unsigned)
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.mlir_name())
    }
}
