//! `sdy` collectives become `stablehlo` collectives on shards.

use shard_ir::ops::{
    AllGather, AllReduce, AllToAll, AxisLists, CollectivePermute, Compare, Constant, Control,
    Direction, DynamicSlice, Elementwise, Flag, Pairs, ReduceScatter, Sdy,
};
use shard_ir::sharding::{AxisList, AxisRef, Combiner, Groups, TensorSharding, axes};
use shard_ir::{
    Builder, Channel, Dense, DenseData, Diagnostic, ElementType, LocId, Module, OpId, RegionId,
    TensorType, Type, ValueId,
};

use super::Local;
use crate::rewrite::Rewriter;

pub(super) fn lower(
    local: &mut Local,
    rw: &mut Rewriter<'_>,
    op: OpId,
    kind: Sdy,
) -> Result<(), Diagnostic> {
    match kind {
        Sdy::SdyAllGather(gather) => {
            replace(local, rw, op, |local, rw, value| all_gather(local, rw, value, &gather.axes))
        }
        Sdy::SdyAllSlice(slice) => {
            replace(local, rw, op, |local, rw, value| all_slice(local, rw, value, &slice.axes))
        }
        Sdy::SdyAllToAll(exchange) => replace(local, rw, op, |local, rw, mut value| {
            for param in &exchange.params.params {
                value = all_to_all(local, rw, value, &param.axes, param.src, param.dst);
            }
            value
        }),
        Sdy::SdyCollectivePermute(permute) => {
            let operand = rw.module.operand(op, 0);
            let to = rw.module.sharding(permute.out).clone();
            let from = rw
                .module
                .value_sharding(operand)
                .cloned()
                .unwrap_or_else(|| TensorSharding::fully_replicated(local.mesh, to.rank()));
            let Some(pairs) = from.permute_pairs(&local.mesh_def, &to) else {
                return Err(Diagnostic::error(
                    "the shardings of operand and result have different numbers of shards",
                )
                .at_op(rw.module, op));
            };
            let pairs = Pairs(pairs.map(|(from, to)| [from as i64, to as i64]).collect());
            replace(local, rw, op, |local, rw, value| {
                let channel = Some(Channel { handle: local.channel(), kind: 1 });
                let ty = rw.module.value_type(value);
                rw.emit(CollectivePermute { pairs, channel }, &[value], ty)
            })
        }
        Sdy::SdyAllReduce(reduce) => replace(local, rw, op, |local, rw, value| {
            all_reduce(local, rw, value, &reduce.axes.axes, reduce.combiner)
        }),
        Sdy::SdyReduceScatter(scatter) => replace(local, rw, op, |local, rw, value| {
            reduce_scatter(local, rw, value, &scatter.axes, scatter.combiner)
        }),
        Sdy::ReplicatedToUnreduced(partial) => {
            let combiner = rw.module.sharding(partial.out).combiner;
            replace(local, rw, op, |local, rw, value| {
                keep_on_owner(local, rw, value, &partial.axes.axes, combiner)
            })
        }
        // A constraint that nothing resharded says what is true already.
        Sdy::ShardingConstraint(_)
        | Sdy::PropagationBarrier(_)
        | Sdy::DataFlowEdge(_)
        | Sdy::FuncDataFlowEdge => replace(local, rw, op, |_, _, value| value),
        Sdy::ShardingGroup(_) => Ok(()),
        Sdy::SdyConstant(constant) => {
            let value = constant.value;
            rw.module.op_mut(op).op = shard_ir::ops::Constant { value }.into();
            local.shrink(rw, op)
        }
        Sdy::Reshard(_)
        | Sdy::ShardedToUnreduced(_)
        | Sdy::NamedComputation(_)
        | Sdy::ManualComputation(_) => {
            Err(Diagnostic::error("is still in the program that is to be made local")
                .at_op(rw.module, op)
                .help("run 'reshard-to-collectives' before 'global-to-local'"))
        }
    }
}

