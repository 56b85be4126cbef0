//! Shardings that ops state: constraints, reshards, and the collectives of sdy, whose result's
//! sharding follows from the operand's and the axes.

use crate::ops::{AxisLists, Op, Sdy, SdyAllToAll};
use crate::sharding::{AxesText, AxisList, AxisRef, Combiner, Mesh, TensorSharding, axes};
use crate::{OpId, ShardingId};

use super::Complaints;
use super::shardings::complaints_about;

/// Checks the shardings that an op states.
pub(super) fn verify(complaints: &mut Complaints, op: OpId) {
    let module = complaints.module;
    let Op::Sdy(kind) = module.kind(op) else { return };
    if let Sdy::NamedComputation(named) = kind {
        let lists = [
            (&named.in_shardings, module.operands(op), "in_shardings"),
            (&named.out_shardings, module.results(op), "out_shardings"),
        ];
        for (list, values, name) in lists {
            let Some(list) = list else { continue };
            per_value(complaints, op, name, &list.0, values);
        }
        return;
    }
    let Some(stated) = kind.result_sharding() else { return };
    let (Some(&operand), Some(&result)) = (module.operands(op).first(), module.results(op).first())
    else {
        return;
    };
    let messages = complaints_about(complaints, stated, module.value_type(result));
    let valid = messages.is_empty();
    for message in messages {
        complaints.op(op, message);
    }
    let out = module.sharding(stated);
    if let Some(own) = module.value_sharding(result)
        && !matches!(kind, Sdy::ShardingConstraint(_) | Sdy::DataFlowEdge(_))
        && !own.is_equivalent(out)
    {
        complaints.op(op, "the sharding of the result isn't the one that the op states");
    }
    let Some(mesh) = module.meshes.get(out.mesh).map(|def| &def.mesh) else { return };
    // An operand without a sharding has that which its op states; else it is replicated.
    let above = module.defining_op(operand).and_then(|op| match module.kind(op) {
        Op::Sdy(kind) => kind.result_sharding(),
        _ => None,
    });
    let replicated;
    let operand = match module.value_sharding(operand).or(above.map(|id| module.sharding(id))) {
        Some(sharding) => sharding,
        None => {
            replicated = TensorSharding::fully_replicated(out.mesh, out.rank());
            &replicated
        }
    };
    if !valid || operand.rank() != out.rank() || mesh.is_maximal() {
        return;
    }
    if let Err(message) = (Transition { mesh, operand, out }).check(complaints, kind) {
        complaints.op(op, message);
    }
}

/// Checks one sharding for each of some values.
pub(super) fn per_value(
    complaints: &mut Complaints,
    op: OpId,
    name: &str,
    list: &[ShardingId],
    values: &[crate::ValueId],
) -> bool {
    if list.len() != values.len() {
        let (len, count) = (list.len(), values.len());
        complaints.op(op, format!("{name} has {len} elements for {count} values"));
        return false;
    }
    let mut valid = true;
    for (at, (&sharding, &value)) in list.iter().zip(values).enumerate() {
        let ty = complaints.module.value_type(value);
        for message in complaints_about(complaints, sharding, ty) {
            complaints.op(op, format!("{name}, element {at}: {message}"));
            valid = false;
        }
    }
    valid
}

/// The way from the operand's sharding to the result's.
struct Transition<'a> {
    mesh: &'a Mesh,
    operand: &'a TensorSharding,
    out: &'a TensorSharding,
}

fn plain(list: &[AxisRef]) -> AxisList {
    axes::canonical(&axes::without_unit_axes(list))
}

