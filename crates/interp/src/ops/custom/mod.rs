//! Custom calls whose meaning is public: what JAX emits for CPUs, and marks that change nothing.

mod config;
mod lapack;
mod top_k;

use shard_ir::ops::{CustomCall, Elementwise};

use crate::ops;
use crate::site::{Results, Site};
use crate::{Fault, Tensor};
use config::Config;

/// Executes a call; `None` if the target isn't known.
pub(crate) fn eval(
    target: &str,
    site: &Site<'_>,
    call: &CustomCall,
    operands: &[Tensor],
) -> Option<Result<Results, Fault>> {
    let config = Config::new(site, call);
    match target {
        // Where values lie, how, and which axes they are divided along.
        "Sharding"
        | "annotate_device_placement"
        | "LayoutConstraint"
        | "MoveToHost"
        | "MoveToDevice"
        | "AssumeGatherIndicesInBound"
        | "xla.sdy.Sharding"
        | "xla.sdy.FuncResultSharding"
        | "xla.sdy.PropagationBarrier"
        | "xla.megascale.provide_metadata" => Some(Ok(operands.iter().cloned().collect())),
        "xla.sdy.ShardingGroup" | "InspectSharding" => Some(Ok(Results::new())),
        // The other operands are the shape that it has anyway.
        "stablehlo.shape_refinement_operand_wrapper" => {
            Some(Ok(operands.iter().take(1).cloned().collect()))
        }
        "shape_assertion" => Some(shape_assertion(&config, operands)),
        "TopK" | "mhlo.topk" | "chlo.top_k" => Some(top_k::exact(site, &config, operands)),
        "ApproxTopK" => Some(top_k::approximate(site, call, &config, operands)),
        _ => match (target.strip_prefix("mhlo."), target.strip_prefix("lapack_")) {
            (Some(name), _) => function(name).map(|op| ops::apply_elementwise(&op, site, operands)),
            (_, Some(name)) => lapack::eval(name, site, &config, operands),
            (None, None) => None,
        },
    }
}

/// The functions of CHLO that are called by a name of MHLO.
fn function(name: &str) -> Option<Elementwise> {
    Some(match name {
        "acos" => Elementwise::Acos,
        "acosh" => Elementwise::Acosh,
        "asin" => Elementwise::Asin,
        "asinh" => Elementwise::Asinh,
        "atan" => Elementwise::Atan,
        "atanh" => Elementwise::Atanh,
        "bessel_i1e" => Elementwise::BesselI1e,
        "cosh" => Elementwise::Cosh,
        "digamma" => Elementwise::Digamma,
        "erf" => Elementwise::Erf,
        "erf_inv" => Elementwise::ErfInv,
        "erfc" => Elementwise::Erfc,
        "lgamma" => Elementwise::Lgamma,
        "sinh" => Elementwise::Sinh,
        "tan" => Elementwise::Tan,
        _ => return None,
    })
}

/// Fails if the first operand is false. The others stand in the message as `{0}`, `{1}`.
fn shape_assertion(config: &Config<'_>, operands: &[Tensor]) -> Result<Results, Fault> {
    let Some((holds, values)) = operands.split_first() else {
        return Err(Fault::invalid("an assertion of nothing"));
    };
    if holds.integer()? != 0 {
        return Ok(Results::new());
    }
    let mut message =
        config.text("error_message").unwrap_or("a shape isn't as asserted").to_owned();
    for (index, value) in values.iter().enumerate() {
        if let Ok(value) = value.integer() {
            message = message.replace(&format!("{{{index}}}"), &value.to_string());
        }
    }
    Err(Fault::invalid(message))
}
