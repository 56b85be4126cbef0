//! Transfers: what begins them is StableHLO's op, and what ends them its results.

use shard_ir::ops::Effects;
use shard_ir::{Module, OpId, Type, ValueId};

use super::{Convert, Leaves, flat_types};

impl Convert {
    /// The leaves of `(data, u32[], token[])`; the token stands in the place of the number, which
    /// nothing but the end of the transfer takes.
    pub(super) fn transfer(
        &self,
        module: &mut Module,
        op: OpId,
        kind: &Effects,
        operands: &[ValueId],
    ) -> Leaves {
        let ty = module.value_type(module.result(op, 0));
        let parts = match module.ty(ty) {
            Type::Tuple(parts) if parts.len() == 3 => parts.clone(),
            _ => return operands.to_vec(),
        };
        let sends = matches!(kind, Effects::Send(_));
        let mut types = if sends { Vec::new() } else { flat_types(module, parts[0]) };
        types.push(parts[2]);
        let mut leaves = self.emit(module, op, kind.clone().into(), operands, &types, &[]);
        if let (true, Some((_, data))) = (sends, operands.split_last()) {
            leaves.splice(0..0, data.iter().copied());
        }
        leaves.extend(leaves.last().copied());
        leaves
    }
}

/// What is left of a transfer's leaves when it has ended: the data received, and the token.
pub(super) fn ended(opcode: &str, mut leaves: Leaves) -> Leaves {
    let token = leaves.pop();
    leaves.pop();
    if opcode == "send-done" {
        leaves.clear();
    }
    leaves.extend(token);
    leaves
}
