//! Op by op.

use shard_ir::ops::{
    AllToAll, AllToAllTuple, Collective, Concatenate, Control, Creation, Custom, CustomCall,
    Effects, Hlo, Movement, Op, Other, Slice,
};
use shard_ir::{
    Attr, AttrsId, Diagnostic, Dims, ElementType, Module, OpId, RegionId, Type, TypeId, ValueId,
};

use super::transfers::ended;
use super::{Convert, Leaves, flat_shardings, flat_types};
use crate::annotations::{FRONTEND, TILES};

impl Convert {
    /// What an op's result became.
    pub(super) fn op(&mut self, module: &mut Module, op: OpId) -> Result<Leaves, Diagnostic> {
        let kind = module.kind(op).clone();
        let operands = self.operands(module, op);
        match kind {
            Op::Effects(Effects::Tuple) => Ok(operands),
            Op::Effects(Effects::GetTupleElement(get)) => Ok(self.element(module, op, get.index)),
            Op::Creation(Creation::Constant(_)) if is_tuple(module, op) => {
                Err(unsupported(module, op, "a constant tuple"))
            }
            Op::Effects(ref transfer @ (Effects::Send(_) | Effects::Recv(_))) => {
                Ok(self.transfer(module, op, transfer, &operands))
            }
            Op::Hlo(kind) => self.hlo(module, op, kind, operands),
            Op::Control(Control::While) => {
                let regions: Vec<RegionId> = module.regions(op).to_vec();
                let mut new = Vec::new();
                for region in regions {
                    new.push(self.region(module, region, None, Control::Return)?);
                }
                Ok(self.keep(module, op, kind, &operands, &new))
            }
            Op::Control(Control::Call(call)) => {
                let types = self.results.get(&call.callee.0).cloned().unwrap_or_default();
                Ok(self.emit(module, op, Control::Call(call).into(), &operands, &types, &[]))
            }
            Op::Collective(collective)
                if module.attr(module.op(op).attrs, "hlo.async").is_some() =>
            {
                self.begun(module, op, Op::Collective(collective), &operands)
            }
            _ if module.attr(module.op(op).attrs, "hlo.async").is_some() => {
                self.begun(module, op, kind, &operands)
            }
            Op::Custom(Custom::CustomCall(call)) => {
                let call = custom_call(module, *call);
                Ok(self.keep(module, op, call.into(), &operands, &[]))
            }
            kind => {
                let regions = self.regions(module, op)?;
                Ok(self.keep(module, op, kind, &operands, &regions))
            }
        }
    }

    fn regions(&mut self, module: &mut Module, op: OpId) -> Result<Vec<RegionId>, Diagnostic> {
        let regions = module.regions(op).to_vec();
        let convert = |region| self.region(module, region, None, Control::Return);
        regions.into_iter().map(convert).collect()
    }

    /// The op with the types of its result's leaves.
    fn keep(
        &self,
        module: &mut Module,
        old: OpId,
        kind: Op,
        operands: &[ValueId],
        regions: &[RegionId],
    ) -> Leaves {
        let types = flat_types(module, module.value_type(module.result(old, 0)));
        self.emit(module, old, kind, operands, &types, regions)
    }

    pub(super) fn emit(
        &self,
        module: &mut Module,
        old: OpId,
        kind: Op,
        operands: &[ValueId],
        types: &[TypeId],
        regions: &[RegionId],
    ) -> Leaves {
        let loc = module.op(old).loc;
        let attrs = attributes(module, module.op(old).attrs, &kind, types.len());
        let new = self.at(module, loc).op_typed(kind, operands, types, regions);
        module.op_mut(new).attrs = attrs;
        module.results(new).to_vec()
    }

    fn element(&self, module: &Module, op: OpId, index: i32) -> Leaves {
        let tuple = module.operand(op, 0);
        let leaves = self.of(tuple);
        let Type::Tuple(parts) = module.ty(module.value_type(tuple)) else { return leaves };
        let count = |ty: &TypeId| flat_types(module, *ty).len();
        let index = usize::try_from(index).unwrap_or(0);
        let start: usize = parts.iter().take(index).map(count).sum();
        let len = parts.get(index).map_or(0, count);
        leaves.get(start..start + len).map(<[ValueId]>::to_vec).unwrap_or_default()
    }

