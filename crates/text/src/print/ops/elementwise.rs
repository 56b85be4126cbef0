//! Elementwise ops.

use shard_ir::ops::Elementwise;
use shard_ir::{ElementType, OpId, Type};

use super::super::{Printer, push_number};

impl Printer<'_> {
    pub(super) fn elementwise(&mut self, op: OpId, kind: &Elementwise) {
        use Elementwise::*;
        match kind {
            Abs | Cbrt | Ceil | Convert | CountLeadingZeros | Cosine | Exponential
            | ExponentialMinusOne | Floor | Imag | Log | LogPlusOne | Logistic | Negate | Not
            | Popcnt | Real | RoundNearestAfz | RoundNearestEven | Rsqrt | Sign | Sine | Sqrt
            | Tan | Tanh | UniformDequantize | UniformQuantize | Add | And | Atan2 | Divide
            | Maximum | Minimum | Multiply | Or | Power | Remainder | ShiftLeft
            | ShiftRightArithmetic | ShiftRightLogical | Subtract | Xor | Clamp => {
                self.op_name(op);
                self.operands(op);
                self.same_types(op);
            }
            IsFinite => {
                self.op_name(op);
                self.operands(op);
                self.functional(op);
            }
            Acos | Acosh | Asin | Asinh | Atan | Atanh | BesselI1e | Conj | Cosh | Digamma
            | Erf | ErfInv | Erfc | IsInf | IsNegInf | IsPosInf | Lgamma | Mulhi | NextAfter
            | Polygamma | Sinh | Square | ChloTan | Zeta => {
                self.op_name(op);
                self.operands(op);
                self.attr_dict(op);
                self.str(" : ");
                self.types_of(self.m.operands(op));
                self.str(" -> ");
                self.type_of(self.m.result(op, 0));
            }
            Complex => {
                self.op_name(op);
                self.operands(op);
                self.attr_dict(op);
                self.str(" : ");
                if self.has_real_parts(op) {
                    self.type_of(self.m.result(op, 0));
                } else {
                    self.function_type(op);
                }
            }
            Select => {
                self.op_name(op);
                self.operands(op);
                self.attr_dict(op);
                self.str(" : ");
                let m = self.m;
                let result = m.value_type(m.result(op, 0));
                let operands = m.operands(op);
                if operands[1..].iter().all(|value| m.value_type(*value) == result) {
                    self.type_of(operands[0]);
                    self.str(", ");
                    self.ty(result);
                } else {
                    self.function_type(op);
                }
            }
            Compare(compare) => {
                self.op_name(op);
                self.str(" ");
                self.str(compare.direction.text());
                self.str(", ");
                self.values(self.m.operands(op));
                if let Some(kind) = compare.compare_type {
                    self.str(", ");
                    self.str(kind.text());
                }
                self.functional(op);
            }
            ReducePrecision(precision) => {
                self.op_name(op);
                self.operands(op);
                self.str(", format = e");
                push_number(precision.exponent_bits.max(0) as u64, &mut self.out);
                self.str("m");
                push_number(precision.mantissa_bits.max(0) as u64, &mut self.out);
                self.same_types(op);
            }
            Map(_) | ConstantLike(_) => self.generic_op(op),
        }
    }

    /// Whether both operands have the result's type but for its complex elements.
    fn has_real_parts(&self, op: OpId) -> bool {
        let m = self.m;
        let Some(result) = m.tensor_type(m.result(op, 0)) else { return false };
        let real = match result.element {
            ElementType::C64 => ElementType::F32,
            ElementType::C128 => ElementType::F64,
            _ => return false,
        };
        m.operands(op).iter().all(|value| match m.ty(m.value_type(*value)) {
            Type::Tensor(tensor) => {
                tensor.element == real
                    && tensor.dims == result.dims
                    && tensor.encoding == result.encoding
            }
            _ => false,
        })
    }
}
