//! Opcodes and attributes of ops.

use std::fmt::Write as _;

use shard_ir::ops::*;
use shard_ir::{Attr, Channel, Groups, Module, OpId};

use super::groups::{self, commas};
use super::{API_VERSIONS, aliasing, dot_algorithm};
use crate::hlo::attrs::quote;

/// The attributes of one instruction.
pub(in crate::hlo) struct Attrs<'m, 'o> {
    pub(in crate::hlo) module: &'m Module,
    pub(in crate::hlo) op: OpId,
    /// Names of the computations that its regions are.
    pub(in crate::hlo) computations: &'o [String],
    pub(in crate::hlo) out: &'o mut String,
}

impl Attrs<'_, '_> {
    fn key(&mut self, key: &str) {
        self.out.push_str(", ");
        self.out.push_str(key);
        self.out.push('=');
    }

    fn text(&mut self, key: &str, value: impl std::fmt::Display) {
        self.key(key);
        let _ = write!(self.out, "{value}");
    }

    fn flag(&mut self, key: &str, value: bool) {
        if value {
            self.text(key, true);
        }
    }

    fn dims(&mut self, key: &str, dims: &[i64]) {
        self.key(key);
        self.out.push('{');
        commas(dims, self.out);
        self.out.push('}');
    }

    fn dims_if_any(&mut self, key: &str, dims: &[i64]) {
        if !dims.is_empty() {
            self.dims(key, dims);
        }
    }

    fn region(&mut self, key: &str, index: usize) {
        if let Some(name) = self.computations.get(index) {
            self.text(key, format_args!("%{name}"));
        }
    }

    fn string(&mut self, key: &str, text: shard_ir::Symbol) {
        self.key(key);
        quote(self.module.str(text), self.out);
    }

    fn lower(&mut self, key: &str, prefix: &str, text: &str) {
        self.text(key, format_args!("{prefix}{}", text.to_ascii_lowercase()));
    }

    fn epsilon(&mut self, bits: FloatBits, feature: i64) {
        self.text("epsilon", f64::from_bits(bits.0) as f32);
        self.text("feature_index", feature);
    }

    fn precision(&mut self, precision: &Precisions) {
        if precision.0.is_empty() {
            return;
        }
        self.key("operand_precision");
        let names: Vec<String> =
            precision.0.iter().map(|one| one.text().to_ascii_lowercase()).collect();
        self.out.push('{');
        commas(&names, self.out);
        self.out.push('}');
    }

    fn groups(&mut self, groups: &Groups) {
        self.key("replica_groups");
        groups::write(groups, self.module, self.out);
    }

    fn channel(&mut self, channel: &Option<Channel>) {
        if let Some(channel) = channel {
            self.text("channel_id", channel.handle);
        }
    }

    /// `window={size=... ...}`; fields that say what their absence says are left out.
    fn window(&mut self, window: Window<'_>) {
        if window.size.is_empty() {
            return;
        }
        self.key("window");
        let _ = write!(self.out, "{{size={}", by_x(window.size));
        let mut field = |key: &str, dims: Option<&[i64]>, default: i64| {
            if let Some(dims) = dims
                && dims.iter().any(|dim| *dim != default)
            {
                let _ = write!(self.out, " {key}={}", by_x(dims));
            }
        };
        field("stride", window.stride, 1);
        field("lhs_dilate", window.lhs_dilate, 1);
        field("rhs_dilate", window.rhs_dilate, 1);
        field("rhs_reversal", window.reversal, 0);
        if let Some(padding) = window.padding
            && padding.iter().any(|pad| *pad != [0, 0])
        {
            let dims: Vec<String> =
                padding.iter().map(|[low, high]| format!("{low}_{high}")).collect();
            let _ = write!(self.out, " pad={}", dims.join("x"));
        }
        self.out.push('}');
    }

    fn rank(&self, operand: usize) -> usize {
        let operand = self.module.operands(self.op).get(operand);
        operand.and_then(|value| self.module.tensor_type(*value)).map_or(0, |ty| ty.rank())
    }
}

#[derive(Default)]
struct Window<'a> {
    size: &'a [i64],
    stride: Option<&'a [i64]>,
    padding: Option<&'a Padding>,
    lhs_dilate: Option<&'a [i64]>,
    rhs_dilate: Option<&'a [i64]>,
    reversal: Option<&'a [i64]>,
}

fn by_x(dims: &[i64]) -> String {
    let dims: Vec<String> = dims.iter().map(i64::to_string).collect();
    dims.join("x")
}

