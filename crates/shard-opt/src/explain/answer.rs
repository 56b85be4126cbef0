//! Explanations as data.

use serde::Serialize;
use shard_ir::sharding::{AxisRef, Mesh, TensorSharding};
use shard_ir::{Module, OpId, ValueDef, place_of};
use shard_propagate::explain::{At, Explanation, Link, Origin, Present, Stop, Subject};
use shard_propagate::rules::FactorKind;

use super::select::result_name;
use super::words;
use crate::render::Input;
use crate::report::place::Places;

/// Why one value is sharded as it is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// What the value is called: `%12`, `argument 3 (w)`, `result 0`.
    pub name: String,
    /// Its type, such as `f32[8,16]`.
    #[serde(rename = "type")]
    pub ty: String,
    /// The op that makes it, such as `stablehlo.dot_general`.
    pub op: Option<String>,
    /// Where it comes from.
    pub location: Option<String>,
    /// Its sharding, as sdy writes it; `null` where it is open and nothing came.
    pub sharding: Option<String>,
    /// Why it has each of its axes.
    pub axes: Vec<Why>,
    /// What stopped each of those that it hasn't.
    pub missing: Vec<Missing>,
}

/// Why a dimension has an axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Why {
    /// The axis, or a part of it such as `x:(1)2`.
    pub axis: String,
    /// The dimension.
    pub dim: Option<usize>,
    /// How it came, from the value back to where it was stated.
    pub steps: Vec<Step>,
    /// Where it was stated.
    pub origin: OriginAnswer,
}

/// Who stated an axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OriginAnswer {
    /// The value and its dimension.
    pub value: String,
    /// In words: `on argument 3`.
    pub by: String,
    /// Where the op is, if an op states it.
    pub location: Option<String>,
}

/// A step of an axis from one value to another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Step {
    /// The op that it came through; `null` for what a function returns.
    pub op: Option<String>,
    /// Where that is.
    pub location: Option<String>,
    /// The value that it came from.
    pub from: String,
    /// Its dimension there.
    pub dim: Option<usize>,
    /// What that dimension is to the op: `pass-through`, `reduction`, `permutation`,
    /// `need-replication`, `data flow`.
    pub along: &'static str,
    /// The priority that it came with, where users gave any.
    pub priority: u32,
}

/// What stopped an axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Missing {
    /// The axis.
    pub axis: String,
    /// Why it isn't there, in words.
    pub reason: String,
    /// How many ops lie between the place where it stopped and the value; `null` where no value
    /// that hangs together with this one has it.
    pub distance: Option<usize>,
    /// The op at which it stopped.
    pub op: Option<String>,
    /// Where that is.
    pub location: Option<String>,
    /// What is in the way, and where it was stated.
    pub rival: Option<Box<Why>>,
    /// What would get it there.
    pub remedy: String,
}

/// Writes explanations of one module.
pub(super) struct Writer<'a> {
    pub module: &'a Module,
    pub mesh: &'a Mesh,
    pub places: Places<'a>,
}

pub(super) fn answer(
    module: &Module,
    mesh: &Mesh,
    explanation: &Explanation,
    input: Option<Input<'_>>,
) -> Answer {
    let writer = Writer { module, mesh, places: Places { input } };
    let subject = explanation.subject;
    let op = writer.maker(subject);
    Answer {
        name: writer.name(subject),
        ty: writer.ty(subject),
        op: op.map(|op| module.op_name(op).to_owned()),
        location: op.and_then(|op| writer.location(op)),
        sharding: explanation.sharding.as_ref().map(|sharding| writer.sharding(sharding)),
        axes: explanation
            .dims
            .iter()
            .enumerate()
            .flat_map(|(dim, axes)| axes.iter().map(move |present| (dim, present)))
            .map(|(dim, present)| writer.why(Some(dim), subject, present))
            .collect(),
        missing: explanation
            .absent
            .iter()
            .map(|absent| writer.missing(explanation, absent.axis, absent.stop.as_ref()))
            .collect(),
    }
}

