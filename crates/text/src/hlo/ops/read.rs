//! Ops from opcodes and attributes.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;
use shard_ir::ops::*;
use shard_ir::{
    Attr, Channel, Dense, DenseData, Diagnostic, Dims, Groups, RegionId, Symbol, Type, TypeId,
    ValueId,
};

use super::{API_VERSIONS, aliasing, dot_algorithm, groups};
use crate::hlo::attrs::{self, Window};
use crate::hlo::literal;
use crate::hlo::read::{Reader, all_dims, wrong};
use crate::hlo::syntax::{Attribute, COMPUTATION, Instruction, Operands, Read, range};

/// The keys whose values are lists of computations.
const COMPUTATIONS: &[&str] = &["branch_computations", "called_computations"];

/// The computations that an attribute names, and where each name stands.
pub(in crate::hlo) fn called<'a>(attr: &Attribute<'a>) -> Vec<(&'a str, usize)> {
    if !COMPUTATION.contains(&attr.key) && !COMPUTATIONS.contains(&attr.key) {
        return Vec::new();
    }
    if attr.computation.is_some() {
        return vec![("", attr.at)];
    }
    let value = attr.value;
    let names = match attrs::inside(value, '{', '}') {
        Some(inner) => attrs::list(inner),
        None => vec![value],
    };
    let place = |name: &'a str| {
        let at = attr.at + (name.as_ptr() as usize).saturating_sub(value.as_ptr() as usize);
        (name.strip_prefix('%').unwrap_or(name), at)
    };
    names.into_iter().map(place).collect()
}

/// An instruction whose op is being made.
pub(in crate::hlo) struct Instr<'a, 'i> {
    instruction: &'i Instruction<'a>,
    /// The opcode, without `-start`.
    opcode: &'a str,
    operands: &'i [ValueId],
    ty: Option<TypeId>,
    /// Attributes that the op has as fields or regions.
    pub(in crate::hlo) taken: Vec<&'a str>,
    /// Regions made so far.
    pub(in crate::hlo) regions: Vec<RegionId>,
}

impl<'a, 'i> Instr<'a, 'i> {
    pub(in crate::hlo) fn new(
        instruction: &'i Instruction<'a>,
        opcode: &'a str,
        operands: &'i [ValueId],
        ty: Option<TypeId>,
    ) -> Self {
        Instr { instruction, opcode, operands, ty, taken: Vec::new(), regions: Vec::new() }
    }

    fn error<T>(&self, message: impl Into<String>) -> Read<T> {
        let Instruction { opcode, opcode_at, .. } = self.instruction;
        Err(Diagnostic::error(message).at(range(*opcode_at, opcode)))
    }

    fn get(&self, key: &str) -> Option<&'i Attribute<'a>> {
        self.instruction.attrs.iter().find(|attr| attr.key == key)
    }

    fn take(&mut self, key: &str) -> Option<&'i Attribute<'a>> {
        let attr = self.get(key)?;
        self.taken.push(attr.key);
        Some(attr)
    }

