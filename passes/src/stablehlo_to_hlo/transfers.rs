//! Transfers: one instruction begins them, another ends them.

use shard_ir::ops::{Effects, Other, Pairs};
use shard_ir::{AttrsId, Channel, ElementType, Module, OpId, Type, TypeId, ValueId};

use super::{Convert, header, text};
use crate::annotations;

/// Where XLA looks for the devices of a transfer.
const PAIRS: &str = "_xla_send_recv_source_target_pairs";

impl Convert {
    /// `(data, u32[], token[]) send(data, token)` and `token[] send-done(...)`; or
    /// `(data, u32[], token[]) recv(token)` and `(data, token[]) recv-done(...)`.
    pub(super) fn transfer(
        &self,
        module: &mut Module,
        op: OpId,
        kind: &Effects,
        operands: &[ValueId],
    ) -> Vec<ValueId> {
        let loc = module.op(op).loc;
        let Some((&token, data)) = operands.split_last() else { return Vec::new() };
        let token_ty = module.value_type(token);
        let sent = match (kind, data) {
            (Effects::Send(_), &[only]) => Some(only),
            (Effects::Send(_), _) => Some(self.tuple(module, data, loc)),
            _ => None,
        };
        let data_ty = match sent {
            Some(value) => module.value_type(value),
            None => received(module, op),
        };
        let context = module.tensor(ElementType::UI32, []);
        let begun_ty = module.type_id(Type::Tuple([data_ty, context, token_ty].into()));
        let inputs: Vec<ValueId> = sent.into_iter().chain([token]).collect();
        let begun = self.at(module, loc).op_typed(kind.clone(), &inputs, &[begun_ty], &[]);
        let (begins, ends) = attributes(module, op, kind);
        module.op_mut(begun).attrs = begins;
        let (opcode, done_ty) = match sent {
            Some(_) => ("send-done", token_ty),
            None => ("recv-done", module.type_id(Type::Tuple([data_ty, token_ty].into()))),
        };
        let (opcode, begun) = (module.symbol(opcode), module.result(begun, 0));
        let done = self.at(module, loc).op_typed(Other { opcode }, &[begun], &[done_ty], &[]);
        module.op_mut(done).attrs = ends;
        let done = module.result(done, 0);
        if sent.is_some() {
            return vec![done];
        }
        let both = self.elements(module, done, loc);
        let mut values = self.elements(module, both[0], loc);
        values.push(both[1]);
        values
    }
}

/// The type of what is received: all results but the token.
fn received(module: &mut Module, op: OpId) -> TypeId {
    let results = module.results(op);
    let data = &results[..results.len().saturating_sub(1)];
    let types: Vec<TypeId> = data.iter().map(|&value| module.value_type(value)).collect();
    match types[..] {
        [only] => only,
        _ => module.type_id(Type::Tuple(types.into())),
    }
}

/// The attributes of what begins and of what ends a transfer.
fn attributes(module: &mut Module, op: OpId, kind: &Effects) -> (AttrsId, AttrsId) {
    let (Channel { handle, .. }, host, pairs) = match kind {
        Effects::Send(send) => (send.channel, send.host, &send.pairs),
        Effects::Recv(recv) => (recv.channel, recv.host, &recv.pairs),
        _ => return (AttrsId::EMPTY, AttrsId::EMPTY),
    };
    let attrs = module.op(op).attrs;
    let kept = header::kept(module, attrs);
    let channel = text(module, &handle.to_string());
    let mut ends = module.with_attr(kept, "hlo.channel_id", Some(channel));
    if host == Some(true) {
        let host = text(module, "true");
        ends = module.with_attr(ends, "hlo.is_host_transfer", Some(host));
    }
    let Some(Pairs(pairs)) = pairs.as_ref().filter(|pairs| !pairs.0.is_empty()) else {
        return (kept, ends);
    };
    let pairs: Vec<String> = pairs.iter().map(|[from, to]| format!("{{{from},{to}}}")).collect();
    let pairs = format!("{{{}}}", pairs.join(","));
    let begins = annotations::with_frontend(module, kept, PAIRS, Some(&pairs));
    (begins, ends)
}
