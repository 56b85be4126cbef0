//! Manual computations: regions written for one device of several.
//!
//! In a program of global shapes one device stands for all. At a manual computation it becomes all
//! devices of the mesh, each of which takes its parts of the operands, executes the region, and
//! gives its parts of the results. Manual computations inside of it are then executed by devices
//! that are there already: what is along free axes is whole on each of them.

use rustc_hash::FxHashMap;
use shard_ir::ops::ManualComputation;
use shard_ir::sharding::{AxisRef, Combiner, Mesh, TensorSharding};
use shard_ir::{MeshId, OpId, ShardingId};

use super::{Event, Program, World, blocks, run_all as run_devices};
use crate::site::Nothing;
use crate::{Fault, Tensor, Value};

/// What all devices made of it.
pub(super) struct Joined {
    pub values: Vec<Value>,
    pub events: Vec<Event>,
}

/// Executes a manual computation of a program of global shapes.
///
/// # Errors
/// If shardings don't fit, or what happens inside.
pub(super) fn run_all(
    program: &Program<'_>,
    op: OpId,
    computation: &ManualComputation,
    operands: Vec<Value>,
) -> Result<Joined, Fault> {
    let module = program.module;
    // Without shardings there is no axis to be manual along.
    let mesh = mesh_of(program, computation)?;
    let devices = mesh.map_or(1, |mesh| module.meshes[mesh].mesh.device_count());
    const MOST: u64 = 1 << 16;
    if devices > MOST {
        return Err(Fault::unsupported(format!("a mesh of {devices} devices")));
    }
    let world = World { replicas: 1, partitions: devices as usize, mixed: false };
    run_on(program, op, computation, operands, world, mesh)
}

fn run_on(
    program: &Program<'_>,
    op: OpId,
    computation: &ManualComputation,
    operands: Vec<Value>,
    world: World,
    mesh: Option<MeshId>,
) -> Result<Joined, Fault> {
    let module = program.module;
    let region = module.regions(op).first().copied();
    let Some(region) = region.filter(|region| module.region(*region).blocks.len() == 1) else {
        return Err(Fault::invalid("the region isn't a single block"));
    };
    let block = module.entry(region);
    let inner = program.on(world, mesh);
    let starts = (0..world.devices())
        .map(|device| {
            let args = match mesh {
                Some(_) => parts(&inner, op, computation, device, &operands)?,
                None => operands.clone(),
            };
            Ok((block, args))
        })
        .collect::<Result<Vec<_>, Fault>>()?;
    let outcome = run_devices(&inner, &Nothing, starts, Vec::new())
        .map_err(|error| Fault::Within(Box::new(error)))?;
    let lists: Vec<&[Value]> = outcome.results.iter().map(Vec::as_slice).collect();
    let values = match mesh {
        Some(_) => joined(&inner, op, computation, &lists)?.swap_remove(0),
        None => lists.first().map(|list| list.to_vec()).unwrap_or_default(),
    };
    Ok(Joined { values, events: outcome.events })
}

/// The mesh of a manual computation's shardings.
fn mesh_of(
    program: &Program<'_>,
    computation: &ManualComputation,
) -> Result<Option<MeshId>, Fault> {
    let lists = [&computation.in_shardings.0, &computation.out_shardings.0];
    let mut meshes =
        lists.into_iter().flatten().map(|sharding| program.module.sharding(*sharding).mesh);
    let Some(first) = meshes.next() else { return Ok(None) };
    let mesh = |id: MeshId| &program.module.meshes[id].mesh;
    if meshes.any(|other| mesh(other) != mesh(first)) {
        return Err(Fault::unsupported("a manual computation over several meshes"));
    }
    Ok(Some(first))
}

/// The axes of a list that are manual here.
fn manual_axes(
    program: &Program<'_>,
    computation: &ManualComputation,
    mesh: &Mesh,
    list: &[AxisRef],
) -> Vec<AxisRef> {
    let module = program.module;
    let manual = |axis: &AxisRef| {
        let name = mesh.axis_name(axis.axis);
        computation.manual_axes.0.iter().any(|symbol| Some(module.str(*symbol)) == name)
    };
    list.iter().copied().filter(manual).collect()
}

/// A sharding with those axes alone that are manual here.
fn manual_part(
    program: &Program<'_>,
    computation: &ManualComputation,
    sharding: ShardingId,
) -> TensorSharding {
    let sharding = program.module.sharding(sharding);
    let mesh = &program.module.meshes[sharding.mesh].mesh;
    let mut part = TensorSharding::fully_replicated(sharding.mesh, sharding.rank());
    for dim in 0..sharding.rank() {
        let axes = manual_axes(program, computation, mesh, sharding.dim_axes(dim));
        part = part.with_dim_axes(dim, &axes);
    }
    part
}

/// A device's parts of the operands.
///
/// # Errors
/// If a dimension doesn't divide.
pub(super) fn parts(
    program: &Program<'_>,
    op: OpId,
    computation: &ManualComputation,
    device: usize,
    operands: &[Value],
) -> Result<Vec<Value>, Fault> {
    let module = program.module;
    let shardings = &computation.in_shardings.0;
    if shardings.len() != operands.len() {
        let name = module.op_name(op);
        return Err(Fault::invalid(format!("{name} has not as many shardings as operands")));
    }
    let part = |(value, sharding): (&Value, &ShardingId)| {
        let Value::Tensor(tensor) = value else { return Ok(value.clone()) };
        let sharding = manual_part(program, computation, *sharding);
        let (offsets, dims) = place(program, &sharding, device, tensor.dims())?;
        blocks::cut(tensor, &offsets, &dims).map(Value::Tensor)
    };
    operands.iter().zip(shardings).map(part).collect()
}

