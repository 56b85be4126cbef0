//! The borders of manual and named computations: what is stated there, and the edges across.

use shard_ir::ops::{Op, Sdy};
use shard_ir::sharding::TensorSharding;
use shard_ir::{OpId, ShardingId};
use smallvec::SmallVec;

use super::manual::{self, ManualSet};
use super::setup::{Setup, Use, ssa};
use super::table::SharedSharding;

/// How an edge crosses the border of a manual computation.
#[derive(Clone, Debug)]
pub(super) struct Crossing {
    /// The target is a parameter of the body; else a result of the computation.
    pub is_param: bool,
    /// The manual axes.
    pub axes: ManualSet,
    /// The sharding outside, as the program states it.
    pub outer: SharedSharding,
}

impl Setup<'_> {
    /// The shardings and edges of the parameters of a manual or named computation's body.
    pub(super) fn border_params(&mut self, op: OpId, rec: u32) {
        let module = self.module;
        let Some(&region) = module.regions(op).first() else { return };
        let Some(&entry) = module.region(region).blocks.first() else { return };
        let (shardings, manual) = self.border(op, true);
        for (index, &param) in module.params(entry).iter().enumerate() {
            if let Some(Some(sharding)) = shardings.get(index) {
                let inside = manual::inside(sharding, &manual);
                self.given[ssa(param) as usize] = self.table.add(inside);
            }
            let source = Use { rec, operand: index as u32 };
            let crossing = self.crossing(op, true, shardings.get(index), &manual);
            self.edge(param, &[], SmallVec::from_slice(&[source]), crossing);
        }
    }

    pub(super) fn is_manual(&self, op: OpId) -> bool {
        matches!(self.module.kind(op), Op::Sdy(Sdy::ManualComputation(_)))
    }

    /// The shardings at the operands (or the results) of a manual or named computation, seen from
    /// outside, as import leaves them, and the manual axes.
    pub fn border(&self, op: OpId, operands: bool) -> (Vec<Option<TensorSharding>>, ManualSet) {
        let module = self.module;
        let Op::Sdy(kind) = module.kind(op) else { return (Vec::new(), ManualSet::new()) };
        let (ins, outs, names) = match kind {
            Sdy::ManualComputation(op) => {
                (Some(&op.in_shardings), Some(&op.out_shardings), Some(&op.manual_axes))
            }
            Sdy::NamedComputation(op) => {
                (op.in_shardings.as_ref(), op.out_shardings.as_ref(), None)
            }
            _ => (None, None, None),
        };
        let values = if operands { module.operands(op) } else { module.results(op) };
        let Some(list) = (if operands { ins } else { outs }) else {
            return (Vec::new(), ManualSet::new());
        };
        let valid = |id: ShardingId| {
            let sharding = module.sharding(id);
            module.meshes.is_valid(sharding.mesh).then_some(sharding)
        };
        let all = ins.into_iter().chain(outs).flat_map(|list| &list.0);
        let common =
            all.copied().filter_map(valid).find(|sharding| !self.mesh(sharding.mesh).is_empty());
        let (Some(common), names) = (common, names) else { return (Vec::new(), ManualSet::new()) };
        let mesh = self.mesh(common.mesh);
        let set = names.map(|names| manual::manual_set(names, mesh, module)).unwrap_or_default();
        let shardings = values.iter().zip(&list.0).map(|(&value, &id)| {
            let rank = module.tensor_type(value)?.rank();
            let sharding = valid(id).filter(|sharding| sharding.rank() == rank)?;
            let mut sharding = self.imported(sharding);
            if self.mesh(sharding.mesh).is_empty() {
                sharding.mesh = self.meshes[common.mesh].expand().unwrap_or(common.mesh);
            }
            Some(manual::with_unused_replicated(sharding, &set, mesh))
        });
        (shardings.collect(), set)
    }

    /// The shardings and edges of the results of a manual or named computation.
    pub(super) fn border_results(&mut self, op: OpId) {
        let module = self.module;
        let Some(&region) = module.regions(op).first() else { return };
        let (shardings, manual) = self.border(op, false);
        for (index, &result) in module.results(op).iter().enumerate() {
            if let Some(Some(sharding)) = shardings.get(index) {
                self.given[ssa(result) as usize] = self.table.add(sharding.clone());
            }
            let sources = self.returned(region, index).into_iter().collect();
            let crossing = self.crossing(op, false, shardings.get(index), &manual);
            self.edge(result, &[], sources, crossing);
        }
    }

    /// How an edge crosses the border of a manual computation, for which the program states
    /// `outer`; `None` for a named computation, which has no axes of its own.
    fn crossing(
        &mut self,
        op: OpId,
        is_param: bool,
        outer: Option<&Option<TensorSharding>>,
        axes: &ManualSet,
    ) -> Option<Crossing> {
        if !self.is_manual(op) {
            return None;
        }
        let outer = self.table.add(outer?.clone()?);
        Some(Crossing { is_param, axes: axes.clone(), outer })
    }

    /// The sharding that a manual computation states for an operand.
    pub(super) fn stated_operand(&self, op: OpId, operand: usize) -> Option<SharedSharding> {
        let &region = self.module.regions(op).first()?;
        let &entry = self.module.region(region).blocks.first()?;
        let param = *self.module.params(entry).get(operand)?;
        let edge = *self.edge_of.get(&ssa(param))?;
        Some(self.edges[edge as usize].crossing.as_ref()?.outer)
    }
}
