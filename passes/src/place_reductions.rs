//! `place-reductions`: partial results are completed where that costs least.
//!
//! A reshard that completes a partial value moves down through ops that are linear, as long as
//! nobody else needs the completed value: sums of partial values are reduced once, and a reduction
//! that is followed by a change of sharding becomes one reshard (all-reduce and slice are a
//! reduce-scatter).
//!
//! What gains nothing is undone: a reduction that ends up behind ops that only change a value's
//! form (or scale it) goes back to the op whose results are partial. Compilers fold a transpose
//! into the dot before it, which then has a form that XLA's fast kernels for `bf16` on CPUs don't
//! know; with the collective in between they don't. And where the reduction makes the value
//! smaller, the ops behind it have less to do.

use cranelift_entity::SecondaryMap;
use shard_ir::ops::{Elementwise, Movement, Op, Reshard, Sdy};
use shard_ir::sharding::{Combiner, TensorSharding};
use shard_ir::{Diagnostic, Module, OpId, ShardingId, ValueId};
use shard_plan::factors::{project, unproject};
use shard_propagate::rules::rule;

use crate::finite::is_finite;
use crate::rewrite::{Rewrite, Rewriter, rewrite_module};

/// Runs the pass on every function.
///
/// # Errors
/// None at present; the signature is that of all passes.
pub fn run(module: &mut Module) -> Result<(), Diagnostic> {
    let uses = count_uses(module);
    rewrite_module(module, &mut Place { uses })?;
    // Reshards that have moved on are dead, and would count as uses.
    crate::dead_code::run(module);
    let uses = count_uses(module);
    rewrite_module(module, &mut Raise { uses })
}

fn count_uses(module: &Module) -> SecondaryMap<ValueId, u32> {
    let mut uses: SecondaryMap<ValueId, u32> = SecondaryMap::new();
    let bodies: Vec<_> = module.func_ids().map(|func| module.funcs[func].body).collect();
    for body in bodies {
        module.walk(body, |op| {
            for &operand in module.operands(op) {
                uses[operand] += 1;
            }
        });
    }
    uses
}

struct Place {
    uses: SecondaryMap<ValueId, u32>,
}

impl Rewrite for Place {
    fn op(&mut self, rw: &mut Rewriter<'_>, op: OpId) -> Result<(), Diagnostic> {
        match rw.module.kind(op) {
            Op::Sdy(Sdy::Reshard(_)) => {
                let operand = rw.module.operand(op, 0);
                if let Some(source) = self.sole_reshard(rw.module, operand) {
                    rw.module.operands_mut(op)[0] = source;
                    let result = rw.module.result(op, 0);
                    if same_placement(rw.module, source, result) {
                        self.uses[source] = self.uses[result];
                        rw.replace(result, source);
                        return Ok(());
                    }
                }
                rw.keep(op);
            }
            Op::Elementwise(Elementwise::Add | Elementwise::Subtract) => {
                let (a, b) = (rw.module.operand(op, 0), rw.module.operand(op, 1));
                let sources = (self.sole_partial(rw.module, a), self.sole_partial(rw.module, b));
                match sources {
                    (Some(x), Some(y)) if a != b && same_placement(rw.module, x, y) => {
                        let sharding = rw.module.value_sharding(x).cloned();
                        self.sink(rw, op, &[x, y], sharding);
                    }
                    _ => rw.keep(op),
                }
            }
            Op::Elementwise(kind @ (Elementwise::Multiply | Elementwise::Divide)) => {
                let divide = *kind == Elementwise::Divide;
                let (a, b) = (rw.module.operand(op, 0), rw.module.operand(op, 1));
                let sources = (self.sole_partial(rw.module, a), self.sole_partial(rw.module, b));
                match sources {
                    (Some(x), None) if scales(rw.module, b, x, divide) => {
                        let sharding = rw.module.value_sharding(x).cloned();
                        self.sink(rw, op, &[x, b], sharding);
                    }
                    (None, Some(y)) if !divide && scales(rw.module, a, y, false) => {
                        let sharding = rw.module.value_sharding(y).cloned();
                        self.sink(rw, op, &[a, y], sharding);
                    }
                    _ => rw.keep(op),
                }
            }
            Op::Movement(Movement::Transpose(_) | Movement::Reshape)
            | Op::Elementwise(Elementwise::Negate) => {
                let source = self.sole_partial(rw.module, rw.module.operand(op, 0));
                match source.and_then(|source| Some((source, through(rw.module, op, source)?))) {
                    Some((source, sharding)) => self.sink(rw, op, &[source], Some(sharding)),
                    None => rw.keep(op),
                }
            }
            _ => rw.keep(op),
        }
        Ok(())
    }
}

impl Place {
    /// The operand of the reshard that a value comes from, if nothing else uses the value.
    fn sole_reshard(&self, module: &Module, value: ValueId) -> Option<ValueId> {
        let op = module.defining_op(value)?;
        let Op::Sdy(Sdy::Reshard(_)) = module.kind(op) else { return None };
        (self.uses[value] == 1).then(|| module.operand(op, 0))
    }

