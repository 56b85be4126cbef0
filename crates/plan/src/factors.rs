//! Shardings of tensors as shardings of factors, and back.

use shard_ir::MeshId;
use shard_ir::sharding::{AxisList, DimSharding, TensorSharding, axes};
use shard_propagate::rules::{OpRule, TensorMapping};

/// The axes of each factor of a rule.
pub type FactorAxes = Vec<AxisList>;

/// The axes that each factor gets from a tensor's sharding. Axes that no factor can take (because
/// their size doesn't divide it) are left out.
pub fn project(rule: &OpRule, mapping: &TensorMapping, sharding: &TensorSharding) -> FactorAxes {
    let mut result: FactorAxes = vec![AxisList::new(); rule.factors.len()];
    for (dim, factors) in mapping.iter().enumerate() {
        let Some(dim) = sharding.dims.get(dim) else { continue };
        let mut rest = axes::without_unit_axes(&dim.axes);
        for (position, &factor) in factors.iter().enumerate() {
            let size = rule.factors[factor].size;
            let last = position + 1 == factors.len();
            if last {
                result[factor] = std::mem::take(&mut rest);
                break;
            }
            if size <= 0 {
                break;
            }
            match axes::split_at(&rest, size as u64) {
                Some((major, minor)) => {
                    result[factor] = major;
                    rest = minor;
                }
                None => {
                    // All that is left is smaller than the factor.
                    result[factor] = std::mem::take(&mut rest);
                    break;
                }
            }
        }
    }
    result
}

/// Takes away what can't be: axes that don't divide their factor where it can't be padded, and
/// axes of a minor factor whose major neighbour in some dimension isn't cut into single elements.
pub fn legalize(rule: &OpRule, may_pad: impl Fn(usize) -> bool, assignment: &mut FactorAxes) {
    for (index, (factor, list)) in rule.factors.iter().zip(assignment.iter_mut()).enumerate() {
        let alone = || rule.tensors().flatten().all(|dim| dim.len() == 1 || !dim.contains(&index));
        let fits = |list: &AxisList| {
            let count = axes::product(list) as i64;
            factor.size > 0 && factor.size % count == 0
        };
        if !fits(list) && factor.size > 0 && may_pad(index) && alone() {
            continue;
        }
        while !list.is_empty() && !fits(list) {
            list.pop();
        }
    }
    loop {
        let mut changed = false;
        for dim in rule.tensors().flatten() {
            let mut complete = true;
            for &factor in dim {
                if !complete && !assignment[factor].is_empty() {
                    assignment[factor].clear();
                    changed = true;
                }
                complete &= axes::product(&assignment[factor]) as i64 == rule.factors[factor].size;
            }
        }
        if !changed {
            break;
        }
    }
}

/// The sharding of a tensor whose factors have the given axes.
pub fn unproject(mesh: MeshId, mapping: &TensorMapping, assignment: &FactorAxes) -> TensorSharding {
    TensorSharding::from_dims(
        mesh,
        mapping.iter().map(|factors| {
            let list: AxisList =
                factors.iter().flat_map(|&f| assignment[f].iter().copied()).collect();
            DimSharding::closed(&axes::canonical(&list))
        }),
    )
}
