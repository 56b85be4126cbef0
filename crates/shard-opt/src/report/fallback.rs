//! Places where operands had to be gathered, in words, with the annotation that avoids it.

use shard_ir::sharding::{AxisRef, Mesh, axes};
use shard_ir::{Diagnostic, Module, ValueId, place_of};
use shard_passes::insert_reshards::Fallback;
use shard_passes::pipeline::Partitioned;

use super::collectives::axis_names;
use super::model::FallbackEntry;
use super::place::{Places, short};
use super::units;

/// Describes the fallbacks of a partitioned program, the dearest first.
pub fn fallbacks(done: &Partitioned) -> Vec<FallbackEntry> {
    describe(&done.module, &done.fallbacks, &Places::default())
}

/// Describes fallbacks of a module that a pass has left, the dearest first.
pub fn describe_fallbacks(module: &Module, fallbacks: &[Fallback]) -> Vec<FallbackEntry> {
    describe(module, fallbacks, &Places::default())
}

pub(super) fn describe(
    module: &Module,
    fallbacks: &[Fallback],
    places: &Places<'_>,
) -> Vec<FallbackEntry> {
    let mut entries: Vec<FallbackEntry> =
        fallbacks.iter().map(|fallback| entry(module, fallback, places)).collect();
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.bytes));
    entries
}

fn entry(module: &Module, fallback: &Fallback, places: &Places<'_>) -> FallbackEntry {
    let Fallback { op, operand, dim, bytes, sharding, .. } = fallback;
    let mesh = &module.meshes[sharding.mesh].mesh;
    let axes = axis_names(mesh, sharding.dim_axes(*dim));
    let message = format!(
        "{op} works on whole rows of dimension {dim} of operand {operand} only, which is split \
         over {}: every device gathers {}",
        axes.join(", "),
        units::bytes(*bytes)
    );
    FallbackEntry {
        op: op.clone(),
        operand: *operand,
        dim: *dim,
        axes,
        bytes: *bytes,
        location: places.text(module, fallback.loc),
        message,
        remedy: remedy(module, mesh, fallback),
        place: place_of(module, fallback.loc),
    }
}

/// The annotation that would avoid a fallback: the axes go from the dimension that has to be whole
/// to another one that they divide, so that the work stays split; else they go.
fn remedy(module: &Module, mesh: &Mesh, fallback: &Fallback) -> String {
    let mut wanted = fallback.sharding.clone();
    let moved = std::mem::take(&mut wanted.dims[fallback.dim].axes);
    let parts = axes::product(&moved);
    let free = module.ty(fallback.ty).as_tensor().and_then(|ty| {
        (0..ty.rank()).find(|&dim| {
            let local = wanted.dims[dim].local_size(ty.dims[dim]);
            let divides = |size: u64| parts > 0 && size >= parts && size.is_multiple_of(parts);
            dim != fallback.dim
                && wanted.dims[dim].axes.is_empty()
                && u64::try_from(local).is_ok_and(divides)
        })
    });
    if let Some(dim) = free {
        wanted.dims[dim].axes = moved;
    }
    let wanted = wanted.closed();
    let spec: Vec<String> = wanted.dims.iter().map(|dim| spec(mesh, &dim.axes)).collect();
    let what = match argument(module, fallback.value) {
        Some(name) => format!("shard the argument {name} as"),
        None => "constrain the operand before this line to".to_owned(),
    };
    format!("{what} {} (in JAX: P({}))", wanted.bare_text(mesh), spec.join(", "))
}

/// The entry of a JAX `PartitionSpec` for a dimension.
fn spec(mesh: &Mesh, axes: &[AxisRef]) -> String {
    match axis_names(mesh, axes).as_slice() {
        [] => "None".to_owned(),
        [one] => format!("'{one}'"),
        several => {
            let names: Vec<String> = several.iter().map(|name| format!("'{name}'")).collect();
            format!("({})", names.join(", "))
        }
    }
}

/// The name of the argument that a value is.
fn argument(module: &Module, value: ValueId) -> Option<String> {
    let main = module.main_func()?;
    let index = module.args(main).iter().position(|&arg| arg == value)?;
    let name = shard_passes::import::argument_names(module, main, index).into_iter().next();
    Some(name.unwrap_or_else(|| index.to_string()))
}

impl FallbackEntry {
    /// The fallback as a warning at its place.
    pub fn diagnostic(&self) -> Diagnostic {
        let mut warning = Diagnostic::warning(self.message.clone()).help(self.remedy.clone());
        warning.place = self.place.clone();
        warning
    }

    /// The file and line, without directories.
    pub fn short_location(&self) -> &str {
        self.location.as_deref().map_or("", short)
    }
}
