//! What stopped an axis and what would help, in words.

use shard_ir::sharding::{AxisRef, DimSharding, TensorSharding, axes};
use shard_propagate::engine::Reason;
use shard_propagate::explain::{Explanation, Stop, Subject};

use super::answer::{Why, Writer};

/// An op's name without its dialect.
pub(super) fn short(name: &str) -> &str {
    name.split_once('.').map_or(name, |(_, short)| short)
}

/// Why an axis isn't there.
pub(super) fn reason(writer: &Writer<'_>, stop: &Stop) -> String {
    let name = |subject: Subject| writer.name(subject);
    let dim = |dim: Option<usize>| match dim {
        Some(dim) => format!("dimension {dim}"),
        None => "a dimension".to_owned(),
    };
    let to = name(stop.to.subject);
    let place = match stop.op {
        Some(op) => format!("at {}: ", writer.op_with_place(op)),
        None => String::new(),
    };
    let from = match &stop.from {
        Some(from) => format!(" {} of {} has it, but", dim(from.dim), name(from.subject)),
        None => String::new(),
    };
    let here = dim(stop.to.dim);
    let why = match &stop.reason {
        Reason::Closed => format!("{here} of {to} is closed"),
        Reason::Replicated => format!("{to} is stated to be replicated along it"),
        Reason::Unreduced => format!("{to} is unreduced along it"),
        Reason::OtherAxis(other) => {
            format!("{here} of {to} has \"{}\" in its place", writer.axis(*other))
        }
        Reason::OtherFactor(_) => {
            format!("{} of {to} has it already", dim(stop.other))
        }
        Reason::Uneven => {
            format!(
                "it doesn't divide what is left of {here} of {to}, and more of the dimension follows"
            )
        }
        Reason::BlockedFactor => "the op lets nothing through along this dimension".to_owned(),
        Reason::Barrier => "a propagation barrier stops it".to_owned(),
        Reason::OtherMesh => "the shardings there are of different meshes".to_owned(),
        Reason::Disagreement => {
            "the op's other values don't agree on it, or it goes the other way only".to_owned()
        }
    };
    let far = match stop.distance {
        0 => String::new(),
        1 => "it stopped one op away, ".to_owned(),
        count => format!("it stopped {count} ops away, "),
    };
    format!("{far}{place}{from} {why}").replace("  ", " ").trim().to_owned()
}

/// What would get an axis there.
pub(super) fn remedy(
    writer: &Writer<'_>,
    whole: &Explanation,
    axis: AxisRef,
    stop: Option<&Stop>,
    rival: Option<&Why>,
) -> String {
    let mut text = String::new();
    if let Some(stop) = stop {
        let there = writer.name(stop.to.subject);
        match (&stop.reason, rival) {
            (Reason::Closed, _) => {
                let dim = stop.to.dim.map_or(String::new(), |dim| format!(" dimension {dim} of"));
                text = format!("open{dim} {there} with '?' where it is stated, or ");
            }
            (Reason::OtherAxis(_) | Reason::OtherFactor(_), Some(rival)) => {
                text = format!(
                    "take \"{}\" away where it is {}{}, or ",
                    rival.axis,
                    rival.origin.by,
                    match &rival.origin.location {
                        Some(place) => format!(" ({})", crate::report::place::short(place)),
                        None => String::new(),
                    }
                );
            }
            _ => {}
        }
    }
    match with_axis(writer, whole, axis, stop) {
        Some(wanted) => {
            let spec = crate::report::partition_spec(writer.mesh, &wanted);
            let what = match whole.subject {
                Subject::Value(value) if writer.module.defining_op(value).is_some() => {
                    "constrain it to"
                }
                Subject::Value(_) | Subject::Result(..) => "state it as",
            };
            format!("{text}{what} {} (in JAX: {spec})", writer.sharding(&wanted))
        }
        None if text.is_empty() => "none of its dimensions can take it".to_owned(),
        None => text.trim_end_matches(", or ").to_owned(),
    }
}

/// The sharding with an axis more: on the dimension where it stopped, if that is of this value, or
/// on the first that it divides; in the place of what is in its way there.
fn with_axis(
    writer: &Writer<'_>,
    whole: &Explanation,
    axis: AxisRef,
    stop: Option<&Stop>,
) -> Option<TensorSharding> {
    let sizes = writer.dims(whole.subject);
    let mesh = shard_passes::meshes::main_mesh(writer.module)?;
    let now = whole.sharding.clone();
    let mut wanted =
        now.unwrap_or_else(|| TensorSharding::fully_replicated(mesh, sizes.len())).closed();
    let divides = |dim: usize, list: &[AxisRef]| {
        let parts = axes::product(list) as i64;
        sizes.get(dim).is_some_and(|&size| size > 0 && size % parts == 0)
    };
    let here = stop.filter(|stop| stop.distance == 0 && stop.to.subject == whole.subject);
    if let Some(stop) = here
        && let Some(dim) = stop.to.dim
    {
        let mut list = wanted.dim_axes(dim).to_vec();
        if let Reason::OtherAxis(_) = stop.reason {
            list.clear();
        }
        list.push(axis);
        if divides(dim, &list) {
            wanted.dims[dim] = DimSharding::closed(&list);
            return Some(wanted);
        }
    }
    for dim in 0..sizes.len() {
        let mut list = wanted.dim_axes(dim).to_vec();
        list.push(axis);
        if divides(dim, &list) {
            wanted.dims[dim] = DimSharding::closed(&list);
            return Some(wanted);
        }
    }
    None
}
