//! Prices of reshards and of computing, in seconds on a topology.

use rustc_hash::FxHashMap;
use shard_cost::{CollectiveKind, Placement, PlacementError, Topology};
use shard_ir::ElementType;
use shard_ir::sharding::{AxisRef, Mesh, TensorSharding};

use crate::reshard::{Plan, Request, StepKind, plan};

/// Prices for one mesh on one topology; remembers those it has computed.
pub struct Pricing {
    topology: Topology,
    mesh: Mesh,
    plans: FxHashMap<(TensorSharding, TensorSharding, u64), Plan>,
}

impl Pricing {
    /// Prices for programs over `mesh` on a topology.
    ///
    /// # Errors
    /// If the topology has another number of devices than the mesh.
    pub fn new(topology: Topology, mesh: Mesh) -> Result<Self, PlacementError> {
        topology.place(&mesh)?;
        Ok(Pricing { topology, mesh, plans: FxHashMap::default() })
    }

    /// The mesh.
    pub fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    /// The topology.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// The cheapest way from one sharding of a tensor to another; `bytes` is the whole tensor's.
    pub fn reshard(&mut self, from: &TensorSharding, to: &TensorSharding, bytes: u64) -> &Plan {
        let Pricing { topology, mesh, plans } = self;
        plans.entry((from.clone(), to.clone(), bytes)).or_insert_with(|| {
            let placement = topology.place(mesh).ok();
            let memory = topology.device.memory_bandwidth.value;
            let seconds = |kind: StepKind, along: &[AxisRef], bytes: u64| {
                step(placement.as_ref(), memory, kind, along, bytes)
            };
            plan(&Request { from, to, bytes, seconds: &seconds })
        })
    }

    /// Seconds that computing takes on one device: the longer of `flops` at the peak rate for the
    /// element type, and `bytes` at the bandwidth of its memory.
    pub fn compute(&self, element: ElementType, flops: f64, bytes: f64) -> f64 {
        let device = &self.topology.device;
        (flops / device.peak_flops(element)).max(bytes / device.memory_bandwidth.value)
    }
}

/// Seconds of one step of a reshard, for so many bytes of a device's operand.
fn step(
    placement: Option<&Placement<'_>>,
    memory_bandwidth: f64,
    kind: StepKind,
    along: &[AxisRef],
    bytes: u64,
) -> f64 {
    let collective = match kind {
        StepKind::AllGather => CollectiveKind::AllGather,
        StepKind::AllToAll => CollectiveKind::AllToAll,
        StepKind::Permute => CollectiveKind::Permute,
        StepKind::AllReduce => CollectiveKind::AllReduce,
        StepKind::ReduceScatter => CollectiveKind::ReduceScatter,
        // A read and a write of memory.
        StepKind::AllSlice | StepKind::MakePartial => return bytes as f64 / memory_bandwidth,
    };
    placement.map_or(f64::INFINITY, |placement| placement.seconds(collective, along, bytes))
}
