//! Data movement.

use shard_ir::OpId;
use shard_ir::ops::Movement;

use super::super::Printer;

impl Printer<'_> {
    pub(super) fn movement(&mut self, op: OpId, kind: &Movement) {
        self.op_name(op);
        self.operands(op);
        match kind {
            Movement::Reshape
            | Movement::BitcastConvert
            | Movement::DynamicUpdateSlice
            | Movement::DynamicReshape
            | Movement::RealDynamicSlice
            | Movement::DynamicPad => {}
            Movement::BroadcastInDim(broadcast) => self.keyed("dims", &broadcast.dimensions),
            Movement::DynamicBroadcastInDim(broadcast) => {
                self.keyed("dims", &broadcast.dimensions);
                self.attr_dict_with_fields(op, &["broadcast_dimensions"]);
                self.str(" : ");
                self.function_type(op);
                return;
            }
            Movement::Broadcast(broadcast) => self.keyed("sizes", &broadcast.sizes),
            Movement::Transpose(transpose) => self.keyed("dims", &transpose.permutation),
            Movement::Slice(slice) => {
                self.str(" [");
                for (at, ((start, limit), stride)) in
                    slice.start.iter().zip(&slice.limit).zip(&slice.strides).enumerate()
                {
                    if at > 0 {
                        self.str(", ");
                    }
                    self.integer(*start);
                    self.str(":");
                    self.integer(*limit);
                    if *stride != 1 {
                        self.str(":");
                        self.integer(*stride);
                    }
                }
                self.str("]");
            }
            Movement::DynamicSlice(slice) => self.keyed("sizes", &slice.sizes),
            Movement::Pad(pad) => {
                self.keyed("low", &pad.low);
                self.keyed("high", &pad.high);
                self.keyed("interior", &pad.interior);
            }
            Movement::Concatenate(concatenate) => self.keyed_number(concatenate.dimension),
            Movement::Reverse(reverse) => {
                self.keyed("dims", &reverse.dimensions);
                self.same_types(op);
                return;
            }
            Movement::GetDimensionSize(size) => self.keyed_number(size.dimension),
            Movement::SetDimensionSize(size) => self.keyed_number(size.dimension),
        }
        self.functional(op);
    }

    /// `, key = [...]`.
    pub(super) fn keyed(&mut self, key: &str, dims: &[i64]) {
        self.str(", ");
        self.str(key);
        self.str(" = ");
        self.number_list(dims);
    }

    fn keyed_number(&mut self, dimension: i64) {
        self.str(", dim = ");
        self.integer(dimension);
    }
}
