//! Prices of reshards and of computing, in seconds on a topology.

use rustc_hash::FxHashMap;
use shard_ir::sharding::{AxisRef, Mesh, TensorSharding, axes};

use crate::reshard::{Plan, Request, StepKind, plan};

/// Prices on one mesh; remembers those it has computed.
pub struct Pricing {
    mesh: Mesh,
    plans: FxHashMap<(TensorSharding, TensorSharding, u64), Plan>,
}

impl Pricing {
    /// Prices for programs over `mesh`.
    pub fn new(mesh: Mesh) -> Self {
        Pricing { mesh, plans: FxHashMap::default() }
    }

    /// The mesh.
    pub fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    /// The cheapest way from one sharding of a tensor to another; `bytes` is the whole tensor's.
    pub fn reshard(&mut self, from: &TensorSharding, to: &TensorSharding, bytes: u64) -> &Plan {
        let key = (from.clone(), to.clone(), bytes);
        let seconds = |kind: StepKind, along: &[AxisRef], bytes: u64| step(kind, along, bytes);
        self.plans
            .entry(key)
            .or_insert_with(|| plan(&Request { from, to, bytes, seconds: &seconds }))
    }

    /// Seconds that computing takes: `flops` and `bytes` of one device.
    pub fn compute(&self, flops: f64, bytes: f64) -> f64 {
        (flops / 275e12).max(bytes / 1.2e12)
    }
}

fn step(kind: StepKind, along: &[AxisRef], bytes: u64) -> f64 {
    let n = axes::product(along).max(1) as f64;
    let wire = match kind {
        StepKind::AllGather => bytes as f64 * (n - 1.0),
        StepKind::AllSlice | StepKind::MakePartial => return bytes as f64 / 1.2e12,
        StepKind::AllToAll | StepKind::ReduceScatter => bytes as f64 * (n - 1.0) / n,
        StepKind::Permute => bytes as f64,
        StepKind::AllReduce => 2.0 * bytes as f64 * (n - 1.0) / n,
    };
    1e-6 + wire / 90e9
}