    /// An attribute read by `read`; `None` where it is absent.
    fn optional<T>(
        &mut self,
        key: &str,
        expected: &str,
        read: impl FnOnce(&'a str) -> Option<T>,
    ) -> Read<Option<T>> {
        let Some(attr) = self.take(key) else { return Ok(None) };
        read(attr.value).map(Some).ok_or_else(|| wrong(attr, expected))
    }

    fn required<T>(
        &mut self,
        key: &str,
        expected: &str,
        read: impl FnOnce(&'a str) -> Option<T>,
    ) -> Read<T> {
        match self.optional(key, expected, read)? {
            Some(value) => Ok(value),
            None => self.error(format!("'{}' needs the attribute '{key}'", self.opcode)),
        }
    }

    fn dims(&mut self, key: &str) -> Read<Dims> {
        self.required(key, "{1,2,...}", attrs::ints)
    }

    fn dims_or_none(&mut self, key: &str) -> Read<Dims> {
        Ok(self.optional(key, "{1,2,...}", attrs::ints)?.unwrap_or_default())
    }

    /// The one dimension of `dimensions={d}`.
    fn dim(&mut self) -> Read<i64> {
        self.required("dimensions", "{d}", |text| match attrs::ints(text)?[..] {
            [dim] => Some(dim),
            _ => None,
        })
    }

    fn int(&mut self, key: &str) -> Read<i64> {
        self.required(key, "a number", |text| text.parse().ok())
    }

    fn flag(&mut self, key: &str) -> Read<bool> {
        Ok(self.optional(key, "true or false", |text| text.parse().ok())?.unwrap_or(false))
    }

    fn region(&mut self, reader: &mut Reader<'a, '_>, key: &str) -> Read<()> {
        let Some(attr) = self.take(key) else {
            return self.error(format!("'{}' needs the attribute '{key}'", self.opcode));
        };
        for (name, at) in called(attr) {
            self.regions.push(reader.region(attr, name, at)?);
        }
        Ok(())
    }

    fn rank(&self, reader: &Reader<'a, '_>, operand: usize) -> usize {
        let operand = self.operands.get(operand);
        operand.and_then(|value| reader.module.tensor_type(*value)).map_or(0, |ty| ty.rank())
    }

    fn precision(&mut self) -> Read<Precisions> {
        let Some(attr) = self.get("operand_precision") else { return Ok(Precisions::default()) };
        let names = attrs::inside(attr.value, '{', '}').map(attrs::list).unwrap_or_default();
        let read = |name: &&str| Precision::from_text(&name.to_ascii_uppercase());
        let found: Option<Vec<_>> = names.iter().map(read).collect();
        // Precisions that StableHLO doesn't have are kept as text.
        let Some(found) = found else { return Ok(Precisions::default()) };
        self.taken.push(attr.key);
        Ok(Precisions(found))
    }

    fn window(&mut self) -> Read<Window> {
        let window = self.optional("window", "{size=2x2 stride=... pad=...}", attrs::window)?;
        Ok(window.unwrap_or_default())
    }

    fn groups(&mut self, reader: &mut Reader<'a, '_>) -> Read<Groups> {
        let read = |text: &str| groups::read(text, &mut reader.module);
        let groups = self.optional(
            "replica_groups",
            "{{0,1},{2,3}}, [2,2]<=[4] or mesh['x'=2] {'x'}",
            read,
        )?;
        Ok(groups.unwrap_or_else(|| Groups::list([])))
    }

    fn channel(&mut self) -> Read<Option<Channel>> {
        let id = self.optional("channel_id", "a number", |text| text.parse().ok())?;
        Ok(id.map(|handle| Channel { handle, kind: 1 }))
    }

    /// `use_global_device_ids`.
    fn global(&mut self) -> Read<Flag> {
        self.flag("use_global_device_ids").map(Flag)
    }

    fn epsilon(&mut self) -> Read<FloatBits> {
        let bits = |text: &str| text.parse::<f32>().ok().map(|value| f64::from(value).to_bits());
        self.required("epsilon", "a number", bits).map(FloatBits)
    }
}

fn pads(padding: Option<Vec<Dims>>) -> Option<Padding> {
    padding.map(|dims| dims.iter().map(|dim| [dim[0], dim[1]]).collect())
}

/// The rows of the table by opcode.
fn rows() -> &'static FxHashMap<&'static str, &'static OpRow> {
    static ROWS: OnceLock<FxHashMap<&'static str, &'static OpRow>> = OnceLock::new();
    ROWS.get_or_init(|| {
        let rows = OP_TABLE.iter().flat_map(|(_, rows)| rows.iter());
        rows.filter(|row| !row.info.hlo.is_empty()).map(|row| (row.info.hlo, row)).collect()
    })
}

/// The op of an instruction.
pub(in crate::hlo) fn read_op<'a>(
    reader: &mut Reader<'a, '_>,
    instr: &mut Instr<'a, '_>,
) -> Read<Op> {
    Ok(match instr.opcode {
        "constant" => return constant(reader, instr),
        "compare" => {
            let direction = instr.required("direction", "EQ, NE, LT, ...", Direction::from_text)?;
            let compare_type =
                instr.optional("type", "FLOAT, SIGNED, ...", CompareType::from_text)?;
            Compare { direction, compare_type }.into()
        }
        "reduce-precision" => {
            let exponent_bits = instr.int("exponent_bits")? as i32;
            ReducePrecision { exponent_bits, mantissa_bits: instr.int("mantissa_bits")? as i32 }
                .into()
        }
        "map" => {
            instr.region(reader, "to_apply")?;
            let dims = instr.optional("dimensions", "{0,1,...}", attrs::ints)?;
            let rank = instr.rank(reader, 0);
            Map { dimensions: dims.unwrap_or_else(|| all_dims(rank)) }.into()
        }
        "iota" => Iota { dimension: instr.int("iota_dimension")? }.into(),
        "dot" => dot(reader, instr)?,
        "convolution" => return convolution(reader, instr),
        "reduce" => {
            instr.region(reader, "to_apply")?;
            Reduce { dimensions: instr.dims("dimensions")? }.into()
        }
        "reduce-window" => {
            instr.region(reader, "to_apply")?;
            let window = instr.window()?;
            ReduceWindow {
                window: window.size,
                strides: window.stride,
                base_dilations: window.lhs_dilate,
                window_dilations: window.rhs_dilate,
                padding: pads(window.padding),
            }
            .into()
        }
        "select-and-scatter" => {
            instr.region(reader, "select")?;
            instr.region(reader, "scatter")?;
            let window = instr.window()?;
            SelectAndScatter {
                window: Some(window.size),
                strides: window.stride,
                padding: pads(window.padding),
            }
            .into()
        }
        "broadcast" => BroadcastInDim { dimensions: instr.dims_or_none("dimensions")? }.into(),
        "transpose" => Transpose { permutation: instr.dims("dimensions")? }.into(),
        "slice" => slice(instr)?,
        "dynamic-slice" => DynamicSlice { sizes: instr.dims("dynamic_slice_sizes")? }.into(),
        "pad" => {
            let expected = "low_high_interior for each dimension, joined by x";
            let dims = instr.required("padding", expected, |text| {
                attrs::paddings(text).filter(|all| all.iter().all(|dim| matches!(dim.len(), 2 | 3)))
            })?;
            let part =
                |at: usize| dims.iter().map(|dim| dim.get(at).copied().unwrap_or(0)).collect();
            Pad { low: part(0), high: part(1), interior: part(2) }.into()
        }
        "concatenate" => Concatenate { dimension: instr.dim()? }.into(),
        "reverse" => Reverse { dimensions: instr.dims("dimensions")? }.into(),
        "get-dimension-size" => GetDimensionSize { dimension: instr.dim()? }.into(),
        "set-dimension-size" => SetDimensionSize { dimension: instr.dim()? }.into(),
        "gather" => gather(instr)?,
        "scatter" => {
            instr.region(reader, "to_apply")?;
            scatter(instr)?
        }
        "sort" => {
            instr.region(reader, "to_apply")?;
            Sort { dimension: instr.dim()?, stable: Some(instr.flag("is_stable")?) }.into()
        }
        "topk" => TopK { k: instr.int("k")? }.into(),
        "cholesky" => Cholesky { lower: Some(instr.flag("lower")?) }.into(),
        "triangular-solve" => {
            let kind =
                instr.optional("transpose_a", "NO_TRANSPOSE, ...", TransposeKind::from_text)?;
            TriangularSolve {
                left_side: instr.flag("left_side")?,
                lower: instr.flag("lower")?,
                unit_diagonal: instr.flag("unit_diagonal")?,
                transpose_a: kind.unwrap_or(TransposeKind::Invalid),
            }
            .into()
        }
        "fft" => {
            let kind =
                instr.required("fft_type", "FFT, IFFT, RFFT or IRFFT", FftType::from_text)?;
            Fft { kind, length: instr.dims("fft_length")? }.into()
        }
        "rng" => {
            let distribution =
                instr.required("distribution", "rng_uniform or rng_normal", |text| {
                    Distribution::from_text(&text.strip_prefix("rng_")?.to_ascii_uppercase())
                })?;
            Rng { distribution }.into()
        }
        "rng-bit-generator" => {
            let algorithm =
                instr.required("algorithm", "rng_default, rng_three_fry, ...", |text| {
                    RngAlgorithm::from_text(&text.strip_prefix("rng_")?.to_ascii_uppercase())
                })?;
            RngBitGenerator { algorithm }.into()
        }
        "batch-norm-grad" => {
            let epsilon = instr.epsilon()?;
            BatchNormGrad { epsilon, feature: instr.int("feature_index")? }.into()
        }
        "batch-norm-inference" => {
            let epsilon = instr.epsilon()?;
            BatchNormInference { epsilon, feature: instr.int("feature_index")? }.into()
        }
        "batch-norm-training" => {
            let epsilon = instr.epsilon()?;
            BatchNormTraining { epsilon, feature: instr.int("feature_index")? }.into()
        }
        "while" => {
            instr.region(reader, "condition")?;
            instr.region(reader, "body")?;
            Control::While.into()
        }
        "conditional" => {
            if instr.get("branch_computations").is_some() {
                instr.region(reader, "branch_computations")?;
            } else {
                instr.region(reader, "true_computation")?;
                instr.region(reader, "false_computation")?;
            }
            Hlo::Conditional.into()
        }
        "call" => {
            let Some(attr) = instr.take("to_apply") else {
                return instr.error("'call' needs the attribute 'to_apply'");
            };
            match called(attr).first() {
                Some(&(name, at)) => {
                    Call { callee: Callee(reader.function(attr, name, at)?) }.into()
                }
                None => return Err(wrong(attr, "a computation")),
            }
        }
        "fusion" => {
            instr.region(reader, "calls")?;
            let kind = instr.required("kind", "kLoop, kInput, ...", Some)?;
            Fusion { kind: reader.module.symbol(kind) }.into()
        }
        "all-gather" => AllGather {
            dimension: instr.dim()?,
            groups: instr.groups(reader)?,
            channel: instr.channel()?,
            global_ids: instr.global()?,
        }
        .into(),
        "all-reduce" => {
            instr.region(reader, "to_apply")?;
            AllReduce {
                groups: instr.groups(reader)?,
                channel: instr.channel()?,
                global_ids: instr.global()?,
            }
            .into()
        }
        "reduce-scatter" => {
            instr.region(reader, "to_apply")?;
            ReduceScatter {
                dimension: instr.dim()?,
                groups: instr.groups(reader)?,
                channel: instr.channel()?,
                global_ids: instr.global()?,
            }
            .into()
        }
        "all-to-all" if instr.get("dimensions").is_some() => {
            let dim = instr.dim()?;
            let groups = instr.groups(reader)?;
            let count = groups.group_size() as i64;
            AllToAll { split: dim, concat: dim, count, groups, channel: instr.channel()? }.into()
        }
        "all-to-all" => {
            AllToAllTuple { groups: instr.groups(reader)?, channel: instr.channel()? }.into()
        }
        "collective-permute" => {
            let pairs = instr.required("source_target_pairs", "{{0,1},{1,0}}", |text| {
                let pairs = attrs::lists(text)?;
                pairs.iter().map(|pair| <[i64; 2]>::try_from(&pair[..]).ok()).collect()
            })?;
            CollectivePermute { pairs: Pairs(pairs), channel: instr.channel()? }.into()
        }
        "collective-broadcast" => {
            CollectiveBroadcast { groups: instr.groups(reader)?, channel: instr.channel()? }.into()
        }
        "get-tuple-element" => GetTupleElement { index: instr.int("index")? as i32 }.into(),
        "infeed" => Infeed { config: config(reader, instr, "infeed_config")?, layout: None }.into(),
        // A channel's kind: 1 between devices, 2 to the host, 3 from it.
        "send" => {
            let (channel, host) = transfer(instr, 2)?;
            Send { channel, host, pairs: None }.into()
        }
        "recv" => {
            let (channel, host) = transfer(instr, 3)?;
            Recv { channel, host, pairs: None }.into()
        }
        "outfeed" => Outfeed { config: config(reader, instr, "outfeed_config")? }.into(),
        "custom-call" => return custom_call(reader, instr),
        opcode => return plain(reader, instr, opcode),
    })
}

