//! Transfers between two devices, and from the host.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use shard_ir::OpId;
use shard_ir::ops::{Pairs, Recv, Send};

use super::Program;
use super::device::zeros_like;
use super::groups::Ids;
use crate::{Fault, Tensor, Value};

/// What was sent and not yet received, and what the host has to give.
pub(super) struct Host {
    /// By channel and receiver; the receiver is unknown where the program states no pairs.
    mail: FxHashMap<(i64, Option<usize>), VecDeque<Vec<Value>>>,
    infeed: VecDeque<Vec<Value>>,
}

impl Host {
    /// A host that gives these lists of values, one after the other.
    pub fn new(infeed: Vec<Vec<Value>>) -> Self {
        Host { mail: FxHashMap::default(), infeed: infeed.into() }
    }

    /// The next values that the host gives; `None` if there are no more.
    pub fn feed(&mut self) -> Option<Vec<Value>> {
        self.infeed.pop_front()
    }

    /// Takes what a device sends: all operands but the token.
    ///
    /// # Errors
    /// If a pair names a device that isn't there.
    pub fn send(
        &mut self,
        program: &Program<'_>,
        device: usize,
        send: &Send,
        operands: &[Value],
    ) -> Result<(), Fault> {
        let values = operands[..operands.len().saturating_sub(1)].to_vec();
        let targets = match &send.pairs {
            Some(pairs) if !pairs.0.is_empty() => ends(program, pairs)?
                .into_iter()
                .filter(|(source, _)| *source == device)
                .map(|(_, target)| Some(target))
                .collect(),
            _ => vec![None],
        };
        for target in targets {
            let queue = self.mail.entry((send.channel.handle, target)).or_default();
            queue.push_back(values.clone());
        }
        Ok(())
    }

    /// What a device receives; `None` if it isn't there yet.
    ///
    /// # Errors
    /// If a pair names a device that isn't there, or a device that nobody sends to receives what
    /// has no shape.
    pub fn receive(
        &mut self,
        program: &Program<'_>,
        device: usize,
        op: OpId,
        recv: &Recv,
    ) -> Result<Option<Vec<Value>>, Fault> {
        let target = match &recv.pairs {
            Some(pairs) if !pairs.0.is_empty() => {
                if ends(program, pairs)?.iter().all(|(_, target)| *target != device) {
                    return nothing(program, op).map(Some);
                }
                Some(device)
            }
            _ => None,
        };
        let mail = self.mail.get_mut(&(recv.channel.handle, target));
        Ok(mail.and_then(VecDeque::pop_front).map(|mut values| {
            values.push(Value::Token);
            values
        }))
    }
}

/// Source and target of each transfer, as devices. Pairs number partitions.
fn ends(program: &Program<'_>, pairs: &Pairs) -> Result<Vec<(usize, usize)>, Fault> {
    let ids = if program.world.partitions > 1 { Ids::Partitions } else { Ids::Replicas };
    let mut ends = Vec::new();
    for pair in &pairs.0 {
        for end in ids.groups(&[pair.to_vec()], program.world)? {
            if let [source, target] = end[..] {
                ends.push((source, target));
            }
        }
    }
    Ok(ends)
}

/// Zeros in the shape of the results of an op that receives from nobody.
fn nothing(program: &Program<'_>, op: OpId) -> Result<Vec<Value>, Fault> {
    let module = program.module;
    module
        .results(op)
        .iter()
        .map(|result| match module.tensor_type(*result) {
            Some(ty) => {
                let bytes = vec![0; crate::tensor::storage_bytes(ty.element, module)?];
                crate::tensor::element_count(&ty.dims)?;
                Ok(zeros_like(&Tensor::splat(ty.element, ty.dims.clone(), &bytes)).into())
            }
            None => Ok(Value::Token),
        })
        .collect()
}