impl Transition<'_> {
    fn check(&self, complaints: &Complaints, kind: &Sdy) -> Result<(), String> {
        let (operand, out) = (self.operand, self.out);
        if !matches!(kind, Sdy::SdyCollectivePermute(_) | Sdy::Reshard(_))
            && !matches!(kind, Sdy::ShardingConstraint(_) | Sdy::DataFlowEdge(_))
        {
            let def = complaints.module.meshes.get(operand.mesh);
            if def.is_none_or(|def| def.mesh != *self.mesh) {
                return Err("operand and result are sharded over different meshes".into());
            }
        }
        match kind {
            Sdy::ShardingConstraint(_) | Sdy::Reshard(_) => {
                let both = operand.is_unreduced() && out.is_unreduced();
                if both && operand.combiner != out.combiner {
                    return Err(format!(
                        "can't make a value that is unreduced by {:?} one by {:?}",
                        operand.combiner, out.combiner
                    ));
                }
                Ok(())
            }
            Sdy::SdyAllGather(op) => {
                self.lists(&op.axes)?;
                self.dims(|dim| self.gathered(dim, &op.axes.dims[dim]))?;
                self.unreduced(&operand.unreduced)
            }
            Sdy::SdyAllSlice(op) => {
                self.lists(&op.axes)?;
                self.dims(|dim| Ok(self.sliced(dim, &op.axes.dims[dim])))?;
                self.unreduced(&operand.unreduced)
            }
            Sdy::SdyAllToAll(op) => {
                self.all_to_all(op)?;
                self.unreduced(&operand.unreduced)
            }
            Sdy::SdyCollectivePermute(_) => {
                for dim in 0..out.rank() {
                    let (from, to) = (operand.shard_count(dim), out.shard_count(dim));
                    if from != to {
                        return Err(format!(
                            "dimension {dim} has {from} shards in the operand, {to} in the result"
                        ));
                    }
                }
                let counts = [&operand.unreduced, &out.unreduced].map(|list| axes::product(list));
                if counts[0] != counts[1] {
                    return Err(format!(
                        "the operand is unreduced over {} devices, the result over {}",
                        counts[0], counts[1]
                    ));
                }
                Ok(())
            }
            Sdy::SdyAllReduce(op) => {
                let list = &op.axes.axes;
                self.valid(list)?;
                self.free(list)?;
                self.combines(op.combiner)?;
                self.dims(|dim| Ok(plain(operand.dim_axes(dim))))?;
                self.unreduced(&axes::subtract(&operand.unreduced, list))
            }
            Sdy::SdyReduceScatter(op) => {
                self.lists(&op.axes)?;
                let all = flat(&op.axes);
                self.free(&all)?;
                self.combines(op.combiner)?;
                self.dims(|dim| Ok(self.sliced(dim, &op.axes.dims[dim])))?;
                self.unreduced(&axes::subtract(&operand.unreduced, &all))
            }
            Sdy::ShardedToUnreduced(op) => {
                self.lists(&op.axes)?;
                self.dims(|dim| self.gathered(dim, &op.axes.dims[dim]))?;
                let all: AxisList =
                    operand.unreduced.iter().copied().chain(flat(&op.axes)).collect();
                self.unreduced(&all)
            }
            Sdy::ReplicatedToUnreduced(op) => {
                let list = &op.axes.axes;
                self.valid(list)?;
                if list.is_empty() {
                    return Err("has no axes".into());
                }
                self.free(list)?;
                if !axes::is_disjoint(list, &operand.unreduced) {
                    return Err(format!(
                        "axes {} are unreduced in the operand already",
                        self.text(list)
                    ));
                }
                self.dims(|dim| Ok(plain(operand.dim_axes(dim))))?;
                let all: AxisList = operand.unreduced.iter().chain(list).copied().collect();
                self.unreduced(&all)
            }
            Sdy::ManualComputation(_)
            | Sdy::ShardingGroup(_)
            | Sdy::SdyConstant(_)
            | Sdy::DataFlowEdge(_)
            | Sdy::FuncDataFlowEdge
            | Sdy::PropagationBarrier(_)
            | Sdy::NamedComputation(_) => Ok(()),
        }
    }

    fn text(&self, list: &[AxisRef]) -> String {
        format!("{{{}}}", AxesText { axes: list, mesh: self.mesh })
    }

    /// The axes are the mesh's, and none is named twice.
    fn valid(&self, list: &[AxisRef]) -> Result<(), String> {
        if let Some(axis) = list.iter().find(|axis| !axis.is_valid(self.mesh)) {
            return Err(format!("the mesh doesn't have axis {}", self.text(&[*axis])));
        }
        if !axes::is_disjoint_list(list) {
            return Err(format!("axes {} overlap", self.text(list)));
        }
        Ok(())
    }

    fn lists(&self, lists: &AxisLists) -> Result<(), String> {
        if lists.dims.len() != self.out.rank() {
            return Err(format!(
                "has axes for {} dimensions, but the tensor has rank {}",
                lists.dims.len(),
                self.out.rank()
            ));
        }
        self.valid(&flat(lists))
    }

    /// The axes split no dimension of the operand.
    fn free(&self, list: &[AxisRef]) -> Result<(), String> {
        let used: AxisList = self.operand.dim_axes_in_order().collect();
        if axes::is_disjoint(list, &used) {
            return Ok(());
        }
        Err(format!(
            "axes {} split dimensions of the operand",
            self.text(&axes::intersect(list, &used))
        ))
    }

    fn combines(&self, combiner: Combiner) -> Result<(), String> {
        for (what, sharding) in [("operand", self.operand), ("result", self.out)] {
            if sharding.is_unreduced() && sharding.combiner != combiner {
                return Err(format!(
                    "combines by {combiner:?}, but the {what} is unreduced by {:?}",
                    sharding.combiner
                ));
            }
        }
        Ok(())
    }

    /// The operand's axes of a dimension without a suffix.
    fn gathered(&self, dim: usize, list: &[AxisRef]) -> Result<AxisList, String> {
        let own = plain(self.operand.dim_axes(dim));
        axes::strip_suffix(&own, &plain(list)).ok_or_else(|| {
            format!(
                "axes {} aren't the last of dimension {dim} of the operand, which has {}",
                self.text(list),
                self.text(self.operand.dim_axes(dim))
            )
        })
    }

    /// The operand's axes of a dimension with further ones.
    fn sliced(&self, dim: usize, list: &[AxisRef]) -> AxisList {
        plain(&axes::concat(self.operand.dim_axes(dim), list))
    }

    fn dims(&self, expected: impl Fn(usize) -> Result<AxisList, String>) -> Result<(), String> {
        for dim in 0..self.out.rank() {
            self.dim(dim, &expected(dim)?)?;
        }
        Ok(())
    }

    fn dim(&self, dim: usize, expected: &[AxisRef]) -> Result<(), String> {
        if plain(self.out.dim_axes(dim)) == plain(expected) {
            return Ok(());
        }
        let (operand, out) = (self.operand.dim_axes(dim), self.out.dim_axes(dim));
        Err(format!(
            "dimension {dim} of the result has axes {}, expected {} from the operand's {}",
            self.text(out),
            self.text(expected),
            self.text(operand)
        ))
    }

    fn unreduced(&self, expected: &[AxisRef]) -> Result<(), String> {
        let plain = |list: &[AxisRef]| axes::sorted(&axes::without_unit_axes(list));
        if plain(&self.out.unreduced) == plain(expected) {
            return Ok(());
        }
        Err(format!(
            "the result is unreduced along {}, expected {} from the operand's {}",
            self.text(&self.out.unreduced),
            self.text(&plain(expected)),
            self.text(&self.operand.unreduced)
        ))
    }

    fn all_to_all(&self, op: &SdyAllToAll) -> Result<(), String> {
        let (operand, params) = (self.operand, &op.params.params);
        if params.is_empty() {
            return Err("has no exchanges".into());
        }
        let all: AxisList = params.iter().flat_map(|param| param.axes.iter().copied()).collect();
        self.valid(&all)?;
        let rank = self.out.rank();
        let mut expected: Vec<AxisList> = (0..rank).map(|d| plain(operand.dim_axes(d))).collect();
        let mut seen = vec![false; rank];
        for param in params {
            for dim in [param.src, param.dst] {
                match seen.get_mut(dim as usize) {
                    None => {
                        return Err(format!("dimension {dim} is out of range for rank {rank}"));
                    }
                    Some(seen) if *seen => {
                        return Err(format!("dimension {dim} takes part in two exchanges"));
                    }
                    Some(seen) => *seen = true,
                }
            }
            let (src, dst) = (param.src as usize, param.dst as usize);
            expected[src] = self.gathered(src, &param.axes)?;
            expected[dst] = self.sliced(dst, &param.axes);
        }
        if !params.is_sorted_by_key(|param| param.src) {
            return Err("source dimensions aren't in ascending order".into());
        }
        self.dims(|dim| Ok(expected[dim].clone()))
    }
}

fn flat(lists: &AxisLists) -> AxisList {
    lists.dims.iter().flatten().copied().collect()
}
