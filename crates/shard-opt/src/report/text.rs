//! The report as tables for a terminal.

use std::fmt::Write as _;

use shard_passes::import::name_pattern;

use super::model::{CollectiveEntry, FallbackEntry, InterfaceEntry, RepeatedWork, Report};
use super::place::short;
use super::table::{Align, Table, clip, clip_middle, wrap};
use super::units::{bytes, flops, seconds, share};

/// The most rows of collectives, so that a report of many layers stays on one screen.
const MAX_GROUPS: usize = 24;
/// The most rows of arguments.
const MAX_PARAMETERS: usize = 8;
/// The most rows of results.
const MAX_RESULTS: usize = 4;
/// The most fallbacks.
const MAX_FALLBACKS: usize = 6;
/// The most ops that devices repeat.
const MAX_REPEATED: usize = 4;

/// The whole report, no line wider than `width` columns where words allow.
pub(super) fn render(report: &Report, width: usize) -> String {
    let width = width.max(60);
    let mut out = String::new();
    head(report, width, &mut out);
    out.push('\n');
    collectives(report, width, &mut out);
    out.push('\n');
    compute(report, width, &mut out);
    memory(report, width, &mut out);
    let large = &report.memory.large_replicated;
    interface("Arguments", &report.parameters, large, MAX_PARAMETERS, width, &mut out);
    interface("Results", &report.results, &[], MAX_RESULTS, width, &mut out);
    fallbacks(&report.fallbacks, width, &mut out);
    out
}

fn head(report: &Report, width: usize, out: &mut String) {
    let axes: Vec<String> =
        report.mesh.axes.iter().map(|axis| format!("{}={}", axis.name, axis.size)).collect();
    let program = if report.program.is_empty() { "program" } else { &report.program };
    let devices = report.mesh.devices;
    out.push_str(&wrap(
        &format!("{program} on {devices} devices, mesh {}", axes.join(", ")),
        width,
        "  ",
    ));
    let topology = &report.topology;
    let assumed = if topology.fits {
        let default = if topology.name == "even" { " (default)" } else { "" };
        format!(
            "Times are estimates for topology {}{default}: {}, {}/s, {} of delay",
            topology.name,
            topology.device,
            bytes(topology.bandwidth as u64),
            seconds(topology.latency)
        )
    } else {
        format!(
            "Topology {} has another number of devices than the mesh: times are estimates for \
             topology even",
            topology.name
        )
    };
    out.push_str(&wrap(&assumed, width, "  "));
}

/// Collectives that one row shows.
struct Group<'r> {
    first: &'r CollectiveEntry,
    count: u64,
    unknown: bool,
    wire_bytes: u64,
    seconds: f64,
    /// Other reasons than the first's.
    reasons: usize,
}

impl<'r> Group<'r> {
    fn takes(&self, entry: &CollectiveEntry) -> bool {
        let first = self.first;
        first.op == entry.op
            && first.axes == entry.axes
            && first.group_size == entry.group_size
            && first.payload_type == entry.payload_type
            && line(&first.location) == line(&entry.location)
    }

    fn add(&mut self, entry: &'r CollectiveEntry) {
        self.count += entry.count;
        self.unknown |= entry.count_unknown;
        self.wire_bytes += entry.wire_bytes.saturating_mul(entry.count);
        self.seconds += entry.estimated_seconds * entry.count as f64;
        self.reasons += usize::from(entry.reason != self.first.reason);
    }
}

fn line(location: &Option<String>) -> &str {
    location.as_deref().map_or("", short)
}

fn groups(entries: &[CollectiveEntry]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for entry in entries {
        let at = groups.iter().position(|group| group.takes(entry));
        let at = at.unwrap_or_else(|| {
            let group = Group {
                first: entry,
                count: 0,
                unknown: false,
                wire_bytes: 0,
                seconds: 0.0,
                reasons: 0,
            };
            groups.push(group);
            groups.len() - 1
        });
        groups[at].add(entry);
    }
    groups.sort_by(|a, b| b.seconds.total_cmp(&a.seconds).then(b.wire_bytes.cmp(&a.wire_bytes)));
    groups
}

