//! What a check found, as data and as text.

use shard_ir::HostArray;
use std::fmt::Write;

use serde::Serialize;

use super::inputs::{self, RunKind};
use crate::report::json;
use crate::report::table::{Align, Table};

/// Version of the JSON form.
pub(super) const SCHEMA_VERSION: u32 = 2;

/// How a result fared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Every device has its part of the whole.
    Equal,
    /// Some device has something else.
    Different,
    /// It is equal, but would be whatever the program did.
    Inconclusive,
}

/// An element that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mismatch {
    /// The run, from 0.
    pub run: usize,
    /// The device.
    pub device: usize,
    /// Index in the whole result.
    pub index: Vec<i64>,
    /// What the whole program gives.
    pub expected: String,
    /// What the device has.
    pub found: String,
}

/// What was found of a result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ResultReport {
    /// Its number.
    pub index: usize,
    /// Its name, or empty.
    pub name: String,
    /// Type of the whole, such as `f32[8,16]`.
    #[serde(rename = "type")]
    pub ty: String,
    /// How it fared.
    pub status: Status,
    /// |a - b| may be this part of |b| + rms b; `None` where every bit must be equal.
    pub tolerance: Option<f64>,
    /// The part of its elements that is finite, in the worst random run (or the one that is given).
    pub finite: f64,
    /// Whether other inputs change it; edge inputs don't count.
    pub changed: bool,
    /// Elements compared, over all devices and runs.
    pub compared: u64,
    /// Elements of these that are another value, which is allowed as the specification leaves it
    /// open: with its reductions nested the other way the whole program has another value there, too.
    pub open: u64,
    /// Elements that differ.
    pub differing: u64,
    /// The largest error, as a part of what is allowed (JSON has no infinity: `null`); what rounding
    /// errors inside the program may do is allowed where the tolerance is not enough.
    pub worst: f64,
    /// The first differences.
    pub examples: Vec<Mismatch>,
}

impl ResultReport {
    /// Its number and name.
    pub fn label(&self) -> String {
        match self.name.as_str() {
            "" => format!("{}", self.index),
            name => format!("{} {name}", self.index),
        }
    }

    /// What makes a check of it say little; whether it changes is left out where nothing could.
    fn reason(&self, judges_change: bool) -> String {
        let mut reasons = Vec::new();
        if self.finite < super::MOST_FINITE {
            reasons.push(format!("only {:.1} % of it is finite", 100.0 * self.finite));
        }
        if judges_change && !self.changed {
            reasons.push("no input changes it".to_owned());
        }
        reasons.join(", ")
    }

    /// What can be done where it is inconclusive.
    fn way_forward(&self) -> &'static str {
        if self.finite < super::MOST_FINITE {
            "the inputs drawn take it out of range; try others with --seed=N, or verify the \
             program without this result"
        } else {
            "try other inputs with --seed=N or more with --runs=N; a result that is the same for \
             all of them (a constant, a count, a saturated comparison) can't be checked by running \
             the program: return what it is computed from instead"
        }
    }
}

/// What a check found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VerifyReport {
    /// Version of this form.
    pub schema_version: u32,
    /// Devices that the program ran on.
    pub devices: usize,
    /// The kinds of inputs that were tried, in their order.
    pub runs: Vec<RunKind>,
    /// What they were drawn from.
    pub seed: u64,
    /// What the program was checked against.
    pub reference: &'static str,
    /// Each result.
    pub results: Vec<ResultReport>,
}

/// A result's type, as HLO writes it.
pub(super) fn type_text(array: &HostArray) -> String {
    let dims: Vec<String> = array.dims.iter().map(i64::to_string).collect();
    format!("{}[{}]", array.element_type, dims.join(","))
}

impl VerifyReport {
    /// Whether every result is equal, and none inconclusive.
    pub fn passed(&self) -> bool {
        self.results.iter().all(|result| result.status == Status::Equal)
    }

