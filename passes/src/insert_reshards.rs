//! `insert-reshards`: operands and results of every op agree on its factors.
//!
//! For each op the cheapest strategy is chosen ([`shard_plan::strategies`]); where a value lies
//! otherwise than the strategy wants it, an explicit `sdy.reshard` is inserted. A result that is
//! partial carries *unreduced* axes until a reshard, placed right behind the op, completes it;
//! [`crate::place_reductions`] moves such reshards to where they cost least.

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use rustc_hash::{FxHashMap, FxHashSet};
use shard_ir::ops::{Control, Movement, Op, Reshard, Sdy};
use shard_ir::sharding::{AxisList, DimSharding, TensorSharding, axes};
use shard_ir::{
    BlockId, Diagnostic, FuncId, LocId, MeshId, Module, OpId, Place, ShardingId, Symbol, TypeId,
    ValueId, place_of,
};
use shard_plan::Pricing;
pub use shard_plan::strategies::Advice;
use shard_plan::strategies::{Capability, Strategy, Wanted, advise, choose};
use shard_propagate::rules::{OpRule, RULE_ATTR, rule};

use crate::reasons::{because, without_reason};
use crate::rewrite::{Rewrite, Rewriter, rewrite};
use shard_ir::clone::{ValueMap, clone_op};

/// A place where operands had to be gathered because the op has no way to work on their shards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fallback {
    /// Name of the op.
    pub op: String,
    /// Where it comes from.
    pub loc: LocId,
    /// Which operand.
    pub operand: usize,
    /// The operand as it was, split.
    pub value: ValueId,
    /// Its type, of the whole.
    pub ty: TypeId,
    /// Its sharding.
    pub sharding: TensorSharding,
    /// The dimension that had to be whole.
    pub dim: usize,
    /// Bytes that each device receives.
    pub bytes: u64,
    /// What an annotation could do about it.
    pub advice: Advice,
}

/// Runs the pass on the main function. Every value must have a sharding.
///
/// # Errors
/// None at present; the signature is that of all passes.
pub fn run(module: &mut Module, pricing: &mut Pricing) -> Result<Vec<Fallback>, Diagnostic> {
    let (Some(func), Some(mesh)) = (module.main_func(), crate::meshes::main_mesh(module)) else {
        return Ok(Vec::new());
    };
    let body = module.funcs[func].body;
    let mut pass = Insert {
        pricing,
        mesh,
        func,
        made: Vec::new(),
        forms: Vec::new(),
        origin: SecondaryMap::new(),
        fallbacks: Vec::new(),
        gathered: FxHashSet::default(),
        manual: 0,
    };
    rewrite(module, body, &mut pass)?;
    Ok(pass.fallbacks)
}

struct Insert<'p> {
    pricing: &'p mut Pricing,
    mesh: MeshId,
    func: FuncId,
    /// Reshards of each open block, so that one serves all uses.
    made: Vec<FxHashMap<(ValueId, ShardingId), ValueId>>,
    /// Of each open block, the values that are the same as one but for where they lie.
    forms: Vec<FxHashMap<ValueId, Vec<ValueId>>>,
    /// The value that another is a form of.
    origin: SecondaryMap<ValueId, PackedOption<ValueId>>,
    fallbacks: Vec<Fallback>,
    /// How many manual computations are around.
    manual: u32,
    /// Values that a fallback has gathered, and what to: one gathering serves all uses.
    gathered: FxHashSet<(ValueId, TensorSharding)>,
}