/// The opcode of an op; `None` where HLO has none.
pub(in crate::hlo) fn opcode<'m>(module: &'m Module, op: &Op) -> Option<&'m str> {
    match op {
        Op::Hlo(Hlo::Conditional) => Some("conditional"),
        Op::Hlo(Hlo::AllToAllTuple(_)) => Some("all-to-all"),
        Op::Hlo(Hlo::Other(other)) => Some(module.str(other.opcode)),
        op => Some(op.info().hlo).filter(|name| !name.is_empty()),
    }
}

/// Appends the attributes that an op's fields and regions are.
pub(in crate::hlo) fn write(attrs: &mut Attrs<'_, '_>) {
    let op = attrs.module.kind(attrs.op).clone();
    match &op {
        Op::Elementwise(kind) => elementwise(attrs, kind),
        Op::Creation(Creation::Iota(iota)) => attrs.text("iota_dimension", iota.dimension),
        // A constant's value stands in the place of operands.
        Op::Creation(Creation::Constant(_) | Creation::DynamicIota(_)) => {}
        Op::Dot(Dot::DotGeneral(dot)) => {
            attrs.dims_if_any("lhs_batch_dims", &dot.dims.lhs_batch);
            attrs.dims_if_any("lhs_contracting_dims", &dot.dims.lhs_contracting);
            attrs.dims_if_any("rhs_batch_dims", &dot.dims.rhs_batch);
            attrs.dims_if_any("rhs_contracting_dims", &dot.dims.rhs_contracting);
            attrs.precision(&dot.precision);
            let algorithm = dot.algorithm.as_ref();
            if let Some(name) = algorithm.and_then(|attr| dot_algorithm::name(attr, attrs.module)) {
                attrs.text("algorithm", name);
            }
        }
        Op::Dot(Dot::DotPlain(dot)) => attrs.precision(&dot.precision),
        Op::Convolution(Convolution::Conv(conv)) => convolution(attrs, conv),
        Op::Reduction(kind) => reduction(attrs, kind),
        Op::Movement(kind) => movement(attrs, kind),
        Op::Indexing(kind) => indexing(attrs, kind),
        Op::Sorting(Sorting::Sort(sort)) => {
            attrs.dims("dimensions", &[sort.dimension]);
            attrs.flag("is_stable", sort.stable == Some(true));
            attrs.region("to_apply", 0);
        }
        Op::Sorting(Sorting::TopK(topk)) => attrs.text("k", topk.k),
        Op::Linalg(Linalg::Cholesky(cholesky)) => attrs.flag("lower", cholesky.lower == Some(true)),
        Op::Linalg(Linalg::TriangularSolve(solve)) => {
            attrs.text("left_side", solve.left_side);
            attrs.text("lower", solve.lower);
            attrs.text("unit_diagonal", solve.unit_diagonal);
            attrs.text("transpose_a", solve.transpose_a.text());
        }
        Op::Linalg(Linalg::Fft(fft)) => {
            attrs.text("fft_type", fft.kind.text());
            attrs.dims("fft_length", &fft.length);
        }
        Op::Random(Random::Rng(rng)) => {
            attrs.lower("distribution", "rng_", rng.distribution.text())
        }
        Op::Random(Random::RngBitGenerator(rng)) => {
            attrs.lower("algorithm", "rng_", rng.algorithm.text());
        }
        Op::Normalization(Normalization::BatchNormGrad(norm)) => {
            attrs.epsilon(norm.epsilon, norm.feature);
        }
        Op::Normalization(Normalization::BatchNormInference(norm)) => {
            attrs.epsilon(norm.epsilon, norm.feature);
        }
        Op::Normalization(Normalization::BatchNormTraining(norm)) => {
            attrs.epsilon(norm.epsilon, norm.feature);
        }
        Op::Control(kind) => control(attrs, kind),
        Op::Collective(kind) => collective(attrs, kind),
        Op::Effects(kind) => effects(attrs, kind),
        Op::Custom(Custom::CustomCall(call)) => custom_call(attrs, call),
        Op::Custom(Custom::Composite(composite)) => {
            attrs
                .text("to_apply", format_args!("%{}", attrs.module.str(composite.decomposition.0)));
        }
        Op::Hlo(kind) => hlo(attrs, kind),
        // They have no opcode.
        Op::Convolution(Convolution::DynamicConv(_)) | Op::Sdy(_) | Op::Opaque(_) => {}
    }
}

