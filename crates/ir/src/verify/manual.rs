//! Manual computations: shardings of operands and results, and the local shapes in the body.

use crate::infer::{compatible_dims, type_text};
use crate::ops::{ManualComputation, Op, Sdy};
use crate::sharding::{AxisIndex, AxisText, Mesh, TensorSharding};
use crate::{DYNAMIC, Dims, MeshId, Module, OpId, ShardingId, Symbol, Type, TypeId};

use super::Complaints;
use super::collectives::per_value;

/// The manual computations that enclose the op being looked at.
#[derive(Default)]
pub(super) struct Scopes {
    open: Vec<(OpId, Vec<Symbol>)>,
}

impl Scopes {
    /// Checks an op if it is a manual computation, and enters it.
    pub fn enter(&mut self, complaints: &mut Complaints, op: OpId) {
        let Op::Sdy(Sdy::ManualComputation(manual)) = complaints.module.kind(op) else { return };
        for &axis in &manual.manual_axes.0 {
            if self.open.iter().any(|(_, axes)| axes.contains(&axis)) {
                let name = complaints.module.str(axis);
                complaints.op(op, format!("axis \"{name}\" is manual outside already"));
            }
        }
        verify(complaints, op, manual);
        self.open.push((op, manual.manual_axes.0.to_vec()));
    }

    /// Leaves an op.
    pub fn leave(&mut self, op: OpId) {
        if self.open.last().is_some_and(|(open, _)| *open == op) {
            self.open.pop();
        }
    }

    /// What is wrong with a sharding here: it mentions an axis that is manual.
    pub fn complaint(&self, module: &Module, sharding: &TensorSharding) -> Option<String> {
        if self.open.is_empty() {
            return None;
        }
        let mesh = &module.meshes.get(sharding.mesh)?.mesh;
        sharding.mentioned_axes().find_map(|axis| {
            let name = mesh.axis_name(axis.axis)?;
            let manual =
                self.open.iter().flat_map(|(_, axes)| axes).any(|&a| module.str(a) == name);
            manual.then(|| format!("axis \"{name}\" is manual in the enclosing computation"))
        })
    }
}

fn verify(complaints: &mut Complaints, op: OpId, manual: &ManualComputation) {
    let module = complaints.module;
    let (operands, results) = (module.operands(op), module.results(op));
    let ins = per_value(complaints, op, "in_shardings", &manual.in_shardings.0, operands);
    let outs = per_value(complaints, op, "out_shardings", &manual.out_shardings.0, results);
    let all: Vec<ShardingId> =
        manual.in_shardings.0.iter().chain(&manual.out_shardings.0).copied().collect();
    let Some(mesh) = common_mesh(complaints, op, &all) else { return };
    for &axis in &manual.manual_axes.0 {
        let name = module.str(axis);
        if mesh.is_some_and(|mesh| mesh.axis(name).is_none()) {
            complaints.op(op, format!("the mesh doesn't have manual axis \"{name}\""));
        }
    }
    let body = module.regions(op).first().map(|&region| module.region(region));
    let Some(&block) = body.and_then(|body| body.blocks.first()) else { return };
    let types = |values: &[crate::ValueId]| -> Vec<TypeId> {
        values.iter().map(|&value| module.value_type(value)).collect()
    };
    if ins {
        let locals = types(module.params(block));
        let globals = types(operands);
        local_types(complaints, op, "operand", manual, (&globals, &locals), true);
    }
    if let (true, Some(end)) = (outs, module.terminator(block)) {
        let locals = types(module.operands(end));
        let globals = types(results);
        local_types(complaints, op, "result", manual, (&globals, &locals), false);
    }
}

/// The mesh of all shardings; `Some(None)` where they have none or an empty one.
fn common_mesh<'a>(
    complaints: &mut Complaints<'a>,
    op: OpId,
    list: &[ShardingId],
) -> Option<Option<&'a Mesh>> {
    let module = complaints.module;
    let mut common: Option<(MeshId, &Mesh)> = None;
    for &sharding in list {
        let id = module.sharding(sharding).mesh;
        let mesh = &module.meshes.get(id)?.mesh;
        if mesh.is_empty() || common.is_some_and(|(first, _)| first == id) {
            continue;
        }
        match common {
            Some((_, first)) if first != mesh => {
                complaints.op(op, "shardings of operands and results are of different meshes");
                return None;
            }
            Some(_) => {}
            None => common = Some((id, mesh)),
        }
    }
    Some(common.map(|(_, mesh)| mesh))
}

/// The types in the body are the local ones: each dimension divided by its manual axes.
fn local_types(
    complaints: &mut Complaints,
    op: OpId,
    what: &str,
    manual: &ManualComputation,
    (globals, locals): (&[TypeId], &[TypeId]),
    operands: bool,
) {
    let module = complaints.module;
    if globals.len() != locals.len() {
        let (global, local) = (globals.len(), locals.len());
        complaints.op(op, format!("has {global} {what}s, but {local} in the body"));
        return;
    }
    let list = if operands { &manual.in_shardings.0 } else { &manual.out_shardings.0 };
    for (at, ((&global, &local), &sharding)) in globals.iter().zip(locals).zip(list).enumerate() {
        let Type::Tensor(global) = module.ty(global) else { continue };
        let sharding = module.sharding(sharding);
        let Some(def) = module.meshes.get(sharding.mesh) else { continue };
        let is_manual = |axis: AxisIndex| {
            let name = def.mesh.axis_name(axis).and_then(|name| module.find_symbol(name));
            name.is_some_and(|name| manual.manual_axes.0.contains(&name))
        };
        let mut dims = Dims::new();
        for (dim, &size) in global.dims.iter().enumerate() {
            let axes = sharding.dim_axes(dim);
            let first_free = axes.iter().position(|axis| !is_manual(axis.axis));
            let late =
                first_free.and_then(|free| axes[free..].iter().find(|axis| is_manual(axis.axis)));
            if let Some(&axis) = late {
                let axis = AxisText { axis, mesh: &def.mesh };
                complaints.op(
                    op,
                    format!(
                        "{what} {at}: manual axis {axis} comes after a free one in dimension {dim}"
                    ),
                );
            }
            let parts: i64 = axes
                .iter()
                .filter(|axis| is_manual(axis.axis))
                .fold(1, |parts: i64, axis| parts.saturating_mul(axis.size.into()))
                .max(1);
            if size == DYNAMIC {
                dims.push(DYNAMIC);
                continue;
            }
            if size % parts != 0 {
                complaints.op(
                    op,
                    format!(
                        "{what} {at}: dimension {dim} is {size}, not a multiple of {parts} shards \
                         along manual axes"
                    ),
                );
            }
            dims.push(size / parts);
        }
        let fits = module.ty(local).as_tensor().is_some_and(|local| {
            local.element == global.element && compatible_dims(&local.dims, &dims)
        });
        if !fits {
            let expected: Vec<String> = dims.iter().map(ToString::to_string).collect();
            complaints.op(
                op,
                format!(
                    "{what} {at} has type {} in the body, expected local shape [{}] of {}",
                    type_text(module, local),
                    expected.join(", "),
                    global.element
                ),
            );
        }
    }
}
