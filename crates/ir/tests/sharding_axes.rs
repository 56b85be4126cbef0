//! Laws of parts of axes and of lists of them.

mod sharding_support;

use proptest::prelude::*;
use shard_ir::*;
use sharding_support::*;

/// The axis as the set of elementary steps between divisors, for whole-number chains of one prime
/// it is what "overlap" means; in general: the half-open range `pre..pre*size`.
fn range(axis: AxisRef) -> (AxisIndex, u64, u64) {
    (axis.axis, u64::from(axis.pre), axis.next_pre())
}

fn pair() -> impl Strategy<Value = (Mesh, AxisRef, AxisRef)> {
    natural_mesh().prop_flat_map(|mesh| {
        let (a, b) = (any_part(&mesh), any_part(&mesh));
        (Just(mesh), a, b)
    })
}

fn lists() -> impl Strategy<Value = (Mesh, AxisList, AxisList)> {
    natural_mesh().prop_flat_map(|mesh| {
        let (a, b) = (axis_list(&mesh), axis_list(&mesh));
        (Just(mesh), a, b)
    })
}

fn sorted(list: &[AxisRef]) -> AxisList {
    let mut list = AxisList::from(list);
    list.sort();
    list
}

proptest! {
    #[test]
    fn split_then_merge_is_the_identity((_, a, _) in pair()) {
        for major in 0..=a.size {
            if let Some((first, second)) = a.split(major) {
                prop_assert!(first.can_merge(second));
                prop_assert_eq!(first.merge(second), Some(a));
                prop_assert!(!first.overlaps(second));
                prop_assert!(first.prefix_of(a) && second.suffix_of(a));
                prop_assert_eq!(a.prefix_without_overlap(second), Some(first));
                prop_assert_eq!(a.suffix_without_overlap(first), Some(second));
            }
        }
    }

    #[test]
    fn overlap_is_symmetric((_, a, b) in pair()) {
        prop_assert_eq!(a.overlaps(b), b.overlaps(a));
        prop_assert_eq!(a.overlap(b), b.overlap(a));
        prop_assert_eq!(a.can_coexist(b), b.can_coexist(a));
        prop_assert_eq!(a.common_prefix(b), b.common_prefix(a));
        prop_assert_eq!(a.common_suffix(b), b.common_suffix(a));
        let (x, y) = (range(a), range(b));
        let shares = a == b || x.0 == y.0 && x.1.max(y.1) < x.2.min(y.2);
        prop_assert_eq!(a.overlaps(b), shares);
        if let Some(common) = a.overlap(b) {
            prop_assert!(a.contains(common) && b.contains(common));
        }
        if a.can_coexist(b) {
            prop_assert_eq!(a.overlaps(b), a.overlap(b).is_some());
        }
        prop_assert_eq!(a.contains(b) && b.contains(a), a == b);
    }

    #[test]
    fn a_part_is_its_prefix_its_overlap_and_its_suffix((_, a, b) in pair()) {
        if let (true, Some(common)) = (a.can_coexist(b), a.overlap(b)) {
            let pieces: AxisList = a
                .prefix_without_overlap(b)
                .into_iter()
                .chain([common])
                .chain(a.suffix_without_overlap(b))
                .collect();
            prop_assert_eq!(&axes::canonical(&pieces)[..], &[a]);
        }
    }

    #[test]
    fn canonical_keeps_the_meaning((mesh, a, _) in lists()) {
        let canonical = axes::canonical(&a);
        prop_assert_eq!(axes::product(&canonical), axes::product(&a));
        prop_assert_eq!(&axes::canonical(&canonical), &canonical);
        for device in 0..mesh.device_count() {
            let position = |list: &[AxisRef]| {
                axes::digits(&mesh, list).map(|digits| digits::position(&digits, device))
            };
            prop_assert_eq!(position(&a), position(&canonical));
        }
    }

    #[test]
    fn intersection_and_difference_partition((_, a, b) in lists()) {
        prop_assume!(axes::can_coexist(&a, &b));
        let (common, rest) = (axes::intersect(&a, &b), axes::subtract(&a, &b));
        prop_assert_eq!(axes::product(&common) * axes::product(&rest), axes::product(&a));
        prop_assert!(axes::is_disjoint(&rest, &b));
        prop_assert!(axes::is_disjoint(&rest, &common));
        prop_assert!(axes::contains(&a, &common) && axes::contains(&b, &common));
        let Some(atoms) = axes::refine(&[&a, &b, &common, &rest]) else {
            return Err(TestCaseError::fail("no refinement"));
        };
        let both: AxisList = atoms[2].iter().chain(&atoms[3]).copied().collect();
        prop_assert_eq!(sorted(&both), sorted(&atoms[0]));
        let in_order = |kept: &AxisList| {
            let mut all = atoms[0].iter();
            kept.iter().all(|atom| all.any(|other| other == atom))
        };
        prop_assert!(in_order(&atoms[2]) && in_order(&atoms[3]));
        let theirs = atoms[0].iter().filter(|atom| atoms[1].contains(atom)).copied();
        prop_assert_eq!(sorted(&theirs.collect::<AxisList>()), sorted(&atoms[2]));
    }

    #[test]
    fn refinement_covers_and_is_coarsest((_, a, b) in lists()) {
        let coexist = axes::can_coexist(&a, &b);
        let refined = axes::refine(&[&a, &b]);
        prop_assert_eq!(refined.is_some(), coexist);
        if let Some(atoms) = refined {
            for (list, atoms) in [&a, &b].into_iter().zip(&atoms) {
                let plain = axes::without_unit_axes(list);
                prop_assert_eq!(axes::canonical(atoms), axes::canonical(&plain));
            }
            for x in &atoms[0] {
                for y in &atoms[1] {
                    prop_assert!(x == y || !x.overlaps(*y));
                }
            }
            // Two atoms that meet in each list that has them would be one.
            let cut_by = |at: u64, axis: AxisRef| {
                a.iter().chain(&b).any(|part| {
                    part.axis == axis.axis && (u64::from(part.pre) == at || part.next_pre() == at)
                })
            };
            for atom in atoms.iter().flatten() {
                prop_assert!(cut_by(u64::from(atom.pre), *atom) && cut_by(atom.next_pre(), *atom));
            }
        }
    }

    #[test]
    fn prefixes((_, a, b) in lists()) {
        let whole = axes::concat(&a, &axes::subtract(&b, &a));
        if axes::can_coexist(&a, &b) {
            prop_assert!(axes::is_prefix(&a, &whole));
            let rest = axes::strip_prefix(&whole, &a).unwrap_or_default();
            prop_assert_eq!(axes::concat(&a, &rest), whole.clone());
            prop_assert_eq!(axes::strip_suffix(&whole, &rest), Some(axes::canonical(&a)));
        }
        let common = axes::common_prefix(&a, &b);
        prop_assert_eq!(&common, &axes::common_prefix(&b, &a));
        prop_assert!(axes::is_prefix(&common, &a) && axes::is_prefix(&common, &b));
    }

    #[test]
    fn splitting_a_list_at_a_size((_, a, _) in lists(), size in 1u64..64) {
        let a = axes::canonical(&a);
        if let Some((major, minor)) = axes::split_at(&a, size) {
            prop_assert_eq!(axes::product(&major), size);
            prop_assert_eq!(axes::concat(&major, &minor), a);
        }
    }

    #[test]
    fn complement_is_what_is_left((mesh, a, _) in lists()) {
        let rest = axes::complement(&mesh, &a);
        prop_assert_eq!(axes::product(&rest) * axes::product(&a), mesh.device_count());
        prop_assert!(axes::is_disjoint(&rest, &a));
    }

    #[test]
    fn digits_raise_to_the_axes_they_are_of((mesh, a, _) in lists()) {
        let plain = axes::canonical(&axes::without_unit_axes(&a));
        let digits = axes::digits(&mesh, &plain).unwrap_or_default();
        for digits in [digits.clone(), digits::merged(&digits)] {
            let raised = axes::from_digits(&mesh, &digits).unwrap_or_default();
            let reread = axes::digits(&mesh, &raised).unwrap_or_default();
            prop_assert_eq!(digits::merged(&reread), digits::merged(&digits));
        }
        let list: Vec<u64> =
            (0..digits::count(&digits)).map(|at| digits::device(&digits, at)).collect();
        prop_assert_eq!(digits::raise(&list), Some(digits::merged(&digits)));
    }

    #[test]
    fn operations_on_nonsense_return(
        a in prop::collection::vec((0u16..3, 0u32..9, 0u32..9), 0..5),
        b in prop::collection::vec((0u16..3, any::<u32>(), any::<u32>()), 0..5),
        size in any::<u64>(),
    ) {
        let list = |list: Vec<(u16, u32, u32)>| -> AxisList {
            list.into_iter().map(|(axis, pre, size)| AxisRef::sub(AxisIndex(axis), pre, size)).collect()
        };
        let (a, b) = (list(a), list(b));
        let mesh = Mesh::new(&[("x", 8), ("y", 0), ("z", u32::MAX)]);
        for (a, b) in [(&a, &b), (&b, &a)] {
            axes::subtract(a, b);
            axes::intersect(a, b);
            axes::common_prefix(a, b);
            axes::strip_prefix(a, b);
            axes::strip_suffix(a, b);
            axes::split_at(a, size);
            axes::refine(&[a, b]);
            axes::complement(&mesh, a);
            axes::digits(&mesh, a);
            let sharding = TensorSharding::closed_over(mesh_id(), &[a, b]);
            let _ = sharding.verify(&mesh, 2);
            sharding.tile_map(&mesh);
            sharding.offsets(&mesh, size, &[5, -1]);
            sharding.local_shape(&[i64::MIN, i64::MAX]);
            let _ = HloSharding::from_mesh(&sharding, &mesh, a);
            let _ = sharding.text(&mesh, "mesh").to_string();
            let groups = Groups::along(mesh_id(), a);
            groups.member(&mesh, size, size);
            groups.to_list(&mesh);
        }
    }
}