    fn hlo(
        &mut self,
        module: &mut Module,
        op: OpId,
        kind: Hlo,
        operands: Leaves,
    ) -> Result<Leaves, Diagnostic> {
        match kind {
            Hlo::Copy => Ok(operands),
            Hlo::AddDependency => {
                Ok(operands.first().map(|value| vec![*value]).unwrap_or_default())
            }
            Hlo::Bitcast => {
                let (Some(&value), ty) =
                    (operands.first(), module.value_type(module.result(op, 0)))
                else {
                    return Ok(operands);
                };
                let from = layout_attrs(module, module.operand(op, 0));
                let (to, loc) = (module.op(op).attrs, module.op(op).loc);
                Ok(vec![self.bitcast(module, value, ty, (from, to), loc)])
            }
            Hlo::Fusion(_) => self.inline(module, op),
            Hlo::Conditional => self.conditional(module, op),
            Hlo::AllToAllTuple(exchange) => self.exchange(module, op, *exchange, &operands),
            Hlo::Other(other) => self.other(module, op, &other, operands),
        }
    }

    /// The body of an op in its place, the operands in the place of its parameters.
    fn inline(&mut self, module: &mut Module, op: OpId) -> Result<Leaves, Diagnostic> {
        let region = module.regions(op)[0];
        let params = module.params(module.entry(region)).to_vec();
        for (param, operand) in params.into_iter().zip(module.operands(op).to_vec()) {
            self.leaves[param] = Some(Box::new(self.of(operand)));
        }
        self.body(module, region)
    }

    /// Branches take nothing: they use what they need from outside.
    fn conditional(&mut self, module: &mut Module, op: OpId) -> Result<Leaves, Diagnostic> {
        let inputs = module.operands(op).to_vec();
        let regions = module.regions(op).to_vec();
        let mut new = Vec::new();
        for (region, input) in regions.into_iter().zip(&inputs[1..]) {
            let given = [self.of(*input)];
            new.push(self.region(module, region, Some(&given), Control::Return)?);
        }
        let Some(&predicate) = self.of(inputs[0]).first() else { return Ok(Leaves::new()) };
        let boolean = module.tensor_type(predicate).is_some_and(|ty| ty.element == ElementType::I1);
        let kind = if boolean { Control::If } else { Control::Case };
        Ok(self.keep(module, op, kind.into(), &[predicate], &new))
    }

    /// An exchange of values that are alike: they become blocks of one.
    fn exchange(
        &self,
        module: &mut Module,
        op: OpId,
        exchange: AllToAllTuple,
        operands: &[ValueId],
    ) -> Result<Leaves, Diagnostic> {
        let loc = module.op(op).loc;
        let count = operands.len() as i64;
        let types: Vec<_> = operands.iter().map(|&value| module.tensor_type(value)).collect();
        let Some(Some(ty)) = types.first().filter(|ty| types.iter().all(|other| other == *ty))
        else {
            return Err(unsupported(module, op, "an exchange of values of several types"));
        };
        let ty = (*ty).clone();
        let emit = |module: &mut Module, op: Op, operands: &[ValueId], dims: Vec<i64>| {
            let ty = module.tensor(ty.element, dims);
            self.at(module, loc).typed(op, operands, ty)
        };
        let led = |first: i64| [&[first], &ty.dims[..]].concat();
        let mut blocks = Vec::new();
        for &value in operands {
            blocks.push(emit(module, Movement::Reshape.into(), &[value], led(1)));
        }
        let joined = emit(module, Concatenate { dimension: 0 }.into(), &blocks, led(count));
        let AllToAllTuple { groups, channel } = exchange;
        let all = AllToAll { split: 0, concat: 0, count, groups, channel };
        let moved = emit(module, all.into(), &[joined], led(count));
        let mut parts = Leaves::new();
        for at in 0..count {
            let mut start = Dims::from_elem(0, ty.rank() + 1);
            start[0] = at;
            let strides = Dims::from_elem(1, ty.rank() + 1);
            let slice = Slice { start, limit: led(at + 1).into(), strides };
            let part = emit(module, slice.into(), &[moved], led(1));
            parts.push(emit(module, Movement::Reshape.into(), &[part], ty.dims.to_vec()));
        }
        Ok(parts)
    }

