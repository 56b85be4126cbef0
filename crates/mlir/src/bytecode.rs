//! MLIR's bytecode, in and out.

use melior::ir::operation::OperationLike;
use shard_ir::Module;

use crate::error::{Error, listening};
use crate::{context, ffi, from_melior, to_melior};

/// The four bytes that MLIR's bytecode begins with.
pub const MAGIC: &[u8; 4] = b"ML\xefR";

/// Reads a program from MLIR's bytecode.
///
/// MLIR can read what it wrote itself, with ops of StableHLO and Shardy that it didn't know. What
/// StableHLO's own writer makes (portable artifacts, in its dialect `vhlo`) has encodings that only
/// StableHLO can read, and gives an error.
///
/// # Errors
/// [`Error::Mlir`] with what MLIR says of bytes that it can't read, or of a program that isn't
/// valid; and those of [`from_melior`].
pub fn read_bytecode(bytes: &[u8]) -> Result<Module, Error> {
    let what = || "the bytecode".to_owned();
    if !bytes.starts_with(MAGIC) {
        let said = vec![shard_ir::Diagnostic::error("it doesn't begin with 'ML\\EFR'")];
        return Err(Error::Mlir { what: what(), said });
    }
    let context = context();
    let (module, said) = listening(&context, || ffi::parse(&context, bytes));
    from_melior(&module.ok_or_else(|| Error::Mlir { what: what(), said })?)
}

/// Writes a program as MLIR's bytecode.
///
/// # Errors
/// Those of [`to_melior`].
pub fn write_bytecode(module: &Module) -> Result<Vec<u8>, Error> {
    let context = context();
    let module = to_melior(&context, module)?;
    Ok(module.as_operation().write_bytecode())
}
