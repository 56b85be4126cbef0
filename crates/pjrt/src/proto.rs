//! The parts of XLA's protocol buffers that are used here.
//!
//! `pjrt-sys` has the whole messages of API 0.54, but newer plugins changed the wire type of
//! fields (`OriginalArrayProto`), which makes prost refuse a whole module, and put replica groups
//! into new fields. So the few fields that are needed are declared here, with the numbers that
//! they have in `xla/xla_data.proto`, `xla/service/hlo.proto`, `xla/xla.proto` and
//! `xla/pjrt/proto/compile_options.proto`; whatever else a message has is skipped. Texts that a
//! program's author wrote are bytes, since XLA doesn't keep them to UTF-8.

use std::collections::BTreeMap;

use prost::{Message, Oneof};

#[derive(Clone, PartialEq, Message)]
pub(crate) struct CompileOptions {
    #[prost(message, optional, tag = "3")]
    pub executable_build_options: Option<ExecutableBuildOptions>,
    #[prost(btree_map = "string, message", tag = "7")]
    pub env_option_overrides: BTreeMap<String, OptionOverride>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct OptionOverride {
    #[prost(oneof = "option_override::Value", tags = "1, 2, 3, 4")]
    pub value: Option<option_override::Value>,
}

pub(crate) mod option_override {
    use super::Oneof;

