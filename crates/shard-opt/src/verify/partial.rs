//! Arguments and results that are partial along some axes: devices hold parts whose combination is
//! the value.

use shard_ir::HostArray;
use std::collections::BTreeMap;

use shard_ir::NumberKind;
use shard_ir::sharding::{Combiner, Mesh, TensorSharding, axes, digits};

use super::elements;

/// The device's number along the axes that the value is partial along; `None` if the axes aren't
/// the mesh's.
fn position(sharding: &TensorSharding, mesh: &Mesh, device: u64) -> Option<u64> {
    let along = axes::digits(mesh, &sharding.unreduced)?;
    Some(digits::position(&along, mesh.logical_index(device)?))
}

/// What a device holds of an argument: the first along the axes the value, the others what leaves
/// it as it is.
pub(super) fn part(
    array: HostArray,
    sharding: Option<&TensorSharding>,
    mesh: &Mesh,
    device: u64,
) -> HostArray {
    let Some(sharding) = sharding.filter(|sharding| sharding.is_unreduced()) else { return array };
    if position(sharding, mesh, device) == Some(0) {
        return array;
    }
    let neutral = shard_passes::numbers::neutral_bytes(array.element_type, sharding.combiner);
    let count = array.bytes.len() / neutral.len().max(1);
    HostArray { bytes: neutral.repeat(count), ..array }
}

/// Puts the combination of the devices' parts of a result in the place of each part.
pub(super) fn complete(
    lists: &mut [Vec<HostArray>],
    index: usize,
    sharding: &TensorSharding,
    mesh: &Mesh,
) {
    let mut groups: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    let others = axes::complement(mesh, &sharding.unreduced);
    let Some(others) = axes::digits(mesh, &others) else { return };
    for device in 0..lists.len() {
        let Some(logical) = mesh.logical_index(device as u64) else { return };
        groups.entry(digits::position(&others, logical)).or_default().push(device);
    }
    for members in groups.into_values() {
        let parts: Option<Vec<&HostArray>> =
            members.iter().map(|&device| lists[device].get(index)).collect();
        let Some(combined) = parts.and_then(|parts| combine(&parts, sharding.combiner)) else {
            return;
        };
        for device in members {
            lists[device][index] = combined.clone();
        }
    }
}

fn combine(parts: &[&HostArray], combiner: Combiner) -> Option<HostArray> {
    let first = *parts.first()?;
    let element = first.element_type;
    let width = element.storage_bytes();
    if parts.iter().any(|part| part.bytes.len() != first.bytes.len()) {
        return None;
    }
    let mut bytes = Vec::with_capacity(first.bytes.len());
    for at in (0..first.bytes.len()).step_by(width.max(1)) {
        let values = parts.iter().map(|part| &part.bytes[at..at + width]);
        match element.kind() {
            NumberKind::Float => {
                let values = values.map(|bytes| elements::float(element, bytes));
                let all = match combiner {
                    Combiner::Sum => values.sum(),
                    Combiner::Max => values.fold(f64::NEG_INFINITY, f64::max),
                    Combiner::Min => values.fold(f64::INFINITY, f64::min),
                };
                elements::push_float(element, all, &mut bytes);
            }
            NumberKind::Complex => {
                let values = values.map(|bytes| elements::parts(element, bytes));
                let sum = values.fold([0.0, 0.0], |[a, b], [c, d]| [a + c, b + d]);
                for value in sum {
                    if width == 8 {
                        bytes.extend((value as f32).to_le_bytes());
                    } else {
                        bytes.extend(value.to_le_bytes());
                    }
                }
            }
            NumberKind::Bool | NumberKind::Signed | NumberKind::Unsigned => {
                let values = values.map(|bytes| elements::integer(element, bytes));
                let all = match combiner {
                    Combiner::Sum => values.fold(0, |a: i128, b| a.wrapping_add(b)),
                    Combiner::Max => values.max()?,
                    Combiner::Min => values.min()?,
                };
                elements::push_integer(element, all, &mut bytes);
            }
            NumberKind::Quantized => return None,
        }
    }
    Some(HostArray { bytes, ..first.clone() })
}