    /// The same, where the reshard completes a partial sum.
    fn sole_partial(&self, module: &Module, value: ValueId) -> Option<ValueId> {
        let source = self.sole_reshard(module, value)?;
        let from = module.value_sharding(source)?;
        let to = module.value_sharding(value)?;
        let completes = !from.unreduced.is_empty() && to.unreduced.is_empty();
        (completes && from.combiner == Combiner::Sum).then_some(source)
    }

    /// Computes the op on partial values, and completes its result.
    fn sink(
        &mut self,
        rw: &mut Rewriter<'_>,
        op: OpId,
        operands: &[ValueId],
        sharding: Option<TensorSharding>,
    ) {
        let Some(sharding) = sharding else { return rw.keep(op) };
        let result = rw.module.result(op, 0);
        let Some(to) = rw.module.shardings[result].expand() else { return rw.keep(op) };
        let moved = (0..operands.len()).find(|&at| rw.module.operand(op, at) != operands[at]);
        let reshard = moved.and_then(|at| rw.module.defining_op(rw.module.operand(op, at)));
        let loc = reshard.map_or(rw.loc, |reshard| rw.module.op(reshard).loc);
        rw.module.operands_mut(op).copy_from_slice(operands);
        let partial = rw.module.sharding_id(sharding);
        rw.module.shardings[result] = partial.into();
        rw.keep(op);
        rw.loc = loc;
        let ty = rw.module.value_type(result);
        let whole = rw.emit_sharded(Reshard { sharding: to }, &[result], ty, to);
        self.uses[whole] = self.uses[result];
        self.uses[result] = 1;
        rw.replace(result, whole);
    }
}

/// Whether multiplying a partial value by a whole one (or dividing it) can be done part by part:
/// the whole one lies as the parts do, and is known to be finite, since a part of zero times an
/// infinity isn't zero. An integer division isn't linear.
fn scales(module: &Module, whole: ValueId, partial: ValueId, divide: bool) -> bool {
    if !is_finite(module, whole, divide) {
        return false;
    }
    let float = module.tensor_type(partial).is_some_and(|ty| ty.element.is_float());
    match (module.value_sharding(whole), module.value_sharding(partial)) {
        (Some(whole), Some(partial)) => {
            let dims = TensorSharding {
                unreduced: Default::default(),
                combiner: Combiner::Sum,
                ..partial.clone()
            };
            float && whole.is_equivalent(&dims)
        }
        _ => false,
    }
}

fn same_placement(module: &Module, a: ValueId, b: ValueId) -> bool {
    match (module.value_sharding(a), module.value_sharding(b)) {
        (Some(a), Some(b)) => a.is_equivalent(b),
        _ => false,
    }
}

/// The sharding of an op's result when its operand has that of `source`; `None` where the result
/// can't be sharded so.
fn through(module: &Module, op: OpId, source: ValueId) -> Option<TensorSharding> {
    let rule = rule(module, op)?;
    let from = module.value_sharding(source)?;
    let assignment = project(&rule, rule.operands.first()?, from);
    let back = unproject(from.mesh, rule.operands.first()?, &assignment);
    if !back.with_unreduced(&from.unreduced, from.combiner).is_equivalent(from) {
        return None;
    }
    let result = unproject(from.mesh, rule.results.first()?, &assignment);
    let again = project(&rule, rule.results.first()?, &result);
    let exact = again == assignment && fits(module, op, from, &result);
    exact.then(|| result.with_unreduced(&from.unreduced, from.combiner))
}

/// Brings reductions back to the ops whose results are partial.
struct Raise {
    uses: SecondaryMap<ValueId, u32>,
}

/// An op between partial results and the reshard that completes them, and the sharding that its
/// result has once they are complete.
struct Step {
    op: OpId,
    operand: usize,
    sharding: ShardingId,
}

impl Rewrite for Raise {
    fn op(&mut self, rw: &mut Rewriter<'_>, op: OpId) -> Result<(), Diagnostic> {
        match rw.module.kind(op) {
            Op::Sdy(Sdy::Reshard(_)) => self.raise(rw, op),
            Op::Elementwise(Elementwise::Add | Elementwise::Subtract) => self.transpose_sum(rw, op),
            _ => rw.keep(op),
        }
        Ok(())
    }
}