/// Where a device's part of a whole lies.
fn place(
    program: &Program<'_>,
    sharding: &TensorSharding,
    device: usize,
    whole: &[i64],
) -> Result<(Vec<i64>, Vec<i64>), Fault> {
    let mesh = &program.module.meshes[sharding.mesh].mesh;
    let found = || {
        let logical = mesh.logical_index(device as u64)?;
        if sharding.rank() != whole.len() || !sharding.is_even(whole) {
            return None;
        }
        Some((sharding.offsets(mesh, logical, whole)?, sharding.local_shape(whole)?))
    };
    found().ok_or_else(|| {
        Fault::invalid(format!("a value of shape {whole:?} can't be cut as its sharding says"))
    })
}

/// Each device's results, whole along the axes that were manual, of the parts that all have.
///
/// # Errors
/// If parts don't fit together.
pub(super) fn joined(
    program: &Program<'_>,
    op: OpId,
    computation: &ManualComputation,
    lists: &[&[Value]],
) -> Result<Vec<Vec<Value>>, Fault> {
    let module = program.module;
    let shardings = &computation.out_shardings.0;
    if lists.iter().any(|list| list.len() != shardings.len()) {
        let name = module.op_name(op);
        return Err(Fault::invalid(format!("{name} has not as many shardings as results")));
    }
    let mut results: Vec<Vec<Value>> = vec![Vec::new(); lists.len()];
    for (index, &id) in shardings.iter().enumerate() {
        let sharding = module.sharding(id);
        let mesh = &module.meshes[sharding.mesh].mesh;
        let all: Vec<AxisRef> = mesh.all_axes().collect();
        let manual = manual_axes(program, computation, mesh, &all);
        let free: Vec<usize> = (0..all.len()).filter(|i| !manual.contains(&all[*i])).collect();
        let part_of = manual_part(program, computation, id);
        let unreduced = manual_axes(program, computation, mesh, &sharding.unreduced);
        // Devices of the same coordinates along the axes that aren't manual have one whole.
        let mut wholes: FxHashMap<Vec<u32>, Whole> = FxHashMap::default();
        for (device, list) in lists.iter().enumerate() {
            let Some(coordinates) = coordinates(mesh, device) else {
                return Err(Fault::invalid("a device that the mesh hasn't"));
            };
            let key: Vec<u32> = free.iter().map(|i| coordinates[*i]).collect();
            let whole = wholes.entry(key).or_default();
            let Value::Tensor(part) = &list[index] else {
                whole.other = Some(list[index].clone());
                continue;
            };
            let dims: Vec<i64> =
                (0..part.rank()).map(|d| part.dims()[d] * part_of.shard_count(d) as i64).collect();
            let (offsets, shape) = place(program, &part_of, device, &dims)?;
            if shape != part.dims() {
                return Err(Fault::invalid("a part of another shape than its sharding says"));
            }
            let order: Vec<u32> =
                unreduced.iter().map(|axis| coordinates[axis.axis.index()]).collect();
            whole.add(order, &dims, &offsets, part)?;
        }
        let combiner = sharding.combiner;
        let mut done: FxHashMap<Vec<u32>, Value> = FxHashMap::default();
        for (device, result) in results.iter_mut().enumerate() {
            let coordinates = coordinates(mesh, device).unwrap_or_default();
            let key: Vec<u32> = free.iter().map(|i| coordinates[*i]).collect();
            let value = match done.get(&key) {
                Some(value) => value.clone(),
                None => {
                    let whole = wholes.remove(&key).unwrap_or_default();
                    let value = whole.value(combiner)?;
                    done.insert(key, value.clone());
                    value
                }
            };
            result.push(value);
        }
    }
    Ok(results)
}

fn coordinates(mesh: &Mesh, device: usize) -> Option<Vec<u32>> {
    let logical = mesh.logical_index(device as u64)?;
    Some(mesh.coordinates(logical)?.to_vec())
}

/// A result that is put together: for each position along axes along which it is partial, one.
#[derive(Default)]
struct Whole {
    partial: Vec<(Vec<u32>, Tensor)>,
    other: Option<Value>,
}

impl Whole {
    fn add(
        &mut self,
        order: Vec<u32>,
        dims: &[i64],
        offsets: &[i64],
        part: &Tensor,
    ) -> Result<(), Fault> {
        let at = match self.partial.iter().position(|(known, _)| *known == order) {
            Some(at) => at,
            None => {
                self.partial.push((order, blocks::zeros(part, dims)?));
                self.partial.len() - 1
            }
        };
        blocks::paste(&mut self.partial[at].1, offsets, part)
    }

    fn value(mut self, combiner: Combiner) -> Result<Value, Fault> {
        if let Some(other) = self.other {
            return Ok(other);
        }
        self.partial.sort_by(|a, b| a.0.cmp(&b.0));
        let mut parts = self.partial.into_iter().map(|(_, tensor)| tensor);
        let mut sum = parts.next().ok_or_else(|| Fault::invalid("nobody has the result"))?;
        for part in parts {
            sum = crate::ops::combine(combiner, &sum, &part)?;
        }
        Ok(sum.into())
    }
}
