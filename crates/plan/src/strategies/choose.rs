//! Strategies of an op, and the choice between them by price.

use shard_ir::sharding::{AxisList, Combiner, TensorSharding, axes};
use shard_ir::{ElementType, MeshId, Module, OpId, ValueId};
use shard_propagate::rules::{OpRule, TensorMapping};

use super::capability::{is_accumulator, may_pad};
use super::{Capability, capabilities};
use crate::Pricing;
use crate::factors::{FactorAxes, legalize, project, unproject};

/// One way to compute an op in parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strategy {
    /// Axes of each factor of the op's rule.
    pub factors: FactorAxes,
    /// Sharding that each operand must have.
    pub operands: Vec<TensorSharding>,
    /// Sharding that each result has; unreduced where a reduction is split.
    pub results: Vec<TensorSharding>,
    /// Into how many different parts the work is split.
    pub parts: u64,
}

/// The shardings that the op's values have, and that are wanted of its results.
pub struct Wanted<'a> {
    /// Shardings of the operands as they are; `None` for what isn't a tensor.
    pub operands: &'a [Option<TensorSharding>],
    /// Shardings in which each operand is at hand as well.
    pub forms: &'a [Vec<TensorSharding>],
    /// Shardings that the results shall have in the end.
    pub results: &'a [Option<TensorSharding>],
}

/// The distinct strategies that the shardings at hand suggest; there is always one. The first has
/// along the results' factors just what the results shall have, and along the others (which are
/// reduced) what the operands have: splitting the work less than that would be a waste. Others
/// begin with one of the tensors and fill up from the rest.
pub fn strategies(
    module: &Module,
    op: OpId,
    rule: &OpRule,
    mesh: MeshId,
    wanted: &Wanted<'_>,
) -> Vec<Strategy> {
    let maker = Maker::new(module, op, rule, mesh, wanted);
    let base = maker.base();
    maker.others(base)
}

/// Makes the strategies of one op.
struct Maker<'a> {
    module: &'a Module,
    op: OpId,
    rule: &'a OpRule,
    mesh: MeshId,
    able: Vec<Capability>,
    /// What each result proposes for the factors.
    results: Vec<FactorAxes>,
    /// What each operand proposes.
    operands: Vec<FactorAxes>,
}

impl<'a> Maker<'a> {
    fn new(
        module: &'a Module,
        op: OpId,
        rule: &'a OpRule,
        mesh: MeshId,
        wanted: &Wanted<'_>,
    ) -> Self {
        let project_all = |mappings: &[TensorMapping], shardings: &[Option<TensorSharding>]| {
            let pairs = mappings.iter().zip(shardings);
            pairs
                .filter_map(|(mapping, sharding)| Some(project(rule, mapping, sharding.as_ref()?)))
                .collect::<Vec<FactorAxes>>()
        };
        Maker {
            able: capabilities(module, op, rule),
            results: project_all(&rule.results, wanted.results),
            operands: project_all(&rule.operands, wanted.operands),
            module,
            op,
            rule,
            mesh,
        }
    }

    fn nothing(&self) -> FactorAxes {
        vec![AxisList::new(); self.rule.factors.len()]
    }

    fn make(&self, mut assignment: FactorAxes) -> Strategy {
        let Maker { module, op, rule, mesh, .. } = *self;
        legalize(rule, |factor| may_pad(module, op, rule, factor), &mut assignment);
        strategy(module, op, rule, mesh, &self.able, assignment)
    }

    fn base(&self) -> Strategy {
        let mut base = self.nothing();
        for proposal in &self.results {
            merge(&mut base, proposal, &self.able);
        }
        let in_results =
            |factor: usize| self.rule.results.iter().flatten().any(|dim| dim.contains(&factor));
        for proposal in &self.operands {
            let mut reduced = proposal.clone();
            for (factor, axes) in reduced.iter_mut().enumerate() {
                if in_results(factor) {
                    axes.clear();
                }
            }
            merge(&mut base, &reduced, &self.able);
        }
        self.make(base)
    }

    fn others(&self, base: Strategy) -> Vec<Strategy> {
        let mut found = vec![base];
        let proposals: Vec<&FactorAxes> = self.results.iter().chain(&self.operands).collect();
        for first in 0..proposals.len() {
            let order =
                std::iter::once(first).chain((0..proposals.len()).filter(|&other| other != first));
            let mut assignment = self.nothing();
            for source in order {
                merge(&mut assignment, proposals[source], &self.able);
            }
            let strategy = self.make(assignment);
            if !found.contains(&strategy) {
                found.push(strategy);
            }
        }
        let mut moved = Vec::new();
        for strategy in &found {
            moved.extend(self.moved(&strategy.factors));
        }
        for assignment in moved {
            let strategy = self.make(assignment);
            if !found.contains(&strategy) {
                found.push(strategy);
            }
        }
        found
    }

