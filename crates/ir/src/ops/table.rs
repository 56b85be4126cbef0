//! The table itself, and the macro that makes the [`Op`] enum from it.

use super::*;
use crate::sharding::{Combiner, Groups};
use crate::{Attr, Channel, Dense, Dims, Interner, ShardingId, Symbol};

use Arity::{AtLeast, Exactly};

/// Makes an op from its attributes, taking out those that are its fields.
pub type OpReader = fn(&mut Vec<(Symbol, Attr)>, &Interner) -> Result<Op, FieldError>;

/// Makes, for each family, an enum of its ops; for each op with fields, a struct; and from all rows
/// the functions that read, write and look up ops.
macro_rules! op_table {
    ($(
        $(#[$fmeta:meta])*
        family $family:ident {
            plain { $($(#[$pmeta:meta])* $plain:ident = $pname:literal $phlo:literal ($pin:expr, $pout:expr, $preg:expr) $ptraits:expr;)* }
            fields { $(
                $(#[$ometa:meta])* $op:ident = $oname:literal $ohlo:literal ($oin:expr, $oout:expr, $oreg:expr) $otraits:expr,
                { $($(#[$dmeta:meta])* $field:ident : $ty:ty = $attr:literal,)* }
            )* }
        }
    )*) => {
        /// An operation with its typed fields; operands, results and regions are in the module.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub enum Op {
            $($(#[$fmeta])* $family($family),)*
            /// An op that the table doesn't know.
            Opaque(Box<Opaque>),
        }

        $(
            $(#[$fmeta])*
            #[derive(Clone, Debug, PartialEq, Eq, Hash)]
            pub enum $family {
                $($(#[$pmeta])* $plain,)*
                $($(#[$ometa])* $op(Box<$op>),)*
            }

            impl From<$family> for Op {
                fn from(kind: $family) -> Op {
                    Op::$family(kind)
                }
            }

            $(
                $(#[$ometa])*
                #[derive(Clone, Debug, PartialEq, Eq, Hash)]
                pub struct $op { $($(#[$dmeta])* #[doc = concat!("\n\nAttribute `", $attr, "`.")] pub $field: $ty,)* }

                impl From<$op> for Op {
                    fn from(op: $op) -> Op {
                        Op::$family($family::$op(Box::new(op)))
                    }
                }
            )*
        )*

        impl Op {
            /// The op's row of the table.
            pub fn info(&self) -> &'static OpInfo {
                const OPAQUE: &OpInfo = &OpInfo {
                    name: "", hlo: "", operands: AtLeast(0), results: AtLeast(0),
                    regions: AtLeast(0), traits: Traits::EFFECT,
                };
                match self {
                    $(
                        $(Op::$family($family::$plain) => const { &OpInfo {
                            name: $pname, hlo: $phlo, operands: $pin, results: $pout,
                            regions: $preg, traits: $ptraits,
                        } },)*
                        $(Op::$family($family::$op(_)) => const { &OpInfo {
                            name: $oname, hlo: $ohlo, operands: $oin, results: $oout,
                            regions: $oreg, traits: $otraits,
                        } },)*
                    )*
                    Op::Opaque(_) => OPAQUE,
                }
            }

            /// Makes an op from its MLIR name and attributes, taking out those that are its
            /// fields. `None` if the table has no such op.
            pub fn from_attrs(
                name: &str,
                attrs: &mut Vec<(Symbol, Attr)>,
                interner: &Interner,
            ) -> Option<Result<Op, FieldError>> {
                let _ = &attrs;
                match name {
                    $(
                        $($pname => Some(Ok(Op::$family($family::$plain))),)*
                        $($oname => Some((|| Ok(Op::from($op {
                            $($field: field::take(attrs, $attr, interner)?,)*
                        })))()),)*
                    )*
                    _ => None,
                }
            }

            /// The op's fields as named attributes, in the order of the table.
            pub fn to_attrs(&self, interner: &mut Interner) -> Vec<(&'static str, Attr)> {
                match self {
                    $(
                        $(Op::$family($family::$plain) => Vec::new(),)*
                        $(Op::$family($family::$op(op)) => {
                            let _ = op;
                            [$(op.$field.write(interner).map(|attr| ($attr, attr)),)*]
                                .into_iter().flatten().collect()
                        })*
                    )*
                    Op::Opaque(_) => Vec::new(),
                }
            }
        }

        impl Op {
            /// Calls `visit` with each field of the op that is written in text, in the order of
            /// the table: the attribute's name and a view of its value.
            pub fn visit_fields<'a>(&'a self, visit: &mut dyn FnMut(&'static str, FieldRef<'a>)) {
                let _ = &visit;
                match self {
                    $(
                        $(Op::$family($family::$plain) => {})*
                        $(Op::$family($family::$op(op)) => {
                            let _ = op;
                            $(if let Some(view) = op.$field.view() {
                                visit($attr, view);
                            })*
                        })*
                    )*
                    Op::Opaque(_) => {}
                }
            }
        }

        /// How each op of the table is made from its attributes, for readers that look names up
        /// in a table of their own.
        pub const OP_READERS: &[(&str, OpReader)] = &[
            $(
                $(($pname, |_, _| Ok(Op::$family($family::$plain))),)*
                $(($oname, |attrs, interner| {
                    Ok(Op::from($op { $($field: field::take(attrs, $attr, interner)?,)* }))
                }),)*
            )*
        ];

        /// Every row of the table with the name of its family.
        pub const OP_TABLE: &[(&str, OpInfo)] = &[
            $(
                $((stringify!($family), OpInfo {
                    name: $pname, hlo: $phlo, operands: $pin, results: $pout, regions: $preg,
                    traits: $ptraits,
                }),)*
                $((stringify!($family), OpInfo {
                    name: $oname, hlo: $ohlo, operands: $oin, results: $oout, regions: $oreg,
                    traits: $otraits,
                }),)*
            )*
        ];
    };
}

const NONE: Traits = Traits::NONE;
const COMM: Traits = Traits::COMMUTATIVE;
const COLL: Traits = Traits::COLLECTIVE.and(Traits::POSITION);
const POS: Traits = Traits::POSITION;
const TERM: Traits = Traits::TERMINATOR;
const EFFECT: Traits = Traits::EFFECT;
const ONE: Arity = Exactly(1);
const TWO: Arity = Exactly(2);
const THREE: Arity = Exactly(3);
const ZERO: Arity = Exactly(0);
const ANY: Arity = AtLeast(0);
const SOME: Arity = AtLeast(1);

op_table! {
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
            /// Applies a region of scalars to each element.
            Map = "stablehlo.map" "map" (SOME, ONE, ONE) NONE, {
                /// All dimensions, in order.
                dimensions: Dims = "dimensions",
            }
        }
    }

    /// Values out of nothing.
    family Creation {
        plain {}
        fields {
            /// A constant.
            Constant = "stablehlo.constant" "constant" (ZERO, ONE, ZERO) NONE, {
                /// Its elements.
                value: Dense = "value",
            }
            /// The index along a dimension.
            Iota = "stablehlo.iota" "iota" (ZERO, ONE, ZERO) POS, {
                /// That dimension.
                dimension: i64 = "iota_dimension",
            }
            /// An iota whose shape is an operand.
            DynamicIota = "stablehlo.dynamic_iota" "" (ONE, ONE, ZERO) POS, {
                /// That dimension.
                dimension: i64 = "iota_dimension",
            }
        }
    }

    /// Contractions.
    family Dot {
        plain {}
        fields {
            /// A contraction with any batch and contracting dimensions.
            DotGeneral = "stablehlo.dot_general" "dot" (TWO, ONE, ZERO) NONE, {
                /// Dimension numbers.
                dims: DotDims = "dot_dimension_numbers",
                /// Precision of each operand.
                precision: Precisions = "precision_config",
                /// Algorithm, kept as it is.
                algorithm: Option<Attr> = "algorithm",
            }
            /// A plain matrix product (deprecated form).
            DotPlain = "stablehlo.dot" "" (TWO, ONE, ZERO) NONE, {
                /// Precision of each operand.
                precision: Precisions = "precision_config",
            }
        }
    }

    /// Convolutions.
    family Convolution {
        plain {}
        fields {
            /// A convolution with strides, dilations, padding and groups.
            Conv = "stablehlo.convolution" "convolution" (TWO, ONE, ZERO) NONE, {
                /// Strides; 1 where absent.
                strides: Option<Dims> = "window_strides",
                /// Padding; 0 where absent.
                padding: Option<Padding> = "padding",
                /// Dilation of the input; 1 where absent.
                lhs_dilation: Option<Dims> = "lhs_dilation",
                /// Dilation of the kernel; 1 where absent.
                rhs_dilation: Option<Dims> = "rhs_dilation",
                /// Which spatial dimensions of the kernel are reversed.
                reversal: Option<Flags> = "window_reversal",
                /// Dimension numbers.
                dims: ConvDims = "dimension_numbers",
                /// Number of feature groups.
                feature_groups: i64 = "feature_group_count",
                /// Number of batch groups.
                batch_groups: i64 = "batch_group_count",
                /// Precision of each operand.
                precision: Precisions = "precision_config",
            }
        }
    }

    /// Reductions over whole dimensions and over windows.
    family Reduction {
        plain {}
        fields {
            /// Reduces dimensions with the op of a region.
            Reduce = "stablehlo.reduce" "reduce" (AtLeast(2), SOME, ONE) NONE, {
                /// Dimensions that go.
                dimensions: Dims = "dimensions",
            }
            /// Reduces each window.
            ReduceWindow = "stablehlo.reduce_window" "reduce-window" (AtLeast(2), SOME, ONE) NONE, {
                /// Sizes.
                window: Dims = "window_dimensions",
                /// Strides; 1 where absent.
                strides: Option<Dims> = "window_strides",
                /// Dilation of the input; 1 where absent.
                base_dilations: Option<Dims> = "base_dilations",
                /// Dilation of the window; 1 where absent.
                window_dilations: Option<Dims> = "window_dilations",
                /// Padding; 0 where absent.
                padding: Option<Padding> = "padding",
            }
            /// Scatters each source element to the place its window selects.
            SelectAndScatter = "stablehlo.select_and_scatter" "select-and-scatter" (THREE, ONE, TWO) NONE, {
                /// Sizes.
                window: Option<Dims> = "window_dimensions",
                /// Strides; 1 where absent.
                strides: Option<Dims> = "window_strides",
                /// Padding; 0 where absent.
                padding: Option<Padding> = "padding",
            }
        }
    }

    /// Data movement that depends on shapes alone, or on start indices.
    family Movement {
        plain {
            /// The same elements in another shape.
            Reshape = "stablehlo.reshape" "reshape" (ONE, ONE, ZERO) NONE;
            /// The same bits as another element type.
            BitcastConvert = "stablehlo.bitcast_convert" "bitcast-convert" (ONE, ONE, ZERO) NONE;
            /// Writes a block at start indices.
            DynamicUpdateSlice = "stablehlo.dynamic_update_slice" "dynamic-update-slice" (AtLeast(2), ONE, ZERO) POS;
            /// A reshape whose shape is an operand.
            DynamicReshape = "stablehlo.dynamic_reshape" "dynamic-reshape" (TWO, ONE, ZERO) NONE;
            /// A slice whose bounds are operands.
            RealDynamicSlice = "stablehlo.real_dynamic_slice" "" (Exactly(4), ONE, ZERO) POS;
            /// A pad whose amounts are operands.
            DynamicPad = "stablehlo.dynamic_pad" "" (Exactly(5), ONE, ZERO) POS;
        }
        fields {
            /// Adds dimensions and repeats along them.
            BroadcastInDim = "stablehlo.broadcast_in_dim" "broadcast" (ONE, ONE, ZERO) NONE, {
                /// Result dimension of each operand dimension.
                dimensions: Dims = "broadcast_dimensions",
            }
            /// A broadcast whose shape is an operand.
            DynamicBroadcastInDim = "stablehlo.dynamic_broadcast_in_dim" "" (TWO, ONE, ZERO) NONE, {
                /// Result dimension of each operand dimension.
                dimensions: Dims = "broadcast_dimensions",
                /// Dimensions known to be repeated.
                expanding: Option<Dims> = "known_expanding_dimensions",
                /// Dimensions known to be kept.
                nonexpanding: Option<Dims> = "known_nonexpanding_dimensions",
            }
            /// Adds leading dimensions (deprecated form).
            Broadcast = "stablehlo.broadcast" "" (ONE, ONE, ZERO) NONE, {
                /// Sizes of the new dimensions.
                sizes: Dims = "broadcast_sizes",
            }
            /// Permutes dimensions.
            Transpose = "stablehlo.transpose" "transpose" (ONE, ONE, ZERO) NONE, {
                /// Operand dimension of each result dimension.
                permutation: Dims = "permutation",
            }
            /// A block with strides.
            Slice = "stablehlo.slice" "slice" (ONE, ONE, ZERO) POS, {
                /// First index.
                start: Dims = "start_indices",
                /// End, exclusive.
                limit: Dims = "limit_indices",
                /// Step.
                strides: Dims = "strides",
            }
            /// A block at start indices.
            DynamicSlice = "stablehlo.dynamic_slice" "dynamic-slice" (SOME, ONE, ZERO) POS, {
                /// Sizes of the block.
                sizes: Dims = "slice_sizes",
            }
            /// Adds (or with negative amounts removes) elements at the edges and between.
            Pad = "stablehlo.pad" "pad" (TWO, ONE, ZERO) POS, {
                /// Amount before the first element.
                low: Dims = "edge_padding_low",
                /// Amount after the last element.
                high: Dims = "edge_padding_high",
                /// Amount between elements.
                interior: Dims = "interior_padding",
            }
            /// Joins tensors along a dimension.
            Concatenate = "stablehlo.concatenate" "concatenate" (SOME, ONE, ZERO) POS, {
                /// That dimension.
                dimension: i64 = "dimension",
            }
            /// Reverses dimensions.
            Reverse = "stablehlo.reverse" "reverse" (ONE, ONE, ZERO) POS, {
                /// Those dimensions.
                dimensions: Dims = "dimensions",
            }
            /// The size of a dimension.
            GetDimensionSize = "stablehlo.get_dimension_size" "get-dimension-size" (ONE, ONE, ZERO) NONE, {
                /// That dimension.
                dimension: i64 = "dimension",
            }
            /// Sets the size of a dimension.
            SetDimensionSize = "stablehlo.set_dimension_size" "set-dimension-size" (TWO, ONE, ZERO) NONE, {
                /// That dimension.
                dimension: i64 = "dimension",
            }
        }
    }

    /// Gathers and scatters.
    family Indexing {
        plain {}
        fields {
            /// Gathers slices at indices.
            Gather = "stablehlo.gather" "gather" (TWO, ONE, ZERO) POS, {
                /// Dimension numbers.
                dims: GatherDims = "dimension_numbers",
                /// Sizes of a slice.
                slice_sizes: Dims = "slice_sizes",
                /// The indices are sorted.
                sorted: bool = "indices_are_sorted",
            }
            /// A gather whose slice sizes are an operand.
            DynamicGather = "stablehlo.dynamic_gather" "" (THREE, ONE, ZERO) POS, {
                /// Dimension numbers.
                dims: GatherDims = "dimension_numbers",
                /// The indices are sorted.
                sorted: bool = "indices_are_sorted",
            }
            /// Combines updates into a tensor at indices.
            Scatter = "stablehlo.scatter" "scatter" (AtLeast(3), SOME, ONE) POS, {
                /// Dimension numbers.
                dims: ScatterDims = "scatter_dimension_numbers",
                /// The indices are sorted.
                sorted: bool = "indices_are_sorted",
                /// No two indices are equal.
                unique: bool = "unique_indices",
            }
            /// Gathers along one dimension (deprecated form).
            TorchIndexSelect = "stablehlo.torch_index_select" "" (TWO, ONE, ZERO) POS, {
                /// That dimension.
                dim: i64 = "dim",
                /// Number of batch dimensions.
                batch_dims: i64 = "batch_dims",
            }
        }
    }

    /// Sorts and selections by order.
    family Sorting {
        plain {}
        fields {
            /// Sorts along a dimension by the comparator region.
            Sort = "stablehlo.sort" "sort" (SOME, SOME, ONE) NONE, {
                /// That dimension; may be negative, from the end.
                dimension: i64 = "dimension",
                /// Equal elements keep their order.
                stable: bool = "is_stable",
            }
            /// The k largest elements of the last dimension, and their indices.
            TopK = "chlo.top_k" "topk" (ONE, TWO, ZERO) NONE, {
                /// How many.
                k: i64 = "k",
            }
        }
    }

    /// Linear algebra and transforms that work on the last dimensions.
    family Linalg {
        plain {}
        fields {
            /// Cholesky factor of the last two dimensions.
            Cholesky = "stablehlo.cholesky" "cholesky" (ONE, ONE, ZERO) NONE, {
                /// The lower factor.
                lower: bool = "lower",
            }
            /// Solves with a triangular matrix.
            TriangularSolve = "stablehlo.triangular_solve" "triangular-solve" (TWO, ONE, ZERO) NONE, {
                /// The matrix stands at the left.
                left_side: bool = "left_side",
                /// It is lower triangular.
                lower: bool = "lower",
                /// Its diagonal is one.
                unit_diagonal: bool = "unit_diagonal",
                /// How it is taken.
                transpose_a: TransposeKind = "transpose_a",
            }
            /// Fourier transform of the last dimensions.
            Fft = "stablehlo.fft" "fft" (ONE, ONE, ZERO) NONE, {
                /// Kind.
                kind: FftType = "fft_type",
                /// Length of each transformed dimension.
                length: Dims = "fft_length",
            }
        }
    }

    /// Random numbers.
    family Random {
        plain {}
        fields {
            /// Numbers of a distribution between two parameters.
            Rng = "stablehlo.rng" "rng" (THREE, ONE, ZERO) EFFECT, {
                /// Distribution.
                distribution: Distribution = "rng_distribution",
            }
            /// Random bits from a state; returns the next state too.
            RngBitGenerator = "stablehlo.rng_bit_generator" "rng-bit-generator" (ONE, TWO, ZERO) POS, {
                /// Algorithm.
                algorithm: RngAlgorithm = "rng_algorithm",
            }
        }
    }

    /// Batch normalisations.
    family Normalization {
        plain {}
        fields {
            /// Gradient of a batch normalisation.
            BatchNormGrad = "stablehlo.batch_norm_grad" "batch-norm-grad" (Exactly(5), THREE, ZERO) NONE, {
                /// Added to the variance.
                epsilon: FloatBits = "epsilon",
                /// Feature dimension.
                feature: i64 = "feature_index",
            }
            /// Batch normalisation with given statistics.
            BatchNormInference = "stablehlo.batch_norm_inference" "batch-norm-inference" (Exactly(5), ONE, ZERO) NONE, {
                /// Added to the variance.
                epsilon: FloatBits = "epsilon",
                /// Feature dimension.
                feature: i64 = "feature_index",
            }
            /// Batch normalisation that computes the statistics.
            BatchNormTraining = "stablehlo.batch_norm_training" "batch-norm-training" (THREE, THREE, ZERO) NONE, {
                /// Added to the variance.
                epsilon: FloatBits = "epsilon",
                /// Feature dimension.
                feature: i64 = "feature_index",
            }
        }
    }

    /// Control flow, calls and terminators.
    family Control {
        plain {
            /// Repeats a body while a condition holds; regions: condition, body.
            While = "stablehlo.while" "while" (ANY, ANY, TWO) NONE;
            /// One of two regions by a predicate.
            If = "stablehlo.if" "conditional" (ONE, ANY, TWO) NONE;
            /// One of several regions by an index.
            Case = "stablehlo.case" "" (ONE, ANY, SOME) NONE;
            /// Keeps the compiler from moving ops across.
            OptimizationBarrier = "stablehlo.optimization_barrier" "opt-barrier" (ANY, ANY, ZERO) NONE;
            /// Ends a region of a StableHLO op.
            Return = "stablehlo.return" "" (ANY, ZERO, ZERO) TERM;
            /// Ends a function.
            FuncReturn = "func.return" "" (ANY, ZERO, ZERO) TERM;
            /// Ends a region of an sdy op.
            SdyReturn = "sdy.return" "" (ANY, ZERO, ZERO) TERM;
        }
        fields {
            /// Calls a function.
            Call = "func.call" "call" (ANY, ANY, ZERO) NONE, {
                /// Its name.
                callee: Callee = "callee",
            }
        }
    }

    /// Communication between devices, in the per-device program.
    family Collective {
        plain {
            /// Number of the partition.
            PartitionId = "stablehlo.partition_id" "partition-id" (ZERO, ONE, ZERO) POS;
            /// Number of the replica.
            ReplicaId = "stablehlo.replica_id" "replica-id" (ZERO, ONE, ZERO) POS;
        }
        fields {
            /// Joins the shards of a group along a dimension.
            AllGather = "stablehlo.all_gather" "all-gather" (SOME, SOME, ZERO) COLL, {
                /// That dimension.
                dimension: i64 = "all_gather_dim",
                /// Groups.
                groups: Groups = "replica_groups",
                /// Channel.
                channel: Option<Channel> = "channel_handle",
                /// Groups number devices over replicas and partitions.
                global_ids: Flag = "use_global_device_ids",
            }
            /// Reduces over a group; every device gets the result.
            AllReduce = "stablehlo.all_reduce" "all-reduce" (SOME, SOME, ONE) COLL, {
                /// Groups.
                groups: Groups = "replica_groups",
                /// Channel.
                channel: Option<Channel> = "channel_handle",
                /// Groups number devices over replicas and partitions.
                global_ids: Flag = "use_global_device_ids",
            }
            /// Reduces over a group and scatters the result along a dimension.
            ReduceScatter = "stablehlo.reduce_scatter" "reduce-scatter" (ONE, ONE, ONE) COLL, {
                /// That dimension.
                dimension: i64 = "scatter_dimension",
                /// Groups.
                groups: Groups = "replica_groups",
                /// Channel.
                channel: Option<Channel> = "channel_handle",
                /// Groups number devices over replicas and partitions.
                global_ids: Flag = "use_global_device_ids",
            }
            /// Exchanges blocks: splits one dimension, joins along another.
            AllToAll = "stablehlo.all_to_all" "all-to-all" (SOME, SOME, ZERO) COLL, {
                /// Dimension that is split.
                split: i64 = "split_dimension",
                /// Dimension along which is joined.
                concat: i64 = "concat_dimension",
                /// Number of blocks.
                count: i64 = "split_count",
                /// Groups.
                groups: Groups = "replica_groups",
                /// Channel.
                channel: Option<Channel> = "channel_handle",
            }
            /// Each device sends to at most one other.
            CollectivePermute = "stablehlo.collective_permute" "collective-permute" (ONE, ONE, ZERO) COLL, {
                /// Source and target of each transfer.
                pairs: Pairs = "source_target_pairs",
                /// Channel.
                channel: Option<Channel> = "channel_handle",
            }
            /// The first device of each group sends to the others.
            CollectiveBroadcast = "stablehlo.collective_broadcast" "collective-broadcast" (SOME, SOME, ZERO) COLL, {
                /// Groups.
                groups: Groups = "replica_groups",
                /// Channel.
                channel: Option<Channel> = "channel_handle",
            }
        }
    }

    /// The sdy dialect: annotations, and collectives on global shapes.
    family Sdy {
        plain {}
        fields {
            /// States how a value, or its uses, should be sharded.
            ShardingConstraint = "sdy.sharding_constraint" "" (ONE, ONE, ZERO) NONE, {
                /// The sharding.
                sharding: ShardingId = "sharding",
            }
            /// Changes the sharding of a value.
            Reshard = "sdy.reshard" "" (ONE, ONE, ZERO) NONE, {
                /// The new sharding.
                sharding: ShardingId = "sharding",
            }
            /// A region written for one device along some axes.
            ManualComputation = "sdy.manual_computation" "" (ANY, ANY, ONE) Traits::ISOLATED, {
                /// Shardings of the operands.
                in_shardings: ShardingList = "in_shardings",
                /// Shardings of the results.
                out_shardings: ShardingList = "out_shardings",
                /// The axes along which the body is local.
                manual_axes: ManualAxes = "manual_axes",
            }
            /// Values of one group have one sharding.
            ShardingGroup = "sdy.sharding_group" "" (ONE, ZERO, ZERO) EFFECT, {
                /// Number of the group.
                group: i64 = "group_id",
            }
            /// A constant that folding leaves alone.
            SdyConstant = "sdy.constant" "" (ZERO, ONE, ZERO) NONE, {
                /// Its elements.
                value: Dense = "value",
            }
            /// The one sharding of values that data flow makes equal.
            DataFlowEdge = "sdy.data_flow_edge" "" (ONE, ONE, ZERO) NONE, {
                /// The sharding.
                sharding: Option<ShardingId> = "sharding",
            }
            /// Stops propagation in one or both directions.
            PropagationBarrier = "sdy.propagation_barrier" "" (ONE, ONE, ZERO) NONE, {
                /// The direction that is still allowed.
                allowed: Attr = "allowed_direction",
            }
            /// A region with a name, as a call.
            NamedComputation = "sdy.named_computation" "" (ANY, ANY, ONE) Traits::ISOLATED, {
                /// The name.
                name: Symbol = "name",
                /// Shardings of the operands.
                in_shardings: Option<ShardingList> = "in_shardings",
                /// Shardings of the results.
                out_shardings: Option<ShardingList> = "out_shardings",
            }
            /// Gathers axes of each dimension.
            SdyAllGather = "sdy.all_gather" "" (ONE, ONE, ZERO) Traits::COLLECTIVE, {
                /// The axes that go.
                axes: AxisLists = "gathering_axes",
                /// Sharding of the result.
                out: ShardingId = "out_sharding",
            }
            /// Splits dimensions over further axes; nothing is sent.
            SdyAllSlice = "sdy.all_slice" "" (ONE, ONE, ZERO) NONE, {
                /// The axes that come.
                axes: AxisLists = "slicing_axes",
                /// Sharding of the result.
                out: ShardingId = "out_sharding",
            }
            /// Moves axes from dimensions to others.
            SdyAllToAll = "sdy.all_to_all" "" (ONE, ONE, ZERO) Traits::COLLECTIVE, {
                /// What moves.
                params: AllToAllParams = "params",
                /// Sharding of the result.
                out: ShardingId = "out_sharding",
            }
            /// Renames axes: each device sends its whole shard to one other.
            SdyCollectivePermute = "sdy.collective_permute" "" (ONE, ONE, ZERO) Traits::COLLECTIVE, {
                /// Sharding of the result.
                out: ShardingId = "out_sharding",
            }
            /// Completes a value that is unreduced along axes.
            SdyAllReduce = "sdy.all_reduce" "" (ONE, ONE, ZERO) Traits::COLLECTIVE, {
                /// The axes.
                axes: MeshAxes = "reduction_axes",
                /// How parts are combined.
                combiner: Combiner = "reduction_op",
                /// Sharding of the result.
                out: ShardingId = "out_sharding",
            }
            /// Completes a value and splits its dimensions along the same axes.
            SdyReduceScatter = "sdy.reduce_scatter" "" (ONE, ONE, ZERO) Traits::COLLECTIVE, {
                /// The axes of each dimension.
                axes: AxisLists = "reduce_scatter_axes",
                /// How parts are combined.
                combiner: Combiner = "reduction_op",
                /// Sharding of the result.
                out: ShardingId = "out_sharding",
            }
            /// Makes sharded axes unreduced: each device holds its part and neutral elements.
            ShardedToUnreduced = "sdy.sharded_to_unreduced" "" (ONE, ONE, ZERO) NONE, {
                /// The axes of each dimension.
                axes: AxisLists = "axes",
                /// Sharding of the result.
                out: ShardingId = "out_sharding",
            }
            /// Makes replicated axes unreduced: one device keeps the value.
            ReplicatedToUnreduced = "sdy.replicated_to_unreduced" "" (ONE, ONE, ZERO) NONE, {
                /// The axes.
                axes: MeshAxes = "axes",
                /// Sharding of the result.
                out: ShardingId = "out_sharding",
            }
        }
    }

    /// Tokens, tuples, hosts and point-to-point transfers.
    family Effects {
        plain {
            /// A token that no op made before.
            CreateToken = "stablehlo.create_token" "" (ZERO, ONE, ZERO) NONE;
            /// A token after all operands.
            AfterAll = "stablehlo.after_all" "after-all" (ANY, ONE, ZERO) NONE;
            /// A tuple of the operands.
            Tuple = "stablehlo.tuple" "tuple" (ANY, ONE, ZERO) NONE;
        }
        fields {
            /// One element of a tuple.
            GetTupleElement = "stablehlo.get_tuple_element" "get-tuple-element" (ONE, ONE, ZERO) NONE, {
                /// Its number.
                index: i32 = "index",
            }
            /// Reads from the host.
            Infeed = "stablehlo.infeed" "infeed" (ONE, SOME, ZERO) EFFECT, {
                /// Configuration.
                config: Option<Symbol> = "infeed_config",
                /// Layout.
                layout: Option<Attr> = "layout",
            }
            /// Writes to the host.
            Outfeed = "stablehlo.outfeed" "outfeed" (SOME, ONE, ZERO) EFFECT, {
                /// Configuration.
                config: Option<Symbol> = "outfeed_config",
            }
            /// Sends to a device or the host.
            Send = "stablehlo.send" "send" (SOME, ONE, ZERO) EFFECT, {
                /// Channel.
                channel: Channel = "channel_handle",
                /// To the host.
                host: bool = "is_host_transfer",
                /// Source and target of each transfer.
                pairs: Option<Pairs> = "source_target_pairs",
            }
            /// Receives from a device or the host.
            Recv = "stablehlo.recv" "recv" (ONE, SOME, ZERO) EFFECT, {
                /// Channel.
                channel: Channel = "channel_handle",
                /// From the host.
                host: bool = "is_host_transfer",
                /// Source and target of each transfer.
                pairs: Option<Pairs> = "source_target_pairs",
            }
        }
    }

    /// Calls of what the program doesn't contain.
    family Custom {
        plain {}
        fields {
            /// A call by name of something outside.
            CustomCall = "stablehlo.custom_call" "custom-call" (ANY, ANY, ZERO) NONE, {
                /// Its name.
                target: Symbol = "call_target_name",
                /// Must not be removed.
                has_side_effect: Option<bool> = "has_side_effect",
                /// Configuration: text, or a dictionary.
                backend_config: Option<Attr> = "backend_config",
                /// Version of the calling convention.
                api_version: Option<i32> = "api_version",
                /// Functions that it may call.
                called_computations: Option<Attr> = "called_computations",
                /// Layouts of the operands.
                operand_layouts: Option<Attr> = "operand_layouts",
                /// Layouts of the results.
                result_layouts: Option<Attr> = "result_layouts",
                /// Results that may share an operand's memory.
                aliases: Option<Attr> = "output_operand_aliases",
            }
            /// An op with a name and a decomposition into a function.
            Composite = "stablehlo.composite" "" (ANY, ANY, ANY) NONE, {
                /// Its name.
                name: Symbol = "name",
                /// Its attributes.
                attributes: Option<Attr> = "composite_attributes",
                /// The function that says what it means.
                decomposition: Callee = "decomposition",
                /// Version.
                version: Option<i32> = "version",
            }
        }
    }
}