fn collectives(report: &Report, width: usize, out: &mut String) {
    let totals = &report.totals;
    if report.collectives.is_empty() {
        out.push_str("No device sends anything.\n");
        return;
    }
    let groups = groups(&report.collectives);
    let cells = |name: String, count: u64, wire: u64, time: f64, from: String| {
        let share = share(time, totals.estimated_seconds);
        [name, count.to_string(), bytes(wire), seconds(time), share, from]
    };
    let mut table = Table::new(&[
        Align::Left,
        Align::Right,
        Align::Right,
        Align::Right,
        Align::Right,
        Align::Left,
    ]);
    table.row(["Communication", "runs", "sent", "time", "share", "for"]);
    let mut left = MAX_GROUPS;
    let mut hidden = 0;
    for total in &totals.by_op {
        table.row(cells(
            total.op.replace('_', "-"),
            total.count,
            total.wire_bytes,
            total.estimated_seconds,
            String::new(),
        ));
        for group in groups.iter().filter(|group| group.first.op == total.op) {
            if left == 0 {
                hidden += 1;
                continue;
            }
            left -= 1;
            let first = group.first;
            let name = format!("  {}  {}", along(first), first.payload_type);
            let mut row = cells(name, group.count, group.wire_bytes, group.seconds, purpose(group));
            if group.unknown {
                row[1].insert(0, '≥');
            }
            table.row(row);
        }
    }
    let all = "all".to_owned();
    let rest = if hidden > 0 { format!("and {hidden} more kinds") } else { String::new() };
    table.row(cells(all, totals.count, totals.wire_bytes, totals.estimated_seconds, rest));
    table.write(out, width);
    if report.collectives.iter().any(|entry| entry.count_unknown) {
        out.push_str("≥: inside a loop whose number of runs isn't known, counted once\n");
    }
}

/// The axes of a collective, or the size of its groups.
fn along(entry: &CollectiveEntry) -> String {
    match &entry.axes {
        Some(axes) if axes.is_empty() => "nobody".to_owned(),
        Some(axes) => axes.join(","),
        None => format!("groups of {}", entry.group_size),
    }
}

/// Where and why a group of collectives is.
fn purpose(group: &Group<'_>) -> String {
    let place = line(&group.first.location);
    let mut reason = group.first.reason.clone().unwrap_or_default();
    if group.reasons > 0 {
        reason.push_str(", …");
    }
    match (place, reason.as_str()) {
        (place, "") => place.to_owned(),
        ("", reason) => reason.to_owned(),
        (place, reason) => format!("{} {reason}", clip_middle(place, 24)),
    }
}

fn compute(report: &Report, width: usize, out: &mut String) {
    let compute = &report.compute;
    let mut text = format!("Work: {} a device", flops(compute.device_flops));
    if let (Some(whole), Some(ratio)) = (compute.whole_flops, compute.ratio_to_even) {
        let _ = write!(text, " of {}, {ratio:.2} times an even share", flops(whole));
    }
    out.push_str(&wrap(&text, width, "  "));
    for RepeatedWork { op, location, excess_flops, .. } in
        compute.repeated.iter().take(MAX_REPEATED)
    {
        let place = location.as_deref().map_or("", short);
        let more = share(*excess_flops, compute.device_flops);
        let text = format!(
            "  {op} {place}: {} ({more}) beyond its share on every device",
            flops(*excess_flops)
        );
        let _ = writeln!(out, "{}", clip(&text, width));
    }
    more("op", compute.repeated.len(), MAX_REPEATED, out);
}

fn more(what: &str, count: usize, shown: usize, out: &mut String) {
    if count > shown {
        let plural = if count - shown == 1 { "" } else { "s" };
        let _ = writeln!(out, "  and {} more {what}{plural}", count - shown);
    }
}

fn memory(report: &Report, width: usize, out: &mut String) {
    let memory = &report.memory;
    let over = if memory.peak_bytes > memory.limit_bytes { ": too much" } else { "" };
    let text = format!(
        "Memory a device: arguments {}, results {}, at most {} at once, of {}{over}",
        bytes(memory.arguments_bytes),
        bytes(memory.results_bytes),
        bytes(memory.peak_bytes),
        bytes(memory.limit_bytes)
    );
    out.push_str(&wrap(&text, width, "  "));
}

