//! Convolutions.

use shard_ir::OpId;
use shard_ir::ops::Convolution;

use super::super::Printer;
use super::super::attrs::has_short_form;

impl Printer<'_> {
    pub(super) fn convolution(&mut self, op: OpId, kind: &Convolution) {
        match kind {
            Convolution::DynamicConv(_) => self.generic_op(op),
            Convolution::Conv(conv) => {
                if !has_short_form(&conv.dims) {
                    return self.generic_op(op);
                }
                self.op_name(op);
                self.str("(");
                self.values(self.m.operands(op));
                self.str(") dim_numbers = ");
                self.conv_dims(&conv.dims);
                self.str(", window = {");
                let mut separator = "";
                let mut key = |p: &mut Self, key: &str| {
                    p.str(separator);
                    separator = ", ";
                    p.str(key);
                    p.str(" = ");
                };
                if let Some(strides) = &conv.strides {
                    key(self, "stride");
                    self.number_list(strides);
                }
                if let Some(padding) = &conv.padding {
                    key(self, "pad");
                    self.padding(padding);
                }
                if let Some(dilation) = &conv.lhs_dilation {
                    key(self, "lhs_dilate");
                    self.number_list(dilation);
                }
                if let Some(dilation) = &conv.rhs_dilation {
                    key(self, "rhs_dilate");
                    self.number_list(dilation);
                }
                if let Some(reversal) = &conv.reversal {
                    key(self, "reverse");
                    self.str("[");
                    for (at, flag) in reversal.0.iter().enumerate() {
                        if at > 0 {
                            self.str(", ");
                        }
                        self.str(if *flag { "true" } else { "false" });
                    }
                    self.str("]");
                }
                self.str("}");
                self.attr_dict_with_fields(
                    op,
                    &[
                        "window_strides",
                        "padding",
                        "lhs_dilation",
                        "rhs_dilation",
                        "window_reversal",
                        "dimension_numbers",
                    ],
                );
                self.str(" : ");
                self.function_type(op);
            }
        }
    }
}
