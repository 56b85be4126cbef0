//! Why values are sharded as they are: `shard-opt explain`.
//!
//! [`shard_passes::pipeline::prepare`] makes the program that propagation gets,
//! [`shard_propagate::explain`] finds the reasons; here is what a user asks for ([`What`]), and
//! the answers as text, as data and as a picture.

mod answer;
mod dot;
mod select;
mod text;
mod words;

use shard_ir::sharding::Mesh;
use shard_ir::{Diagnostic, MeshId, Module};
use shard_passes::import::ImportOptions;
use shard_propagate::Options;
use shard_propagate::explain::{Explainer, Subject};

use crate::render::Input;

pub use answer::{Answer, Missing, OriginAnswer, Step, Why};
pub use select::{What, subjects};

/// The version of the JSON that [`Answers::to_json`] writes.
pub const SCHEMA_VERSION: u32 = 1;

/// A program that questions can be asked about.
#[derive(Debug)]
pub struct Program {
    /// The program as propagation gets it.
    pub module: Module,
    mesh: MeshId,
    options: Options,
}

impl Program {
    /// Prepares a program. It should have been read with all its names.
    ///
    /// # Errors
    /// If it can't be imported, or has no mesh.
    pub fn new(module: Module, import: &ImportOptions) -> Result<Program, Diagnostic> {
        let module = shard_passes::pipeline::prepare(module, import)?;
        let mesh = shard_passes::meshes::main_mesh(&module).unwrap_or(MeshId::from_u32(0));
        Ok(Program { module, mesh, options: Options::default() })
    }

    /// The mesh.
    pub fn mesh(&self) -> &Mesh {
        &self.module.meshes[self.mesh].mesh
    }

    /// Propagates, and explains each of the subjects.
    pub fn explain(&self, subjects: &[Subject], input: Option<Input<'_>>) -> Answers {
        let explainer = Explainer::new(&self.module, &self.options);
        let answers = subjects
            .iter()
            .map(|&subject| {
                let explanation = explainer.explain(subject, self.mesh);
                answer::answer(&self.module, self.mesh(), &explanation, input)
            })
            .collect();
        Answers { schema_version: SCHEMA_VERSION, answers }
    }

    /// The propagation graph around the subjects, as a picture in DOT: what their axes came through
    /// from where they were stated.
    pub fn dot(&self, subjects: &[Subject], input: Option<Input<'_>>) -> String {
        let explainer = Explainer::new(&self.module, &self.options);
        dot::graph(&self.module, self.mesh, &explainer, subjects, input)
    }
}

/// Explanations of several values.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Answers {
    /// Version of this form.
    pub schema_version: u32,
    /// One for each value.
    pub answers: Vec<Answer>,
}

impl Answers {
    /// As data.
    pub fn to_json(&self) -> String {
        crate::report::json::render(self)
    }

    /// As text; chains of more than a few steps are shortened unless `full`.
    pub fn to_text(&self, full: bool) -> String {
        text::text(self, full)
    }

    /// As a table with a line for each value.
    pub fn to_table(&self, width: usize) -> String {
        text::table(self, width)
    }
}
