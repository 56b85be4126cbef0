//! Op by op.

use shard_ir::ops::{
    AllToAll, BroadcastInDim, Collective, Constant, Control, Creation, Dot, DotDims, DotGeneral,
    Effects, Elementwise, Hlo, Movement, Op, Transpose,
};
use shard_ir::{
    Dense, DenseData, Diagnostic, Dims, LocId, Module, OpId, TensorType, Type, TypeId, ValueId,
};

use super::{Convert, header};

/// Constants of more equal elements are a broadcast of one.
const LARGEST_SPLAT: u64 = 16;

/// Whether a value is rather made again than passed to a computation: it takes no room.
pub(super) fn is_cheap(module: &Module, value: ValueId) -> bool {
    match module.defining_op(value).map(|op| module.kind(op)) {
        Some(Op::Creation(Creation::Iota(_))) => true,
        Some(Op::Creation(Creation::Constant(constant))) => {
            matches!(constant.value.data, DenseData::Splat(_))
                || module.tensor_type(value).is_some_and(|ty| ty.elements() <= LARGEST_SPLAT)
        }
        _ => false,
    }
}

impl Convert {
    /// What the results of an op became.
    pub(super) fn op(&mut self, module: &mut Module, op: OpId) -> Result<Vec<ValueId>, Diagnostic> {
        let kind = module.kind(op).clone();
        let operands = self.operands(module, op);
        let loc = module.op(op).loc;
        match kind {
            Op::Creation(Creation::Constant(constant)) => self.constant(module, op, &constant),
            Op::Elementwise(Elementwise::Select) => {
                let like = module.value_type(operands[1]);
                let predicate = self.spread(module, operands[0], like, loc);
                let operands = [predicate, operands[1], operands[2]];
                Ok(self.multiple(module, op, Elementwise::Select.into(), &operands, &[]))
            }
            Op::Movement(Movement::BroadcastInDim(broadcast)) => {
                let ty = module.value_type(module.result(op, 0));
                let value = self.broadcast(module, operands[0], &broadcast.dimensions, ty, loc);
                self.copy_attrs(module, op, value);
                Ok(vec![value])
            }
            Op::Movement(Movement::Broadcast(broadcast)) => {
                let ty = module.value_type(module.result(op, 0));
                let new = broadcast.sizes.len() as i64;
                let rank = module.tensor_type(operands[0]).map_or(0, TensorType::rank) as i64;
                let dimensions = (new..new + rank).collect();
                Ok(vec![self.at(module, loc).typed(BroadcastInDim { dimensions }, &operands, ty)])
            }
            Op::Dot(Dot::DotPlain(dot)) => {
                let rank = module.tensor_type(operands[0]).map_or(1, TensorType::rank);
                let dims = DotDims {
                    lhs_contracting: Dims::from_slice(&[rank as i64 - 1]),
                    rhs_contracting: Dims::from_slice(&[0]),
                    ..DotDims::default()
                };
                let dot = DotGeneral { dims, precision: dot.precision, algorithm: None };
                Ok(self.multiple(module, op, dot.into(), &operands, &[]))
            }
            Op::Control(Control::While) => self.repeat(module, op),
            Op::Control(Control::If | Control::Case) => self.branch(module, op),
            Op::Control(Control::OptimizationBarrier) => {
                if operands.len() == 1 {
                    return Ok(self.multiple(module, op, kind, &operands, &[]));
                }
                let tuple = self.tuple(module, &operands, loc);
                Ok(self.multiple(module, op, kind, &[tuple], &[]))
            }
            Op::Collective(Collective::AllToAll(exchange)) if exchange.split != exchange.concat => {
                self.exchange(module, op, &exchange, operands[0])
            }
            Op::Effects(Effects::CreateToken) => {
                let ty = module.value_type(module.result(op, 0));
                Ok(vec![self.at(module, loc).typed(Effects::AfterAll, &[], ty)])
            }
            Op::Effects(ref transfer @ (Effects::Send(_) | Effects::Recv(_))) => {
                Ok(self.transfer(module, op, transfer, &operands))
            }
            Op::Effects(Effects::Infeed(_)) => {
                let ty = self.infeed_type(module, op);
                let new = self.at(module, loc).op_typed(kind, &operands, &[ty], &[]);
                let both = self.elements(module, module.result(new, 0), loc);
                let mut values = self.elements(module, both[0], loc);
                values.push(both[1]);
                Ok(values)
            }
            Op::Effects(Effects::Outfeed(_)) if operands.len() != 2 => {
                let (&token, data) = operands.split_last().unwrap_or((&operands[0], &[]));
                let tuple = self.tuple(module, data, loc);
                Ok(self.multiple(module, op, kind, &[tuple, token], &[]))
            }
            kind => {
                let opcode = match &kind {
                    Op::Hlo(Hlo::Conditional | Hlo::AllToAllTuple(_) | Hlo::Other(_)) => "known",
                    kind => kind.info().hlo,
                };
                // HLO's takes each size by itself.
                let dynamic = matches!(kind, Op::Movement(Movement::DynamicReshape));
                if opcode.is_empty() || dynamic {
                    return Err(Diagnostic::error("HLO has no such op")
                        .at_op(module, op)
                        .help("write the program as StableHLO: --format=stablehlo"));
                }
                let mut regions = Vec::new();
                for region in module.regions(op).to_vec() {
                    regions.push(self.region(module, region)?);
                }
                Ok(self.multiple(module, op, kind, &operands, &regions))
            }
        }
    }