fn elementwise(attrs: &mut Attrs<'_, '_>, kind: &Elementwise) {
    match kind {
        Elementwise::Compare(compare) => {
            attrs.text("direction", compare.direction.text());
            if let Some(compare_type) = compare.compare_type
                && compare_type != CompareType::NoType
            {
                attrs.text("type", compare_type.text());
            }
        }
        Elementwise::ReducePrecision(reduce) => {
            attrs.text("exponent_bits", reduce.exponent_bits);
            attrs.text("mantissa_bits", reduce.mantissa_bits);
        }
        Elementwise::Map(map) => {
            attrs.dims("dimensions", &map.dimensions);
            attrs.region("to_apply", 0);
        }
        // The rest has neither fields nor regions.
        _ => {}
    }
}

fn convolution(attrs: &mut Attrs<'_, '_>, conv: &Conv) {
    let kernel = attrs.module.operands(attrs.op).get(1).copied();
    let kernel = kernel.and_then(|value| attrs.module.tensor_type(value));
    let size = |&dim: &i64| kernel.and_then(|ty| ty.dims.get(dim as usize).copied()).unwrap_or(1);
    let sizes: Vec<i64> = conv.dims.kernel_spatial.iter().map(size).collect();
    let reversal: Option<Vec<i64>> =
        conv.reversal.as_ref().map(|flags| flags.0.iter().map(|flag| i64::from(*flag)).collect());
    attrs.window(Window {
        size: &sizes,
        stride: conv.strides.as_deref(),
        padding: conv.padding.as_ref(),
        lhs_dilate: conv.lhs_dilation.as_deref(),
        rhs_dilate: conv.rhs_dilation.as_deref(),
        reversal: reversal.as_deref(),
    });
    let dims = &conv.dims;
    let rank = dims.input_spatial.len() + 2;
    let labels = |spatial: &[i64], others: [(i64, char); 2]| -> String {
        (0..rank as i64)
            .map(|at| {
                let other = others.iter().find(|(dim, _)| *dim == at).map(|(_, label)| *label);
                let spatial = spatial.iter().position(|dim| *dim == at);
                let digit = spatial.and_then(|index| char::from_digit(index as u32, 10));
                other.or(digit).unwrap_or('?')
            })
            .collect()
    };
    let input = labels(&dims.input_spatial, [(dims.input_batch, 'b'), (dims.input_feature, 'f')]);
    let kernel_others = [(dims.kernel_input_feature, 'i'), (dims.kernel_output_feature, 'o')];
    let kernel = labels(&dims.kernel_spatial, kernel_others);
    let output =
        labels(&dims.output_spatial, [(dims.output_batch, 'b'), (dims.output_feature, 'f')]);
    attrs.text("dim_labels", format_args!("{input}_{kernel}->{output}"));
    if conv.feature_groups != 1 {
        attrs.text("feature_group_count", conv.feature_groups);
    }
    if conv.batch_groups != 1 {
        attrs.text("batch_group_count", conv.batch_groups);
    }
    attrs.precision(&conv.precision);
}

fn reduction(attrs: &mut Attrs<'_, '_>, kind: &Reduction) {
    match kind {
        Reduction::Reduce(reduce) => {
            attrs.dims("dimensions", &reduce.dimensions);
            attrs.region("to_apply", 0);
        }
        Reduction::ReduceWindow(reduce) => {
            attrs.window(Window {
                size: &reduce.window,
                stride: reduce.strides.as_deref(),
                padding: reduce.padding.as_ref(),
                lhs_dilate: reduce.base_dilations.as_deref(),
                rhs_dilate: reduce.window_dilations.as_deref(),
                reversal: None,
            });
            attrs.region("to_apply", 0);
        }
        Reduction::SelectAndScatter(select) => {
            let ones = vec![1; attrs.rank(0)];
            attrs.window(Window {
                size: select.window.as_deref().unwrap_or(&ones),
                stride: select.strides.as_deref(),
                padding: select.padding.as_ref(),
                ..Window::default()
            });
            attrs.region("select", 0);
            attrs.region("scatter", 1);
        }
    }
}

