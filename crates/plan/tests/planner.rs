//! The reshard planner: known best plans, and that every plan leads to its target.

use proptest::prelude::*;
use shard_cost::Topology;
use shard_ir::MeshId;
use shard_ir::sharding::{AxisList, AxisRef, Combiner, Mesh, TensorSharding, axes};
use shard_plan::Pricing;
use shard_plan::reshard::{Plan, Step};

const MESH: MeshId = MeshId::from_const(0);

fn mesh() -> Mesh {
    Mesh::new(&[("a", 2), ("b", 4)])
}

fn pricing(mesh: Mesh) -> Pricing {
    Pricing::new(Topology::default(), mesh).expect("the even topology takes any mesh")
}

fn axis(name: &str) -> AxisRef {
    mesh().axis(name).expect("the mesh has the axis")
}

fn sharding(dims: &[&[AxisRef]]) -> TensorSharding {
    TensorSharding::closed_over(MESH, dims)
}

fn steps(from: &TensorSharding, to: &TensorSharding) -> Vec<Step> {
    let mut pricing = pricing(mesh());
    pricing.reshard(from, to, 1 << 20).steps.iter().map(|step| step.step.clone()).collect()
}

#[test]
fn splitting_a_replicated_tensor_sends_nothing() {
    let (a, b) = (axis("a"), axis("b"));
    let found = steps(&sharding(&[&[], &[]]), &sharding(&[&[a], &[b]]));
    assert_eq!(
        found,
        [Step::AllSlice(vec![AxisList::from_slice(&[a]), AxisList::from_slice(&[b])])]
    );
}

#[test]
fn one_dimension_is_gathered_along_its_own_axis() {
    let (a, b) = (axis("a"), axis("b"));
    let found = steps(&sharding(&[&[a], &[b]]), &sharding(&[&[a], &[]]));
    assert_eq!(found, [Step::AllGather(vec![AxisList::new(), AxisList::from_slice(&[b])])]);
}

#[test]
fn an_axis_moves_between_dimensions_by_all_to_all() {
    let b = axis("b");
    let found = steps(&sharding(&[&[b], &[]]), &sharding(&[&[], &[b]]));
    assert!(matches!(&found[..], [Step::AllToAll(param)] if param.src == 0 && param.dst == 1));
}

#[test]
fn a_partial_sum_that_is_wanted_in_parts_is_reduce_scattered() {
    let b = axis("b");
    let from = sharding(&[&[], &[]]).with_unreduced(&[b], Combiner::Sum);
    let found = steps(&from, &sharding(&[&[], &[b]]));
    assert_eq!(found, [Step::ReduceScatter(vec![AxisList::new(), AxisList::from_slice(&[b])])]);
}

#[test]
fn a_partial_sum_that_is_wanted_whole_is_all_reduced() {
    let b = axis("b");
    let from = sharding(&[&[axis("a")]]).with_unreduced(&[b], Combiner::Sum);
    assert_eq!(
        steps(&from, &sharding(&[&[axis("a")]])),
        [Step::AllReduce(AxisList::from_slice(&[b]))]
    );
}

#[test]
fn axes_of_one_size_change_places_by_a_permute() {
    let mesh = Mesh::new(&[("a", 4), ("b", 4)]);
    let (a, b) = (mesh.axis("a").expect("axis"), mesh.axis("b").expect("axis"));
    let mut pricing = pricing(mesh);
    let plan = pricing.reshard(&sharding(&[&[a], &[]]), &sharding(&[&[b], &[]]), 1 << 20);
    assert!(matches!(&plan.steps[..], [only] if only.step == Step::Permute), "{plan:?}");
}

/// Applies a step to a sharding by the definition of the `sdy` op.
fn apply(now: &TensorSharding, step: &Step, result: &TensorSharding) -> TensorSharding {
    let mut next = now.clone();
    match step {
        Step::AllGather(lists) => {
            for (dim, gone) in next.dims.iter_mut().zip(lists) {
                dim.axes = axes::strip_suffix(&dim.axes, gone).expect("gathered axes are minor");
            }
        }
        Step::AllSlice(lists) => {
            for (dim, more) in next.dims.iter_mut().zip(lists) {
                dim.axes = axes::canonical(&axes::concat(&dim.axes, more));
            }
        }
        Step::AllToAll(param) => {
            let src = &mut next.dims[param.src as usize];
            src.axes = axes::strip_suffix(&src.axes, &param.axes).expect("moved axes are minor");
            let dst = &mut next.dims[param.dst as usize];
            dst.axes = axes::canonical(&axes::concat(&dst.axes, &param.axes));
        }
        Step::Permute => {
            assert_eq!(now.shard_counts(), result.shard_counts());
            return result.clone();
        }
        Step::AllReduce(gone) => next.unreduced = axes::subtract(&next.unreduced, gone),
        Step::ReduceScatter(lists) => {
            for (dim, more) in next.dims.iter_mut().zip(lists) {
                next.unreduced = axes::subtract(&next.unreduced, more);
                dim.axes = axes::canonical(&axes::concat(&dim.axes, more));
            }
        }
        Step::MakePartial(more) => {
            next.unreduced = axes::sorted(&axes::concat(&next.unreduced, more));
        }
    }
    if next.unreduced.is_empty() {
        next.combiner = Combiner::Sum;
    }
    next
}

fn check(from: &TensorSharding, to: &TensorSharding, plan: &Plan) {
    let mut now = from.clone();
    for step in &plan.steps {
        now = apply(&now, &step.step, &step.result);
        assert!(now.is_equivalent(&step.result), "{from:?} -> {to:?}: {plan:#?}");
    }
    assert!(now.is_equivalent(to), "{from:?} -> {to:?}: {plan:#?}");
}

/// A sharding of a rank-2 tensor over pieces of `x=4, y=2, z=2`, some perhaps unreduced.
fn any_sharding() -> impl Strategy<Value = TensorSharding> {
    let mesh = Mesh::new(&[("x", 4), ("y", 2), ("z", 2)]);
    let x = mesh.axis("x").expect("axis");
    let (x1, x2) = x.split(2).expect("4 splits in two");
    let pieces = [x1, x2, mesh.axis("y").expect("axis"), mesh.axis("z").expect("axis")];
    (prop::collection::vec(0usize..4, 4), Just(pieces.to_vec()).prop_shuffle()).prop_map(
        |(places, pieces)| {
            let mut dims = [AxisList::new(), AxisList::new()];
            let mut unreduced = AxisList::new();
            for (place, piece) in places.into_iter().zip(pieces) {
                match place {
                    0 | 1 => dims[place].push(piece),
                    2 => unreduced.push(piece),
                    _ => {}
                }
            }
            let dims: Vec<AxisList> = dims.iter().map(|list| axes::canonical(list)).collect();
            let sharding = TensorSharding::closed_over(MESH, &[&dims[0], &dims[1]]);
            sharding.with_unreduced(&unreduced, Combiner::Sum)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_plan_leads_to_its_target(from in any_sharding(), to in any_sharding()) {
        let mut pricing = pricing(Mesh::new(&[("x", 4), ("y", 2), ("z", 2)]));
        let plan = pricing.reshard(&from, &to, 1 << 16).clone();
        check(&from, &to, &plan);
    }
}
