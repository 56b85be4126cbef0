//! Algebra on lists of axis references, major to minor.
//!
//! A list stands for the digits of a device index that its parts are, so two lists that differ
//! only in how a part is split (`"x":(1)2, "x":(2)4` and `"x":(1)8`) mean the same; the
//! [`canonical`] form has every part as big as possible.

use smallvec::SmallVec;

use super::axis::AxisRef;
use super::digits::Digits;
use super::mesh::{AxisIndex, Mesh};

/// Axis references, major to minor.
pub type AxisList = SmallVec<[AxisRef; 2]>;

/// The product of the sizes, saturating; 1 for an empty list.
pub fn product(axes: &[AxisRef]) -> u64 {
    axes.iter().fold(1, |product, axis| product.saturating_mul(u64::from(axis.size)))
}

/// Merges neighbours that follow one another directly, so that every part is as big as possible.
pub fn canonical(axes: &[AxisRef]) -> AxisList {
    let mut list = AxisList::new();
    for &axis in axes {
        match list.last_mut().and_then(|last| Some((last.merge(axis)?, last))) {
            Some((merged, last)) => *last = merged,
            None => list.push(axis),
        }
    }
    list
}

/// The same axes in the order of the mesh, merged: the form of replicated and unreduced axes.
pub fn sorted(axes: &[AxisRef]) -> AxisList {
    let mut list = AxisList::from(axes);
    list.sort_unstable();
    canonical(&list)
}

/// Without the axes of size one, which place nothing.
pub fn without_unit_axes(axes: &[AxisRef]) -> AxisList {
    axes.iter().filter(|axis| axis.size != 1).copied().collect()
}

/// `major` and then `minor`, merged where they meet.
pub fn concat(major: &[AxisRef], minor: &[AxisRef]) -> AxisList {
    let list: AxisList = major.iter().chain(minor).copied().collect();
    canonical(&list)
}

/// Whether no part of the one list overlaps a part of the other.
pub fn is_disjoint(a: &[AxisRef], b: &[AxisRef]) -> bool {
    a.iter().all(|x| b.iter().all(|y| !x.overlaps(*y)))
}

/// Whether no two parts of the list overlap.
pub fn is_disjoint_list(axes: &[AxisRef]) -> bool {
    (1..axes.len()).all(|at| is_disjoint(&axes[at..=at], &axes[..at]))
}

/// Whether every part of `b` lies in parts of `a`.
pub fn contains(a: &[AxisRef], b: &[AxisRef]) -> bool {
    subtract(b, a).is_empty()
}

/// Whether every two parts, within and across the lists, can exist in one splitting of the mesh
/// (see [`AxisRef::can_coexist`]).
pub fn can_coexist(a: &[AxisRef], b: &[AxisRef]) -> bool {
    let all = || a.iter().chain(b);
    all().all(|x| all().all(|y| x.can_coexist(*y)))
}

/// The longest list that both begin with; its last part may be a proper part of either's.
pub fn common_prefix(a: &[AxisRef], b: &[AxisRef]) -> AxisList {
    let mut prefix = AxisList::new();
    for (&x, &y) in canonical(a).iter().zip(&canonical(b)) {
        if x == y {
            prefix.push(x);
            continue;
        }
        prefix.extend(x.common_prefix(y));
        break;
    }
    prefix
}

/// Whether `list` begins with `prefix`; the last part of the prefix may be a proper part.
pub fn is_prefix(prefix: &[AxisRef], list: &[AxisRef]) -> bool {
    strip_prefix(list, prefix).is_some()
}

