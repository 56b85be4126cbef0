//! Ops that treat each element by itself.

use super::*;

op_family! {
    /// Ops that treat each element by itself.
    family Elementwise {
        plain {
            /// |x|
            Abs = "stablehlo.abs" "abs" (ONE, ONE, ZERO) NONE;
            /// Cube root.
            Cbrt = "stablehlo.cbrt" "cbrt" (ONE, ONE, ZERO) NONE;
            /// Rounds up.
            Ceil = "stablehlo.ceil" "ceil" (ONE, ONE, ZERO) NONE;
            /// Changes the element type.
            Convert = "stablehlo.convert" "convert" (ONE, ONE, ZERO) NONE;
            /// Leading zero bits.
            CountLeadingZeros = "stablehlo.count_leading_zeros" "count-leading-zeros" (ONE, ONE, ZERO) NONE;
            /// Cosine.
            Cosine = "stablehlo.cosine" "cosine" (ONE, ONE, ZERO) NONE;
            /// e^x
            Exponential = "stablehlo.exponential" "exponential" (ONE, ONE, ZERO) NONE;
            /// e^x - 1
            ExponentialMinusOne = "stablehlo.exponential_minus_one" "exponential-minus-one" (ONE, ONE, ZERO) NONE;
            /// Rounds down.
            Floor = "stablehlo.floor" "floor" (ONE, ONE, ZERO) NONE;
            /// Imaginary part.
            Imag = "stablehlo.imag" "imag" (ONE, ONE, ZERO) NONE;
            /// Neither infinite nor NaN.
            IsFinite = "stablehlo.is_finite" "is-finite" (ONE, ONE, ZERO) NONE;
            /// Natural logarithm.
            Log = "stablehlo.log" "log" (ONE, ONE, ZERO) NONE;
            /// log(1 + x)
            LogPlusOne = "stablehlo.log_plus_one" "log-plus-one" (ONE, ONE, ZERO) NONE;
            /// 1 / (1 + e^-x)
            Logistic = "stablehlo.logistic" "logistic" (ONE, ONE, ZERO) NONE;
            /// -x
            Negate = "stablehlo.negate" "negate" (ONE, ONE, ZERO) NONE;
            /// Logical or bitwise not.
            Not = "stablehlo.not" "not" (ONE, ONE, ZERO) NONE;
            /// Number of bits set.
            Popcnt = "stablehlo.popcnt" "popcnt" (ONE, ONE, ZERO) NONE;
            /// Real part.
            Real = "stablehlo.real" "real" (ONE, ONE, ZERO) NONE;
            /// Rounds to nearest, halves away from zero.
            RoundNearestAfz = "stablehlo.round_nearest_afz" "round-nearest-afz" (ONE, ONE, ZERO) NONE;
            /// Rounds to nearest, halves to even.
            RoundNearestEven = "stablehlo.round_nearest_even" "round-nearest-even" (ONE, ONE, ZERO) NONE;
            /// 1 / sqrt(x)
            Rsqrt = "stablehlo.rsqrt" "rsqrt" (ONE, ONE, ZERO) NONE;
            /// -1, 0 or 1
            Sign = "stablehlo.sign" "sign" (ONE, ONE, ZERO) NONE;
            /// Sine.
            Sine = "stablehlo.sine" "sine" (ONE, ONE, ZERO) NONE;
            /// Square root.
            Sqrt = "stablehlo.sqrt" "sqrt" (ONE, ONE, ZERO) NONE;
            /// Tangent.
            Tan = "stablehlo.tan" "tan" (ONE, ONE, ZERO) NONE;
            /// Hyperbolic tangent.
            Tanh = "stablehlo.tanh" "tanh" (ONE, ONE, ZERO) NONE;
            /// Quantized to float.
            UniformDequantize = "stablehlo.uniform_dequantize" "" (ONE, ONE, ZERO) NONE;
            /// Float to quantized.
            UniformQuantize = "stablehlo.uniform_quantize" "" (ONE, ONE, ZERO) NONE;
            /// a + b
            Add = "stablehlo.add" "add" (TWO, ONE, ZERO) COMM;
            /// Logical or bitwise and.
            And = "stablehlo.and" "and" (TWO, ONE, ZERO) COMM;
            /// Angle of (b, a).
            Atan2 = "stablehlo.atan2" "atan2" (TWO, ONE, ZERO) NONE;
            /// Complex number of two reals.
            Complex = "stablehlo.complex" "complex" (TWO, ONE, ZERO) NONE;
            /// a / b
            Divide = "stablehlo.divide" "divide" (TWO, ONE, ZERO) NONE;
            /// The larger.
            Maximum = "stablehlo.maximum" "maximum" (TWO, ONE, ZERO) COMM;
            /// The smaller.
            Minimum = "stablehlo.minimum" "minimum" (TWO, ONE, ZERO) COMM;
            /// a * b
            Multiply = "stablehlo.multiply" "multiply" (TWO, ONE, ZERO) COMM;
            /// Logical or bitwise or.
            Or = "stablehlo.or" "or" (TWO, ONE, ZERO) COMM;
            /// a ^ b, the power.
            Power = "stablehlo.power" "power" (TWO, ONE, ZERO) NONE;
            /// Remainder.
            Remainder = "stablehlo.remainder" "remainder" (TWO, ONE, ZERO) NONE;
            /// a << b
            ShiftLeft = "stablehlo.shift_left" "shift-left" (TWO, ONE, ZERO) NONE;
            /// a >> b with the sign kept.
            ShiftRightArithmetic = "stablehlo.shift_right_arithmetic" "shift-right-arithmetic" (TWO, ONE, ZERO) NONE;
            /// a >> b with zeros.
            ShiftRightLogical = "stablehlo.shift_right_logical" "shift-right-logical" (TWO, ONE, ZERO) NONE;
            /// a - b
            Subtract = "stablehlo.subtract" "subtract" (TWO, ONE, ZERO) NONE;
            /// Logical or bitwise exclusive or.
            Xor = "stablehlo.xor" "xor" (TWO, ONE, ZERO) COMM;
            /// min(max(lo, x), hi); the bounds may be scalars.
            Clamp = "stablehlo.clamp" "clamp" (THREE, ONE, ZERO) NONE;
            /// p ? a : b; the predicate may be a scalar.
            Select = "stablehlo.select" "select" (THREE, ONE, ZERO) NONE;
            /// Inverse cosine.
            Acos = "chlo.acos" "acos" (ONE, ONE, ZERO) NONE;
            /// Inverse hyperbolic cosine.
            Acosh = "chlo.acosh" "acosh" (ONE, ONE, ZERO) NONE;
            /// Inverse sine.
            Asin = "chlo.asin" "asin" (ONE, ONE, ZERO) NONE;
            /// Inverse hyperbolic sine.
            Asinh = "chlo.asinh" "asinh" (ONE, ONE, ZERO) NONE;
            /// Inverse tangent.
            Atan = "chlo.atan" "" (ONE, ONE, ZERO) NONE;
            /// Inverse hyperbolic tangent.
            Atanh = "chlo.atanh" "atanh" (ONE, ONE, ZERO) NONE;
            /// Modified Bessel function.
            BesselI1e = "chlo.bessel_i1e" "" (ONE, ONE, ZERO) NONE;
            /// Complex conjugate.
            Conj = "chlo.conj" "" (ONE, ONE, ZERO) NONE;
            /// Hyperbolic cosine.
            Cosh = "chlo.cosh" "cosh" (ONE, ONE, ZERO) NONE;
            /// Derivative of the logarithm of the gamma function.
            Digamma = "chlo.digamma" "" (ONE, ONE, ZERO) NONE;
            /// Error function.
            Erf = "chlo.erf" "erf" (ONE, ONE, ZERO) NONE;
            /// Inverse of the error function.
            ErfInv = "chlo.erf_inv" "" (ONE, ONE, ZERO) NONE;
            /// 1 - erf(x)
            Erfc = "chlo.erfc" "" (ONE, ONE, ZERO) NONE;
            /// Whether infinite.
            IsInf = "chlo.is_inf" "" (ONE, ONE, ZERO) NONE;
            /// Whether minus infinity.
            IsNegInf = "chlo.is_neg_inf" "" (ONE, ONE, ZERO) NONE;
            /// Whether plus infinity.
            IsPosInf = "chlo.is_pos_inf" "" (ONE, ONE, ZERO) NONE;
            /// Logarithm of the gamma function.
            Lgamma = "chlo.lgamma" "" (ONE, ONE, ZERO) NONE;
            /// The upper half of the bits of a product of integers.
            Mulhi = "chlo.mulhi" "" (TWO, ONE, ZERO) COMM;
            /// The float after a in the direction of b.
            NextAfter = "chlo.next_after" "" (TWO, ONE, ZERO) NONE;
            /// Derivatives of digamma.
            Polygamma = "chlo.polygamma" "" (TWO, ONE, ZERO) NONE;
            /// Hyperbolic sine.
            Sinh = "chlo.sinh" "sinh" (ONE, ONE, ZERO) NONE;
            /// x * x
            Square = "chlo.square" "" (ONE, ONE, ZERO) NONE;
            /// Tangent.
            ChloTan = "chlo.tan" "" (ONE, ONE, ZERO) NONE;
            /// Hurwitz zeta function.
            Zeta = "chlo.zeta" "" (TWO, ONE, ZERO) NONE;
        }
        fields {
            /// Compares two tensors.
            Compare = "stablehlo.compare" "compare" (TWO, ONE, ZERO) NONE, {
                /// How.
                direction: Direction = "comparison_direction",
                /// As what.
                compare_type: Option<CompareType> = "compare_type",
            }
            /// Rounds to a float with fewer bits, keeping the type.
            ReducePrecision = "stablehlo.reduce_precision" "reduce-precision" (ONE, ONE, ZERO) NONE, {
                /// Bits of the exponent.
                exponent_bits: i32 = "exponent_bits",
                /// Bits of the mantissa.
                mantissa_bits: i32 = "mantissa_bits",
            }
            /// A constant in the shape of the operand.
            ConstantLike = "chlo.constant_like" "" (ONE, ONE, ZERO) NONE, {
                /// What every element is.
                value: Attr = "value",
            }
            /// Applies a region of scalars to each element.
            Map = "stablehlo.map" "map" (SOME, ONE, ONE) NONE, {
                /// All dimensions, in order.
                dimensions: Dims = "dimensions",
            }
        }
    }
}
