//! Named topologies, and topologies from files.

use smallvec::SmallVec;
use thiserror::Error;

use super::{Device, Figure, Network, Topology, TorusDim};

/// The names that [`Topology::parse`] knows, each with what it is.
pub const KNOWN_TOPOLOGIES: &[(&str, &str)] = &[
    ("even", "any number of devices, all equally near: the default"),
    ("even:N", "N devices, all equally near, as in even:8"),
    ("v4:XxYxZ", "a TPU v4 slice by its shape in chips, as in v4:2x2x2 or v4:4x4x8"),
    ("v4-N", "a TPU v4 slice by its number of cores, two a chip: v4-8 to v4-4096"),
    ("v3:XxY", "a TPU v3 slice by its shape in chips, as in v3:8x8 or v3:128x32"),
];

/// Shapes of the TPU v4 slices that are known by their number of cores. Source: MaxText's
/// accelerator table.
const V4_SLICES: &[(u32, [u32; 3])] = &[
    (8, [2, 2, 1]),
    (16, [2, 2, 2]),
    (32, [2, 2, 4]),
    (64, [2, 4, 4]),
    (128, [4, 4, 4]),
    (256, [4, 4, 8]),
    (384, [4, 4, 12]),
    (512, [4, 8, 8]),
    (1024, [8, 8, 8]),
    (1536, [8, 8, 12]),
    (2048, [8, 8, 16]),
    (4096, [8, 16, 16]),
];

/// Why a topology can't be had.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TopologyError {
    /// A name that isn't known.
    #[error("unknown topology `{name}`; known are {}", known())]
    Unknown {
        /// The name.
        name: String,
    },
    /// A slice whose number of cores isn't in the table.
    #[error(
        "there is no TPU v4 slice `{name}`; there are {}, or give the shape in chips: v4:XxYxZ",
        v4_names()
    )]
    UnknownSlice {
        /// The name.
        name: String,
    },
    /// A shape or count that can't be read.
    #[error("`{name}` should end with {expected}")]
    Malformed {
        /// The name.
        name: String,
        /// What the part after the colon should be.
        expected: &'static str,
    },
    /// A file that isn't a topology.
    #[error("the topology file can't be read: {message}")]
    File {
        /// What is wrong, with line and column.
        message: String,
    },
    /// A figure that makes no sense.
    #[error("the topology's {field} must be {expected}, and is {value}")]
    Figure {
        /// The field.
        field: &'static str,
        /// What it must be.
        expected: &'static str,
        /// What it is.
        value: String,
    },
}

fn known() -> String {
    let names: Vec<String> =
        KNOWN_TOPOLOGIES.iter().map(|(name, what)| format!("`{name}` ({what})")).collect();
    names.join("; ")
}

fn v4_names() -> String {
    let names: Vec<String> = V4_SLICES.iter().map(|(cores, _)| format!("v4-{cores}")).collect();
    names.join(", ")
}

impl Topology {
    /// The topology of a name: `even`, `even:8`, `v4:4x4x4`, `v4-128`, `v3:8x8`.
    ///
    /// # Errors
    /// [`TopologyError`], which lists the known names where this isn't one.
    pub fn parse(name: &str) -> Result<Topology, TopologyError> {
        let malformed = |expected| TopologyError::Malformed { name: name.to_owned(), expected };
        if let Some(cores) = name.strip_prefix("v4-") {
            let slice = V4_SLICES.iter().find(|(known, _)| known.to_string() == cores);
            let unknown = || TopologyError::UnknownSlice { name: name.to_owned() };
            let (_, shape) = slice.ok_or_else(unknown)?;
            return Ok(Topology { name: name.to_owned(), ..Topology::tpu_v4(*shape) });
        }
        match name.split_once(':') {
            None if name == "even" => Ok(Topology::even(None)),
            Some(("even", count)) => {
                let expected = "the number of devices, as in even:8";
                match count.parse() {
                    Ok(count) if count > 0 => Ok(Topology::even(Some(count))),
                    _ => Err(malformed(expected)),
                }
            }
            Some(("v4", shape)) => shape_of(shape)
                .map(Topology::tpu_v4)
                .ok_or_else(|| malformed("the shape in chips, as in v4:2x2x2")),
            Some(("v3", shape)) => match shape_of(shape) {
                Some([x, y, 1]) => Ok(Topology::tpu_v3([x, y])),
                _ => Err(malformed("the shape in chips, as in v3:8x8")),
            },
            _ => Err(TopologyError::Unknown { name: name.to_owned() }),
        }
    }