/// Arguments or results that differ in the numbers in their names only.
struct Similar<'r> {
    first: &'r InterfaceEntry,
    name: String,
    count: usize,
}

/// Groups entries; those in `large` come first, then the largest.
fn similar<'r>(entries: &'r [InterfaceEntry], large: &[usize]) -> Vec<Similar<'r>> {
    let mut found: Vec<Similar<'_>> = Vec::new();
    for entry in entries {
        let name = name_pattern(&entry.name);
        let same = found.iter_mut().find(|similar| {
            similar.name == name
                && similar.first.global_shape == entry.global_shape
                && similar.first.local_shape == entry.local_shape
                && similar.first.element_type == entry.element_type
                && similar.first.sharding == entry.sharding
        });
        match same {
            Some(similar) => similar.count += 1,
            None => found.push(Similar { first: entry, name, count: 1 }),
        }
    }
    let key = |similar: &Similar<'_>| {
        let first = similar.first;
        let whole = large.contains(&first.index);
        (std::cmp::Reverse((whole, first.local_bytes)), first.index)
    };
    found.sort_by_key(key);
    found
}

fn interface(
    title: &str,
    entries: &[InterfaceEntry],
    large: &[usize],
    most: usize,
    width: usize,
    out: &mut String,
) {
    if entries.is_empty() {
        return;
    }
    let similar = similar(entries, large);
    let mut table = Table::new(&[
        Align::Left,
        Align::Right,
        Align::Left,
        Align::Left,
        Align::Right,
        Align::Left,
    ]);
    let known = similar.iter().any(|similar| similar.first.global_shape.is_some());
    let whole = if known { "whole" } else { "" };
    table.row([title, "", whole, "a device", "size", if known { "sharding" } else { "" }]);
    for Similar { first, name, count } in similar.iter().take(most) {
        let name = match (name.as_str(), *count) {
            ("", 1) => first.index.to_string(),
            ("", _) => format!("{}, ...", first.index),
            (_, 1) => first.name.clone(),
            (name, _) => name.to_owned(),
        };
        let times = if *count > 1 { format!("{count} x") } else { String::new() };
        let element = &first.element_type;
        let global = first.global_shape.as_ref().map(|shape| shape_text(shape, element));
        let sharding = match (&first.sharding, first.replicated) {
            (_, Some(true)) => "whole on every device".to_owned(),
            (Some(sharding), _) => sharding.clone(),
            (None, _) => String::new(),
        };
        table.row([
            format!("  {}", clip_middle(&name, 28)),
            times,
            global.unwrap_or_default(),
            shape_text(&first.local_shape, element),
            bytes(first.local_bytes),
            sharding,
        ]);
    }
    table.write(out, width);
    let shown: usize = similar.iter().take(most).map(|similar| similar.count).sum();
    if shown < entries.len() {
        let left = similar.iter().skip(most);
        let size: u64 = left
            .map(|similar| similar.first.local_bytes.saturating_mul(similar.count as u64))
            .sum();
        let _ = writeln!(out, "  and {} more, {}", entries.len() - shown, bytes(size));
    }
}

fn shape_text(shape: &[i64], element: &str) -> String {
    let mut text = String::new();
    for &size in shape {
        match size {
            -1 => text.push_str("?x"),
            size => {
                let _ = write!(text, "{size}x");
            }
        }
    }
    text.push_str(element);
    text
}

fn fallbacks(entries: &[FallbackEntry], width: usize, out: &mut String) {
    if entries.is_empty() {
        return;
    }
    let bytes_of_all: u64 = entries.iter().map(|entry| entry.bytes).sum();
    let _ = writeln!(out, "Gathered for want of a better way: {}", bytes(bytes_of_all));
    for entry in entries.iter().take(MAX_FALLBACKS) {
        let place = entry.short_location();
        let place = if place.is_empty() { String::new() } else { format!("{place}: ") };
        out.push_str(&wrap(&format!("  {place}{}", entry.message), width, "    "));
        out.push_str(&wrap(&format!("    {}", entry.remedy), width, "      "));
    }
    more("place", entries.len(), MAX_FALLBACKS, out);
}
