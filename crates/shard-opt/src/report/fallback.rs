//! Places where operands had to be gathered, in words, with the annotation that avoids it.

use shard_ir::sharding::{AxisRef, Mesh, TensorSharding};
use shard_ir::{Diagnostic, Module, ValueId, place_of};
use shard_passes::insert_reshards::{Advice, Fallback};
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
    let mut entries: Vec<FallbackEntry> = Vec::new();
    for fallback in fallbacks {
        let new = entry(module, fallback, places);
        let same = entries.iter_mut().find(|old| {
            old.op == new.op
                && (old.operand, old.dim) == (new.operand, new.dim)
                && (&old.axes, &old.location) == (&new.axes, &new.location)
                && old.remedy == new.remedy
        });
        match same {
            Some(old) => {
                old.count += 1;
                old.bytes = old.bytes.saturating_add(new.bytes);
            }
            None => entries.push(new),
        }
    }
    for entry in &mut entries {
        entry.message = message(entry);
    }
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.bytes));
    entries
}

fn entry(module: &Module, fallback: &Fallback, places: &Places<'_>) -> FallbackEntry {
    let Fallback { op, operand, dim, bytes, sharding, .. } = fallback;
    let mesh = &module.meshes[sharding.mesh].mesh;
    FallbackEntry {
        op: op.clone(),
        operand: *operand,
        dim: *dim,
        axes: axis_names(mesh, sharding.dim_axes(*dim)),
        bytes: *bytes,
        count: 1,
        location: places.text(module, fallback.loc),
        message: String::new(),
        remedy: remedy(module, mesh, fallback),
        place: place_of(module, fallback.loc),
    }
}

fn message(entry: &FallbackEntry) -> String {
    let FallbackEntry { op, operand, dim, axes, bytes, count, .. } = entry;
    let times = if *count > 1 { format!(", in {count} ops") } else { String::new() };
    format!(
        "{op} works on whole rows of dimension {dim} of operand {operand} only, which is split \
         over {}: every device gathers {}{times}",
        axes.join(", "),
        units::bytes(*bytes)
    )
}

/// The annotation that avoids a fallback, where there is one; else why there is none.
fn remedy(module: &Module, mesh: &Mesh, fallback: &Fallback) -> String {
    let wanted = match &fallback.advice {
        Advice::Shard(wanted) => TensorSharding::clone(wanted).closed(),
        Advice::Dearer => {
            return format!(
                "leave it as it is: splitting another dimension instead of dimension {} would \
                 cost more at this size",
                fallback.dim
            );
        }
        Advice::Nothing => {
            return format!(
                "no annotation avoids it: {} has no distributed way along dimension {} yet, and \
                 none of its other dimensions can take the split",
                fallback.op, fallback.dim
            );
        }
    };
    let what = match argument(module, fallback.value) {
        Some(name) => format!("to avoid it, shard the argument {name} as"),
        None => "to avoid it, constrain the operand before this line to".to_owned(),
    };
    format!("{what} {} (in JAX: {})", wanted.bare_text(mesh), partition_spec(mesh, &wanted))
}

/// A sharding as JAX writes it: `P('data', None)`.
pub(crate) fn partition_spec(mesh: &Mesh, sharding: &TensorSharding) -> String {
    let spec: Vec<String> = sharding.dims.iter().map(|dim| spec(mesh, &dim.axes)).collect();
    format!("P({})", spec.join(", "))
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