fn movement(attrs: &mut Attrs<'_, '_>, kind: &Movement) {
    match kind {
        Movement::BroadcastInDim(broadcast) => attrs.dims("dimensions", &broadcast.dimensions),
        Movement::Transpose(transpose) => attrs.dims("dimensions", &transpose.permutation),
        Movement::Slice(slice) => {
            attrs.key("slice");
            let ranges = slice.start.iter().zip(&slice.limit).zip(&slice.strides);
            let ranges: Vec<String> = ranges
                .map(|((start, limit), stride)| match stride {
                    1 => format!("[{start}:{limit}]"),
                    _ => format!("[{start}:{limit}:{stride}]"),
                })
                .collect();
            let _ = write!(attrs.out, "{{{}}}", ranges.join(", "));
        }
        Movement::DynamicSlice(slice) => attrs.dims("dynamic_slice_sizes", &slice.sizes),
        Movement::Pad(pad) => {
            attrs.key("padding");
            let dims = pad.low.iter().zip(&pad.high).zip(&pad.interior);
            let dims: Vec<String> = dims
                .map(|((low, high), interior)| match interior {
                    0 => format!("{low}_{high}"),
                    _ => format!("{low}_{high}_{interior}"),
                })
                .collect();
            attrs.out.push_str(&dims.join("x"));
        }
        Movement::Concatenate(op) => attrs.dims("dimensions", &[op.dimension]),
        Movement::Reverse(op) => attrs.dims("dimensions", &op.dimensions),
        Movement::GetDimensionSize(op) => attrs.dims("dimensions", &[op.dimension]),
        Movement::SetDimensionSize(op) => attrs.dims("dimensions", &[op.dimension]),
        Movement::Reshape
        | Movement::BitcastConvert
        | Movement::DynamicUpdateSlice
        | Movement::DynamicReshape
        | Movement::RealDynamicSlice
        | Movement::DynamicPad
        | Movement::DynamicBroadcastInDim(_)
        | Movement::Broadcast(_) => {}
    }
}

fn indexing(attrs: &mut Attrs<'_, '_>, kind: &Indexing) {
    match kind {
        Indexing::Gather(gather) => {
            let dims = &gather.dims;
            attrs.dims("offset_dims", &dims.offset_dims);
            attrs.dims("collapsed_slice_dims", &dims.collapsed_slice_dims);
            attrs.dims("start_index_map", &dims.start_index_map);
            attrs.dims_if_any("operand_batching_dims", &dims.operand_batching_dims);
            attrs.dims_if_any("start_indices_batching_dims", &dims.start_indices_batching_dims);
            attrs.text("index_vector_dim", dims.index_vector_dim);
            attrs.dims("slice_sizes", &gather.slice_sizes);
            attrs.flag("indices_are_sorted", gather.sorted == Some(true));
        }
        Indexing::Scatter(scatter) => {
            let dims = &scatter.dims;
            attrs.dims("update_window_dims", &dims.update_window_dims);
            attrs.dims("inserted_window_dims", &dims.inserted_window_dims);
            attrs.dims("scatter_dims_to_operand_dims", &dims.scatter_dims_to_operand_dims);
            attrs.dims_if_any("input_batching_dims", &dims.input_batching_dims);
            attrs.dims_if_any("scatter_indices_batching_dims", &dims.scatter_indices_batching_dims);
            attrs.text("index_vector_dim", dims.index_vector_dim);
            attrs.flag("indices_are_sorted", scatter.sorted == Some(true));
            attrs.flag("unique_indices", scatter.unique == Some(true));
            attrs.region("to_apply", 0);
        }
        Indexing::DynamicGather(_) | Indexing::TorchIndexSelect(_) => {}
    }
}

fn control(attrs: &mut Attrs<'_, '_>, kind: &Control) {
    match kind {
        Control::While => {
            attrs.region("condition", 0);
            attrs.region("body", 1);
        }
        Control::Call(call) => {
            let name = attrs.module.str(call.callee.0);
            attrs.text("to_apply", format_args!("%{name}"));
        }
        Control::If
        | Control::Case
        | Control::OptimizationBarrier
        | Control::Return
        | Control::FuncReturn
        | Control::SdyReturn => {}
    }
}