impl Rewrite for Insert<'_> {
    fn enter(&mut self, rw: &mut Rewriter<'_>, block: BlockId) -> Result<(), Diagnostic> {
        self.made.push(FxHashMap::default());
        self.forms.push(FxHashMap::default());
        self.manual += u32::from(is_manual(rw.module, block));
        Ok(())
    }

    fn leave(&mut self, rw: &mut Rewriter<'_>, block: BlockId) -> Result<(), Diagnostic> {
        self.made.pop();
        self.forms.pop();
        self.manual -= u32::from(is_manual(rw.module, block));
        Ok(())
    }

    fn op(&mut self, rw: &mut Rewriter<'_>, op: OpId) -> Result<(), Diagnostic> {
        let parent = rw.module.parent_op(rw.block);
        if parent.is_some_and(|parent| !has_sharded_body(rw.module.kind(parent))) {
            rw.keep(op);
            return Ok(());
        }
        match rw.module.kind(op).clone() {
            // A collective on global values changes nothing but where they lie.
            Op::Sdy(kind) if kind.result_sharding().is_some() => self.constraint(rw, op),
            Op::Sdy(Sdy::ManualComputation(manual)) => {
                let wanted: Vec<ShardingId> = manual.in_shardings.0.clone();
                self.operands(rw, op, &wanted, "operand of a manual computation");
                rw.keep(op);
                Ok(())
            }
            Op::Control(Control::While) => {
                let wanted = self.result_shardings(rw.module, op);
                self.operands(rw, op, &wanted, "initial value of a loop");
                rw.keep(op);
                Ok(())
            }
            Op::Control(Control::OptimizationBarrier) => {
                let wanted = self.result_shardings(rw.module, op);
                self.operands(rw, op, &wanted, "operand of optimization_barrier");
                rw.keep(op);
                Ok(())
            }
            Op::Control(Control::If | Control::Case) => {
                rw.keep(op);
                Ok(())
            }
            Op::Collective(_) if self.manual == 0 => {
                Err(Diagnostic::error("is written for one device, in a program on whole values")
                    .at_op(rw.module, op)
                    .help(
                        "put it into an sdy.manual_computation (JAX: shard_map); a program that is \
                 partitioned already needs no partitioning, 'report' and 'time' take it as it is",
                    ))
            }
            Op::Control(Control::FuncReturn | Control::Return | Control::SdyReturn) => {
                self.terminator(rw, op, parent);
                rw.keep(op);
                Ok(())
            }
            Op::Elementwise(_)
            | Op::Creation(_)
            | Op::Dot(_)
            | Op::Convolution(_)
            | Op::Reduction(_)
            | Op::Movement(_)
            | Op::Indexing(_)
            | Op::Sorting(_)
            | Op::Linalg(_)
            | Op::Random(_)
            | Op::Normalization(_)
            | Op::Control(_)
            | Op::Sdy(_)
            | Op::Effects(_)
            | Op::Collective(_)
            | Op::Custom(_)
            | Op::Hlo(_)
            | Op::Opaque(_) => {
                self.by_strategy(rw, op);
                Ok(())
            }
        }
    }
}

/// Whether a block is the body of a manual computation.
fn is_manual(module: &Module, block: BlockId) -> bool {
    let op = module.parent_op(block);
    op.is_some_and(|op| matches!(module.kind(op), Op::Sdy(Sdy::ManualComputation(_))))
}

/// Whether the body of an op works on sharded values (and not on the scalars of a reducer).
pub(crate) fn has_sharded_body(op: &Op) -> bool {
    matches!(
        op,
        Op::Control(Control::While | Control::If | Control::Case)
            | Op::Sdy(Sdy::ManualComputation(_))
    )
}

