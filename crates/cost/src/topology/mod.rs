//! Machines: their devices, and the network between them.
//!
//! A [`Topology`] is named (`v4:2x2x2`, `even:8`) or read from a file; every figure in it says
//! where it comes from. [`Topology::place`] lays a mesh on it.

mod figures;
mod names;
mod place;

use serde::{Deserialize, Serialize};

pub use figures::{Device, Figure};
pub use names::{KNOWN_TOPOLOGIES, TopologyError};
pub use place::{Placement, PlacementError, Span};

/// A machine: so many devices of one kind, and the network between them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Topology {
    /// What reports call it, such as `v4:2x2x2`.
    pub name: String,
    /// One device.
    pub device: Device,
    /// What connects the devices.
    pub network: Network,
}

/// What connects the devices of a machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Network {
    /// Every device reaches every other at the same rate and with the same delay, whichever mesh
    /// axes a collective runs along.
    Even {
        /// The number of devices; `null` where a mesh of any size fits.
        devices: Option<u64>,
        /// What a device sends, and at the same time receives, in bytes a second.
        bandwidth: Figure,
        /// The time that a collective takes however little it moves, in seconds.
        latency: Figure,
    },
    /// A torus (or grid) of devices, each connected to its neighbours in each dimension.
    Torus {
        /// The dimensions, major to minor: devices are numbered row-major.
        dims: Vec<TorusDim>,
        /// What one link carries in one direction, in bytes a second.
        link_bandwidth: Figure,
        /// The delay from a device to its neighbour, in seconds.
        hop: Figure,
        /// The share of the links' bandwidth that large collectives reach, 0 to 1.
        #[serde(default = "Figure::one")]
        efficiency: Figure,
    },
}

/// A dimension of a torus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TorusDim {
    /// The number of devices along it.
    pub size: u32,
    /// Whether the last device is connected to the first.
    pub wraps: bool,
}

impl Topology {
    /// The number of devices; `None` where a mesh of any size fits.
    pub fn device_count(&self) -> Option<u64> {
        match &self.network {
            Network::Even { devices, .. } => *devices,
            Network::Torus { dims, .. } => {
                Some(dims.iter().fold(1, |n, dim| u64::from(dim.size).saturating_mul(n)))
            }
        }
    }
}

impl Default for Topology {
    /// `even`: what is assumed where no topology is given.
    fn default() -> Topology {
        Topology::even(None)
    }
}
