//! Figures of programs beside each other, as a table.

use crate::report::table::{Align, Table};
use crate::report::units;

use super::figures::{Figures, TimingReport};

/// A line of the table: what it shows, in which unit, and whether a ratio of it means something.
struct Line {
    name: String,
    values: Vec<Option<f64>>,
    show: fn(f64) -> String,
    ratio: bool,
}

fn bytes(value: f64) -> String {
    units::bytes(value as u64)
}

fn count(value: f64) -> String {
    format!("{value:.0}")
}

impl TimingReport {
    /// A table with a column a program; ratios are of the first to each other one with as many
    /// devices.
    pub fn to_text(&self, width: usize) -> String {
        let first = self.programs.first();
        let compared: Vec<usize> = (1..self.programs.len())
            .filter(|&at| first.is_some_and(|first| first.devices == self.programs[at].devices))
            .collect();
        let mut align = vec![Align::Left];
        align.extend(self.programs.iter().map(|_| Align::Right));
        align.extend(compared.iter().map(|_| Align::Right));
        let mut table = Table::new(&align);

        let mut head = vec![format!("on {}", self.platform)];
        head.extend(self.programs.iter().map(|program| program.label.to_owned()));
        if let Some(first) = first {
            let names = compared.iter().map(|&at| self.programs[at].label);
            head.extend(names.map(|name| format!("{} / {name}", first.label)));
        }
        table.row(head);
        for line in self.lines() {
            if line.values.iter().all(Option::is_none) {
                continue;
            }
            let show = |value: &Option<f64>| value.map_or("-".to_owned(), line.show);
            let mut cells = vec![line.name];
            cells.extend(line.values.iter().map(show));
            for &at in compared.iter().filter(|_| line.ratio) {
                cells.push(match (line.values[0], line.values[at]) {
                    (Some(ours), Some(other)) => ratio(ours, other),
                    _ => String::new(),
                });
            }
            table.row(cells);
        }
        let mut text = String::new();
        table.write(&mut text, width);
        text.push_str(&self.notes());
        text
    }

    fn lines(&self) -> Vec<Line> {
        let all = |figure: &dyn Fn(&Figures) -> Option<f64>| -> Vec<Option<f64>> {
            self.programs.iter().map(figure).collect()
        };
        let mut lines = Vec::new();
        let mut line = |name: &str, show: fn(f64) -> String, ratio, values| {
            lines.push(Line { name: name.to_owned(), values, show, ratio });
        };
        line("devices", count, false, all(&|p| Some(p.devices as f64)));
        line("step time, median", units::seconds, true, all(&|p| Some(p.step?.median_seconds)));
        line("step time, fastest", units::seconds, true, all(&|p| Some(p.step?.fastest_seconds)));
        line("compile time", units::seconds, true, all(&|p| Some(p.compile_seconds)));
        let flops = all(&|p| Some(p.contraction_flops as f64));
        line("contractions, a device", units::flops, true, flops);
        line("compiler's FLOP estimate", units::flops, true, all(&|p| p.estimated_flops));
        line(
            "compiler's estimated cycles",
            count,
            true,
            all(&|p| Some(p.cycles?.estimated_cycles as f64)),
        );
        line("temporary memory", bytes, true, all(&|p| Some(p.memory?.temporaries as f64)));
        line("peak memory", bytes, true, all(&|p| Some(p.memory?.peak? as f64)));
        line("argument memory", bytes, true, all(&|p| Some(p.memory?.arguments as f64)));
        line("result memory", bytes, true, all(&|p| Some(p.memory?.results as f64)));
        line("code size", bytes, true, all(&|p| Some(p.code_bytes? as f64)));
        line("bytes sent, a device", bytes, true, all(&|p| Some(p.wire_bytes as f64)));
        let mut kinds: Vec<&str> = Vec::new();
        for one in self.programs.iter().flat_map(|program| &program.collectives) {
            if !kinds.contains(&one.kind.as_str()) {
                kinds.push(&one.kind);
            }
        }
        for kind in kinds {
            let find = |p: &Figures| p.collectives.iter().find(|one| one.kind == kind).cloned();
            let counts = all(&|p| Some(find(p).map_or(0.0, |one| one.count as f64)));
            let sent = all(&|p| Some(find(p).map_or(0.0, |one| one.wire_bytes as f64)));
            line(&format!("  {kind}, runs"), count, true, counts);
            line(&format!("  {kind}, bytes sent"), bytes, true, sent);
        }
        lines
    }

    fn notes(&self) -> String {
        let mut text = String::new();
        if self.programs.iter().any(|program| program.cycles.is_some()) {
            text.push_str(
                "\nCycles, FLOP estimates and memory are the compiler's own estimates, not \
                 measurements; cycles leave communication out.\n",
            );
            let inexact = |p: &Figures| p.cycles.is_some_and(|cycles| !cycles.exact);
            if self.programs.iter().any(inexact) {
                text.push_str("Some loops have an unknown length and count once.\n");
            }
        }
        let many = self.programs.iter().any(|program| program.devices > 1);
        let ran = self.programs.iter().any(|program| program.step.is_some());
        if self.platform == "cpu" && many && ran {
            text.push_str(
                "\nThe devices share this machine's cores: step times measure total work, not \
                 speed-up.\n",
            );
        }
        text
    }
}

fn ratio(ours: f64, other: f64) -> String {
    match (ours, other) {
        (0.0, 0.0) => "1.00".to_owned(),
        (_, 0.0) => "-".to_owned(),
        _ => format!("{:.2}", ours / other),
    }
}