    /// Results of a status.
    pub fn count(&self, status: Status) -> usize {
        self.results.iter().filter(|result| result.status == status).count()
    }

    /// The result with the largest error.
    pub fn worst(&self) -> Option<&ResultReport> {
        self.results.iter().max_by(|a, b| a.worst.total_cmp(&b.worst))
    }

    /// As JSON.
    pub fn to_json(&self) -> String {
        json::render(self)
    }

    /// As a table with a line a result; equal results that are alike share one.
    pub fn to_text(&self, width: usize) -> String {
        let mut text = String::new();
        let _ = writeln!(
            text,
            "{} devices, {} (seed {}), against {}\n",
            self.devices,
            inputs::count_text(&self.runs),
            self.seed,
            self.reference
        );
        let mut table =
            Table::new(&[Align::Left, Align::Left, Align::Left, Align::Right, Align::Left]);
        table.row(["status", "type", "compared", "error", "result"]);
        let mut groups: Vec<(&ResultReport, Vec<&ResultReport>)> = Vec::new();
        for result in &self.results {
            let alike = |first: &ResultReport| {
                first.status == Status::Equal
                    && result.status == Status::Equal
                    && first.ty == result.ty
                    && first.tolerance == result.tolerance
            };
            match groups.iter_mut().find(|(first, _)| alike(first)) {
                Some((_, members)) => members.push(result),
                None => groups.push((result, vec![result])),
            }
        }
        for (first, members) in &groups {
            let status = match first.status {
                Status::Equal => "equal",
                Status::Different => "DIFFERENT",
                Status::Inconclusive => "INCONCLUSIVE",
            };
            let (rule, error) = match first.tolerance {
                None => ("bit for bit".to_owned(), String::new()),
                Some(tolerance) => {
                    let worst = members.iter().map(|result| result.worst).fold(0.0, f64::max);
                    (format!("within {tolerance:e}"), format!("{:.1e}", worst * tolerance))
                }
            };
            let labels: Vec<String> = members.iter().map(|result| result.label()).collect();
            let labels = match members.len() {
                1 => labels.join(""),
                count => format!("{count} results: {}", labels.join(", ")),
            };
            let ty = first.ty.clone();
            table.row([status.to_owned(), ty, rule, error, labels]);
        }
        table.write(&mut text, width);
        self.write_failures(&mut text);
        let equal = self.count(Status::Equal);
        let _ =
            writeln!(text, "\n{equal} of {} results are equal on every device", self.results.len());
        text
    }

    fn write_failures(&self, text: &mut String) {
        // Edge inputs alone say nothing of what others do, nor does one input that is given.
        let random = self.runs.first().is_some_and(|kind| !kind.is_edge());
        let judges_change = self.runs.first() == Some(&RunKind::Random);
        for result in &self.results {
            let label = result.label();
            if result.open > 0 {
                let _ = writeln!(
                    text,
                    "\nresult {label}: {} of {} elements differ where the whole program does in \
                     another form, with reductions nested the other way",
                    result.open, result.compared
                );
            }
            match result.status {
                Status::Equal => {
                    let reason = result.reason(judges_change);
                    if random && !reason.is_empty() {
                        let _ = writeln!(text, "\nresult {label}: by what is given, {reason}");
                    }
                }
                Status::Inconclusive => {
                    let _ =
                        writeln!(text, "\nresult {label} is inconclusive: {}", result.reason(true));
                    let _ = writeln!(text, "  help: {}", result.way_forward());
                }
                Status::Different => {
                    let _ = writeln!(
                        text,
                        "\nresult {label}: {} of {} elements differ",
                        result.differing, result.compared
                    );
                    for Mismatch { run, device, index, expected, found } in &result.examples {
                        let kind = self.runs.get(*run).map_or("", |kind| kind.words());
                        let _ = writeln!(
                            text,
                            "  run {run} ({kind}), device {device}, {index:?}: expected {expected}, \
                             found {found}"
                        );
                    }
                }
            }
        }
    }
}
