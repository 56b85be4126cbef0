//! Reading types, attributes and meshes one by one, into a module that is there already.

use shard_ir::sharding::Mesh;
use shard_ir::{Attr, Diagnostic, MeshId, Module, TypeId};

use super::ParseOptions;
use super::parser::{Parser, Read};

/// Reads the whole of `text` with `read`. What is interned goes into the module.
fn piece<T>(
    m: &mut Module,
    text: &str,
    read: impl FnOnce(&mut Parser<'_>) -> Read<T>,
) -> Result<T, Diagnostic> {
    let mut parser = Parser::on(std::mem::take(m), text, &ParseOptions::default());
    let mut result = read(&mut parser);
    if result.is_ok() && !parser.c.at_end() {
        result = parser.expected("the end of the text");
    }
    *m = parser.m;
    result.map_err(|_| {
        let found = parser.diagnostics.into_iter().next();
        found
            .unwrap_or_else(|| Diagnostic::error("it can't be read"))
            .note(format!("in the text {text}"))
    })
}

/// Reads a type.
///
/// # Errors
/// What is wrong with the text.
pub fn read_type(m: &mut Module, text: &str) -> Result<TypeId, Diagnostic> {
    piece(m, text, |p| p.ty())
}

/// Reads an attribute. Its aliases must be expanded, and the meshes that it names declared; axes
/// that are written without their mesh, as `sdy`'s collectives have them, are those of `mesh`.
///
/// # Errors
/// What is wrong with the text.
pub fn read_attr(m: &mut Module, text: &str, mesh: Option<MeshId>) -> Result<Attr, Diagnostic> {
    piece(m, text, |p| {
        let attr = p.attr()?;
        match mesh {
            Some(mesh) => p.resolve_deferred(attr, mesh),
            None => Ok(attr),
        }
    })
}

/// Reads the attribute `#sdy.mesh<...>`.
///
/// # Errors
/// What is wrong with the text.
pub fn read_mesh(m: &mut Module, text: &str) -> Result<Mesh, Diagnostic> {
    piece(m, text, |p| {
        p.expect_str("#sdy.mesh")?;
        p.mesh_body()
    })
}