/// What follows `prefix` in `list`; `None` where the list doesn't begin with it.
pub fn strip_prefix(list: &[AxisRef], prefix: &[AxisRef]) -> Option<AxisList> {
    let (list, prefix) = (canonical(list), canonical(prefix));
    let Some((&last, firsts)) = prefix.split_last() else { return Some(list) };
    if list.len() <= firsts.len() || list[..firsts.len()] != *firsts {
        return None;
    }
    let (at, rest) = (list[firsts.len()], &list[firsts.len() + 1..]);
    if at == last {
        return Some(rest.into());
    }
    let after = if last.prefix_of(at) { at.suffix_without_overlap(last)? } else { return None };
    Some(std::iter::once(after).chain(rest.iter().copied()).collect())
}

/// What precedes `suffix` in `list`; `None` where the list doesn't end with it.
pub fn strip_suffix(list: &[AxisRef], suffix: &[AxisRef]) -> Option<AxisList> {
    let (list, suffix) = (canonical(list), canonical(suffix));
    let Some((&first, lasts)) = suffix.split_first() else { return Some(list) };
    let cut = list.len().checked_sub(lasts.len() + 1)?;
    if list[cut + 1..] != *lasts {
        return None;
    }
    let (at, before) = (list[cut], &list[..cut]);
    if at == first {
        return Some(before.into());
    }
    let kept = if first.suffix_of(at) { at.prefix_without_overlap(first)? } else { return None };
    Some(before.iter().copied().chain(std::iter::once(kept)).collect())
}

/// Splits the list into a major part whose sizes multiply to `major_size`, and the rest; `None`
/// where no split of a part gives that size.
pub fn split_at(axes: &[AxisRef], major_size: u64) -> Option<(AxisList, AxisList)> {
    let (mut major, mut wanted) = (AxisList::new(), major_size);
    for (at, &axis) in axes.iter().enumerate() {
        let size = u64::from(axis.size);
        if wanted == 1 {
            return Some((major, axes[at..].into()));
        }
        if size != 0 && wanted % size == 0 {
            major.push(axis);
            wanted /= size;
            continue;
        }
        let (first, second) = axis.split(u32::try_from(wanted).ok()?)?;
        major.push(first);
        let minor = std::iter::once(second).chain(axes[at + 1..].iter().copied()).collect();
        return Some((major, minor));
    }
    (wanted == 1).then(|| (major, AxisList::new()))
}

/// What is left of `axes` without the parts that are also in `removed`, in the order of `axes`;
/// parts are split where `removed` has a piece of them. A part that can't coexist with one of
/// `removed` that it overlaps is left out whole.
pub fn subtract(axes: &[AxisRef], removed: &[AxisRef]) -> AxisList {
    let mut left = AxisList::from(axes);
    for &gone in removed {
        let mut next = AxisList::new();
        for axis in left {
            if axis.overlaps(gone) {
                next.extend(axis.prefix_without_overlap(gone));
                next.extend(axis.suffix_without_overlap(gone));
            } else {
                next.push(axis);
            }
        }
        left = next;
    }
    canonical(&left)
}

/// The parts that lie in both lists, in the order of `a`.
pub fn intersect(a: &[AxisRef], b: &[AxisRef]) -> AxisList {
    let mut common = AxisList::new();
    for &axis in a {
        let start = common.len();
        common.extend(b.iter().filter_map(|&other| axis.overlap(other)));
        common[start..].sort_unstable();
    }
    canonical(&common)
}

/// The parts of the mesh's axes that are not in `used`, in the order of the mesh, without axes of
/// size one.
pub fn complement(mesh: &Mesh, used: &[AxisRef]) -> AxisList {
    let all: AxisList = mesh.all_axes().filter(|axis| axis.size != 1).collect();
    subtract(&all, used)
}

/// The digits of the device index that the list stands for; `None` where a part isn't one of the
/// mesh's.
pub fn digits(mesh: &Mesh, axes: &[AxisRef]) -> Option<Digits> {
    axes.iter().map(|&axis| mesh.digit(axis)).collect()
}

