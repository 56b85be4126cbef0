//! `chlo.scan`: a loop over the slices of a dimension that carries values and collects others.

use shard_ir::clone::{ValueMap, clone_op};
use shard_ir::ops::{
    BroadcastInDim, Compare, Constant, Control, Direction, DynamicSlice, Elementwise, Movement,
    Opaque, dense_i64,
};
use shard_ir::{
    Attr, BlockId, Builder, Dense, DenseData, Diagnostic, Dims, ElementType, OpId, TypeId, ValueId,
};

use super::{INDEX, attr, no_expansion, succeed};
use crate::numbers;
use crate::rewrite::Rewriter;

/// Emits what the loop begins with; returns the loop, which isn't placed yet. Its state is the
/// number of steps done, the values carried, and the results so far.
pub(super) fn expand(rw: &mut Rewriter<'_>, op: OpId, opaque: &Opaque) -> Result<OpId, Diagnostic> {
    let Some(scan) = Scan::read(rw, op, opaque) else { return Err(no_expansion(rw.module, op)) };
    let results = rw.module.results(op).to_vec();
    let (collected, carried) = results.split_at(results.len() - scan.inits.len());
    let index = rw.module.tensor(INDEX, []);
    let mut state = vec![splat(rw, index, 0)];
    state.extend(&scan.inits);
    for &result in collected {
        let ty = rw.module.value_type(result);
        let element = rw.module.tensor_type(result).map_or(INDEX, |ty| ty.element);
        let scalar = rw.module.tensor(element, []);
        let zero = splat(rw, scalar, 0);
        state.push(rw.emit(BroadcastInDim { dimensions: Dims::new() }, &[zero], ty));
    }
    let types: Vec<TypeId> = state.iter().map(|&value| rw.module.value_type(value)).collect();
    let loc = rw.loc;
    let condition = Builder::free_region(rw.module, loc, &types, Control::Return, |b, state| {
        let end = number(b, scan.length);
        let ty = b.module.tensor(ElementType::I1, []);
        let less = Compare { direction: Direction::Lt, compare_type: None };
        Ok(vec![b.typed(less, &[state[0], end], ty)])
    });
    let body = Builder::free_region(rw.module, loc, &types, Control::Return, |b, state| {
        Ok(scan.step(b, state))
    });
    let (Ok(condition), Ok(body)) = (condition, body) else {
        return Err(no_expansion(rw.module, op));
    };
    let repeat = rw.module.new_op(Control::While, &state, &types, &[condition, body], loc);
    let new = rw.module.results(repeat).to_vec();
    let (new_carried, new_collected) = new[1..].split_at(carried.len());
    let pairs = carried.iter().zip(new_carried).chain(collected.iter().zip(new_collected));
    for (&old, &new) in pairs {
        succeed(rw, op, old, new);
        rw.replace(old, new);
    }
    Ok(repeat)
}

/// A scan whose shapes are known.
struct Scan {
    inputs: Vec<ValueId>,
    inits: Vec<ValueId>,
    dimension: usize,
    length: i64,
    reverse: bool,
    body: BlockId,
}

impl Scan {
    fn read(rw: &Rewriter<'_>, op: OpId, opaque: &Opaque) -> Option<Scan> {
        let module = &*rw.module;
        let counts = match attr(module, op, opaque, "operandSegmentSizes")? {
            Attr::DenseArray(_, counts) => counts.clone(),
            Attr::Dense(dense) => dense_i64(dense, module)?,
            _ => return None,
        };
        let operands = module.operands(op);
        let (inputs, inits) = operands.split_at_checked(usize::try_from(*counts.first()?).ok()?)?;
        let dimension = match attr(module, op, opaque, "dimension")? {
            Attr::Int(value, _) => usize::try_from(*value).ok()?,
            _ => return None,
        };
        for &value in operands.iter().chain(module.results(op)) {
            module.tensor_type(value).filter(|ty| ty.is_static())?;
        }
        // Without inputs, the results say how many steps there are.
        let collected = module.results(op).len().checked_sub(inits.len())?;
        let scanned = inputs.first().or(module.results(op)[..collected].first())?;
        let length = *module.tensor_type(*scanned)?.dims.get(dimension)?;
        let reverse = attr(module, op, opaque, "is_reverse") == Some(&Attr::Bool(true));
        let body = module.entry(*module.regions(op).first()?);
        let (inputs, inits) = (inputs.to_vec(), inits.to_vec());
        Some(Scan { inputs, inits, dimension, length, reverse, body })
    }