    #[derive(Clone, PartialEq, Oneof)]
    pub(crate) enum Value {
        #[prost(string, tag = "1")]
        Text(String),
        #[prost(bool, tag = "2")]
        Bool(bool),
        #[prost(int64, tag = "3")]
        Integer(i64),
        #[prost(double, tag = "4")]
        Float(f64),
    }
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ExecutableBuildOptions {
    #[prost(int64, tag = "1")]
    pub device_ordinal: i64,
    #[prost(int64, tag = "4")]
    pub num_replicas: i64,
    #[prost(int64, tag = "5")]
    pub num_partitions: i64,
    #[prost(bool, tag = "6")]
    pub use_spmd_partitioning: bool,
    #[prost(message, optional, tag = "9")]
    pub device_assignment: Option<DeviceAssignment>,
    #[prost(bool, repeated, tag = "12")]
    pub allow_spmd_sharding_propagation_to_output: Vec<bool>,
    #[prost(bool, tag = "19")]
    pub use_shardy_partitioner: bool,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct DeviceAssignment {
    #[prost(int32, tag = "1")]
    pub replica_count: i32,
    #[prost(int32, tag = "2")]
    pub computation_count: i32,
    #[prost(message, repeated, tag = "3")]
    pub computation_devices: Vec<ComputationDevice>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ComputationDevice {
    #[prost(int64, repeated, tag = "1")]
    pub replica_device_ids: Vec<i64>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ModuleWithConfig {
    #[prost(message, optional, tag = "1")]
    pub hlo_module: Option<Module>,
    #[prost(message, optional, tag = "2")]
    pub config: Option<ModuleConfig>,
}

/// The same message as [`ModuleWithConfig`], of which only the signature is read.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct SignatureWithConfig {
    #[prost(message, optional, tag = "1")]
    pub hlo_module: Option<Signature>,
}

/// The same message as [`Module`], of which only the signature is read.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Signature {
    #[prost(message, optional, tag = "4")]
    pub host_program_shape: Option<ProgramShape>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ProgramShape {
    #[prost(message, repeated, tag = "1")]
    pub parameters: Vec<Shape>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ModuleConfig {
    #[prost(int64, tag = "4")]
    pub replica_count: i64,
    #[prost(int64, tag = "5")]
    pub num_partitions: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Module {
    #[prost(bytes = "vec", tag = "1")]
    pub name: Vec<u8>,
    #[prost(message, repeated, tag = "3")]
    pub computations: Vec<Computation>,
    #[prost(int64, tag = "6")]
    pub entry_computation_id: i64,
    #[prost(message, optional, tag = "17")]
    pub stack_frame_index: Option<StackFrameIndex>,
    #[prost(bytes = "vec", repeated, tag = "22")]
    pub payloads: Vec<Vec<u8>>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct StackFrameIndex {
    #[prost(bytes = "vec", repeated, tag = "1")]
    pub file_names: Vec<Vec<u8>>,
    #[prost(message, repeated, tag = "3")]
    pub file_locations: Vec<FileLocation>,
    #[prost(message, repeated, tag = "4")]
    pub stack_frames: Vec<StackFrame>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct FileLocation {
    /// A position in the file names, counted from 1.
    #[prost(int32, tag = "1")]
    pub file_name_id: i32,
    #[prost(int32, tag = "3")]
    pub line: i32,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct StackFrame {
    /// A position in the file locations, counted from 1.
    #[prost(int32, tag = "1")]
    pub file_location_id: i32,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Computation {
    #[prost(bytes = "vec", tag = "1")]
    pub name: Vec<u8>,
    #[prost(message, repeated, tag = "2")]
    pub instructions: Vec<Instruction>,
    #[prost(int64, tag = "5")]
    pub id: i64,
    #[prost(int64, tag = "6")]
    pub root_id: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Instruction {
    #[prost(bytes = "vec", tag = "1")]
    pub name: Vec<u8>,
    #[prost(string, tag = "2")]
    pub opcode: String,
    #[prost(message, optional, tag = "3")]
    pub shape: Option<Shape>,
    #[prost(message, optional, tag = "7")]
    pub metadata: Option<OpMetadata>,
    #[prost(message, optional, tag = "8")]
    pub literal: Option<Literal>,
    #[prost(int64, tag = "9")]
    pub parameter_number: i64,
    #[prost(int64, tag = "13")]
    pub tuple_index: i64,
    #[prost(message, optional, tag = "15")]
    pub window: Option<Window>,
    #[prost(message, optional, tag = "16")]
    pub convolution_dimension_numbers: Option<ConvolutionDimensionNumbers>,
    #[prost(int64, tag = "26")]
    pub channel_id: i64,
    #[prost(message, optional, tag = "30")]
    pub dot_dimension_numbers: Option<DotDimensionNumbers>,
    #[prost(int64, tag = "35")]
    pub id: i64,
    #[prost(int64, repeated, tag = "36")]
    pub operand_ids: Vec<i64>,
    #[prost(int64, repeated, tag = "38")]
    pub called_computation_ids: Vec<i64>,
    #[prost(bytes = "vec", tag = "43")]
    pub backend_config: Vec<u8>,
    #[prost(bool, tag = "47")]
    pub is_host_transfer: bool,
    /// The old place of replica groups.
    #[prost(message, repeated, tag = "49")]
    pub replica_groups: Vec<ReplicaGroup>,
    #[prost(string, tag = "63")]
    pub comparison_direction: String,
    #[prost(bool, tag = "71")]
    pub use_global_device_ids: bool,
    #[prost(message, optional, tag = "87")]
    pub collective_device_list: Option<CollectiveDeviceList>,
    #[prost(message, optional, tag = "92")]
    pub iota_collective_device_list: Option<IotaReplicaGroupList>,
    #[prost(message, optional, tag = "93")]
    pub mesh_axes_replica_group_list: Option<MeshAxesReplicaGroupList>,
    #[prost(message, optional, tag = "99")]
    pub backend_config_payload: Option<Payload>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Payload {
    #[prost(oneof = "payload::Source", tags = "1, 2")]
    pub source: Option<payload::Source>,
}

pub(crate) mod payload {
    use super::Oneof;

    #[derive(Clone, PartialEq, Oneof)]
    pub(crate) enum Source {
        #[prost(bytes = "vec", tag = "1")]
        Value(Vec<u8>),
        /// A position in the module's payloads.
        #[prost(int64, tag = "2")]
        Id(i64),
    }
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct OpMetadata {
    #[prost(bytes = "vec", tag = "2")]
    pub op_name: Vec<u8>,
    #[prost(bytes = "vec", tag = "3")]
    pub source_file: Vec<u8>,
    #[prost(int32, tag = "4")]
    pub source_line: i32,
    /// A position in the stack frames, counted from 1.
    #[prost(int32, tag = "15")]
    pub stack_frame_id: i32,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Shape {
    #[prost(int32, tag = "2")]
    pub element_type: i32,
    #[prost(int64, repeated, tag = "3")]
    pub dimensions: Vec<i64>,
    #[prost(message, repeated, tag = "4")]
    pub tuple_shapes: Vec<Shape>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct DotDimensionNumbers {
    #[prost(int64, repeated, tag = "1")]
    pub lhs_contracting_dimensions: Vec<i64>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ConvolutionDimensionNumbers {
    #[prost(int64, tag = "3")]
    pub kernel_input_feature_dimension: i64,
    #[prost(int64, repeated, tag = "6")]
    pub kernel_spatial_dimensions: Vec<i64>,
    #[prost(int64, tag = "9")]
    pub output_batch_dimension: i64,
    #[prost(int64, tag = "10")]
    pub output_feature_dimension: i64,
    #[prost(int64, repeated, tag = "11")]
    pub input_spatial_dimensions: Vec<i64>,
    #[prost(int64, repeated, tag = "12")]
    pub output_spatial_dimensions: Vec<i64>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Window {
    #[prost(message, repeated, tag = "1")]
    pub dimensions: Vec<WindowDimension>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct WindowDimension {
    #[prost(int64, tag = "2")]
    pub stride: i64,
    #[prost(int64, tag = "3")]
    pub padding_low: i64,
    #[prost(int64, tag = "5")]
    pub window_dilation: i64,
    #[prost(int64, tag = "6")]
    pub base_dilation: i64,
}

/// A constant; only the types that count loops.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Literal {
    #[prost(bool, repeated, tag = "2")]
    pub preds: Vec<bool>,
    #[prost(int32, repeated, tag = "4")]
    pub s32s: Vec<i32>,
    #[prost(int64, repeated, tag = "5")]
    pub s64s: Vec<i64>,
    #[prost(uint32, repeated, tag = "6")]
    pub u32s: Vec<u32>,
    #[prost(uint64, repeated, tag = "7")]
    pub u64s: Vec<u64>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ReplicaGroup {
    #[prost(int64, repeated, tag = "1")]
    pub replica_ids: Vec<i64>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct CollectiveDeviceList {
    #[prost(message, repeated, tag = "1")]
    pub replica_groups: Vec<ReplicaGroup>,
    /// Until about API 0.80; later a field of the instruction.
    #[prost(message, optional, tag = "2")]
    pub iota_replica_group_list: Option<IotaReplicaGroupList>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct IotaReplicaGroupList {
    #[prost(int64, tag = "1")]
    pub num_replica_groups: i64,
    #[prost(int64, tag = "2")]
    pub num_devices_per_group: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct MeshAxesReplicaGroupList {
    #[prost(message, optional, tag = "1")]
    pub mesh: Option<Mesh>,
    #[prost(message, repeated, tag = "2")]
    pub axes: Vec<AxisRef>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Mesh {
    #[prost(message, repeated, tag = "1")]
    pub axes: Vec<MeshAxis>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct MeshAxis {
    #[prost(int64, tag = "2")]
    pub size: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct AxisRef {
    #[prost(int64, tag = "1")]
    pub mesh_axis_index: i64,
    #[prost(message, optional, tag = "2")]
    pub sub_axis_info: Option<SubAxis>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct SubAxis {
    #[prost(int64, tag = "2")]
    pub size: i64,
}