    fn copy_attrs(&self, module: &mut Module, old: OpId, value: ValueId) {
        let attrs = module.op(old).attrs;
        let attrs = header::kept(module, attrs);
        if let Some(new) = module.defining_op(value) {
            module.op_mut(new).attrs = attrs;
        }
    }

    fn constant(
        &self,
        module: &mut Module,
        op: OpId,
        constant: &Constant,
    ) -> Result<Vec<ValueId>, Diagnostic> {
        let ty = module.value_type(module.result(op, 0));
        let loc = module.op(op).loc;
        let Type::Tensor(tensor) = module.ty(ty).clone() else {
            return Err(Diagnostic::error("is no tensor").at_op(module, op));
        };
        if matches!(constant.value.data, DenseData::Splat(_))
            && tensor.elements() > LARGEST_SPLAT
            && tensor.rank() > 0
        {
            let scalar = module.tensor(tensor.element, []);
            let value = Dense { ty: scalar, data: constant.value.data.clone() };
            let one = self.at(module, loc).typed(Constant { value }, &[], scalar);
            self.copy_attrs(module, op, one);
            let all = BroadcastInDim { dimensions: Dims::new() };
            let value = self.at(module, loc).typed(all, &[one], ty);
            self.copy_attrs(module, op, value);
            return Ok(vec![value]);
        }
        let kind = Op::from(constant.clone());
        Ok(self.multiple(module, op, kind, &[], &[]))
    }

    /// A scalar as a tensor of the shape of `like`; other values as they are.
    fn spread(&self, module: &mut Module, value: ValueId, like: TypeId, loc: LocId) -> ValueId {
        let (Some(ty), Some(like)) =
            (module.tensor_type(value).cloned(), module.ty(like).as_tensor().cloned())
        else {
            return value;
        };
        if ty.rank() > 0 || like.rank() == 0 {
            return value;
        }
        let ty = module.tensor(ty.element, like.dims.iter().copied());
        self.at(module, loc).typed(BroadcastInDim { dimensions: Dims::new() }, &[value], ty)
    }

    /// HLO's broadcast repeats along new dimensions alone: those of one element that grow are
    /// dropped first.
    fn broadcast(
        &self,
        module: &mut Module,
        value: ValueId,
        dimensions: &[i64],
        ty: TypeId,
        loc: LocId,
    ) -> ValueId {
        let (Some(from), Some(to)) =
            (module.tensor_type(value).cloned(), module.ty(ty).as_tensor().cloned())
        else {
            return value;
        };
        let keeps = |dim: usize| from.dims[dim] == to.dims[dimensions[dim] as usize];
        let kept: Vec<usize> = (0..from.rank()).filter(|&dim| keeps(dim)).collect();
        let mut value = value;
        if kept.len() < from.rank() {
            let shape = module.tensor(from.element, kept.iter().map(|&dim| from.dims[dim]));
            value = self.at(module, loc).typed(Movement::Reshape, &[value], shape);
        }
        let dimensions: Dims = kept.iter().map(|&dim| dimensions[dim]).collect();
        self.at(module, loc).typed(BroadcastInDim { dimensions }, &[value], ty)
    }

    /// HLO splits and joins along one dimension: the blocks get a dimension of their own.
    fn exchange(
        &self,
        module: &mut Module,
        op: OpId,
        exchange: &AllToAll,
        value: ValueId,
    ) -> Result<Vec<ValueId>, Diagnostic> {
        let loc = module.op(op).loc;
        let Some(ty) = module.tensor_type(value).cloned() else {
            return Err(Diagnostic::error("is no tensor").at_op(module, op));
        };
        let (split, concat, count) =
            (exchange.split as usize, exchange.concat as usize, exchange.count);
        let rank = ty.rank();
        let emit = |module: &mut Module, op: Op, value: ValueId, dims: &[i64]| {
            let ty = module.tensor(ty.element, dims.iter().copied());
            self.at(module, loc).typed(op, &[value], ty)
        };
        // The blocks, in front.
        let mut dims: Vec<i64> = ty.dims.to_vec();
        dims[split] = ty.dims[split] / count.max(1);
        let mut cut = dims.clone();
        cut.insert(split, count);
        let blocks = emit(module, Movement::Reshape.into(), value, &cut);
        let mut permutation: Vec<i64> =
            (0..=rank as i64).filter(|&dim| dim != split as i64).collect();
        permutation.insert(0, split as i64);
        let mut front = dims.clone();
        front.insert(0, count);
        let transpose = Transpose { permutation: permutation.into() };
        let blocks = emit(module, transpose.into(), blocks, &front);
        let moved = AllToAll { split: 0, concat: 0, ..exchange.clone() };
        let moved = emit(module, moved.into(), blocks, &front);
        self.copy_attrs(module, op, moved);
        // Back, in front of the dimension that they are joined along.
        let mut permutation: Vec<i64> = (1..=rank as i64).collect();
        permutation.insert(concat, 0);
        let mut behind = dims.clone();
        behind.insert(concat, count);
        let transpose = Transpose { permutation: permutation.into() };
        let joined = emit(module, transpose.into(), moved, &behind);
        dims[concat] *= count;
        Ok(vec![emit(module, Movement::Reshape.into(), joined, &dims)])
    }

    /// `((data...), token)`
    fn infeed_type(&self, module: &mut Module, op: OpId) -> TypeId {
        let types: Vec<TypeId> =
            module.results(op).iter().map(|&value| module.value_type(value)).collect();
        let (token, data) = types.split_last().map(|(token, data)| (*token, data)).unzip();
        let data = module.type_id(Type::Tuple(data.unwrap_or_default().into()));
        module.type_id(Type::Tuple(token.map(|token| [data, token].into()).unwrap_or_default()))
    }
}