    /// The assignments in which axes of dimensions that must be whole go to another factor, so that
    /// the work stays split: an all-to-all instead of an all-gather. Such dimensions must divide.
    fn moved(&self, factors: &FactorAxes) -> Vec<FactorAxes> {
        let mut used: AxisList = factors.iter().flatten().copied().collect();
        let mut lost = AxisList::new();
        for proposal in self.operands.iter().chain(&self.results) {
            for (axes, able) in proposal.iter().zip(&self.able) {
                for &axis in axes.iter().filter(|_| *able == Capability::Whole) {
                    if !used.iter().any(|other| other.overlaps(axis)) {
                        used.push(axis);
                        lost.push(axis);
                    }
                }
            }
        }
        if lost.is_empty() {
            return Vec::new();
        }
        let mut found = Vec::new();
        for (index, factor) in self.rule.factors.iter().enumerate() {
            let mut taken = factors[index].clone();
            taken.extend(lost.iter().copied());
            let parts = axes::product(&taken) as i64;
            let divides = factor.size > 0 && factor.size % parts == 0;
            if self.able[index] == Capability::Free && divides {
                let mut assignment = factors.clone();
                assignment[index] = taken;
                found.push(assignment);
            }
        }
        found
    }
}

/// Adds what one tensor proposes to factors that have nothing yet, without the axes that others
/// use already.
fn merge(assignment: &mut FactorAxes, proposal: &FactorAxes, able: &[Capability]) {
    for factor in 0..assignment.len() {
        if able[factor] == Capability::Whole || proposal[factor].is_empty() {
            continue;
        }
        if assignment[factor].is_empty() {
            let used: AxisList = assignment.iter().flatten().copied().collect();
            let mut free = AxisList::new();
            for &axis in &proposal[factor] {
                if used.iter().any(|other| other.overlaps(axis)) {
                    break;
                }
                free.push(axis);
            }
            assignment[factor] = free;
        }
    }
}

fn strategy(
    module: &Module,
    op: OpId,
    rule: &OpRule,
    mesh: MeshId,
    able: &[Capability],
    mut factors: FactorAxes,
) -> Strategy {
    // All partial factors of an op combine alike; if they don't, only those like the first split.
    let mut combiner: Option<Combiner> = None;
    let mut partial = AxisList::new();
    for (axes, able) in factors.iter_mut().zip(able) {
        if let Capability::Partial(own) = *able
            && !axes.is_empty()
        {
            if *combiner.get_or_insert(own) == own {
                partial.extend(axes.iter().copied());
            } else {
                axes.clear();
            }
        }
    }
    let partial = axes::sorted(&partial);
    let sharding = |mapping: &TensorMapping, is_partial: bool| {
        let sharding = unproject(mesh, mapping, &factors);
        match combiner {
            Some(combiner) if is_partial && !partial.is_empty() => {
                sharding.with_unreduced(&partial, combiner)
            }
            _ => sharding,
        }
    };
    let starts = |index| combiner == Some(Combiner::Sum) && is_accumulator(module, op, index);
    Strategy {
        operands: rule
            .operands
            .iter()
            .enumerate()
            .map(|(index, mapping)| sharding(mapping, starts(index)))
            .collect(),
        results: rule.results.iter().map(|mapping| sharding(mapping, true)).collect(),
        parts: factors.iter().map(|list| axes::product(list)).product(),
        factors,
    }
}

/// The cheapest strategy: reshards of operands and results, and computing. None splits the work
/// into fewer parts than the shardings of the results ask for.
pub fn choose(
    module: &Module,
    op: OpId,
    rule: &OpRule,
    mesh: MeshId,
    wanted: &Wanted<'_>,
    pricing: &mut Pricing,
) -> Strategy {
    let maker = Maker::new(module, op, rule, mesh, wanted);
    let base = maker.base();
    // Nothing moves, and what can be split is: most ops of a program.
    if is_free(&base, wanted) {
        return base;
    }
    let least = base.parts;
    let mut candidates = maker.others(base);
    if candidates.len() == 1 {
        return candidates.swap_remove(0);
    }
    let prices: Vec<f64> = candidates
        .iter()
        .map(|candidate| match candidate.parts < least {
            true => f64::INFINITY,
            false => price(module, op, candidate, wanted, pricing),
        })
        .collect();
    let mut best = 0;
    for (index, seconds) in prices.iter().enumerate() {
        if *seconds < prices[best] {
            best = index;
        }
    }
    candidates.swap_remove(best)
}