/// The axes that digits of a device index are; `None` where a digit crosses the bounds of an axis
/// in a way that no sub-axis expresses. Digits of size 1 are left out.
pub fn from_digits(mesh: &Mesh, digits: &[super::digits::Digit]) -> Option<AxisList> {
    let mut list = AxisList::new();
    for digit in digits.iter().filter(|digit| digit.size != 1) {
        // A digit may span several axes of the mesh: peel them off from the minor end.
        let (mut size, mut stride) = (digit.size, digit.stride);
        let start = list.len();
        let mut low = 1u64; // the stride of `axis`
        for axis in mesh.all_axes().collect::<SmallVec<[AxisRef; 4]>>().into_iter().rev() {
            let whole = u64::from(axis.size);
            let high = low.checked_mul(whole)?;
            if size > 1 && stride < high && whole > 1 {
                let post = stride / low;
                if stride % low != 0 || post == 0 || whole % post != 0 {
                    return None;
                }
                let room = whole / post;
                let part = if room >= size { size } else { room };
                if part == 0 || !room.is_multiple_of(part) || !size.is_multiple_of(part) {
                    return None;
                }
                let pre = u32::try_from(room / part).ok()?;
                list.insert(start, AxisRef::sub(axis.axis, pre, u32::try_from(part).ok()?));
                size /= part;
                stride = stride.checked_mul(part)?;
            }
            low = high;
        }
        if size != 1 {
            return None;
        }
    }
    Some(canonical(&list))
}

/// The coarsest splitting of a mesh's axes in which each of several lists is a list of whole
/// pieces (*atoms*): two atoms are equal or share nothing.
///
/// A planner works on atoms, where moves are insertions, deletions and permutations, and then
/// merges with [`canonical`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refinement {
    /// Where axes are cut: `(axis, pre)`, sorted.
    cuts: SmallVec<[(AxisIndex, u64); 8]>,
}

impl Refinement {
    /// The coarsest common refinement; `None` where two parts can't exist in one splitting (such
    /// as thirds and halves of one axis).
    pub fn of<'a>(lists: impl IntoIterator<Item = &'a [AxisRef]>) -> Option<Refinement> {
        let mut cuts: SmallVec<[(AxisIndex, u64); 8]> = SmallVec::new();
        for axis in lists.into_iter().flatten() {
            if axis.pre == 0 || axis.size == 0 {
                return None;
            }
            cuts.push((axis.axis, u64::from(axis.pre)));
            cuts.push((axis.axis, axis.next_pre()));
        }
        cuts.sort_unstable();
        cuts.dedup();
        let chained = |pair: &[(AxisIndex, u64)]| {
            pair[0].0 != pair[1].0 || pair[1].1.is_multiple_of(pair[0].1)
        };
        cuts.windows(2).all(chained).then_some(Refinement { cuts })
    }

    /// The atoms of a list, in its order, without axes of size one. A part of an axis that the
    /// refinement wasn't made for stays whole.
    pub fn atoms(&self, axes: &[AxisRef]) -> AxisList {
        let mut atoms = AxisList::new();
        for &axis in axes.iter().filter(|axis| axis.size != 1) {
            let mut rest = axis;
            let begin = self.cuts.partition_point(|&cut| cut <= (axis.axis, u64::from(axis.pre)));
            for &(_, pre) in self.cuts[begin..]
                .iter()
                .take_while(|&&cut| cut.0 == axis.axis && cut.1 < axis.next_pre())
            {
                let size = pre / u64::from(rest.pre).max(1);
                let Some((major, minor)) = u32::try_from(size).ok().and_then(|s| rest.split(s))
                else {
                    break;
                };
                atoms.push(major);
                rest = minor;
            }
            atoms.push(rest);
        }
        atoms
    }
}

/// Splits each of the lists into atoms of their coarsest common refinement (see [`Refinement`]).
pub fn refine(lists: &[&[AxisRef]]) -> Option<Vec<AxisList>> {
    let refinement = Refinement::of(lists.iter().copied())?;
    Some(lists.iter().map(|list| refinement.atoms(list)).collect())
}
