use proptest::prelude::*;
use shard_ir::MeshId;
use shard_ir::sharding::{AxisIndex, AxisList, AxisRef, DimSharding, TensorSharding, axes};

use super::{Prefix, Projection, TensorFactors};
use crate::rules::OpRule;

const MESH: MeshId = MeshId::from_const(0);

/// Part `pre`, `size` of axis `x`, `y` or `z`.
fn part(name: char, pre: u32, size: u32) -> AxisRef {
    AxisRef::sub(AxisIndex(name as u16 - 'x' as u16), pre, size)
}

fn sharding(dims: &[&[AxisRef]]) -> TensorSharding {
    TensorSharding::from_dims(MESH, dims.iter().map(|axes| DimSharding::open(axes)))
}

fn rule(text: &str) -> OpRule {
    text.parse().expect("a rule")
}

#[test]
fn an_axis_is_split_between_factors() {
    let rule = rule("([ij])->([i, j]) {i=2, j=4}");
    let operand = sharding(&[&[part('x', 1, 4), part('y', 1, 2)]]);
    let projection = Projection::new(&rule, &[Some(&operand), None], false);
    assert_eq!(projection.tensors[0].axes(0), [part('x', 1, 2)]);
    assert_eq!(projection.tensors[0].axes(1), [part('x', 2, 2), part('y', 1, 2)]);
    let mut result = projection.tensors[1].clone();
    assert!(result.expand(0, projection.tensors[0].axes(0)));
    assert!(result.expand(1, projection.tensors[0].axes(1)));
    assert!(!result.expand(1, projection.tensors[0].axes(1)));
    let result = result.to_sharding(MESH, &rule.results[0], &rule.factors);
    assert_eq!(result, sharding(&[&[part('x', 1, 2)], &[part('x', 2, 2), part('y', 1, 2)]]));
    // Going back, the pieces are one again.
    let back = projection.tensors[0].to_sharding(MESH, &rule.operands[0], &rule.factors);
    assert_eq!(back, operand);
}

#[test]
fn an_axis_that_does_not_divide_overflows() {
    let rule = rule("([ijk])->([i, j, k]) {i=2, j=4, k=2}");
    let operand = sharding(&[&[part('x', 1, 3), part('y', 1, 2)]]);
    let projection = Projection::new(&rule, &[Some(&operand), None], false);
    let tensor = &projection.tensors[0];
    assert!(tensor.axes(0).is_empty());
    assert_eq!(tensor.get(0).expect("i").overflow[..], operand.dims[0].axes[..]);
    assert!(tensor.get(1).expect("j").closed);
    assert_eq!(tensor.to_sharding(MESH, &rule.operands[0], &rule.factors), operand);
}

#[test]
fn the_minor_factor_takes_what_does_not_divide() {
    let rule = rule("([ij])->([i, j]) {i=2, j=4}");
    let operand = sharding(&[&[part('x', 1, 2), part('y', 1, 3)]]);
    let projection = Projection::new(&rule, &[Some(&operand), None], false);
    assert_eq!(projection.tensors[0].axes(1), [part('y', 1, 3)]);
}

#[test]
fn axes_behind_a_factor_that_is_not_filled_are_left_out() {
    let rule = rule("([ij])->([i, j]) {i=4, j=4}");
    let result = sharding(&[&[part('x', 1, 2)], &[part('y', 1, 2)]]);
    let projection = Projection::new(&rule, &[None, Some(&result)], false);
    let mut operand = projection.tensors[0].clone();
    operand.expand(0, projection.tensors[1].axes(0));
    operand.expand(1, projection.tensors[1].axes(1));
    let operand = operand.to_sharding(MESH, &rule.operands[0], &rule.factors);
    assert_eq!(operand, sharding(&[&[part('x', 1, 2)]]));
}

#[test]
fn missing_shardings_are_open_or_closed() {
    let rule = rule("([i])->([i]) {i=2}");
    for closed in [false, true] {
        let projection = Projection::new(&rule, &[], closed);
        assert_eq!(projection.tensors[0].get(0).expect("i").closed, closed);
        assert_eq!((projection.operands().len(), projection.results().len()), (1, 1));
    }
}

