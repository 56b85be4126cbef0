//! What a partitioned program costs: the machines it may run on, and how long their collectives
//! take.
//!
//! Times are in seconds, sizes in bytes, rates in bytes or FLOP a second. Nothing here depends on
//! the number of devices but through arithmetic: a slice of 4,096 chips is priced as fast as one
//! of 8.
//!
//! Start with [`Topology::parse`], bind a mesh with [`Topology::place`], and ask
//! [`Placement::seconds`].

mod collective;
pub mod liveness;
pub mod ops;
pub mod program;
pub mod topology;
mod trips;

pub use collective::{CollectiveKind, payload_bytes, wire_bytes};
pub use topology::{
    Device, Figure, KNOWN_TOPOLOGIES, Network, Placement, PlacementError, Span, Topology,
    TopologyError, TorusDim,
};
pub use trips::trip_count;
