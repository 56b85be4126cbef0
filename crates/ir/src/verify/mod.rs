//! The verifier: everything that must hold for a module, and all that doesn't.
//!
//! Passes may rely on what it accepts: values are defined before they are used, regions and
//! functions end with the right terminator, types fit ([`crate::infer::check_op`]), symbols exist,
//! and meshes and shardings are valid. It takes time linear in the module, and no recursion.

mod collectives;
mod manual;
mod shardings;
mod structure;
mod symbols;

use crate::infer::FuncTable as Funcs;
use crate::{Diagnostic, LocId, Module, OpId};

/// Everything that is wrong with a module, in the order of the program; nothing where it is valid.
pub fn verify(module: &Module) -> Vec<Diagnostic> {
    let mut complaints = Complaints { module, found: Vec::new() };
    let funcs = symbols::verify(&mut complaints);
    shardings::verify_functions(&mut complaints);
    structure::verify(&mut complaints, &funcs);
    complaints.found
}

/// What has been found so far.
struct Complaints<'a> {
    module: &'a Module,
    found: Vec<Diagnostic>,
}

impl Complaints<'_> {
    /// Adds an error about an op.
    fn op(&mut self, op: OpId, message: impl Into<String>) {
        self.found.push(Diagnostic::error(message).at_op(self.module, op));
    }

    /// Adds an error at a location.
    fn at(&mut self, loc: LocId, message: impl Into<String>) {
        self.found.push(Diagnostic::error(message).at_loc(self.module, loc));
    }
}
