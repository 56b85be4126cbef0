//! The collectives of a per-device program.

use shard_cost::{CollectiveKind, Placement, Topology, payload_bytes, wire_bytes};
use shard_ir::ops::{Collective, Op, Pairs};
use shard_ir::sharding::{AxisList, AxisRef, Groups, Mesh, axes};
use shard_ir::{DYNAMIC, MeshId, Module, OpId, TensorType, Type, ValueId};
use shard_passes::reasons;

use super::compute::{Run, runs};
use super::model::{CollectiveEntry, OpTotal, Totals};
use super::place::Places;

/// Describes every collective of the main function, in program order.
pub(super) fn collectives(
    module: &Module,
    mesh: &Mesh,
    topology: &Topology,
    places: &Places<'_>,
) -> Vec<CollectiveEntry> {
    let scan = Scan { module, mesh, placement: topology.place(mesh).ok(), places };
    runs(module).into_iter().filter_map(|run| scan.describe(run)).collect()
}

/// Sums, each entry as often as it runs.
pub(super) fn totals(entries: &[CollectiveEntry]) -> Totals {
    let mut totals = Totals::default();
    for entry in entries {
        let index = totals.by_op.iter().position(|total| total.op == entry.op);
        let index = index.unwrap_or_else(|| {
            totals.by_op.push(OpTotal {
                op: entry.op.clone(),
                count: 0,
                payload_bytes: 0,
                wire_bytes: 0,
                estimated_seconds: 0.0,
            });
            totals.by_op.len() - 1
        });
        let total = &mut totals.by_op[index];
        total.count += entry.count;
        total.payload_bytes += entry.payload_bytes.saturating_mul(entry.count);
        total.wire_bytes += entry.wire_bytes.saturating_mul(entry.count);
        total.estimated_seconds += entry.estimated_seconds * entry.count as f64;
    }
    for total in &totals.by_op {
        totals.count += total.count;
        totals.payload_bytes = totals.payload_bytes.saturating_add(total.payload_bytes);
        totals.wire_bytes = totals.wire_bytes.saturating_add(total.wire_bytes);
        totals.estimated_seconds += total.estimated_seconds;
    }
    totals.by_op.sort_by(|a, b| b.estimated_seconds.total_cmp(&a.estimated_seconds));
    totals
}

struct Scan<'a> {
    module: &'a Module,
    mesh: &'a Mesh,
    /// `None` where the mesh doesn't fit the topology.
    placement: Option<Placement<'a>>,
    places: &'a Places<'a>,
}

/// Who takes part in a collective.
struct Members {
    /// `None` where the groups don't follow the mesh.
    along: Option<AxisList>,
    size: u64,
    kind: CollectiveKind,
}