/// An op without fields, or one that is kept as it is.
fn plain<'a>(reader: &mut Reader<'a, '_>, instr: &mut Instr<'a, '_>, opcode: &str) -> Read<Op> {
    if let Some(row) = rows().get(opcode)
        && row.info.operands.fits(instr.operands.len())
        && row.info.regions == Arity::Exactly(0)
        && let Ok(op) = (row.read)(&mut Vec::new(), &reader.module)
    {
        return Ok(op);
    }
    for key in ["to_apply", "calls"] {
        if instr.get(key).is_some() {
            instr.region(reader, key)?;
        }
    }
    // The whole opcode: what begins and what ends an operation are instructions of their own.
    Ok(Other { opcode: reader.module.symbol(opcode) }.into())
}

fn config<'a>(
    reader: &mut Reader<'a, '_>,
    instr: &mut Instr<'a, '_>,
    key: &str,
) -> Read<Option<Symbol>> {
    let text = instr.optional(key, "a string", attrs::unquote)?;
    Ok(text.map(|text| reader.module.symbol(&text)))
}

/// The channel of a transfer, and whether it is one with the host, whose channels are of a kind.
fn transfer(instr: &mut Instr<'_, '_>, with_host: i64) -> Read<(Channel, Option<bool>)> {
    let host = instr.flag("is_host_transfer")?;
    let handle = instr.channel()?.map_or(0, |channel| channel.handle);
    Ok((Channel { handle, kind: if host { with_host } else { 1 } }, Some(host)))
}

