//! `export`: the per-device program takes the form in which XLA accepts it.
//!
//! Groups become lists of devices; meshes and shardings go; what numbers devices is set for one of
//! XLA's two modes. With *partitions* every op is marked as partitioned by hand, without which
//! XLA's own partitioner would refuse it or partition it again; with *replicas* there is nothing
//! to mark.

use cranelift_entity::EntitySet;
use shard_ir::ops::{Collective, Control, Custom, Op};
use shard_ir::sharding::{Groups, Mesh};
use shard_ir::{Attr, AttrsId, Diagnostic, ElementType, Item, Module, OpId, ValueId};

use crate::annotations::TILES;
use crate::insert_reshards::has_sharded_body;

/// Which of XLA's device numbers the program uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SpmdMode {
    /// `mhlo.num_partitions`: compile with `use_spmd_partitioning=true`.
    #[default]
    Partitions,
    /// `mhlo.num_replicas`: a plain multi-replica program.
    Replicas,
}

/// Runs the pass.
///
/// # Errors
/// If the device groups are too many to list.
pub fn run(module: &mut Module, mode: SpmdMode) -> Result<(), Diagnostic> {
    let Some(mesh_id) = crate::meshes::main_mesh(module) else { return Ok(()) };
    let mesh = module.meshes[mesh_id].mesh.clone();
    let Some(func) = module.main_func() else { return Ok(()) };

    let mut ops: Vec<(OpId, bool)> = Vec::new();
    let mut scalar_ops: EntitySet<OpId> = EntitySet::new();
    module.walk(module.funcs[func].body, |op| {
        if !has_sharded_body(module.kind(op)) {
            for &region in module.regions(op) {
                module.walk(region, |inner| {
                    scalar_ops.insert(inner);
                });
            }
        }
        ops.push((op, is_marked(module, op) && !scalar_ops.contains(op)));
    });
    let mark = manual(module);
    for (op, marked) in ops {
        list_groups(module, op, &mesh)?;
        // An op without results has its sharding as an attribute.
        let attrs = module.op(op).attrs;
        module.op_mut(op).attrs = module.with_attr(attrs, "sdy.sharding", None);
        match mode {
            SpmdMode::Partitions if marked => {
                let attrs = module.op(op).attrs;
                let attrs = module.with_attr(attrs, TILES, Some(mark.clone()));
                module.op_mut(op).attrs = attrs;
            }
            SpmdMode::Partitions => {}
            SpmdMode::Replicas => to_replicas(module, op),
        }
    }

    for index in 0..module.funcs[func].arg_attrs.len() {
        let attrs = module.funcs[func].arg_attrs[index];
        module.funcs[func].arg_attrs[index] = interface(module, attrs, &mark, mode);
    }
    for index in 0..module.funcs[func].results.len() {
        let attrs = module.funcs[func].results[index].attrs;
        let attrs = interface(module, attrs, &mark, mode);
        let result = &mut module.funcs[func].results[index];
        result.attrs = attrs;
        result.sharding = None.into();
    }
    let others: Vec<_> = module.func_ids().filter(|&other| other != func).collect();
    for other in others {
        for result in &mut module.funcs[other].results {
            result.sharding = None.into();
        }
    }
    for index in 0..module.value_count() {
        module.shardings[ValueId::from_u32(index as u32)] = None.into();
    }
    module.items.retain(|item| !matches!(item, Item::Mesh(_)));

    let count = i128::from(mesh.device_count());
    let (partitions, replicas) = match mode {
        SpmdMode::Partitions => (count, 1),
        SpmdMode::Replicas => (1, count),
    };
    set_counts(module, partitions, replicas);
    Ok(())
}

