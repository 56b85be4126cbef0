//! Values out of nothing: any part can be made where it is needed.

use shard_ir::ops::Creation;
use shard_ir::{Module, OpId};

use super::{OpRule, builder};

pub(super) fn rule(module: &Module, op: OpId, kind: &Creation) -> Option<OpRule> {
    match kind {
        Creation::Constant(_) | Creation::Iota(_) => builder::pointwise(module, op),
        Creation::DynamicIota(_) => None,
    }
}