fn constant<'a>(reader: &mut Reader<'a, '_>, instr: &Instr<'a, '_>) -> Read<Op> {
    let Operands::Raw(text, at) = instr.instruction.operands else {
        return instr.error("a constant needs its value");
    };
    let Some(id) = instr.ty else { return instr.error("a constant needs a shape") };
    let Type::Tensor(ty) = reader.module.ty(id).clone() else {
        let data = DenseData::Text(reader.module.symbol(text));
        return Ok(Constant { value: Dense { ty: id, data } }.into());
    };
    match literal::read(text, &ty, &mut reader.module) {
        Ok(data) => Ok(Constant { value: Dense { ty: id, data } }.into()),
        Err((offset, message)) => {
            let at = at + offset;
            Err(Diagnostic::error(format!("the constant isn't valid: {message}")).at(at..at + 1))
        }
    }
}

fn dot<'a>(reader: &mut Reader<'a, '_>, instr: &mut Instr<'a, '_>) -> Read<Op> {
    let dims = DotDims {
        lhs_batch: instr.dims_or_none("lhs_batch_dims")?,
        rhs_batch: instr.dims_or_none("rhs_batch_dims")?,
        lhs_contracting: instr.dims_or_none("lhs_contracting_dims")?,
        rhs_contracting: instr.dims_or_none("rhs_contracting_dims")?,
    };
    let algorithm = instr.optional("algorithm", "dot_f32_f32_f32 or alike", |name| {
        dot_algorithm::read(name, &mut reader.module)
    })?;
    Ok(DotGeneral { dims, precision: instr.precision()?, algorithm }.into())
}