    /// One step of the loop: the state after it.
    fn step(&self, b: &mut Builder<'_>, state: &[ValueId]) -> Vec<ValueId> {
        let index = b.module.tensor(INDEX, []);
        let step = state[0];
        let (carried, collected) = state[1..].split_at(self.inits.len());
        let at = match self.reverse {
            false => step,
            true => {
                let last = number(b, self.length - 1);
                b.typed(Elementwise::Subtract, &[last, step], index)
            }
        };
        let mut arguments: Vec<ValueId> =
            self.inputs.iter().map(|&input| self.slice(b, input, at)).collect();
        arguments.extend(carried);
        let returned = inline(b, self.body, &arguments);
        let (elements, carried) = returned.split_at(collected.len());
        let one = number(b, 1);
        let mut next = vec![b.typed(Elementwise::Add, &[step, one], index)];
        next.extend(carried);
        for (&all, &element) in collected.iter().zip(elements) {
            next.push(self.update(b, all, element, at));
        }
        next
    }

    /// The slice at index `at`, without the dimension.
    fn slice(&self, b: &mut Builder<'_>, input: ValueId, at: ValueId) -> ValueId {
        let (mut dims, element) = shape(b, input);
        let operands = self.start(b, vec![input], dims.len(), at);
        dims[self.dimension] = 1;
        let one = b.module.tensor(element, dims.clone());
        let part = b.typed(DynamicSlice { sizes: dims.clone() }, &operands, one);
        dims.remove(self.dimension);
        let ty = b.module.tensor(element, dims);
        b.typed(Movement::Reshape, &[part], ty)
    }

    /// All slices with another one at index `at`.
    fn update(&self, b: &mut Builder<'_>, all: ValueId, slice: ValueId, at: ValueId) -> ValueId {
        let (mut dims, element) = shape(b, all);
        let rank = dims.len();
        dims[self.dimension] = 1;
        let one = b.module.tensor(element, dims);
        let slice = b.typed(Movement::Reshape, &[slice], one);
        let operands = self.start(b, vec![all, slice], rank, at);
        let ty = b.module.value_type(all);
        b.typed(Movement::DynamicUpdateSlice, &operands, ty)
    }

    /// Operands, and behind them where a slice starts.
    fn start(
        &self,
        b: &mut Builder<'_>,
        mut operands: Vec<ValueId>,
        rank: usize,
        at: ValueId,
    ) -> Vec<ValueId> {
        let zero = number(b, 0);
        operands.extend((0..rank).map(|dim| if dim == self.dimension { at } else { zero }));
        operands
    }
}

fn shape(b: &Builder<'_>, value: ValueId) -> (Dims, ElementType) {
    let ty = b.module.tensor_type(value);
    ty.map_or((Dims::new(), INDEX), |ty| (ty.dims.clone(), ty.element))
}

/// Copies the ops of a block whose parameters are `arguments`; returns what it returns.
fn inline(b: &mut Builder<'_>, body: BlockId, arguments: &[ValueId]) -> Vec<ValueId> {
    let params = b.module.params(body).to_vec();
    let mut map: ValueMap = params.into_iter().zip(arguments.iter().copied()).collect();
    for op in b.module.block_ops(body).to_vec() {
        if b.module.kind(op).is_terminator() {
            let returned = b.module.operands(op).iter();
            return returned.map(|value| map.get(value).copied().unwrap_or(*value)).collect();
        }
        let copy = clone_op(b.module, op, &mut map, &mut |_, loc| loc);
        b.module.block_mut(b.block).ops.push(copy);
    }
    Vec::new()
}

fn number(b: &mut Builder<'_>, number: i64) -> ValueId {
    let ty = b.module.tensor(INDEX, []);
    let data = DenseData::splat(&numbers::encode(INDEX, number));
    b.typed(Constant { value: Dense { ty, data } }, &[], ty)
}

fn splat(rw: &mut Rewriter<'_>, ty: TypeId, number: i64) -> ValueId {
    let element = rw.module.ty(ty).as_tensor().map_or(INDEX, |ty| ty.element);
    let data = DenseData::splat(&numbers::encode(element, number));
    rw.emit(Constant { value: Dense { ty, data } }, &[], ty)
}