    fn other(
        &mut self,
        module: &mut Module,
        op: OpId,
        other: &Other,
        operands: Leaves,
    ) -> Result<Leaves, Diagnostic> {
        let opcode = module.str(other.opcode).to_owned();
        match opcode.as_str() {
            "domain" | "copy-start" | "copy-done" => {
                let count = flat_types(module, module.value_type(module.result(op, 0))).len();
                // A copy's beginning is a tuple of target, source and context.
                let source = operands.first().copied();
                Ok(match opcode.as_str() {
                    "copy-start" => source.into_iter().cycle().take(count).collect(),
                    "copy-done" => source.into_iter().collect(),
                    _ => operands,
                })
            }
            "async-start" => self.inline(module, op),
            "send-done" | "recv-done" => Ok(ended(&opcode, operands)),
            _ if opcode.ends_with("-done") || opcode.ends_with("-update") => Ok(operands),
            _ => Err(unsupported(module, op, &format!("'{opcode}'"))),
        }
    }

    /// An op that only begins what a later one ends: its result is there at once.
    fn begun(
        &mut self,
        module: &mut Module,
        op: OpId,
        kind: Op,
        operands: &[ValueId],
    ) -> Result<Leaves, Diagnostic> {
        let ty = module.value_type(module.result(op, 0));
        let types = match (&kind, module.ty(ty)) {
            // These have the operand's shape and no context.
            (Op::Collective(Collective::AllReduce(_)), _) => flat_types(module, ty),
            (_, Type::Tuple(parts)) if parts.len() >= 2 => flat_types(module, parts[1]),
            _ => flat_types(module, ty),
        };
        let regions = self.regions(module, op)?;
        Ok(self.emit(module, op, kind, operands, &types, &regions))
    }
}

fn is_tuple(module: &Module, op: OpId) -> bool {
    matches!(module.ty(module.value_type(module.result(op, 0))), Type::Tuple(_))
}

fn unsupported(module: &Module, op: OpId, what: &str) -> Diagnostic {
    Diagnostic::error(format!("StableHLO has no op for {what}"))
        .at_loc(module, module.op(op).loc)
        .help("dump the program before XLA's passes (XLA: the before_optimizations dump)")
}

/// The attributes that hold the layout of a value's shape.
fn layout_attrs(module: &Module, value: ValueId) -> AttrsId {
    match module.defining_op(value) {
        Some(op) => module.op(op).attrs,
        None => module.param_attrs[value],
    }
}

/// The attributes that mean something in StableHLO.
fn attributes(module: &mut Module, attrs: AttrsId, kind: &Op, results: usize) -> AttrsId {
    let sharding = match (kind, results) {
        // XLA takes none on these.
        (Op::Control(Control::While | Control::If | Control::Case), _) => None,
        (_, 1) => flat_shardings(module, attrs, 1).pop().flatten(),
        _ => module.attr(attrs, TILES).cloned(),
    };
    let frontend = module.attr(attrs, FRONTEND).cloned();
    let new = module.with_attr(AttrsId::EMPTY, TILES, sharding);
    module.with_attr(new, FRONTEND, frontend)
}

/// Only the typed interface takes a dictionary: to the others it is text, as is what is none.
fn custom_call(module: &mut Module, mut call: CustomCall) -> CustomCall {
    const TYPED: i32 = 4;
    if let Some(Attr::Text(text)) = call.backend_config {
        let spelling = module.str(text).to_owned();
        let read = (call.api_version == Some(TYPED))
            .then(|| shard_text::generic::read_attr(module, &spelling, None));
        call.backend_config = match read {
            Some(Ok(dictionary @ Attr::Dict(_))) => Some(dictionary),
            _ => Some(Attr::String(text)),
        };
    }
    call
}