fn convolution<'a>(reader: &Reader<'a, '_>, instr: &mut Instr<'a, '_>) -> Read<Op> {
    let expected = "dimensions such as b01f_01io->b01f";
    let dims = instr.required("dim_labels", expected, conv_dims)?;
    let result = instr.ty.and_then(|ty| reader.module.ty(ty).as_tensor()).map(|ty| ty.rank());
    let sides = [
        (&dims.input_spatial, dims.input_batch, dims.input_feature, instr.rank(reader, 0)),
        (
            &dims.kernel_spatial,
            dims.kernel_input_feature,
            dims.kernel_output_feature,
            instr.rank(reader, 1),
        ),
        (&dims.output_spatial, dims.output_batch, dims.output_feature, result.unwrap_or(0)),
    ];
    for (spatial, one, other, rank) in sides {
        if spatial.iter().chain([&one, &other]).any(|&dim| dim >= rank as i64) {
            return instr.error(format!("'dim_labels' has more labels than the {rank} dimensions"));
        }
    }
    let window = instr.window()?;
    let reversal = window.reversal.map(|dims| Flags(dims.iter().map(|flag| *flag == 1).collect()));
    let groups = |instr: &mut Instr<'_, '_>, key: &str| {
        Ok(instr.optional(key, "a number", |text| text.parse().ok())?.unwrap_or(1))
    };
    Ok(Conv {
        strides: window.stride,
        padding: pads(window.padding),
        lhs_dilation: window.lhs_dilate,
        rhs_dilation: window.rhs_dilate,
        reversal,
        dims,
        feature_groups: groups(instr, "feature_group_count")?,
        batch_groups: groups(instr, "batch_group_count")?,
        precision: instr.precision()?,
    }
    .into())
}