impl Writer<'_> {
    /// The op that makes a value.
    fn maker(&self, subject: Subject) -> Option<OpId> {
        match subject {
            Subject::Value(value) => match self.module.value_def(value) {
                ValueDef::Result(op, _) => Some(op),
                ValueDef::Param(block, _) => self.module.parent_op(block),
            },
            Subject::Result(..) => None,
        }
    }

    pub fn location(&self, op: OpId) -> Option<String> {
        self.places.text(self.module, self.module.op(op).loc)
    }

    /// What a value is called.
    pub fn name(&self, subject: Subject) -> String {
        let module = self.module;
        let value = match subject {
            Subject::Result(_, index) => {
                return match result_name(module, index) {
                    name if name.is_empty() => format!("result {index}"),
                    name => format!("result {index} ({name})"),
                };
            }
            Subject::Value(value) => value,
        };
        let main = module.main_func();
        if let Some(main) = main
            && let Some(index) = module.args(main).iter().position(|&arg| arg == value)
        {
            let names = shard_passes::import::argument_names(module, main, index);
            let name = names.first().filter(|name| **name != format!("arg{index}"));
            return match name {
                Some(name) => format!("argument {index} ({name})"),
                None => format!("argument {index}"),
            };
        }
        let name = module.value_names[value].expand().map(|name| module.str(name));
        match (module.value_def(value), name) {
            (ValueDef::Result(op, index), Some(name)) if module.results(op).len() > 1 => {
                format!("%{name}#{index}")
            }
            (_, Some(name)) => format!("%{name}"),
            (ValueDef::Result(op, index), None) => {
                let name = words::short(module.op_name(op));
                match module.results(op).len() {
                    1 => format!("a {name}"),
                    _ => format!("result {index} of a {name}"),
                }
            }
            (ValueDef::Param(block, index), None) => match module.parent_op(block) {
                Some(op) => format!("parameter {index} of a {}", words::short(module.op_name(op))),
                None => format!("parameter {index}"),
            },
        }
    }

    fn ty(&self, subject: Subject) -> String {
        let ty = match subject {
            Subject::Value(value) => self.module.value_type(value),
            Subject::Result(func, index) => self.module.funcs[func].results[index].ty,
        };
        match self.module.ty(ty).as_tensor() {
            Some(ty) => {
                let size = |&size: &i64| match size {
                    shard_ir::DYNAMIC => "?".to_owned(),
                    size => size.to_string(),
                };
                let dims: Vec<String> = ty.dims.iter().map(size).collect();
                format!("{}[{}]", ty.element, dims.join(","))
            }
            None => "no tensor".to_owned(),
        }
    }

    pub fn sharding(&self, sharding: &TensorSharding) -> String {
        sharding.bare_text(self.mesh).to_string()
    }

    pub fn axis(&self, axis: AxisRef) -> String {
        crate::report::axis_names(self.mesh, &[axis]).join("")
    }

    fn why(&self, dim: Option<usize>, subject: Subject, present: &Present) -> Why {
        let first = At { subject, dim };
        let last = present.chain.last().map_or(first, |link| link.from);
        Why {
            axis: self.axis(present.axis),
            dim,
            steps: present.chain.iter().map(|link| self.step(link)).collect(),
            origin: self.origin(last, present.origin),
        }
    }

    fn step(&self, link: &Link) -> Step {
        Step {
            op: link.op.map(|op| self.module.op_name(op).to_owned()),
            location: link.op.and_then(|op| self.location(op)),
            from: self.name(link.from.subject),
            dim: link.from.dim,
            along: match (link.is_data_flow, link.factor) {
                (true, _) | (false, None) => "data flow",
                (false, Some(FactorKind::PassThrough)) => "pass-through",
                (false, Some(FactorKind::Reduction(_))) => "reduction",
                (false, Some(FactorKind::Permutation)) => "permutation",
                (false, Some(FactorKind::NeedReplication)) => "need-replication",
            },
            priority: link.user_priority,
        }
    }

    fn origin(&self, at: At, origin: Origin) -> OriginAnswer {
        let op = match origin {
            Origin::Op(op) | Origin::Constraint(op) | Origin::Border(op) | Origin::Group(op) => {
                Some(op)
            }
            Origin::Argument(..) | Origin::Result(..) | Origin::Unknown => None,
        };
        let by = match origin {
            Origin::Argument(_, index) => {
                let main = self.module.main_func();
                let arg = main.and_then(|main| self.module.args(main).get(index));
                let name = arg.map(|&arg| self.name(Subject::Value(arg)));
                format!("stated on {}", name.unwrap_or_else(|| format!("argument {index}")))
            }
            Origin::Result(func, index) => {
                format!("stated on {}", self.name(Subject::Result(func, index)))
            }
            Origin::Op(op) => {
                format!("stated on this {}", words::short(self.module.op_name(op)))
            }
            Origin::Constraint(_) => "stated by a sharding constraint".to_owned(),
            Origin::Border(_) => "stated at the border of a manual computation".to_owned(),
            Origin::Group(_) => "stated for another value of its sharding group".to_owned(),
            Origin::Unknown => "stated elsewhere".to_owned(),
        };
        OriginAnswer {
            value: self.name(at.subject),
            by,
            location: op.and_then(|op| self.location(op)),
        }
    }

    fn missing(&self, whole: &Explanation, axis: AxisRef, stop: Option<&Stop>) -> Missing {
        let rival = stop.and_then(|stop| {
            let dim = stop.other.or(stop.to.dim);
            let why = self.why(dim, stop.to.subject, stop.rival.as_deref()?);
            Some(Box::new(why))
        });
        let reason = match stop {
            Some(stop) => words::reason(self, stop),
            None => "no value that this one hangs together with has it".to_owned(),
        };
        Missing {
            axis: self.axis(axis),
            reason,
            distance: stop.map(|stop| stop.distance),
            op: stop.and_then(|stop| stop.op).map(|op| self.module.op_name(op).to_owned()),
            location: stop.and_then(|stop| stop.op).and_then(|op| self.location(op)),
            remedy: words::remedy(self, whole, axis, stop, rival.as_deref()),
            rival,
        }
    }

    /// The sizes of what is asked about.
    pub fn dims(&self, subject: Subject) -> Vec<i64> {
        let ty = match subject {
            Subject::Value(value) => self.module.value_type(value),
            Subject::Result(func, index) => self.module.funcs[func].results[index].ty,
        };
        self.module.ty(ty).as_tensor().map_or(Vec::new(), |ty| ty.dims.to_vec())
    }

    /// Whether an op has a place in a source file or in the text.
    pub fn op_with_place(&self, op: OpId) -> String {
        let name = words::short(self.module.op_name(op)).to_owned();
        match place_of(self.module, self.module.op(op).loc) {
            shard_ir::Place::Nowhere => name,
            _ => match self.location(op) {
                Some(place) => format!("{name} ({})", crate::report::place::short(&place)),
                None => name,
            },
        }
    }
}
