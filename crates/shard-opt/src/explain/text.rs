//! Explanations as text.

use std::fmt::Write;

use super::Answers;
use super::answer::{Answer, Missing, Step, Why};
use super::words;
use crate::report::place::short;
use crate::report::table::{Align, Table};

/// Of a longer chain only its ends are shown.
const SHOWN: usize = 8;

pub(super) fn text(answers: &Answers, full: bool) -> String {
    let mut text = String::new();
    for (at, answer) in answers.answers.iter().enumerate() {
        if at > 0 {
            text.push('\n');
        }
        one(&mut text, answer, full);
    }
    text
}

fn one(text: &mut String, answer: &Answer, full: bool) {
    let made = match (&answer.op, &answer.location) {
        (Some(op), Some(place)) => format!(", {} at {}", words::short(op), short(place)),
        (Some(op), None) => format!(", {}", words::short(op)),
        (None, _) => String::new(),
    };
    let sharding = answer.sharding.as_deref().unwrap_or("open, and nothing came");
    let _ = writeln!(text, "{}: {}{made}\n  sharding {sharding}", answer.name, answer.ty);
    for why in &answer.axes {
        let dim = why.dim.map_or(String::new(), |dim| format!(" on dimension {dim}"));
        let _ = writeln!(text, "  \"{}\"{dim}: {}", why.axis, stated(why));
        chain(text, why, full);
    }
    for missing in &answer.missing {
        absent(text, missing, full);
    }
}

/// Where an axis was stated.
fn stated(why: &Why) -> String {
    let origin = &why.origin;
    let place = origin.location.as_deref().map_or(String::new(), |p| format!(" ({})", short(p)));
    format!("{}{place}", origin.by)
}

fn chain(text: &mut String, why: &Why, full: bool) {
    let steps = &why.steps;
    let cut = !full && steps.len() > SHOWN;
    for (at, step) in steps.iter().enumerate() {
        if cut && at == SHOWN / 2 {
            let _ = writeln!(text, "      ... {} steps", steps.len() - SHOWN);
        }
        if cut && (SHOWN / 2..steps.len() - SHOWN / 2).contains(&at) {
            continue;
        }
        let _ = writeln!(text, "      {}", one_step(step));
    }
}

fn one_step(step: &Step) -> String {
    let through = match (&step.op, &step.location) {
        (Some(op), Some(place)) => format!("through {} at {}", words::short(op), short(place)),
        (Some(op), None) => format!("through {}", words::short(op)),
        (None, _) => "as it is returned".to_owned(),
    };
    let dim = step.dim.map_or(String::new(), |dim| format!("dimension {dim} of "));
    let along = match step.along {
        "pass-through" => String::new(),
        along => format!(" ({along})"),
    };
    let priority = match step.priority {
        0 => String::new(),
        priority => format!(", priority {priority}"),
    };
    format!("from {dim}{} {through}{along}{priority}", step.from)
}

fn absent(text: &mut String, missing: &Missing, full: bool) {
    let _ = writeln!(text, "  not \"{}\": {}", missing.axis, missing.reason);
    if let Some(rival) = &missing.rival {
        let _ = writeln!(text, "      there \"{}\" is {}", rival.axis, stated(rival));
        if full {
            chain(text, rival, full);
        }
    }
    let _ = writeln!(text, "      to have it: {}", missing.remedy);
}

/// A line for each value.
pub(super) fn table(answers: &Answers, width: usize) -> String {
    let mut table = Table::new(&[Align::Left; 4]);
    table.row(["value", "type", "sharding", "stated"]);
    for answer in &answers.answers {
        let mut origins: Vec<String> = Vec::new();
        for why in &answer.axes {
            let origin = if why.steps.is_empty() {
                "here".to_owned()
            } else {
                stated(why).trim_start_matches("stated ").to_owned()
            };
            let entry = format!("\"{}\" {origin}", why.axis);
            if !origins.contains(&entry) {
                origins.push(entry);
            }
        }
        let sharding = answer.sharding.clone().unwrap_or_else(|| "open".to_owned());
        table.row([answer.name.clone(), answer.ty.clone(), sharding, origins.join(", ")]);
    }
    let mut text = String::new();
    table.write(&mut text, width);
    text
}
