//! Running passes on a module that melior holds.

use shard_ir::Diagnostic;
use shard_passes::insert_reshards::Fallback;
use shard_passes::pass_manager::PassPipeline;
use shard_passes::registry::PassContext;

use crate::{Error, ffi, from_melior, prepare, to_melior};

/// Runs a pipeline of shard-opt's passes on MLIR's module, such as
/// `builtin.module(inline-calls,import,propagate)`, and gives warnings about
/// operands that had to be gathered. The module's context is [prepared](prepare).
///
/// The program is checked before the first pass and after each, as the command does.
///
/// # Errors
/// [`Error::Pipeline`] for a text that isn't a pipeline, [`Error::Pass`] for a pass that fails or
/// leaves a wrong program, and those of [`from_melior`] and [`to_melior`]. The module is then as it
/// was.
pub fn run_pipeline(
    module: &mut melior::ir::Module<'_>,
    pipeline: &str,
) -> Result<Vec<Diagnostic>, Error> {
    let pipeline = PassPipeline::parse(pipeline)?;
    let context = module.context();
    let context = ffi::context(&context);
    prepare(context);
    let mut program = from_melior(module)?;
    let check = |program: &shard_ir::Module| match shard_ir::verify(program).into_iter().next() {
        Some(wrong) => Err(wrong),
        None => Ok(()),
    };
    check(&program).map_err(Error::Program)?;
    let mut passes = PassContext::default();
    pipeline
        .run(
            &mut program,
            &mut passes,
            |after| if after.failed { Ok(()) } else { check(after.module) },
        )
        .map_err(Error::Pass)?;
    ffi::replace(module, to_melior(context, &program)?);
    let gathers = passes.fallbacks.iter().map(|fallback| {
        let Fallback { op, operand, bytes, loc, .. } = fallback;
        Diagnostic::warning(format!(
            "{op} can't work on shards of operand {operand}: every device gathers {bytes} bytes"
        ))
        .at_loc(&program, *loc)
    });
    Ok(gathers.collect())
}