    /// The topology that a file's text (JSON) describes.
    ///
    /// # Errors
    /// [`TopologyError::File`] with line and column, or [`TopologyError::Figure`].
    pub fn from_json(text: &str) -> Result<Topology, TopologyError> {
        let topology: Topology = serde_json::from_str(text)
            .map_err(|error| TopologyError::File { message: error.to_string() })?;
        topology.check()?;
        Ok(topology)
    }

    /// The text of a file that describes the topology.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    fn check(&self) -> Result<(), TopologyError> {
        let wrong = |field, expected, value: f64| {
            Err(TopologyError::Figure { field, expected, value: value.to_string() })
        };
        let device = &self.device;
        let mut positive = vec![
            ("device.narrow_flops", &device.narrow_flops),
            ("device.single_flops", &device.single_flops),
            ("device.double_flops", &device.double_flops),
            ("device.memory_bytes", &device.memory_bytes),
            ("device.memory_bandwidth", &device.memory_bandwidth),
        ];
        let delay = match &self.network {
            Network::Even { devices, bandwidth, latency } => {
                if *devices == Some(0) {
                    return wrong("network.devices", "at least 1", 0.0);
                }
                positive.push(("network.bandwidth", bandwidth));
                ("network.latency", latency)
            }
            Network::Torus { dims, link_bandwidth, hop, efficiency } => {
                if let Some(dim) = dims.iter().find(|dim| dim.size == 0) {
                    return wrong("network.dims", "of size at least 1", f64::from(dim.size));
                }
                if efficiency.value > 1.0 {
                    return wrong("network.efficiency", "between 0 and 1", efficiency.value);
                }
                positive.push(("network.link_bandwidth", link_bandwidth));
                positive.push(("network.efficiency", efficiency));
                ("network.hop", hop)
            }
        };
        for (field, figure) in positive {
            if !(figure.value.is_finite() && figure.value > 0.0) {
                return wrong(field, "a positive number", figure.value);
            }
        }
        let (field, figure) = delay;
        if !(figure.value.is_finite() && figure.value >= 0.0) {
            return wrong(field, "zero or more", figure.value);
        }
        Ok(())
    }

    /// Devices that are all equally near: TPU v4 chips, each with the bandwidth of one of its
    /// rings. `None` fits a mesh of any size.
    pub fn even(devices: Option<u64>) -> Topology {
        let name = devices.map_or_else(|| "even".to_owned(), |count| format!("even:{count}"));
        let network = Network::Even {
            devices,
            bandwidth: Figure::new(90e9, "assumed: one ring of TPU v4, two links of 45 GB/s"),
            latency: Figure::new(1e-6, "assumed: one hop of TPU v4"),
        };
        Topology { name, device: Device::tpu_v4(), network }
    }

    /// A TPU v4 slice of the given shape in chips. Every dimension wraps where the slice is made
    /// of whole 4x4x4 blocks, and none otherwise.
    pub fn tpu_v4(shape: [u32; 3]) -> Topology {
        let wraps = shape.iter().all(|size| *size > 0 && size.is_multiple_of(4));
        let [x, y, z] = shape;
        Topology {
            name: format!("v4:{x}x{y}x{z}"),
            device: Device::tpu_v4(),
            network: Network::Torus {
                dims: shape.iter().map(|&size| TorusDim { size, wraps }).collect(),
                link_bandwidth: Figure::new(
                    45e9,
                    "How to Scale Your Model (50e9 in the TPU v4 paper's Table 4)",
                ),
                hop: Figure::new(1e-6, "How to Scale Your Model"),
                efficiency: Figure::one(),
            },
        }
    }

    /// A TPU v3 slice of the given shape in chips. A dimension of 32 chips, a whole pod's edge,
    /// wraps; of the multipod's 128x32 chips only the second dimension does.
    pub fn tpu_v3(shape: [u32; 2]) -> Topology {
        let [x, y] = shape;
        Topology {
            name: format!("v3:{x}x{y}"),
            device: Device::tpu_v3(),
            network: Network::Torus {
                dims: shape.iter().map(|&size| TorusDim { size, wraps: size == 32 }).collect(),
                link_bandwidth: Figure::new(
                    70e9,
                    "the TPU v4 paper's Table 4 (100e9 in How to Scale Your Model)",
                ),
                hop: Figure::new(1e-6, "How to Scale Your Model, for TPU v4"),
                efficiency: Figure::one(),
            },
        }
    }
}

/// `4x4x8`, `4x4` (the rest 1), `16`.
fn shape_of(text: &str) -> Option<[u32; 3]> {
    let sizes: SmallVec<[u32; 3]> = text
        .split('x')
        .map(|size| size.parse().ok().filter(|&size| size > 0))
        .collect::<Option<_>>()?;
    let mut shape = [1; 3];
    shape.get_mut(..sizes.len())?.copy_from_slice(&sizes);
    Some(shape)
}