impl Insert<'_> {
    fn replicated(&self, module: &mut Module, value: ValueId) -> ShardingId {
        let rank = module.tensor_type(value).map_or(0, |ty| ty.rank());
        module.sharding_id(TensorSharding::fully_replicated(self.mesh, rank))
    }

    fn sharding(&self, module: &mut Module, value: ValueId) -> ShardingId {
        match module.shardings[value].expand() {
            Some(sharding) => sharding,
            None => self.replicated(module, value),
        }
    }

    fn result_shardings(&self, module: &mut Module, op: OpId) -> Vec<ShardingId> {
        let results = module.results(op).to_vec();
        results.into_iter().map(|value| self.sharding(module, value)).collect()
    }

    /// Makes the operands have the given shardings.
    fn operands(&mut self, rw: &mut Rewriter<'_>, op: OpId, wanted: &[ShardingId], why: &str) {
        for (index, &sharding) in wanted.iter().enumerate() {
            let Some(&operand) = rw.module.operands(op).get(index) else { break };
            let reason = if wanted.len() > 1 { format!("{why} ({index})") } else { why.to_owned() };
            let value = self.reshard(rw, operand, sharding, &reason);
            rw.module.operands_mut(op)[index] = value;
        }
    }

    fn constraint(&mut self, rw: &mut Rewriter<'_>, op: OpId) -> Result<(), Diagnostic> {
        let (operand, result) = (rw.module.operand(op, 0), rw.module.result(op, 0));
        let sharding = self.sharding(rw.module, result);
        let known = crate::reasons::reason(rw.module, rw.loc).map(str::to_owned);
        let why = known.as_deref().unwrap_or("sharding constraint");
        let value = self.reshard(rw, operand, sharding, why);
        // What is constrained is read as it was constrained, even where another form is at hand:
        // that one then need not be kept.
        if self.origin(value) == self.origin(operand) && value != operand {
            self.origin[value] = None.into();
        }
        rw.replace(result, value);
        Ok(())
    }

    fn terminator(&mut self, rw: &mut Rewriter<'_>, op: OpId, parent: Option<OpId>) {
        let (wanted, why): (Vec<ShardingId>, &str) = match parent {
            None => {
                let count = rw.module.operands(op).len();
                let results = (0..count)
                    .map(|index| {
                        let value = rw.module.operand(op, index);
                        let stated = rw.module.funcs[self.func]
                            .results
                            .get(index)
                            .and_then(|result| result.sharding.expand());
                        match stated {
                            Some(sharding) => sharding,
                            None => {
                                let whole = self.sharding(rw.module, value);
                                let reduced = TensorSharding {
                                    unreduced: AxisList::new(),
                                    ..rw.module.sharding(whole).clone()
                                };
                                let id = rw.module.sharding_id(reduced);
                                if let Some(result) =
                                    rw.module.funcs[self.func].results.get_mut(index)
                                {
                                    result.sharding = id.into();
                                }
                                id
                            }
                        }
                    })
                    .collect();
                (results, "result of the function")
            }
            Some(parent) => match rw.module.kind(parent).clone() {
                Op::Sdy(Sdy::ManualComputation(manual)) => {
                    let manual_axes = manual_axes(rw.module, self.mesh, &manual.manual_axes.0);
                    let inner = manual
                        .out_shardings
                        .0
                        .iter()
                        .map(|&id| {
                            let free = without_axes(rw.module.sharding(id), &manual_axes);
                            rw.module.sharding_id(free)
                        })
                        .collect();
                    (inner, "result of a manual computation")
                }
                Op::Control(Control::While)
                    if rw.module.regions(parent)[0] == rw.module.block(rw.block).region =>
                {
                    (Vec::new(), "")
                }
                _ => (self.result_shardings(rw.module, parent), "result of a loop or branch"),
            },
        };
        self.operands(rw, op, &wanted, why);
    }

    fn by_strategy(&mut self, rw: &mut Rewriter<'_>, op: OpId) {
        // A rule that the program states says how shardings propagate. How an op can be computed
        // in parts is known, but for calls of what is outside the program.
        let attrs = rw.module.op(op).attrs;
        let outside = matches!(rw.module.kind(op), Op::Custom(_) | Op::Opaque(_));
        if !outside && rw.module.attr(attrs, RULE_ATTR).is_some() {
            let attrs = rw.module.with_attr(attrs, RULE_ATTR, None);
            rw.module.op_mut(op).attrs = attrs;
        }
        let rule = rule(rw.module, op).unwrap_or_else(|| replicated_rule(rw.module, op));
        let operands: Vec<Option<TensorSharding>> =
            self.tensor_shardings(rw.module, rw.module.operands(op));
        let results: Vec<Option<TensorSharding>> =
            self.tensor_shardings(rw.module, rw.module.results(op));
        let forms: Vec<Vec<TensorSharding>> = rw
            .module
            .operands(op)
            .iter()
            .map(|&value| {
                let forms = self.forms(rw.module, value).into_iter();
                forms.filter_map(|form| rw.module.value_sharding(form).cloned()).collect()
            })
            .collect();
        let wanted = Wanted { operands: &operands, forms: &forms, results: &results };
        let strategy = choose(rw.module, op, &rule, self.mesh, &wanted, self.pricing);
        self.note_fallback(rw.module, op, &rule, &strategy, &wanted);
        self.apply(rw, op, &strategy, &results);
    }

    fn tensor_shardings(&self, module: &Module, values: &[ValueId]) -> Vec<Option<TensorSharding>> {
        values
            .iter()
            .map(|&value| {
                let ty = module.tensor_type(value)?;
                Some(
                    module
                        .value_sharding(value)
                        .cloned()
                        .unwrap_or_else(|| TensorSharding::fully_replicated(self.mesh, ty.rank())),
                )
            })
            .collect()
    }

    fn apply(
        &mut self,
        rw: &mut Rewriter<'_>,
        op: OpId,
        strategy: &Strategy,
        wanted: &[Option<TensorSharding>],
    ) {
        let name = short_name(rw.module, op);
        for (index, sharding) in strategy.operands.iter().enumerate() {
            let operand = rw.module.operand(op, index);
            if rw.module.tensor_type(operand).is_none() {
                continue;
            }
            let sharding = rw.module.sharding_id(sharding.clone());
            let value = self.reshard(rw, operand, sharding, &format!("operand {index} of {name}"));
            rw.module.operands_mut(op)[index] = value;
        }
        rw.keep(op);
        for (index, sharding) in strategy.results.iter().enumerate() {
            let result = rw.module.result(op, index);
            let Some(Some(wanted)) = wanted.get(index) else { continue };
            let has = rw.module.sharding_id(sharding.clone());
            rw.module.shardings[result] = has.into();
            if !sharding.is_equivalent(wanted) {
                let to = rw.module.sharding_id(wanted.clone());
                let reason = if sharding.unreduced.is_empty() {
                    format!("result {index} of {name}")
                } else {
                    format!("partial results of {name}")
                };
                let value = self.reshard(rw, result, to, &reason);
                rw.replace(result, value);
            }
        }
    }

    /// A value with the given sharding: itself, a reshard of it, or the same thing computed again.
    fn reshard(
        &mut self,
        rw: &mut Rewriter<'_>,
        value: ValueId,
        to: ShardingId,
        why: &str,
    ) -> ValueId {
        if rw.module.tensor_type(value).is_none() {
            return value;
        }
        let from = self.sharding(rw.module, value);
        if rw.module.sharding(from).is_equivalent(rw.module.sharding(to)) {
            return value;
        }
        if let Some(&made) = self.made.iter().rev().find_map(|scope| scope.get(&(value, to))) {
            return made;
        }
        let new = match self.recompute(rw, value, to) {
            Some(new) => new,
            None => self.moved(rw, value, to, why),
        };
        if let Some(scope) = self.made.last_mut() {
            scope.insert((value, to), new);
        }
        new
    }

    /// The nearest form of a value, if it lies so, or moved there.
    fn moved(
        &mut self,
        rw: &mut Rewriter<'_>,
        value: ValueId,
        to: ShardingId,
        why: &str,
    ) -> ValueId {
        let form = self.nearest_form(rw.module, value, to);
        let has = self.sharding(rw.module, form);
        if rw.module.sharding(has).is_equivalent(rw.module.sharding(to)) {
            return form;
        }
        let new = match self.rebroadcast(rw, value, form, to, why) {
            Some(new) => new,
            None => {
                let ty = rw.module.value_type(value);
                let here = rw.loc;
                let served = source(rw.module, here, value);
                rw.loc = because(rw.module, served, why);
                let new = rw.emit_sharded(Reshard { sharding: to }, &[form], ty, to);
                rw.loc = here;
                new
            }
        };
        let origin = self.origin(value);
        self.origin[new] = origin.into();
        if let Some(scope) = self.forms.last_mut() {
            scope.entry(origin).or_default().push(new);
        }
        new
    }

    /// The value that a value is a form of.
    fn origin(&self, value: ValueId) -> ValueId {
        self.origin[value].expand().unwrap_or(value)
    }

    /// The other forms of a value that are at hand, but for partial ones.
    fn forms(&self, module: &Module, value: ValueId) -> Vec<ValueId> {
        let origin = self.origin(value);
        let made = self.forms.iter().filter_map(|scope| scope.get(&origin)).flatten().copied();
        let is_partial = |form| module.value_sharding(form).is_some_and(|s| s.is_unreduced());
        let all = std::iter::once(origin).chain(made);
        all.filter(|&form| form != value && !is_partial(form)).collect()
    }

    /// The form of a value from which a sharding is reached at the least cost: an op may have
    /// computed more than its result's sharding keeps, or another use have gathered it.
    fn nearest_form(&mut self, module: &mut Module, value: ValueId, to: ShardingId) -> ValueId {
        let others = self.forms(module, value);
        if others.is_empty() {
            return value;
        }
        let bytes = module.tensor_type(value).map_or(0, |ty| ty.bytes());
        let mut seconds = |form| {
            let from = self.sharding(module, form);
            self.pricing.reshard(module.sharding(from), module.sharding(to), bytes).seconds
        };
        let mut best = (seconds(value), value);
        for form in others {
            let price = seconds(form);
            if price < best.0 {
                best = (price, form);
            }
        }
        best.1
    }

    /// Moves what a value is a broadcast of, and broadcasts it again, where that costs less than to
    /// move the value, whose nearest form is `form`.
    fn rebroadcast(
        &mut self,
        rw: &mut Rewriter<'_>,
        value: ValueId,
        form: ValueId,
        to: ShardingId,
        why: &str,
    ) -> Option<ValueId> {
        let module = &mut *rw.module;
        let op = module.defining_op(value)?;
        let Op::Movement(Movement::BroadcastInDim(broadcast)) = module.kind(op).clone() else {
            return None;
        };
        let wanted = module.sharding(to).clone();
        let operand = module.operand(op, 0);
        let (small, large) = (module.tensor_type(operand)?, module.tensor_type(value)?);
        if wanted.is_unreduced() || small.bytes() >= large.bytes() {
            return None;
        }
        let dims = small.dims.iter().zip(&broadcast.dimensions).map(|(&size, &dim)| {
            let dim = usize::try_from(dim).unwrap_or(usize::MAX);
            match large.dims.get(dim) == Some(&size) {
                true => DimSharding::closed(wanted.dim_axes(dim)),
                false => DimSharding::closed(&[]),
            }
        });
        let needed = TensorSharding::from_dims(self.mesh, dims);
        let (small, large) = (small.clone(), large.clone());
        let again = large.bytes() / wanted.tile_count().max(1);
        let needed = module.sharding_id(needed);
        let nearest = self.nearest_form(module, operand, needed);
        let mut seconds = |value, to, bytes| {
            let from = self.sharding(module, value);
            self.pricing.reshard(module.sharding(from), module.sharding(to), bytes).seconds
        };
        let moved = seconds(form, to, large.bytes());
        let rebuilt = seconds(nearest, needed, small.bytes());
        if rebuilt + self.pricing.compute(large.element, 0.0, again as f64) >= moved {
            return None;
        }
        let operand = self.reshard(rw, operand, needed, why);
        let ty = rw.module.value_type(value);
        let here = std::mem::replace(&mut rw.loc, rw.module.op(op).loc);
        let new = rw.emit_sharded(*broadcast, &[operand], ty, to);
        rw.loc = here;
        Some(new)
    }

    /// Computes a cheap value again under another sharding.
    fn recompute(
        &mut self,
        rw: &mut Rewriter<'_>,
        value: ValueId,
        to: ShardingId,
    ) -> Option<ValueId> {
        if !shard_plan::cheap::is_cheap(rw.module, value) {
            return None;
        }
        let op = rw.module.defining_op(value)?;
        let sharding = rw.module.sharding(to);
        if sharding.is_unreduced() && !shard_plan::cheap::is_zero(rw.module, value) {
            return None;
        }
        let copy = clone_op(rw.module, op, &mut ValueMap::default(), &mut |_, loc| loc);
        rw.place(copy);
        let copy = rw.module.result(copy, 0);
        rw.module.shardings[copy] = to.into();
        Some(copy)
    }

    fn note_fallback(
        &mut self,
        module: &Module,
        op: OpId,
        rule: &OpRule,
        strategy: &Strategy,
        wanted: &Wanted<'_>,
    ) {
        let moved = strategy.operands.iter().zip(wanted.operands);
        if moved.clone().all(|(to, from)| from.as_ref().is_none_or(|from| from.is_equivalent(to))) {
            return;
        }
        let able = shard_plan::strategies::capabilities(module, op, rule);
        for (index, mapping) in rule.operands.iter().enumerate() {
            let Some(Some(from)) = wanted.operands.get(index) else { continue };
            let (value, to) = (module.operand(op, index), &strategy.operands[index]);
            let Some(ty) = module.tensor_type(value) else { continue };
            // Axes that another dimension takes aren't lost: the parts are exchanged.
            let gathers = to.tile_count() < from.tile_count();
            let at_hand = wanted.forms[index].iter().any(|form| form.is_equivalent(to));
            if !gathers || at_hand || shard_plan::cheap::is_cheap(module, value) {
                continue;
            }
            for (dim, factors) in mapping.iter().enumerate() {
                // An op without a rule has no factors, and needs all whole.
                let whole = factors.is_empty()
                    || factors.iter().any(|&factor| able[factor] == Capability::Whole);
                let ways = axes::product(from.dim_axes(dim));
                let lost = ways > axes::product(to.dim_axes(dim));
                let share = u128::from(ty.bytes()) * u128::from(ways.saturating_sub(1));
                let bytes = share.div_ceil(u128::from(from.tile_count().max(1))) as u64;
                if !whole || !lost || bytes == 0 {
                    continue;
                }
                if !self.gathered.insert((value, to.clone())) {
                    break;
                }
                let advice = advise(module, op, rule, strategy, wanted, index, self.pricing);
                self.fallbacks.push(Fallback {
                    op: short_name(module, op),
                    loc: module.op(op).loc,
                    operand: index,
                    value,
                    ty: module.value_type(value),
                    sharding: from.clone(),
                    dim,
                    bytes,
                    advice,
                });
            }
        }
    }
}