impl Scan<'_> {
    fn describe(&self, run: Run) -> Option<CollectiveEntry> {
        let (name, members) = self.members(run.op)?;
        let operands = self.module.operands(run.op);
        let operand_bytes: u64 = operands.iter().map(|&value| self.bytes(value)).sum();
        let payload = match members.kind {
            CollectiveKind::AllGather => self.module.results(run.op),
            _ => operands,
        };
        let loc = self.module.op(run.op).loc;
        Some(CollectiveEntry {
            op: name.to_owned(),
            axes: members.along.as_ref().map(|along| axis_names(self.mesh, along)),
            group_size: members.size,
            payload_type: self.payload_type(payload),
            payload_bytes: payload_bytes(members.kind, operand_bytes, members.size),
            wire_bytes: wire_bytes(members.kind, operand_bytes, members.size),
            count: run.count,
            count_unknown: run.unknown,
            location: self.places.text(self.module, loc),
            reason: reasons::reason(self.module, loc).map(str::to_owned),
            estimated_seconds: self.seconds(&members, operand_bytes),
        })
    }

    fn members(&self, op: OpId) -> Option<(&'static str, Members)> {
        let Op::Collective(kind) = self.module.kind(op) else { return None };
        let grouped = |groups: &Groups, kind| {
            let id = MeshId::from_u32(0);
            let along = match groups.to_axes(self.mesh, id) {
                Some(Groups::Axes { axes, .. }) => Some(axes),
                _ => None,
            };
            Members { along, size: groups.group_size(), kind }
        };
        Some(match kind {
            Collective::AllGather(op) => {
                ("all_gather", grouped(&op.groups, CollectiveKind::AllGather))
            }
            Collective::AllReduce(op) => {
                ("all_reduce", grouped(&op.groups, CollectiveKind::AllReduce))
            }
            Collective::ReduceScatter(op) => {
                ("reduce_scatter", grouped(&op.groups, CollectiveKind::ReduceScatter))
            }
            Collective::AllToAll(op) => {
                ("all_to_all", grouped(&op.groups, CollectiveKind::AllToAll))
            }
            // What the first device of a group sends, every other one gets.
            Collective::CollectiveBroadcast(op) => {
                ("collective_broadcast", grouped(&op.groups, CollectiveKind::Permute))
            }
            Collective::CollectivePermute(op) => ("collective_permute", self.permute(&op.pairs)),
            Collective::PartitionId | Collective::ReplicaId => return None,
        })
    }

    /// The axes along which a permute moves values, and whether all move as far.
    fn permute(&self, pairs: &Pairs) -> Members {
        let mesh = self.mesh;
        let logical = |id: i64| u64::try_from(id).ok().and_then(|id| mesh.logical_index(id));
        let moves: Option<Vec<(u64, u64)>> =
            pairs.0.iter().map(|&[from, to]| Some((logical(from)?, logical(to)?))).collect();
        let Some(moves) = moves else {
            let size = pairs.0.len() as u64;
            return Members { along: None, size, kind: CollectiveKind::Permute };
        };
        let mut moved = vec![false; mesh.axes.len()];
        for &(from, to) in moves.iter().filter(|(from, to)| from != to) {
            if let (Some(from), Some(to)) = (mesh.coordinates(from), mesh.coordinates(to)) {
                for (moved, (from, to)) in moved.iter_mut().zip(from.iter().zip(&to)) {
                    *moved |= from != to;
                }
            }
        }
        let along: AxisList = mesh
            .all_axes()
            .zip(&moved)
            .filter(|(_, moved)| **moved)
            .map(|(axis, _)| axis)
            .collect();
        let size = axes::product(&along);
        let groups = Groups::along(MeshId::from_u32(0), &along);
        let mut places = moves.iter().filter_map(|&(from, to)| {
            let position = |logical| {
                let id = mesh.device_id(logical)?;
                groups.position_of(mesh, id).map(|(_, position)| position)
            };
            Some((position(to)? + size - position(from)?) % size)
        });
        let first = places.next();
        let kind = match first {
            Some(first) if size > 0 && places.all(|place| place == first) => {
                CollectiveKind::Shift { places: first }
            }
            _ => CollectiveKind::Permute,
        };
        // Nobody but oneself: nothing is sent.
        Members { along: Some(along), size, kind }
    }

    fn seconds(&self, members: &Members, operand_bytes: u64) -> f64 {
        match (&self.placement, &members.along) {
            (Some(placement), Some(along)) => placement.seconds(members.kind, along, operand_bytes),
            // Groups that don't follow the mesh, or a mesh that doesn't fit the topology, are
            // priced on a network on which it makes no difference.
            _ => {
                let size = u32::try_from(members.size).unwrap_or(u32::MAX);
                let mesh = Mesh::new(&[("group", size)]);
                let along: Vec<AxisRef> = mesh.all_axes().collect();
                let topology = Topology::even(None);
                let seconds = topology
                    .place(&mesh)
                    .map(|placement| placement.seconds(members.kind, &along, operand_bytes));
                seconds.unwrap_or(0.0)
            }
        }
    }

    fn bytes(&self, value: ValueId) -> u64 {
        self.module.tensor_type(value).map_or(0, TensorType::bytes)
    }

    fn payload_type(&self, values: &[ValueId]) -> String {
        let first = values.first().map(|&value| type_text(self.module, value)).unwrap_or_default();
        match values.len() {
            0 | 1 => first,
            count => format!("{first} and {} more", count - 1),
        }
    }
}

/// The names of axes; parts of axes as sdy writes them: `model:(1)2`.
pub(crate) fn axis_names(mesh: &Mesh, list: &[AxisRef]) -> Vec<String> {
    list.iter()
        .map(|axis| {
            let name = mesh.axis_name(axis.axis).unwrap_or("?");
            if axis.is_whole(mesh) {
                name.to_owned()
            } else {
                format!("{name}:({}){}", axis.pre, axis.size)
            }
        })
        .collect()
}

/// The shape and element type of a value: `4x32xf32`.
fn type_text(module: &Module, value: ValueId) -> String {
    match module.ty(module.value_type(value)) {
        Type::Tensor(ty) => tensor_text(ty),
        _ => "?".to_owned(),
    }
}

/// A tensor's sizes and element type: `4x32xf32`.
pub(super) fn tensor_text(ty: &TensorType) -> String {
    let mut text = String::new();
    for &dim in &ty.dims {
        match dim {
            DYNAMIC => text.push('?'),
            dim => text.push_str(&dim.to_string()),
        }
        text.push('x');
    }
    text.push_str(&ty.element.to_string());
    text
}
