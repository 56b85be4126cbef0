//! Tokens, tuples and transfers.

use crate::ops::{Effects, Pairs};
use crate::{Attr, Channel, Type, TypeId};

use super::InferredType;
use super::context::{Cx, Found};

pub(super) fn infer(cx: &mut Cx, kind: &Effects) -> Found {
    match kind {
        Effects::CreateToken => Some(vec![InferredType::Token]),
        Effects::AfterAll => {
            for at in 0..cx.operands.len() {
                token(cx, at);
            }
            Some(vec![InferredType::Token])
        }
        Effects::Tuple => Some(vec![InferredType::Tuple(cx.operand_types().into())]),
        Effects::GetTupleElement(op) => {
            let id = cx.operand_type(0);
            let module = cx.module;
            let Type::Tuple(parts) = module.ty(id) else {
                complain!(cx, "operand has type {}, not a tuple", cx.show(id));
                return None;
            };
            let at = cx.dim("index", op.index.into(), parts.len())?;
            Some(vec![InferredType::Known(parts[at])])
        }
        Effects::Infeed(op) => {
            token(cx, 0);
            let declared = cx.declared?;
            layouts(cx, op.layout.as_ref(), declared.len().saturating_sub(1));
            received(cx, declared)
        }
        Effects::Outfeed(_) => {
            sent(cx)?;
            Some(vec![InferredType::Token])
        }
        Effects::Send(op) => {
            sent(cx)?;
            channel(cx, op.channel, op.host == Some(true), 2);
            transfers(cx, op.pairs.as_ref());
            Some(vec![InferredType::Token])
        }
        Effects::Recv(op) => {
            token(cx, 0);
            channel(cx, op.channel, op.host == Some(true), 3);
            transfers(cx, op.pairs.as_ref());
            received(cx, cx.declared?)
        }
    }
}

fn token(cx: &mut Cx, at: usize) {
    let id = cx.operand_type(at);
    check!(
        cx,
        *cx.module.ty(id) == Type::Token,
        "operand {at} has type {}, not a token",
        cx.show(id)
    );
}

/// Tensors and a token at the end.
fn sent(cx: &mut Cx) -> Option<()> {
    let last = cx.operands.len() - 1;
    cx.tensors(0..last, "operand")?;
    token(cx, last);
    Some(())
}

fn received(cx: &mut Cx, declared: &[TypeId]) -> Found {
    let Some((last, tensors)) = declared.split_last() else { return Some(Vec::new()) };
    for (at, &id) in tensors.iter().enumerate() {
        let tensor = matches!(cx.module.ty(id), Type::Tensor(_) | Type::Tuple(_));
        check!(cx, tensor, "result {at} has type {}, not a tensor", cx.show(id));
    }
    let token = *cx.module.ty(*last) == Type::Token;
    check!(cx, token, "the last result has type {}, not a token", cx.show(*last));
    Some(vec![InferredType::Given; declared.len()])
}

fn layouts(cx: &mut Cx, layout: Option<&Attr>, count: usize) {
    let Some(Attr::Array(list)) = layout else {
        check!(cx, layout.is_none(), "layout isn't an array");
        return;
    };
    check!(cx, list.len() == count, "layout has {} elements for {count} results", list.len());
    for item in list {
        let Attr::Array(numbers) = item else {
            complain!(cx, "layout has an element that isn't an array");
            continue;
        };
        let integers = numbers.iter().all(|number| matches!(number, Attr::Int(..)));
        check!(cx, integers, "layout has an element that isn't an array of integers");
    }
}

/// The channel's kind fits the transfer: 1 between devices, `host_kind` with the host.
fn channel(cx: &mut Cx, channel: Channel, host: bool, host_kind: i64) {
    let wanted = if host { host_kind } else { 1 };
    check!(
        cx,
        channel.kind == wanted,
        "the channel's type is {}, expected {wanted} where is_host_transfer is {host}",
        channel.kind
    );
}

fn transfers(cx: &mut Cx, pairs: Option<&Pairs>) {
    for &[source, target] in pairs.iter().flat_map(|pairs| &pairs.0) {
        check!(
            cx,
            source >= 0 && target >= 0,
            "source_target_pairs has [{source}, {target}], negative"
        );
    }
}
