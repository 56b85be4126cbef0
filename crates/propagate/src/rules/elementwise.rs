//! Elementwise ops: every dimension passes through. Bounds of `clamp` and the predicate of `select`
//! may be scalars, which have no dimensions to map.

use shard_ir::ops::Elementwise;
use shard_ir::{Module, OpId};

use super::{OpRule, builder};

pub(super) fn rule(module: &Module, op: OpId, _kind: &Elementwise) -> Option<OpRule> {
    builder::pointwise(module, op)
}
