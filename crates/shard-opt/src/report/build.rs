//! Making a report of a program.

use shard_cost::{Network, Topology};
use shard_ir::sharding::Mesh;
use shard_ir::{Attr, Diagnostic, Item, Module};
use shard_passes::pipeline::Partitioned;

use super::model::{AxisInfo, Memory, MeshInfo, SCHEMA_VERSION, TopologyInfo};
use super::place::Places;
use super::{Compute, FallbackEntry, InterfaceEntry, Report, ReportOptions};
use super::{collectives, compute, fallback, interface, units};

/// A warning where a per-device program needs more memory than a device may use.
pub fn memory_warning(module: &Module, limit: u64) -> Option<Diagnostic> {
    let peak = compute::peak_bytes(module);
    (peak > limit).then(|| {
        Diagnostic::warning(format!(
            "a device needs up to {} of memory at once, and has {}",
            units::bytes(peak),
            units::bytes(limit)
        ))
        .help("--report=text shows what is large, and which arguments every device has whole")
    })
}

impl Report {
    /// Describes what the partitioner made: its last stage must be a per-device one.
    pub fn new(done: &Partitioned, options: &ReportOptions<'_>) -> Report {
        let places = Places { input: options.input };
        let mesh = shard_passes::meshes::main_mesh(&done.whole)
            .map(|mesh| done.whole.meshes[mesh].mesh.clone())
            .unwrap_or_default();
        let interface = (
            interface::entries(&done.module, &mesh, &done.parameters),
            interface::entries(&done.module, &mesh, &done.results),
        );
        let compute = compute::compare(&done.whole, &done.module, mesh.device_count(), &places);
        let fallbacks = fallback::describe(&done.module, &done.fallbacks, &places);
        let mut report = assemble(&done.module, &mesh, options, interface, compute, fallbacks);
        // What has no reason wasn't inserted.
        for entry in &mut report.collectives {
            entry.reason.get_or_insert_with(|| "written in the program".to_owned());
        }
        report
    }

    /// Describes a per-device program, whoever partitioned it.
    ///
    /// # Errors
    /// If it isn't one, or has another number of devices than the mesh that is stated.
    pub fn of_local(module: &Module, options: &ReportOptions<'_>) -> Result<Report, Diagnostic> {
        let mesh = local_mesh(module, options)?;
        let interface = interface::local_entries(module);
        let compute = compute::of_local(module);
        Ok(assemble(module, &mesh, options, interface, compute, Vec::new()))
    }
}

fn assemble(
    module: &Module,
    mesh: &Mesh,
    options: &ReportOptions<'_>,
    (parameters, results): (Vec<InterfaceEntry>, Vec<InterfaceEntry>),
    compute: Compute,
    fallbacks: Vec<FallbackEntry>,
) -> Report {
    let topology = &options.topology;
    let places = Places { input: options.input };
    let collectives = collectives::collectives(module, mesh, topology, &places);
    let bytes = |entries: &[InterfaceEntry]| entries.iter().map(|entry| entry.local_bytes).sum();
    let large = match mesh.device_count() {
        0 | 1 => Vec::new(),
        _ => interface::large_replicated(&parameters),
    };
    Report {
        schema_version: SCHEMA_VERSION,
        program: module.name.map(|name| module.str(name).to_owned()).unwrap_or_default(),
        mesh: MeshInfo {
            axes: mesh
                .axes
                .iter()
                .map(|axis| AxisInfo { name: axis.name.to_string(), size: axis.size })
                .collect(),
            devices: mesh.device_count(),
        },
        topology: topology_info(topology, mesh),
        totals: collectives::totals(&collectives),
        memory: Memory {
            arguments_bytes: bytes(&parameters),
            results_bytes: bytes(&results),
            peak_bytes: compute::peak_bytes(module),
            limit_bytes: options.memory_limit.unwrap_or(topology.device.memory_bytes.value as u64),
            large_replicated: large,
        },
        parameters,
        results,
        collectives,
        fallbacks,
        compute,
    }
}

fn topology_info(topology: &Topology, mesh: &Mesh) -> TopologyInfo {
    let (bandwidth, latency) = match &topology.network {
        Network::Even { bandwidth, latency, .. } => (bandwidth.value, latency.value),
        Network::Torus { link_bandwidth, hop, .. } => (link_bandwidth.value, hop.value),
    };
    TopologyInfo {
        name: topology.name.clone(),
        device: topology.device.name.to_string(),
        bandwidth,
        latency,
        fits: topology.place(mesh).is_ok(),
    }
}

/// The mesh of a per-device program: the one stated, its own, or one axis of all devices.
fn local_mesh(module: &Module, options: &ReportOptions<'_>) -> Result<Mesh, Diagnostic> {
    let at = |error: Diagnostic| match module.main_func() {
        Some(main) => error.at_loc(module, module.funcs[main].loc),
        None => error,
    };
    let count = |name| match module.attr(module.attrs, name) {
        Some(Attr::Int(count, _)) => u64::try_from(*count).ok(),
        _ => None,
    };
    let stated = match (count("mhlo.num_partitions"), count("mhlo.num_replicas")) {
        (None, None) => None,
        (partitions, replicas) => {
            Some(partitions.unwrap_or(1).saturating_mul(replicas.unwrap_or(1)))
        }
    };
    let own = shard_passes::meshes::main_mesh(module).map(|mesh| &module.meshes[mesh].mesh);
    if own.is_some_and(|mesh| mesh.device_count() > 1) && is_global(module) {
        let error =
            Diagnostic::error("the program isn't partitioned: it has shardings over a mesh")
                .help("partition it: shard-opt partition FILE --report=text -o LOCAL");
        return Err(at(error));
    }
    if let Some(mesh) = options.mesh.as_ref().or(own) {
        let devices = mesh.device_count();
        if let Some(stated) = stated.filter(|&stated| stated != devices) {
            let error =
                Diagnostic::error(format!("the mesh has {devices} devices, the program {stated}"))
                    .help(format!("state a mesh of {stated} devices with --mesh"));
            return Err(at(error));
        }
        return Ok(mesh.clone());
    }
    let devices = stated.unwrap_or_else(|| compute::devices_named(module));
    let devices = u32::try_from(devices).map_err(|_| {
        at(Diagnostic::error(format!("the program has {devices} devices, which is too many")))
    })?;
    Ok(Mesh::new(&[("devices", devices.max(1))]))
}

/// Whether arguments or results of the main function have shardings, as before partitioning.
fn is_global(module: &Module) -> bool {
    let named = module.items.iter().any(|item| matches!(item, Item::Mesh(_)));
    let Some(main) = module.main_func() else { return false };
    let sharded_argument =
        || module.args(main).iter().any(|&value| module.value_sharding(value).is_some());
    let sharded_result =
        || module.funcs[main].results.iter().any(|result| result.sharding.is_some());
    named && (sharded_argument() || sharded_result())
}
