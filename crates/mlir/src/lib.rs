//! Programs of shard-opt to and from MLIR's own data structures, through [melior].
//!
//! [`to_melior`] makes a melior module of a program, [`from_melior`] a program of a melior module;
//! [`run_pipeline`] runs shard-opt's passes on a module that a compiler holds through melior;
//! [`read_bytecode`] and [`write_bytecode`] are for MLIR's bytecode.
//!
//! StableHLO and Shardy aren't part of LLVM, so that MLIR knows none of their ops: [`prepare`] tells
//! a context to keep them as they are. Their attributes and types are to MLIR their text.
//!
//! ```
//! use melior::ir::operation::OperationLike;
//!
//! let text = r#"
//! func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
//!   %0 = stablehlo.tanh %a : tensor<8xf32>
//!   return %0 : tensor<8xf32>
//! }"#;
//! let program = shard_text::parse(text, &Default::default()).into_result().unwrap();
//! let context = shard_mlir::context();
//! let module = shard_mlir::to_melior(&context, &program)?;
//! assert!(module.as_operation().verify());
//! let back = shard_mlir::from_melior(&module)?;
//! assert_eq!(shard_text::equal(&program, &back), Ok(()));
//! # Ok::<(), shard_mlir::Error>(())
//! ```

mod bytecode;
mod dense;
mod error;
mod ffi;
mod pipeline;
mod read;
mod read_attrs;
mod resources;
mod write;
mod write_attrs;

pub use bytecode::{MAGIC, read_bytecode, write_bytecode};
pub use error::Error;
pub use pipeline::run_pipeline;
pub use read::from_melior;
pub use write::to_melior;

use melior::Context;
use melior::dialect::DialectHandle;

/// A context that holds programs of shard-opt: see [`prepare`].
pub fn context() -> Context {
    // Threads would cost more than they gain: nothing here runs MLIR's passes.
    let context = Context::new_with_threading(false);
    prepare(&context);
    context
}

/// Makes a context hold programs of shard-opt: it takes any dialect, and has those of LLVM that
/// programs use beside StableHLO (`func`, `arith`, `cf`, `quant`, `scf`, `shape`, `tensor`).
///
/// `stablehlo`, `chlo`, `mhlo` and `sdy` are loaded as dialects without ops of their own, in which
/// anything may occur, unless the context has dialects of these names. Without, MLIR's verifier
/// finds no function that an op inside of `sdy.manual_computation` calls: of a dialect that isn't
/// loaded, any op with one region might be the table of symbols to look in.
pub fn prepare(context: &Context) {
    context.set_allow_unregistered_dialects(true);
    for dialect in [
        DialectHandle::func(),
        DialectHandle::arith(),
        DialectHandle::cf(),
        DialectHandle::quant(),
        DialectHandle::scf(),
        DialectHandle::shape(),
        DialectHandle::tensor(),
    ] {
        dialect.load_dialect(context);
    }
    ffi::load_kept_dialects(context);
}
