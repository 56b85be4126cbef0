//! Tokens, tuples and transfers have no rules.

use shard_ir::ops::Effects;
use shard_ir::{Module, OpId};

use super::OpRule;

pub(super) fn rule(_module: &Module, _op: OpId, kind: &Effects) -> Option<OpRule> {
    match kind {
        Effects::CreateToken
        | Effects::AfterAll
        | Effects::Tuple
        | Effects::GetTupleElement(_)
        | Effects::Infeed(_)
        | Effects::Outfeed(_)
        | Effects::Send(_)
        | Effects::Recv(_) => None,
    }
}