/// Replaces an op with one operand and one result by what `make` emits.
fn replace(
    local: &mut Local,
    rw: &mut Rewriter<'_>,
    op: OpId,
    make: impl FnOnce(&mut Local, &mut Rewriter<'_>, ValueId) -> ValueId,
) -> Result<(), Diagnostic> {
    let (operand, result) = (rw.module.operand(op, 0), rw.module.result(op, 0));
    local.localize(rw.module, result)?;
    if tensor_type(rw, result).elements() == 0 {
        // There is nothing to send, and collectives of nothing are refused.
        let ty = rw.module.value_type(result);
        let data = DenseData::Bytes(Vec::new().into());
        let empty = rw.emit(Constant { value: Dense { ty, data } }, &[], ty);
        local.stand_in(rw, result, empty);
        return Ok(());
    }
    // XLA's CPU runtime doesn't move elements of two bits (it corrupts its heap): they travel as
    // bytes.
    let byte = match tensor_type(rw, operand).element {
        ElementType::I2 => Some(ElementType::I8),
        ElementType::UI2 => Some(ElementType::UI8),
        _ => None,
    };
    let value = match byte {
        None => make(local, rw, operand),
        Some(byte) => {
            let dims = tensor_type(rw, operand).dims;
            let wide = rw.module.tensor(byte, dims);
            let wide = rw.emit(Elementwise::Convert, &[operand], wide);
            let moved = make(local, rw, wide);
            let ty = rw.module.value_type(result);
            rw.emit(Elementwise::Convert, &[moved], ty)
        }
    };
    local.stand_in(rw, result, value);
    Ok(())
}

fn tensor_type(rw: &Rewriter<'_>, value: ValueId) -> TensorType {
    rw.module.tensor_type(value).cloned().unwrap_or_else(|| TensorType::new(ElementType::I1, []))
}

fn groups(local: &Local, along: &[AxisRef]) -> Groups {
    Groups::along(local.mesh, along)
}

fn all_gather(
    local: &mut Local,
    rw: &mut Rewriter<'_>,
    mut value: ValueId,
    lists: &AxisLists,
) -> ValueId {
    for (dim, along) in lists.dims.iter().enumerate().filter(|(_, list)| !list.is_empty()) {
        let mut ty = tensor_type(rw, value);
        ty.dims[dim] *= axes::product(along) as i64;
        let gather = AllGather {
            dimension: dim as i64,
            groups: groups(local, along),
            channel: Some(Channel { handle: local.channel(), kind: 1 }),
            global_ids: Flag(true),
        };
        let ty = rw.module.type_id(Type::Tensor(ty));
        value = rw.emit(gather, &[value], ty);
    }
    value
}

fn all_slice(
    local: &mut Local,
    rw: &mut Rewriter<'_>,
    value: ValueId,
    lists: &AxisLists,
) -> ValueId {
    let mut ty = tensor_type(rw, value);
    let mut operands = vec![value];
    for (dim, along) in lists.dims.iter().enumerate() {
        ty.dims[dim] /= axes::product(along).max(1) as i64;
        operands.push(local.offset(rw.module, along, ty.dims[dim], ElementType::I32));
    }
    let sizes = ty.dims.clone();
    let ty = rw.module.type_id(Type::Tensor(ty));
    rw.emit(DynamicSlice { sizes }, &operands, ty)
}

/// Axes that are the most minor of dimension `src` become the most minor of `dst`.
fn all_to_all(
    local: &mut Local,
    rw: &mut Rewriter<'_>,
    value: ValueId,
    along: &AxisList,
    src: u32,
    dst: u32,
) -> ValueId {
    let count = axes::product(along) as i64;
    let mut ty = tensor_type(rw, value);
    ty.dims[src as usize] *= count;
    ty.dims[dst as usize] /= count;
    let exchange = AllToAll {
        split: i64::from(dst),
        concat: i64::from(src),
        count,
        groups: groups(local, along),
        channel: Some(Channel { handle: local.channel(), kind: 1 }),
    };
    let ty = rw.module.type_id(Type::Tensor(ty));
    rw.emit(exchange, &[value], ty)
}

fn all_reduce(
    local: &mut Local,
    rw: &mut Rewriter<'_>,
    value: ValueId,
    along: &[AxisRef],
    combiner: Combiner,
) -> ValueId {
    let element = tensor_type(rw, value).element;
    let region = combiner_region(rw.module, element, combiner, rw.loc);
    let reduce = AllReduce {
        groups: groups(local, along),
        channel: Some(Channel { handle: local.channel(), kind: 1 }),
        global_ids: Flag(true),
    };
    let ty = rw.module.value_type(value);
    let op = rw.module.new_op(reduce, &[value], &[ty], &[region], rw.loc);
    rw.place(op);
    rw.module.result(op, 0)
}

fn reduce_scatter(
    local: &mut Local,
    rw: &mut Rewriter<'_>,
    mut value: ValueId,
    lists: &AxisLists,
    combiner: Combiner,
) -> ValueId {
    for (dim, along) in lists.dims.iter().enumerate().filter(|(_, list)| !list.is_empty()) {
        let mut ty = tensor_type(rw, value);
        let region = combiner_region(rw.module, ty.element, combiner, rw.loc);
        ty.dims[dim] /= axes::product(along) as i64;
        let scatter = ReduceScatter {
            dimension: dim as i64,
            groups: groups(local, along),
            channel: Some(Channel { handle: local.channel(), kind: 1 }),
            global_ids: Flag(true),
        };
        let ty = rw.module.type_id(Type::Tensor(ty));
        let op = rw.module.new_op(scatter, &[value], &[ty], &[region], rw.loc);
        rw.place(op);
        value = rw.module.result(op, 0);
    }
    value
}

/// The first device along the axes keeps its value, the others hold the combiner's neutral
/// element.
fn keep_on_owner(
    local: &mut Local,
    rw: &mut Rewriter<'_>,
    value: ValueId,
    along: &[AxisRef],
    combiner: Combiner,
) -> ValueId {
    let ty = tensor_type(rw, value);
    let coordinate = local.coordinate(rw.module, along);
    let zero = rw.scalar(ElementType::UI32, 0);
    let flag = rw.module.tensor(ElementType::I1, []);
    let compare = Compare { direction: Direction::Eq, compare_type: None };
    let owner = rw.emit(compare, &[coordinate, zero], flag);
    let neutral = crate::numbers::neutral(rw.module, ty.element, combiner);
    let scalar = rw.module.tensor(ty.element, []);
    let neutral = rw.emit(neutral, &[], scalar);
    let neutral = rw.broadcast_scalar(neutral, &ty.dims);
    let ty = rw.module.value_type(value);
    rw.emit(Elementwise::Select, &[owner, value, neutral], ty)
}

/// A region that combines two scalars.
pub(crate) fn combiner_region(
    module: &mut Module,
    element: ElementType,
    combiner: Combiner,
    loc: LocId,
) -> RegionId {
    let scalar = module.tensor(element, []);
    let kind = match (combiner, element) {
        (Combiner::Sum, _) => Elementwise::Add,
        (Combiner::Max, ElementType::I1) => Elementwise::Or,
        (Combiner::Min, ElementType::I1) => Elementwise::And,
        (Combiner::Max, _) => Elementwise::Maximum,
        (Combiner::Min, _) => Elementwise::Minimum,
    };
    let region = module.new_region();
    let block = module.new_block(region);
    let params = [module.new_param(block, scalar), module.new_param(block, scalar)];
    let mut body = Builder { module, block, loc };
    let value = body.typed(kind, &params, scalar);
    body.op_typed(Control::Return, &[value], &[], &[]);
    region
}