/// `b01f_01io->b01f`
fn conv_dims(text: &str) -> Option<ConvDims> {
    let (operands, output) = text.split_once("->")?;
    let (input, kernel) = operands.split_once('_')?;
    let input = labels(input, ['b', 'f'])?;
    let kernel = labels(kernel, ['i', 'o'])?;
    let output = labels(output, ['b', 'f'])?;
    Some(ConvDims {
        input_batch: input.0[0],
        input_feature: input.0[1],
        input_spatial: input.1,
        kernel_input_feature: kernel.0[0],
        kernel_output_feature: kernel.0[1],
        kernel_spatial: kernel.1,
        output_batch: output.0[0],
        output_feature: output.0[1],
        output_spatial: output.1,
    })
}

/// Where the two letters stand, and each digit: each label once. `?` are dimensions without one.
fn labels(text: &str, letters: [char; 2]) -> Option<([i64; 2], Dims)> {
    let at = |label: char| text.find(label).map(|at| at as i64);
    let spatial = text.bytes().filter(u8::is_ascii_digit).count();
    let unknown = text.bytes().filter(|label| *label == b'?').count();
    let digit = |index: usize| at(char::from_digit(u32::try_from(index).ok()?, 10)?);
    let digits = (0..spatial).map(digit).collect::<Option<Dims>>()?;
    let found = ([at(letters[0])?, at(letters[1])?], digits);
    (text.len() == 2 + spatial + unknown).then_some(found)
}