/// The location of an op if it names a source line, else that of the op that made its operand
/// (returns, for one, rarely have any).
fn source(module: &Module, loc: LocId, value: ValueId) -> LocId {
    let named = |loc| matches!(place_of(module, loc), Place::Source { .. });
    let made = module.defining_op(value).map(|op| without_reason(module, module.op(op).loc));
    match made {
        Some(made) if !named(loc) && named(made) => made,
        _ => loc,
    }
}

/// A rule for ops that have none: everything is whole.
fn replicated_rule(module: &Module, op: OpId) -> OpRule {
    let empty = |values: &[ValueId]| {
        values
            .iter()
            .map(|&value| {
                vec![Default::default(); module.tensor_type(value).map_or(0, |ty| ty.rank())]
            })
            .collect()
    };
    OpRule {
        operands: empty(module.operands(op)),
        results: empty(module.results(op)),
        ..OpRule::default()
    }
}

/// The op's name without its dialect.
pub(crate) fn short_name(module: &Module, op: OpId) -> String {
    let name = module.op_name(op);
    name.split_once('.').map_or(name, |(_, short)| short).to_owned()
}

/// The axes of a mesh with the given names.
pub(crate) fn manual_axes(module: &Module, mesh: MeshId, names: &[Symbol]) -> AxisList {
    let mesh = &module.meshes[mesh].mesh;
    names.iter().filter_map(|&name| mesh.axis(module.str(name))).collect()
}

/// A sharding without some axes.
pub(crate) fn without_axes(
    sharding: &TensorSharding,
    removed: &[shard_ir::sharding::AxisRef],
) -> TensorSharding {
    let mut result = sharding.clone();
    for dim in &mut result.dims {
        *dim = DimSharding { axes: axes::subtract(&dim.axes, removed), ..dim.clone() };
    }
    result.replicated = axes::subtract(&result.replicated, removed);
    result.unreduced = axes::subtract(&result.unreduced, removed);
    result
}
