//! Places where operands had to be gathered, in words, with the annotation that avoids it.

use shard_ir::sharding::{Mesh, TensorSharding};
use shard_ir::{Diagnostic, Module, OpId, ValueId, place_of};
use shard_passes::insert_reshards::Fallback;
use shard_passes::pipeline::Partitioned;

use super::collectives::axis_names;
use super::model::FallbackEntry;
use super::place::{Places, short};
use super::units;

/// Describes the fallbacks of a partitioned program, the dearest first.
pub fn fallbacks(done: &Partitioned) -> Vec<FallbackEntry> {
    describe(&done.whole, &done.whole, &done.fallbacks, &Places::default())
}

/// Describes fallbacks whose locations are of `module`; `whole` is the program with a sharding on
/// every value, where there is one. The dearest comes first.
pub fn describe_fallbacks(
    module: &Module,
    whole: &Module,
    fallbacks: &[Fallback],
) -> Vec<FallbackEntry> {
    describe(module, whole, fallbacks, &Places::default())
}

pub(super) fn describe(
    module: &Module,
    whole: &Module,
    fallbacks: &[Fallback],
    places: &Places<'_>,
) -> Vec<FallbackEntry> {
    let mut entries: Vec<FallbackEntry> =
        fallbacks.iter().map(|fallback| entry(module, whole, fallback, places)).collect();
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.bytes));
    entries
}

fn entry(
    module: &Module,
    whole: &Module,
    fallback: &Fallback,
    places: &Places<'_>,
) -> FallbackEntry {
    let Fallback { op, loc, operand, dim, bytes } = fallback;
    let found = find(whole, fallback);
    let known = found.and_then(|(_, value)| {
        let sharding = whole.value_sharding(value)?;
        Some((&whole.meshes[sharding.mesh].mesh, sharding))
    });
    let axes = known.map(|(mesh, sharding)| axis_names(mesh, sharding.dim_axes(*dim)));
    let axes = axes.unwrap_or_default();
    let over = match axes.as_slice() {
        [] => String::new(),
        axes => format!(" over {}", axes.join(", ")),
    };
    let message = format!(
        "{op} works on whole rows of dimension {dim} of operand {operand} only, which is split\
         {over}: every device gathers {}",
        units::bytes(*bytes)
    );
    FallbackEntry {
        op: op.clone(),
        operand: *operand,
        dim: *dim,
        axes,
        bytes: *bytes,
        location: places.text(module, *loc),
        message,
        remedy: remedy(whole, fallback, found.map(|(_, value)| value), known),
        place: place_of(module, *loc),
    }
}

/// The op that a fallback is about, and its operand.
fn find(whole: &Module, fallback: &Fallback) -> Option<(OpId, ValueId)> {
    let main = whole.main_func()?;
    let mut found = None;
    whole.walk(whole.funcs[main].body, |op| {
        let name = whole.op_name(op);
        let same = name.split_once('.').map_or(name, |(_, short)| short) == fallback.op;
        if found.is_none() && same && whole.op(op).loc == fallback.loc {
            found = whole.operands(op).get(fallback.operand).map(|&value| (op, value));
        }
    });
    found
}

fn remedy(
    whole: &Module,
    fallback: &Fallback,
    operand: Option<ValueId>,
    known: Option<(&Mesh, &TensorSharding)>,
) -> String {
    let (Some(operand), Some((mesh, sharding))) = (operand, known) else {
        return format!(
            "leave dimension {} of operand {} of this {} whole by a sharding constraint before it",
            fallback.dim, fallback.operand, fallback.op
        );
    };
    let mut wanted = sharding.clone();
    let lost = wanted.dims[fallback.dim].axes.clone();
    wanted.dims[fallback.dim].axes.clear();
    // The axes can split another dimension that they divide, so that the work stays split.
    let parts = shard_ir::sharding::axes::product(&lost);
    let free = whole.tensor_type(operand).and_then(|ty| {
        (0..ty.rank()).find(|&dim| {
            let local = wanted.dims[dim].local_size(ty.dims[dim]);
            let divides = u64::try_from(local)
                .is_ok_and(|size| parts > 0 && size >= parts && size.is_multiple_of(parts));
            dim != fallback.dim && wanted.dims[dim].axes.is_empty() && divides
        })
    });
    if let Some(dim) = free {
        wanted.dims[dim].axes = lost;
    }
    let wanted = wanted.closed();
    let spec: Vec<String> = wanted.dims.iter().map(|dim| spec(mesh, &dim.axes)).collect();
    let what = match argument(whole, operand) {
        Some(name) => format!("shard the argument {name} as"),
        None => "constrain the operand before this line to".to_owned(),
    };
    format!("{what} {} (in JAX: P({}))", wanted.bare_text(mesh), spec.join(", "))
}

/// The entry of a JAX `PartitionSpec` for a dimension.
fn spec(mesh: &Mesh, axes: &[shard_ir::sharding::AxisRef]) -> String {
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
fn argument(whole: &Module, value: ValueId) -> Option<String> {
    let main = whole.main_func()?;
    let index = whole.args(main).iter().position(|&arg| arg == value)?;
    let name = shard_passes::import::argument_names(whole, main, index).into_iter().next();
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
