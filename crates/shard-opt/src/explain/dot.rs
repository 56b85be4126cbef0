//! The propagation graph around values, in Graphviz's language.

use std::fmt::Write;

use shard_ir::{MeshId, Module, OpId};
use shard_propagate::explain::{At, Explainer, Link, Subject};
use std::collections::HashSet;

use super::answer::Writer;
use super::words;
use crate::render::Input;
use crate::report::place::Places;

/// The values that the axes of the subjects came through, and those that hang together with the
/// subjects by one op. Solid arrows are ways that axes took.
pub(super) fn graph(
    module: &Module,
    mesh: MeshId,
    explainer: &Explainer<'_>,
    subjects: &[Subject],
    input: Option<Input<'_>>,
) -> String {
    let mesh_data = &module.meshes[mesh].mesh;
    let writer = Writer { module, mesh: mesh_data, places: Places { input } };
    let mut picture = Picture { writer, explainer, nodes: HashSet::new(), lines: Vec::new() };
    for &subject in subjects {
        picture.node(subject, true);
    }
    let mut drawn: HashSet<(String, String)> = HashSet::new();
    for &subject in subjects {
        let explanation = explainer.explain(subject, mesh);
        let axes = explanation.dims.iter().flatten();
        for present in axes {
            for link in &present.chain {
                picture.way(link, &picture.writer.axis(present.axis), &mut drawn);
            }
        }
        if let Subject::Value(value) = subject {
            for (op, values) in explainer.around(value) {
                for other in values.into_iter().filter(|&other| other != value) {
                    picture.near(subject, op, Subject::Value(other), &mut drawn);
                }
            }
        }
    }
    let mut text = String::from(
        "digraph propagation {\n  rankdir=LR;\n  node [shape=box, fontname=\"monospace\"];\n",
    );
    for line in &picture.lines {
        let _ = writeln!(text, "  {line}");
    }
    text.push_str("}\n");
    text
}

struct Picture<'a, 'm> {
    writer: Writer<'a>,
    explainer: &'a Explainer<'m>,
    nodes: HashSet<Subject>,
    lines: Vec<String>,
}

fn id(subject: Subject) -> String {
    match subject {
        Subject::Value(value) => format!("v{}", value.as_u32()),
        Subject::Result(func, index) => format!("r{}_{index}", func.as_u32()),
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

impl Picture<'_, '_> {
    fn node(&mut self, subject: Subject, asked: bool) {
        if !self.nodes.insert(subject) {
            return;
        }
        let sharding = self.explainer.sharding(subject).map(|s| self.writer.sharding(s));
        let label = format!(
            "{}\n{}",
            self.writer.name(subject),
            sharding.unwrap_or_else(|| "open".to_owned())
        );
        let style = if asked { ", style=bold" } else { "" };
        let label = quoted(&label).replace('\n', "\\n");
        self.lines.push(format!("{} [label={label}{style}];", id(subject)));
    }

    /// An arrow for the way of an axis.
    fn way(&mut self, link: &Link, axis: &str, drawn: &mut HashSet<(String, String)>) {
        let Link { op, to: At { subject: to, .. }, from: At { subject: from, .. }, .. } = *link;
        self.node(from, false);
        self.node(to, false);
        let label = format!("{axis}: {}", self.op(op));
        let ends = (format!("{} -> {}", id(from), id(to)), label.clone());
        if drawn.insert(ends.clone()) {
            self.lines.push(format!("{} [label={}];", ends.0, quoted(&label)));
        }
    }

    /// A dotted line to a neighbour.
    fn near(
        &mut self,
        subject: Subject,
        op: Option<OpId>,
        other: Subject,
        drawn: &mut HashSet<(String, String)>,
    ) {
        self.node(other, false);
        let label = self.op(op);
        let ends = format!("{} -> {}", id(subject), id(other));
        if drawn.insert((ends.clone(), label.clone())) {
            let label = quoted(&label);
            self.lines.push(format!("{ends} [label={label}, style=dotted, arrowhead=none];"));
        }
    }

    fn op(&self, op: Option<OpId>) -> String {
        op.map_or("returned".to_owned(), |op| {
            words::short(self.writer.module.op_name(op)).to_owned()
        })
    }
}