#[test]
fn common_axes_are_those_that_all_begin_with() {
    let rule = rule("([i, j], [j])->([i]) {i=4, j=4} reduction={j}");
    let (x, y, z) = (part('x', 1, 4), part('y', 1, 2), part('z', 1, 2));
    let (lhs, rhs) = (sharding(&[&[x], &[y, z]]), sharding(&[&[y]]));
    let result = sharding(&[&[part('x', 1, 2)]]);
    let projection = Projection::new(&rule, &[Some(&lhs), Some(&rhs), Some(&result)], false);
    let common = projection.common_axes(2);
    assert_eq!(common[0][..], [part('x', 1, 2)]);
    assert_eq!(common[1][..], [y]);
    let whole = Projection::from_factor_axes(&rule, &common);
    assert_eq!(whole.tensors[0].axes(1), [y]);
    assert_eq!(whole.tensors[2].axes(0), [part('x', 1, 2)]);
}

#[test]
fn prefixes() {
    let (x, y) = (part('x', 1, 4), part('y', 1, 2));
    assert_eq!(Prefix::of(&[], &[]), Prefix::Equal);
    assert_eq!(Prefix::of(&[], &[x]), Prefix::Strict);
    assert_eq!(Prefix::of(&[x], &[x, y]), Prefix::Strict);
    assert_eq!(Prefix::of(&[x, y], &[x, y]), Prefix::Equal);
    assert_eq!(Prefix::of(&[part('x', 1, 2)], &[x]), Prefix::Strict);
    assert_eq!(Prefix::of(&[part('x', 2, 2)], &[x]), Prefix::No);
    assert_eq!(Prefix::of(&[x, y], &[x]), Prefix::No);
}

/// Axes of a mesh of up to three axes with small sizes, dealt out to dimensions.
fn dims(count: usize) -> impl Strategy<Value = Vec<AxisList>> {
    let size = prop::sample::select(vec![2u32, 3, 4, 6, 8]);
    let axis = (size, 0..count + 1, prop::bool::ANY);
    prop::collection::vec(axis, 0..4).prop_map(move |axes| {
        let mut dims = vec![AxisList::new(); count];
        for (index, (size, dim, front)) in axes.into_iter().enumerate() {
            // The dimension after the last stands for an axis that isn't used.
            if let Some(list) = dims.get_mut(dim) {
                let at = if front { 0 } else { list.len() };
                list.insert(at, AxisRef::whole(AxisIndex(index as u16), size));
            }
        }
        dims
    })
}

/// A rule with one tensor, whose dimensions are made of one to three factors each.
fn one_tensor() -> impl Strategy<Value = (OpRule, Vec<AxisList>)> {
    let size = prop::sample::select(vec![1i64, 2, 3, 4, 6, 8, 12]);
    let dim = prop::collection::vec(size, 1..4);
    prop::collection::vec(dim, 1..4).prop_flat_map(|shape| {
        let mut rule = OpRule { operands: vec![Vec::new()], ..OpRule::default() };
        for sizes in &shape {
            let first = rule.factors.len();
            let identity = OpRule::identity(sizes, 1, 0);
            rule.factors.extend(identity.factors);
            rule.operands[0].push((first..first + sizes.len()).collect());
        }
        (Just(rule), dims(shape.len()))
    })
}

proptest! {
    /// What is projected and put back together is what it was.
    #[test]
    fn back_and_forth((rule, dims) in one_tensor(), open in prop::bool::ANY) {
        let dims = dims.into_iter().map(|axes| DimSharding { axes, open, priority: None });
        let sharding = TensorSharding::from_dims(MESH, dims);
        let factors = TensorFactors::new(&rule.operands[0], &rule.factors, Some(&sharding), false);
        let back = factors.to_sharding(MESH, &rule.operands[0], &rule.factors);
        for (dim, was) in back.dims.iter().zip(&sharding.dims) {
            prop_assert_eq!(axes::canonical(&dim.axes), axes::canonical(&was.axes));
        }
    }

    /// Every factor but the minor-most of a dimension is divided by its axes.
    #[test]
    fn factors_are_divided((rule, dims) in one_tensor()) {
        let dims = dims.into_iter().map(|axes| DimSharding { axes, open: true, priority: None });
        let sharding = TensorSharding::from_dims(MESH, dims);
        let factors = TensorFactors::new(&rule.operands[0], &rule.factors, Some(&sharding), false);
        for (factor, sharding) in &factors.factors {
            let size = rule.factors[*factor].size as u64;
            prop_assert!(sharding.minor_most || size.is_multiple_of(axes::product(&sharding.axes)));
            prop_assert!(sharding.overflow.is_empty() || !sharding.minor_most);
        }
    }
}