/// Gives a program that this pass has exported for partitions the form for replicas.
pub fn as_replicas(module: &mut Module) {
    let Some(func) = module.main_func() else { return };
    let mut ops = Vec::new();
    module.walk(module.funcs[func].body, |op| ops.push(op));
    for op in ops {
        let attrs = module.op(op).attrs;
        module.op_mut(op).attrs = module.with_attr(attrs, TILES, None);
        to_replicas(module, op);
    }
    for index in 0..module.funcs[func].arg_attrs.len() {
        let attrs = module.funcs[func].arg_attrs[index];
        module.funcs[func].arg_attrs[index] = module.with_attr(attrs, TILES, None);
    }
    for index in 0..module.funcs[func].results.len() {
        let attrs = module.funcs[func].results[index].attrs;
        module.funcs[func].results[index].attrs = module.with_attr(attrs, TILES, None);
    }
    let count = |name| match module.attr(module.attrs, name) {
        Some(&Attr::Int(count, _)) => count.max(1),
        _ => 1,
    };
    let devices = count("mhlo.num_partitions").saturating_mul(count("mhlo.num_replicas"));
    set_counts(module, 1, devices);
}

fn set_counts(module: &mut Module, partitions: i128, replicas: i128) {
    let i32 = module.scalar(ElementType::I32);
    for (name, value) in [("mhlo.num_partitions", partitions), ("mhlo.num_replicas", replicas)] {
        let attrs = module.attrs;
        module.attrs = module.with_attr(attrs, name, Some(Attr::Int(value, i32)));
    }
}

fn manual(module: &mut Module) -> Attr {
    Attr::String(module.symbol("{manual}"))
}

/// Whether an op carries the mark: all but terminators, and what XLA's importer refuses it on,
/// which is control flow and approximate top-k.
fn is_marked(module: &Module, op: OpId) -> bool {
    let refused = match module.kind(op) {
        Op::Control(Control::While | Control::If | Control::Case) => true,
        Op::Custom(Custom::CustomCall(call)) => module.str(call.target) == "ApproxTopK",
        _ => false,
    };
    !refused && !module.kind(op).is_terminator()
}

fn interface(module: &mut Module, attrs: AttrsId, mark: &Attr, mode: SpmdMode) -> AttrsId {
    let mark = (mode == SpmdMode::Partitions).then(|| mark.clone());
    module.with_attr(attrs, TILES, mark)
}

fn list_groups(module: &mut Module, op: OpId, mesh: &Mesh) -> Result<(), Diagnostic> {
    let Op::Collective(kind) = module.kind(op) else { return Ok(()) };
    let mut kind = kind.clone();
    let groups: &mut Groups = match &mut kind {
        Collective::AllGather(op) => &mut op.groups,
        Collective::AllReduce(op) => &mut op.groups,
        Collective::ReduceScatter(op) => &mut op.groups,
        Collective::AllToAll(op) => &mut op.groups,
        Collective::CollectiveBroadcast(op) => &mut op.groups,
        Collective::CollectivePermute(_) | Collective::PartitionId | Collective::ReplicaId => {
            return Ok(());
        }
    };
    let Some(list) = groups.to_list(mesh) else {
        return Err(Diagnostic::error("joins more devices than can be listed").at_op(module, op));
    };
    *groups = list;
    module.op_mut(op).op = kind.into();
    Ok(())
}

/// Replica mode has no channels, and the device's number is `replica_id`.
fn to_replicas(module: &mut Module, op: OpId) {
    let Op::Collective(kind) = module.kind(op) else { return };
    let mut kind = kind.clone();
    if let Some(channel) = kind.channel_mut() {
        *channel = None;
    }
    match &mut kind {
        Collective::PartitionId => kind = Collective::ReplicaId,
        Collective::AllGather(op) => op.global_ids.0 = false,
        Collective::AllReduce(op) => op.global_ids.0 = false,
        Collective::ReduceScatter(op) => op.global_ids.0 = false,
        Collective::ReplicaId
        | Collective::AllToAll(_)
        | Collective::CollectivePermute(_)
        | Collective::CollectiveBroadcast(_) => {}
    }
    module.op_mut(op).op = kind.into();
}
