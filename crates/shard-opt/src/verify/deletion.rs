//! The deletion test: without any one of its collectives, a partitioned program must fail.
//!
//! One program is compiled in which each collective can be switched off at run time
//! (`switch-collectives`), and run once for each. A collective whose removal nothing notices is
//! superfluous, or the check is blind where it matters.

use serde::Serialize;
use shard_ir::{ElementType, HostArray, Module};
use shard_passes::pipeline::{Partitioned, provenance};
use shard_passes::switch_collectives;

use super::engine::Engine;
use super::{Prepared, VerifyError, VerifyReport};
use crate::report::json;
use crate::report::table::{Align, Table};

/// A collective and what became of the program without it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Deleted {
    /// What it is, such as `stablehlo.all_reduce`.
    pub op: String,
    /// Type of its first result.
    #[serde(rename = "type")]
    pub ty: String,
    /// Whether some result on some device was wrong without it.
    pub noticed: bool,
    /// Where nothing was wrong: how much worse the worst error became without it, as a part of what
    /// is allowed. 0 where nothing changed at all.
    pub change: Option<f64>,
    /// Why it is there.
    pub reason: Option<String>,
    /// Where it comes from.
    pub location: String,
}

/// What the deletion test found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeletionReport {
    /// The check of the program with all its collectives.
    pub with_all: VerifyReport,
    /// Each collective, in the order of the program.
    pub deleted: Vec<Deleted>,
}

impl DeletionReport {
    /// Whether the program passes, and fails without any one of its collectives.
    pub fn passed(&self) -> bool {
        self.with_all.passed() && self.deleted.iter().all(|deleted| deleted.noticed)
    }

    /// Collectives whose removal changes nothing.
    pub fn unnoticed(&self) -> impl Iterator<Item = &Deleted> {
        self.deleted.iter().filter(|deleted| !deleted.noticed)
    }

    /// As JSON.
    pub fn to_json(&self) -> String {
        json::render(self)
    }

    /// As text: the collectives that aren't noticed, and a count.
    pub fn to_text(&self, width: usize) -> String {
        let mut text = String::new();
        let unnoticed: Vec<&Deleted> = self.unnoticed().collect();
        let count = self.deleted.len();
        text.push_str(&format!(
            "{} of {count} collectives are noticed when they are missing\n",
            count - unnoticed.len()
        ));
        if !unnoticed.is_empty() {
            text.push_str("\nwithout these every result is as before, within the tolerance:\n");
            let mut table = Table::new(&[Align::Left; 5]);
            for deleted in unnoticed {
                let reason = deleted.reason.clone().unwrap_or_default();
                let (op, ty) = (deleted.op.clone(), deleted.ty.clone());
                let change = match deleted.change {
                    Some(change) if change > 0.0 => format!("{change:.1e} of the tolerance"),
                    _ => "no change at all".to_owned(),
                };
                table.row([op, ty, deleted.location.clone(), change, reason]);
            }
            table.write(&mut text, width);
        }
        text
    }
}

/// Runs the deletion test.
///
/// # Errors
/// As [`super::verify`].
pub fn delete_collectives(
    partitioned: &Partitioned,
    prepared: &Prepared,
    engine: &dyn Engine,
) -> Result<DeletionReport, VerifyError> {
    let mut module = partitioned.module.clone();
    let ops = switch_collectives::run(&mut module).map_err(VerifyError::Pass)?;
    let loaded = engine.load(&module, "compiling the program with switches")?;
    let with_all = prepared.check(&*loaded, &[number(switch_collectives::NONE)])?;
    let mut deleted = Vec::with_capacity(ops.len());
    for (index, op) in ops.into_iter().enumerate() {
        let off = [number(index as i32)];
        let noticed = prepared.differs(&*loaded, &off)?;
        let change = match noticed {
            true => None,
            false => Some(change(&with_all, &prepared.check(&*loaded, &off)?)),
        };
        let (reason, place) = provenance(&module, module.op(op).loc);
        deleted.push(Deleted {
            op: module.op_name(op).to_owned(),
            ty: type_text(&module, op),
            noticed,
            change,
            reason,
            location: match place {
                shard_ir::Place::Source { file, line, .. } => format!("{file}:{line}"),
                shard_ir::Place::Text(range) => format!("byte {}", range.start),
                shard_ir::Place::Nowhere => String::new(),
            },
        });
    }
    Ok(DeletionReport { with_all, deleted })
}

/// How much larger the largest error of any result became.
fn change(before: &VerifyReport, after: &VerifyReport) -> f64 {
    let pairs = before.results.iter().zip(&after.results);
    pairs.map(|(before, after)| (after.worst - before.worst).abs()).fold(0.0, f64::max)
}

fn number(value: i32) -> HostArray {
    let bytes = value.to_le_bytes().to_vec();
    HostArray { element_type: ElementType::I32, dims: Vec::new(), bytes }
}

fn type_text(module: &Module, op: shard_ir::OpId) -> String {
    match module.results(op).first().and_then(|&value| module.tensor_type(value)) {
        Some(ty) => {
            let dims: Vec<String> = ty.dims.iter().map(i64::to_string).collect();
            format!("{}[{}]", ty.element, dims.join(","))
        }
        None => String::new(),
    }
}