impl Raise {
    fn raise(&self, rw: &mut Rewriter<'_>, op: OpId) {
        let (mut value, result) = (rw.module.operand(op, 0), rw.module.result(op, 0));
        let Some(mut to) = rw.module.shardings[result].expand() else { return rw.keep(op) };
        if !rw.module.sharding(to).unreduced.is_empty() {
            return rw.keep(op);
        }
        let mut steps: Vec<Step> = Vec::new();
        while let Some((step, next)) = self.step(rw.module, value, to) {
            value = rw.module.operand(step.op, step.operand);
            to = next;
            steps.push(step);
        }
        if steps.is_empty() {
            return rw.keep(op);
        }
        let ty = rw.module.value_type(value);
        let mut whole = rw.emit_sharded(Reshard { sharding: to }, &[value], ty, to);
        for step in steps.into_iter().rev() {
            let mut operands = rw.module.operands(step.op).to_vec();
            operands[step.operand] = whole;
            let kind = rw.module.kind(step.op).clone();
            let ty = rw.module.value_type(rw.module.result(step.op, 0));
            rw.loc = rw.module.op(step.op).loc;
            whole = rw.emit_sharded(kind, &operands, ty, step.sharding);
        }
        rw.replace(result, whole);
    }

    /// The op that a partial value comes from, if it can as well be computed on complete values,
    /// and the sharding that its operand then has for the result to have `to`.
    fn step(
        &self,
        module: &mut Module,
        value: ValueId,
        to: ShardingId,
    ) -> Option<(Step, ShardingId)> {
        if self.uses[value] != 1 {
            return None;
        }
        let op = module.defining_op(value)?;
        let partial = |value: ValueId| {
            module.value_sharding(value).is_some_and(|sharding| !sharding.unreduced.is_empty())
        };
        if !partial(value) {
            return None;
        }
        let (operand, from) = match module.kind(op) {
            Op::Movement(Movement::Transpose(_) | Movement::Reshape)
            | Op::Elementwise(Elementwise::Negate) => (0, back(module, op, module.sharding(to))?),
            Op::Elementwise(Elementwise::Multiply | Elementwise::Divide) => {
                // The other factor lies as the parts do.
                let stays = TensorSharding {
                    unreduced: Default::default(),
                    combiner: Combiner::Sum,
                    ..module.value_sharding(value)?.clone()
                };
                let to = module.sharding(to);
                let operand = usize::from(!partial(module.operand(op, 0)));
                if !to.is_equivalent(&stays) {
                    return None;
                }
                (operand, to.clone())
            }
            _ => return None,
        };
        if !partial(module.operand(op, operand)) {
            return None;
        }
        let from = module.sharding_id(from);
        Some((Step { op, operand, sharding: to }, from))
    }

    /// The sum of two transposes is the transpose of a sum, whose reduction can then be raised.
    fn transpose_sum(&mut self, rw: &mut Rewriter<'_>, op: OpId) {
        let result = rw.module.result(op, 0);
        let transposes =
            [0, 1].map(|at| self.partial_transpose(rw.module, rw.module.operand(op, at)));
        let [Some((x, kind)), Some((y, other))] = transposes else { return rw.keep(op) };
        let same = kind == other
            && rw.module.value_type(x) == rw.module.value_type(y)
            && same_placement(rw.module, x, y);
        let (Some(inner), Some(outer)) =
            (rw.module.shardings[x].expand(), rw.module.shardings[result].expand())
        else {
            return rw.keep(op);
        };
        if !same {
            return rw.keep(op);
        }
        let (add, ty) = (rw.module.kind(op).clone(), rw.module.value_type(x));
        let sum = rw.emit_sharded(add, &[x, y], ty, inner);
        let ty = rw.module.value_type(result);
        let turned = rw.emit_sharded(kind, &[sum], ty, outer);
        self.uses[sum] = 1;
        self.uses[turned] = self.uses[result];
        rw.replace(result, turned);
    }

    /// What a value is a transpose of, if it is partial and nothing else uses it.
    fn partial_transpose(&self, module: &Module, value: ValueId) -> Option<(ValueId, Op)> {
        let op = module.defining_op(value)?;
        let partial = !module.value_sharding(value)?.unreduced.is_empty();
        let kind = module.kind(op);
        let found = partial
            && self.uses[value] == 1
            && matches!(kind, Op::Movement(Movement::Transpose(_)));
        found.then(|| (module.operand(op, 0), kind.clone()))
    }
}

/// The sharding that an op's operand must have for its result to have `to`; `None` where it can't.
fn back(module: &Module, op: OpId, to: &TensorSharding) -> Option<TensorSharding> {
    let rule = rule(module, op)?;
    let (operand, result) = (rule.operands.first()?, rule.results.first()?);
    let assignment = project(&rule, result, to);
    let from = unproject(to.mesh, operand, &assignment);
    let exact = unproject(to.mesh, result, &assignment).is_equivalent(to)
        && project(&rule, operand, &from) == assignment;
    (exact && fits(module, op, &from, to)).then_some(from)
}

/// Whether an op can have these shardings: what a reshape splits or merges can't be padded.
fn fits(module: &Module, op: OpId, from: &TensorSharding, to: &TensorSharding) -> bool {
    let even = |value, sharding: &TensorSharding| {
        module.tensor_type(value).is_some_and(|ty| sharding.is_even(&ty.dims))
    };
    let reshape = matches!(module.kind(op), Op::Movement(Movement::Reshape));
    !reshape || (even(module.operand(op, 0), from) && even(module.result(op, 0), to))
}