fn collective(attrs: &mut Attrs<'_, '_>, kind: &Collective) {
    match kind {
        Collective::PartitionId | Collective::ReplicaId => {}
        Collective::AllGather(op) => {
            attrs.channel(&op.channel);
            attrs.groups(&op.groups);
            attrs.dims("dimensions", &[op.dimension]);
            attrs.flag("use_global_device_ids", op.global_ids.0);
        }
        Collective::AllReduce(op) => {
            attrs.channel(&op.channel);
            attrs.groups(&op.groups);
            attrs.flag("use_global_device_ids", op.global_ids.0);
            attrs.region("to_apply", 0);
        }
        Collective::ReduceScatter(op) => {
            attrs.channel(&op.channel);
            attrs.groups(&op.groups);
            attrs.flag("use_global_device_ids", op.global_ids.0);
            attrs.dims("dimensions", &[op.dimension]);
            attrs.region("to_apply", 0);
        }
        Collective::AllToAll(op) => {
            attrs.channel(&op.channel);
            attrs.groups(&op.groups);
            attrs.dims("dimensions", &[op.split]);
        }
        Collective::CollectivePermute(op) => {
            attrs.channel(&op.channel);
            attrs.key("source_target_pairs");
            let pairs: Vec<String> =
                op.pairs.0.iter().map(|[from, to]| format!("{{{from},{to}}}")).collect();
            let _ = write!(attrs.out, "{{{}}}", pairs.join(","));
        }
        Collective::CollectiveBroadcast(op) => {
            attrs.channel(&op.channel);
            attrs.groups(&op.groups);
        }
    }
}

fn effects(attrs: &mut Attrs<'_, '_>, kind: &Effects) {
    match kind {
        Effects::GetTupleElement(op) => attrs.text("index", op.index),
        Effects::Infeed(op) => {
            if let Some(config) = op.config {
                attrs.string("infeed_config", config);
            }
        }
        Effects::Outfeed(op) => {
            if let Some(config) = op.config {
                attrs.string("outfeed_config", config);
            }
        }
        Effects::Send(send) => transfer(attrs, send.channel, send.host),
        Effects::Recv(recv) => transfer(attrs, recv.channel, recv.host),
        Effects::CreateToken | Effects::AfterAll | Effects::Tuple => {}
    }
}

fn transfer(attrs: &mut Attrs<'_, '_>, channel: Channel, host: Option<bool>) {
    // XLA takes no channel of number 0: it stands for none.
    if channel.handle != 0 {
        attrs.text("channel_id", channel.handle);
    }
    attrs.flag("is_host_transfer", host == Some(true));
}

fn custom_call(attrs: &mut Attrs<'_, '_>, call: &CustomCall) {
    attrs.string("custom_call_target", call.target);
    if let Some(effect) = call.has_side_effect {
        attrs.text("custom_call_has_side_effect", effect);
    }
    let version = call.api_version;
    let version = version.and_then(|v| API_VERSIONS.iter().find(|(number, _)| *number == v));
    if let Some((_, name)) = version {
        attrs.text("api_version", name);
    }
    if let Some(Attr::Array(names)) = &call.called_computations {
        let names: Vec<String> = names
            .iter()
            .filter_map(|name| match name {
                Attr::SymbolRef(path) => Some(format!("%{}", attrs.module.str(*path.last()?))),
                _ => None,
            })
            .collect();
        attrs.text("called_computations", format_args!("{{{}}}", names.join(", ")));
    }
    let aliases = call.aliases.as_ref();
    if let Some(table) = aliases.and_then(|attr| aliasing::table(attr, attrs.module)) {
        attrs.text("output_to_operand_aliasing", table);
    }
    match &call.backend_config {
        None => {}
        Some(Attr::String(text)) => attrs.string("backend_config", *text),
        // A dictionary, in MLIR's own words.
        Some(config) => {
            let text = crate::print::attr_text(attrs.module, config);
            attrs.text("backend_config", text);
        }
    }
}

fn hlo(attrs: &mut Attrs<'_, '_>, kind: &Hlo) {
    match kind {
        Hlo::Copy | Hlo::Bitcast | Hlo::AddDependency => {}
        Hlo::Conditional => {
            let operand = attrs.module.operands(attrs.op).first().copied();
            let ty = operand.and_then(|value| attrs.module.tensor_type(value));
            if ty.is_some_and(|ty| ty.element == shard_ir::ElementType::I1) {
                attrs.region("true_computation", 0);
                attrs.region("false_computation", 1);
            } else {
                let names: Vec<String> =
                    attrs.computations.iter().map(|name| format!("%{name}")).collect();
                attrs.text("branch_computations", format_args!("{{{}}}", names.join(", ")));
            }
        }
        Hlo::Fusion(fusion) => {
            let kind = attrs.module.str(fusion.kind);
            attrs.text("kind", kind);
            attrs.region("calls", 0);
        }
        Hlo::AllToAllTuple(op) => {
            attrs.channel(&op.channel);
            attrs.groups(&op.groups);
        }
        Hlo::Other(other) => {
            let key = if attrs.module.str(other.opcode).starts_with("async") {
                "calls"
            } else {
                "to_apply"
            };
            attrs.region(key, 0);
        }
    }
}