fn slice(instr: &mut Instr<'_, '_>) -> Read<Op> {
    let expected = "{[start:limit:stride], ...}";
    let ranges = instr.required("slice", expected, |text| {
        let ranges = attrs::list(attrs::inside(text, '{', '}')?).into_iter().map(|range| {
            let range = attrs::inside(range, '[', ']')?;
            let numbers: Option<Dims> = range.split(':').map(|n| n.trim().parse().ok()).collect();
            numbers.filter(|numbers| matches!(numbers.len(), 2 | 3))
        });
        ranges.collect::<Option<Vec<_>>>()
    })?;
    Ok(Slice {
        start: ranges.iter().map(|range| range[0]).collect(),
        limit: ranges.iter().map(|range| range[1]).collect(),
        strides: ranges.iter().map(|range| range.get(2).copied().unwrap_or(1)).collect(),
    }
    .into())
}

fn gather(instr: &mut Instr<'_, '_>) -> Read<Op> {
    let dims = GatherDims {
        offset_dims: instr.dims("offset_dims")?,
        collapsed_slice_dims: instr.dims_or_none("collapsed_slice_dims")?,
        operand_batching_dims: instr.dims_or_none("operand_batching_dims")?,
        start_indices_batching_dims: instr.dims_or_none("start_indices_batching_dims")?,
        start_index_map: instr.dims("start_index_map")?,
        index_vector_dim: instr.int("index_vector_dim")?,
    };
    let slice_sizes = instr.dims("slice_sizes")?;
    Ok(Gather { dims, slice_sizes, sorted: Some(instr.flag("indices_are_sorted")?) }.into())
}

fn scatter(instr: &mut Instr<'_, '_>) -> Read<Op> {
    let dims = ScatterDims {
        update_window_dims: instr.dims_or_none("update_window_dims")?,
        inserted_window_dims: instr.dims_or_none("inserted_window_dims")?,
        input_batching_dims: instr.dims_or_none("input_batching_dims")?,
        scatter_indices_batching_dims: instr.dims_or_none("scatter_indices_batching_dims")?,
        scatter_dims_to_operand_dims: instr.dims("scatter_dims_to_operand_dims")?,
        index_vector_dim: instr.int("index_vector_dim")?,
    };
    let sorted = Some(instr.flag("indices_are_sorted")?);
    Ok(Scatter { dims, sorted, unique: Some(instr.flag("unique_indices")?) }.into())
}

fn custom_call<'a>(reader: &mut Reader<'a, '_>, instr: &mut Instr<'a, '_>) -> Read<Op> {
    let target = instr.required("custom_call_target", "a string", attrs::unquote)?;
    let has_side_effect =
        instr.optional("custom_call_has_side_effect", "true or false", |text| text.parse().ok())?;
    let api_version = instr.optional("api_version", "API_VERSION_...", |text| {
        API_VERSIONS.iter().find(|(_, name)| *name == text).map(|(number, _)| *number)
    })?;
    let key = if instr.get("to_apply").is_some() { "to_apply" } else { "called_computations" };
    let called_computations = match instr.take(key) {
        None => None,
        Some(attr) => {
            let mut names = Vec::new();
            for (name, at) in called(attr) {
                names.push(Attr::SymbolRef([reader.function(attr, name, at)?].into()));
            }
            Some(Attr::Array(names.into()))
        }
    };
    let backend_config = match instr.take("backend_config") {
        None => None,
        // Dictionaries stand without quotes.
        Some(attr) if attr.value.starts_with('{') => {
            Some(Attr::Text(reader.module.symbol(attr.value)))
        }
        Some(attr) => {
            let text =
                attrs::unquote(attr.value).ok_or_else(|| wrong(attr, "a string or {...}"))?;
            Some(Attr::String(reader.module.symbol(&text)))
        }
    };
    let aliases = instr.optional("output_to_operand_aliasing", "{{0}: (1, {}), ...}", |text| {
        aliasing::read(text, &mut reader.module)
    })?;
    Ok(CustomCall {
        target: reader.module.symbol(&target),
        has_side_effect,
        backend_config,
        api_version,
        called_computations,
        operand_layouts: None,
        result_layouts: None,
        aliases,
    }
    .into())
}
