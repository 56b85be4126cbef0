//! Enumerations that StableHLO's ops have as attributes.

use super::field::{Field, FieldRef};
use crate::{Attr, Interner};

macro_rules! enums {
    ($($(#[$doc:meta])* $name:ident = $kind:literal, $expected:literal { $($(#[$vdoc:meta])* $variant:ident = $text:literal),* $(,)? })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$vdoc])* $variant),* }

        impl $name {
            /// The kind of the attribute, as in `#stablehlo<kind VALUE>`.
            pub const KIND: &'static str = $kind;

            /// Reads the spelling in text.
            pub fn from_text(text: &str) -> Option<Self> {
                match text { $($text => Some($name::$variant),)* _ => None }
            }

            /// The spelling in text.
            pub fn text(self) -> &'static str {
                match self { $($name::$variant => $text),* }
            }
        }

        impl Field for $name {
            const EXPECTED: &'static str = $expected;
            fn read(attr: &Attr, interner: &Interner) -> Option<Self> {
                match attr {
                    Attr::Enum { value, .. } => Self::from_text(interner.str(*value)),
                    _ => None,
                }
            }
            fn view(&self) -> Option<FieldRef<'_>> {
                Some(FieldRef::Enum { kind: $kind, value: self.text() })
            }
        }
    )*};
}

enums! {
    /// How `compare` compares.
    Direction = "comparison_direction", "#stablehlo<comparison_direction ...>" {
        /// Equal.
        Eq = "EQ",
        /// Not equal.
        Ne = "NE",
        /// Greater or equal.
        Ge = "GE",
        /// Greater.
        Gt = "GT",
        /// Less or equal.
        Le = "LE",
        /// Less.
        Lt = "LT",
    }
    /// As what `compare` takes its operands.
    CompareType = "comparison_type", "#stablehlo<comparison_type ...>" {
        /// As the element type says.
        NoType = "NOTYPE",
        /// Floats.
        Float = "FLOAT",
        /// Floats by their total order.
        TotalOrder = "TOTALORDER",
        /// Signed integers.
        Signed = "SIGNED",
        /// Unsigned integers or booleans.
        Unsigned = "UNSIGNED",
    }
    /// Precision of a dot or convolution.
    Precision = "precision", "#stablehlo<precision ...>" {
        /// The fastest.
        Default = "DEFAULT",
        /// Better.
        High = "HIGH",
        /// The best.
        Highest = "HIGHEST",
    }
    /// Kind of a Fourier transform.
    FftType = "fft_type", "#stablehlo<fft_type ...>" {
        /// Complex to complex.
        Fft = "FFT",
        /// Its inverse.
        Ifft = "IFFT",
        /// Real to complex.
        Rfft = "RFFT",
        /// Complex to real.
        Irfft = "IRFFT",
    }
    /// How `triangular_solve` takes its matrix.
    TransposeKind = "transpose", "#stablehlo<transpose ...>" {
        /// Invalid.
        Invalid = "TRANSPOSE_INVALID",
        /// As it is.
        No = "NO_TRANSPOSE",
        /// Transposed.
        Transpose = "TRANSPOSE",
        /// Transposed and conjugated.
        Adjoint = "ADJOINT",
    }
    /// Distribution of `rng`.
    Distribution = "rng_distribution", "#stablehlo<rng_distribution ...>" {
        /// Uniform.
        Uniform = "UNIFORM",
        /// Normal.
        Normal = "NORMAL",
    }
    /// Algorithm of `rng_bit_generator`.
    RngAlgorithm = "rng_algorithm", "#stablehlo<rng_algorithm ...>" {
        /// The implementation chooses.
        Default = "DEFAULT",
        /// Threefry.
        ThreeFry = "THREE_FRY",
        /// Philox.
        Philox = "PHILOX",
    }
}

/// Precision of each operand of a dot or convolution; empty where not given.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Precisions(pub Vec<Precision>);

impl Field for Precisions {
    const EXPECTED: &'static str = "an array of #stablehlo<precision ...>";
    fn read(attr: &Attr, interner: &Interner) -> Option<Self> {
        let Attr::Array(items) = attr else { return None };
        items.iter().map(|item| Precision::read(item, interner)).collect::<Option<_>>().map(Self)
    }
    fn absent() -> Option<Self> {
        Some(Self::default())
    }
    fn view(&self) -> Option<FieldRef<'_>> {
        (!self.0.is_empty()).then_some(FieldRef::Precisions(&self.0))
    }
}
