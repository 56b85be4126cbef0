//! Programs and options of compilation.

use prost::Message;

use crate::error::InputError;
use crate::proto;

/// A program to compile.
#[derive(Clone, Copy, Debug)]
pub enum Program<'a> {
    /// StableHLO as MLIR text (or bytecode that happens to be UTF-8).
    Mlir(&'a str),
    /// A serialised `HloModuleProto`.
    Hlo(&'a [u8]),
}

impl<'a> Program<'a> {
    pub(crate) fn format(self) -> &'static str {
        match self {
            Program::Mlir(_) => "mlir",
            Program::Hlo(_) => "hlo",
        }
    }

    pub(crate) fn code(self) -> &'a [u8] {
        match self {
            Program::Mlir(text) => text.as_bytes(),
            Program::Hlo(bytes) => bytes,
        }
    }
}

/// The value of one of XLA's flags (`xla_...`).
#[derive(Clone, Debug, PartialEq)]
pub enum FlagValue {
    /// A boolean.
    Bool(bool),
    /// An integer.
    Integer(i64),
    /// A number.
    Float(f64),
    /// A text, or the name of an enumeration's value.
    Text(String),
}

/// How a program is compiled.
///
/// The device that runs replica `r` and partition `p` has the position
/// `r * num_partitions + p` in every list of devices of this crate.
#[derive(Clone, Debug, PartialEq)]
pub struct CompileOptions {
    /// Replicas: copies of the program that differ in `stablehlo.replica_id`.
    pub num_replicas: usize,
    /// Partitions: parts of the program that differ in `stablehlo.partition_id`.
    pub num_partitions: usize,
    /// Whether XLA's partitioner runs. A program with several partitions needs it, also where it
    /// is partitioned already: every op of such a program carries
    /// `mhlo.sharding = "{manual}"`, and nothing is left for the partitioner to do.
    pub use_spmd_partitioning: bool,
    /// Whether that partitioner is Shardy (which reads `sdy.sharding`) rather than GSPMD (which
    /// reads `mhlo.sharding`).
    pub use_shardy_partitioner: bool,
    /// The id of each device, by position; 0, 1, 2, ... if there is none.
    pub device_assignment: Option<Vec<i64>>,
    /// For each result, whether the partitioner may choose its sharding where the program states
    /// none; one entry stands for all results. JAX sets it for results without `out_shardings`.
    pub propagate_to_results: Vec<bool>,
    /// XLA's flags for this compilation, by name. The plugin refuses those that it doesn't know.
    pub flags: Vec<(String, FlagValue)>,
}

impl CompileOptions {
    /// For a program that runs on `devices` replicas, whose collectives use replica ids.
    pub fn replicas(devices: usize) -> Self {
        CompileOptions {
            num_replicas: devices,
            num_partitions: 1,
            use_spmd_partitioning: false,
            use_shardy_partitioner: false,
            device_assignment: None,
            propagate_to_results: Vec::new(),
            flags: Vec::new(),
        }
    }

    /// For a program that is partitioned for `devices` devices: by us, with every op marked
    /// `{manual}`, or by XLA, from `mhlo.sharding` attributes.
    pub fn partitions(devices: usize) -> Self {
        CompileOptions {
            num_replicas: 1,
            num_partitions: devices,
            use_spmd_partitioning: true,
            ..CompileOptions::replicas(1)
        }
    }

    /// For a program with `sdy.sharding` attributes that XLA's Shardy partitioner is to
    /// partition for `devices` devices.
    pub fn shardy(devices: usize) -> Self {
        CompileOptions { use_shardy_partitioner: true, ..CompileOptions::partitions(devices) }
    }

    /// Devices that the program runs on.
    pub fn device_count(&self) -> usize {
        self.num_replicas.saturating_mul(self.num_partitions)
    }

    /// The options as a serialised `CompileOptionsProto`; `defaults` are flags that are set
    /// where [`CompileOptions::flags`] doesn't name them.
    pub(crate) fn encode(&self, defaults: &[(&str, FlagValue)]) -> Result<Vec<u8>, InputError> {
        let devices = self.device_count();
        // XLA keeps both counts in 32 bits.
        let count = |count: usize| i32::try_from(count).ok().filter(|count| *count > 0);
        let (Some(replicas), Some(partitions), Some(_)) =
            (count(self.num_replicas), count(self.num_partitions), count(devices))
        else {
            return Err(InputError::DeviceCount(devices));
        };
        let ids: Vec<i64> = match &self.device_assignment {
            Some(ids) if ids.len() != devices => {
                return Err(InputError::Assignment { expected: devices, found: ids.len() });
            }
            Some(ids) => ids.clone(),
            None => (0..devices as i64).collect(),
        };
        let device_ids = |partition: usize| {
            ids.iter().skip(partition).step_by(self.num_partitions).copied().collect()
        };
        let assignment = proto::DeviceAssignment {
            replica_count: replicas,
            computation_count: partitions,
            computation_devices: (0..self.num_partitions)
                .map(|partition| proto::ComputationDevice {
                    replica_device_ids: device_ids(partition),
                })
                .collect(),
        };
        let mut flags: std::collections::BTreeMap<String, proto::OptionOverride> =
            defaults.iter().map(|(name, value)| ((*name).to_owned(), value.into())).collect();
        flags.extend(self.flags.iter().map(|(name, value)| (name.clone(), value.into())));
        let options = proto::CompileOptions {
            executable_build_options: Some(proto::ExecutableBuildOptions {
                device_ordinal: -1,
                num_replicas: replicas.into(),
                num_partitions: partitions.into(),
                use_spmd_partitioning: self.use_spmd_partitioning,
                device_assignment: Some(assignment),
                allow_spmd_sharding_propagation_to_output: self.propagate_to_results.clone(),
                use_shardy_partitioner: self.use_shardy_partitioner,
            }),
            env_option_overrides: flags,
        };
        Ok(options.encode_to_vec())
    }
}

impl Default for CompileOptions {
    fn default() -> Self {
        CompileOptions::replicas(1)
    }
}

impl From<&FlagValue> for proto::OptionOverride {
    fn from(value: &FlagValue) -> Self {
        use proto::option_override::Value;
        let value = match value {
            FlagValue::Bool(value) => Value::Bool(*value),
            FlagValue::Integer(value) => Value::Integer(*value),
            FlagValue::Float(value) => Value::Float(*value),
            FlagValue::Text(value) => Value::Text(value.clone()),
        };
        proto::OptionOverride { value: Some(value) }
    }
}
