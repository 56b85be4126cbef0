//! Differences as tables.

use std::fmt::Write;

use super::collectives::Change;
use super::{Costs, Diff};
use crate::report::place::short;
use crate::report::table::{Align, Table};
use crate::report::units;

/// So many changes are shown of each kind.
const SHOWN: usize = 20;

pub(super) fn text(diff: &Diff, width: usize, full: bool) -> String {
    let mut text = String::new();
    if diff.is_empty() {
        let _ = writeln!(text, "no difference: {} values, equal costs", diff.common_values);
        return text;
    }
    costs(&mut text, &diff.before, &diff.after, width);
    values(&mut text, diff, width, full);
    collectives(&mut text, diff, width, full);
    text
}

fn costs(text: &mut String, before: &Costs, after: &Costs, width: usize) {
    let mut table = Table::new(&[Align::Left, Align::Right, Align::Right, Align::Right]);
    table.row(["a device", "before", "after", "ratio"]);
    let ratio = |before: f64, after: f64| match before == after {
        true => "same".to_owned(),
        false if before == 0.0 => "new".to_owned(),
        false => format!("{:.2}", after / before),
    };
    let bytes = [
        ("sends", before.wire_bytes, after.wire_bytes),
        ("needs of memory", before.peak_bytes, after.peak_bytes),
    ];
    let [sends, needs] = bytes.map(|(what, a, b)| {
        [what.to_owned(), units::bytes(a), units::bytes(b), ratio(a as f64, b as f64)]
    });
    table.row(sends);
    let (a, b) = (before.collectives, after.collectives);
    table.row(["collectives".to_owned(), a.to_string(), b.to_string(), ratio(a as f64, b as f64)]);
    let (a, b) = (before.communication_seconds, after.communication_seconds);
    table.row(["communicates".to_owned(), units::seconds(a), units::seconds(b), ratio(a, b)]);
    let (a, b) = (before.device_flops, after.device_flops);
    table.row(["computes".to_owned(), units::flops(a), units::flops(b), ratio(a, b)]);
    table.row(needs);
    table.write(text, width);
}

fn values(text: &mut String, diff: &Diff, width: usize, full: bool) {
    let _ = writeln!(
        text,
        "\n{} of {} values have another sharding{}",
        diff.values.len(),
        diff.common_values,
        match (diff.gone_values, diff.new_values) {
            (0, 0) => String::new(),
            (gone, new) => format!("; {gone} are only in the first, {new} only in the second"),
        }
    );
    let shown = if full { diff.values.len() } else { SHOWN };
    let mut table = Table::new(&[Align::Left; 5]);
    for change in diff.values.iter().take(shown) {
        let name = change.name.split_once('.').map_or(&change.name[..], |(_, name)| name);
        let place = change.location.as_deref().map_or("", short);
        let to = format!("{} -> {}", change.before, change.after);
        table.row([name, place, &change.ty, &to]);
    }
    table.write(text, width);
    more(text, diff.values.len(), shown);
}

fn collectives(text: &mut String, diff: &Diff, width: usize, full: bool) {
    let count = |change: Change| diff.collectives.iter().filter(|c| c.change == change).count();
    let mut counts = Vec::new();
    for (change, word) in [
        (Change::New, "new"),
        (Change::Gone, "gone"),
        (Change::Grew, "larger"),
        (Change::Shrank, "smaller"),
        (Change::Regrouped, "in another number of runs"),
    ] {
        if count(change) > 0 {
            counts.push(format!("{} {word}", count(change)));
        }
    }
    let counts = if counts.is_empty() { "the same".to_owned() } else { counts.join(", ") };
    let _ = writeln!(text, "\ncollectives: {counts}");
    let mut table = Table::new(&[
        Align::Left,
        Align::Left,
        Align::Left,
        Align::Right,
        Align::Left,
        Align::Left,
    ]);
    let shown = if full { diff.collectives.len() } else { SHOWN };
    for change in diff.collectives.iter().take(shown) {
        let sign = match change.change {
            Change::New => "+",
            Change::Gone => "-",
            Change::Grew | Change::Shrank | Change::Regrouped => "~",
        };
        let axes = change.axes.as_ref().map_or("?".to_owned(), |axes| axes.join(","));
        let bytes = match change.change {
            Change::New => units::bytes(change.bytes_after),
            Change::Gone => units::bytes(change.bytes_before),
            Change::Grew | Change::Shrank | Change::Regrouped => format!(
                "{} -> {}",
                units::bytes(change.bytes_before),
                units::bytes(change.bytes_after)
            ),
        };
        let place = change.location.as_deref().map_or("", short);
        let reason = change.reason.as_deref().unwrap_or("");
        table.row([sign, &change.op, &axes, &bytes, place, reason]);
    }
    table.write(text, width);
    more(text, diff.collectives.len(), shown);
}

fn more(text: &mut String, count: usize, shown: usize) {
    if count > shown {
        let _ = writeln!(text, "... and {} more (--full shows them)", count - shown);
    }
}