/// What an annotation could do about an operand that has to be gathered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Advice {
    /// With this sharding of the operand the op gathers nothing, and all costs less.
    Shard(Box<TensorSharding>),
    /// The op could be computed on other shards of the operand, but that costs more.
    Dearer,
    /// There is no other way to split the op.
    Nothing,
}

/// What to do about an operand that the chosen strategy gathers. Whatever is advised has been
/// priced: with the operand as advised (moved there, unless the program gets it so), the op and the
/// reshards of its results cost less than they do now.
pub fn advise(
    module: &Module,
    op: OpId,
    rule: &OpRule,
    chosen: &Strategy,
    wanted: &Wanted<'_>,
    operand: usize,
    pricing: &mut Pricing,
) -> Advice {
    let Some(Some(from)) = wanted.operands.get(operand) else { return Advice::Nothing };
    let maker = Maker::new(module, op, rule, from.mesh, wanted);
    let value = module.operand(op, operand);
    let is_argument = module.defining_op(value).is_none();
    let bytes = module.tensor_type(value).map_or(0, |ty| ty.bytes());
    let now = price(module, op, chosen, wanted, pricing);
    let mut best = (now, Advice::Nothing);
    for strategy in maker.others(maker.base()) {
        let to = &strategy.operands[operand];
        if to.tile_count() < from.tile_count() {
            continue;
        }
        if best.1 == Advice::Nothing {
            best.1 = Advice::Dearer;
        }
        let operands: Vec<Option<TensorSharding>> = (0..wanted.operands.len())
            .map(|at| match module.operand(op, at) == value {
                true => Some(to.clone()),
                false => wanted.operands[at].clone(),
            })
            .collect();
        let advised = Wanted { operands: &operands, ..*wanted };
        let mut then = price(module, op, &strategy, &advised, pricing);
        if !is_argument {
            then += pricing.reshard(from, to, bytes).seconds;
        }
        if then < best.0 * (1.0 - 1e-6) {
            best = (then, Advice::Shard(Box::new(to.clone())));
        }
    }
    best.1
}

/// Whether a strategy takes the operands as they are and gives the results as they shall be.
fn is_free(strategy: &Strategy, wanted: &Wanted<'_>) -> bool {
    let same = |has: &[TensorSharding], given: &[Option<TensorSharding>]| {
        has.iter()
            .zip(given)
            .all(|(has, given)| given.as_ref().is_none_or(|g| g.is_equivalent(has)))
    };
    same(&strategy.operands, wanted.operands) && same(&strategy.results, wanted.results)
}

fn price(
    module: &Module,
    op: OpId,
    strategy: &Strategy,
    wanted: &Wanted<'_>,
    pricing: &mut Pricing,
) -> f64 {
    let mut seconds = 0.0;
    let mut moved: Vec<(ValueId, &TensorSharding)> = Vec::new();
    let mut bytes = 0.0;
    for (index, (&value, to)) in module.operands(op).iter().zip(&strategy.operands).enumerate() {
        let from = &wanted.operands[index];
        let (Some(ty), Some(from)) = (module.tensor_type(value), from) else { continue };
        bytes += ty.bytes() as f64 / shards(to);
        // The same value used twice is moved once; a cheap one is computed again in place.
        if !moved.contains(&(value, to)) && !crate::cheap::is_cheap(module, value) {
            moved.push((value, to));
            let forms = std::iter::once(from).chain(&wanted.forms[index]);
            seconds += forms
                .map(|form| pricing.reshard(form, to, ty.bytes()).seconds)
                .fold(f64::INFINITY, f64::min);
        }
    }
    for ((&value, from), to) in module.results(op).iter().zip(&strategy.results).zip(wanted.results)
    {
        let (Some(ty), Some(to)) = (module.tensor_type(value), to) else { continue };
        bytes += ty.bytes() as f64 / shards(from);
        seconds += pricing.reshard(from, to, ty.bytes()).seconds;
    }
    let flops = shard_cost::ops::flops(module, op) / strategy.parts as f64;
    let element = module
        .results(op)
        .first()
        .and_then(|&value| module.tensor_type(value))
        .map_or(ElementType::F32, |ty| ty.element);
    seconds + pricing.compute(element, flops, bytes)
}

fn shards(sharding: &TensorSharding) -> f64 {
    sharding.tile_count().max(1) as f64
}
