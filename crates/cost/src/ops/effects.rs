//! Tokens and tuples cost nothing; transfers move what they carry.

use shard_ir::ops::Effects;

use super::Cx;

pub(super) fn bytes(cx: Cx, kind: &Effects) -> f64 {
    match kind {
        Effects::CreateToken | Effects::AfterAll | Effects::Tuple | Effects::GetTupleElement(_) => {
            0.0
        }
        Effects::Infeed(_) | Effects::Outfeed(_) | Effects::Send(_) | Effects::Recv(_) => {
            cx.all_bytes()
        }
    }
}
