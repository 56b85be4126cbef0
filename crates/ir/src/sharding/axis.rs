//! References to mesh axes and to parts of them.

use super::mesh::{AxisIndex, Mesh};

/// A whole axis of a mesh, or the sub-axis `"x":(pre)size` of it.
///
/// Splitting an axis of size `n` reshapes it into `[pre, size, n / (pre * size)]`; the sub-axis is
/// the middle dimension. `pre` is the product of the sizes major to it. A whole axis has `pre = 1`
/// and `size = n`: there is one form for each part of an axis, so equality is identity, and most
/// operations need no mesh.
///
/// References are ordered by axis, then `pre`, then `size`: the order of the mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AxisRef {
    /// The axis.
    pub axis: AxisIndex,
    /// The product of the sizes of the parts that are major to this one.
    pub pre: u32,
    /// The number of devices along this part.
    pub size: u32,
}

/// `b` is a multiple of `a`.
fn divides(a: u64, b: u64) -> bool {
    a != 0 && b.is_multiple_of(a)
}

impl AxisRef {
    /// The whole of an axis of the given size.
    pub fn whole(axis: AxisIndex, size: u32) -> AxisRef {
        AxisRef { axis, pre: 1, size }
    }

    /// The sub-axis `axis:(pre)size`.
    pub fn sub(axis: AxisIndex, pre: u32, size: u32) -> AxisRef {
        AxisRef { axis, pre, size }
    }

    /// `axis:(pre)next/pre`, where that makes sense.
    fn between(axis: AxisIndex, pre: u64, next: u64) -> Option<AxisRef> {
        if !divides(pre, next) || next <= pre {
            return None;
        }
        Some(AxisRef { axis, pre: u32::try_from(pre).ok()?, size: u32::try_from(next / pre).ok()? })
    }

    /// `pre * size`: the `pre` of a part that follows this one directly, or the size of the whole
    /// axis after the last part.
    pub fn next_pre(self) -> u64 {
        u64::from(self.pre) * u64::from(self.size)
    }

    /// Whether this is the whole of an axis of the mesh.
    pub fn is_whole(self, mesh: &Mesh) -> bool {
        self.pre == 1 && mesh.axis_size(self.axis) == Some(self.size)
    }

    /// Whether the mesh has this axis, and the part divides it.
    pub fn is_valid(self, mesh: &Mesh) -> bool {
        let whole = mesh.axis_size(self.axis);
        whole.is_some_and(|whole| divides(self.next_pre(), u64::from(whole)))
            && (self.size > 1 || self.is_whole(mesh))
    }

    /// Whether the two share devices' coordinates: they are equal, or a part of the axis lies in
    /// both.
    pub fn overlaps(self, other: AxisRef) -> bool {
        self == other
            || self.axis == other.axis
                && u64::from(self.pre) < other.next_pre()
                && u64::from(other.pre) < self.next_pre()
    }

    /// Whether one splitting of the mesh has both: where they overlap, the common part and the
    /// rests are parts of the axis; where they don't, the gap between them is.
    pub fn can_coexist(self, other: AxisRef) -> bool {
        if self.axis != other.axis {
            return true;
        }
        let (pre, other_pre) = (u64::from(self.pre), u64::from(other.pre));
        let (first_pre, last_pre) = (pre.min(other_pre), pre.max(other_pre));
        let (next, other_next) = (self.next_pre(), other.next_pre());
        let (first_next, last_next) = (next.min(other_next), next.max(other_next));
        if first_next > last_pre {
            divides(last_pre, first_next)
                && divides(first_pre, last_pre)
                && divides(first_next, last_next)
        } else {
            divides(first_next, last_pre)
        }
    }

    /// Whether `other` is this part or lies inside it.
    pub fn contains(self, other: AxisRef) -> bool {
        self.axis == other.axis && self.pre <= other.pre && self.next_pre() >= other.next_pre()
    }

    /// Whether this is `other`, or the major part of a split of it.
    pub fn prefix_of(self, other: AxisRef) -> bool {
        other.contains(self) && self.pre == other.pre
    }

    /// Whether this is `other`, or the minor part of a split of it.
    pub fn suffix_of(self, other: AxisRef) -> bool {
        other.contains(self) && self.next_pre() == other.next_pre()
    }

    /// The part that lies in both; `None` where there is none, or it isn't a part of the axis.
    pub fn overlap(self, other: AxisRef) -> Option<AxisRef> {
        if self == other {
            return Some(self);
        }
        if self.axis != other.axis || !self.can_coexist(other) {
            return None;
        }
        let pre = u64::from(self.pre.max(other.pre));
        AxisRef::between(self.axis, pre, self.next_pre().min(other.next_pre()))
    }

    /// This part up to where `other` begins: all of it without an overlap, `None` where nothing
    /// is left or the two can't coexist.
    pub fn prefix_without_overlap(self, other: AxisRef) -> Option<AxisRef> {
        if !self.can_coexist(other) {
            return None;
        }
        if !self.overlaps(other) {
            return Some(self);
        }
        AxisRef::between(self.axis, u64::from(self.pre), u64::from(other.pre))
    }

    /// This part from where `other` ends: all of it without an overlap, `None` where nothing is
    /// left or the two can't coexist.
    pub fn suffix_without_overlap(self, other: AxisRef) -> Option<AxisRef> {
        if !self.can_coexist(other) {
            return None;
        }
        if !self.overlaps(other) {
            return Some(self);
        }
        AxisRef::between(self.axis, other.next_pre(), self.next_pre())
    }

    /// The longest part that both begin with; `None` where they begin differently or can't
    /// coexist.
    pub fn common_prefix(self, other: AxisRef) -> Option<AxisRef> {
        if !self.can_coexist(other) {
            None
        } else if self.prefix_of(other) {
            Some(self)
        } else if other.prefix_of(self) {
            Some(other)
        } else {
            None
        }
    }

    /// The longest part that both end with; `None` where they end differently or can't coexist.
    pub fn common_suffix(self, other: AxisRef) -> Option<AxisRef> {
        if !self.can_coexist(other) {
            None
        } else if self.suffix_of(other) {
            Some(self)
        } else if other.suffix_of(self) {
            Some(other)
        } else {
            None
        }
    }

    /// Whether `minor` begins where this part ends, so that the two are one bigger part.
    pub fn can_merge(self, minor: AxisRef) -> bool {
        self.axis == minor.axis
            && self.size > 1
            && minor.size > 1
            && self.next_pre() == u64::from(minor.pre)
    }

    /// This part and the one that follows it directly as one part.
    pub fn merge(self, minor: AxisRef) -> Option<AxisRef> {
        if !self.can_merge(minor) {
            return None;
        }
        AxisRef::between(self.axis, u64::from(self.pre), minor.next_pre())
    }

    /// Splits into a major part of size `major_size` and the rest; `None` where that size isn't a
    /// proper divisor.
    pub fn split(self, major_size: u32) -> Option<(AxisRef, AxisRef)> {
        if major_size <= 1 || major_size >= self.size || !self.size.is_multiple_of(major_size) {
            return None;
        }
        let (pre, cut) = (u64::from(self.pre), u64::from(self.pre) * u64::from(major_size));
        let major = AxisRef::between(self.axis, pre, cut)?;
        Some((major, AxisRef::between(self.axis, cut, self.next_pre())?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn a(pre: u32, size: u32) -> AxisRef {
        AxisRef::sub(AxisIndex(0), pre, size)
    }

    fn b(pre: u32, size: u32) -> AxisRef {
        AxisRef::sub(AxisIndex(1), pre, size)
    }

    #[test]
    fn contains_and_prefixes() {
        assert!(a(1, 8).contains(a(2, 2)));
        assert!(a(2, 16).contains(a(4, 2)));
        assert!(!a(1, 4).contains(a(2, 4)));
        assert!(!a(1, 8).contains(b(1, 2)));
        assert!(a(2, 2).prefix_of(a(2, 4)));
        assert!(!a(1, 4).prefix_of(a(2, 8)));
        assert!(a(2, 4).suffix_of(a(1, 8)));
        assert!(!a(1, 8).suffix_of(a(2, 4)));
    }

    #[test]
    fn overlaps() {
        assert_eq!(a(1, 4).overlap(a(2, 4)), Some(a(2, 2)));
        assert_eq!(a(2, 8).overlap(a(4, 2)), Some(a(4, 2)));
        assert_eq!(a(1, 4).overlap(a(4, 2)), None);
        assert_eq!(a(1, 2).overlap(a(1, 3)), None);
        assert!(a(1, 2).overlaps(a(1, 3)));
        assert!(!a(1, 2).can_coexist(a(3, 2)));
        assert!(!a(1, 3).can_coexist(a(2, 3)));
        assert!(a(1, 2).can_coexist(a(4, 2)));
    }

    #[test]
    fn without_overlap() {
        assert_eq!(a(1, 8).prefix_without_overlap(a(2, 2)), Some(a(1, 2)));
        assert_eq!(a(2, 8).prefix_without_overlap(a(4, 2)), Some(a(2, 2)));
        assert_eq!(a(1, 4).prefix_without_overlap(b(2, 4)), Some(a(1, 4)));
        assert_eq!(a(2, 4).prefix_without_overlap(a(1, 4)), None);
        assert_eq!(a(1, 3).prefix_without_overlap(a(2, 3)), None);
        assert_eq!(a(1, 8).suffix_without_overlap(a(2, 2)), Some(a(4, 2)));
        assert_eq!(a(2, 8).suffix_without_overlap(a(4, 2)), Some(a(8, 2)));
        assert_eq!(a(1, 4).suffix_without_overlap(a(2, 4)), None);
    }

    #[test]
    fn common_parts_and_merging() {
        assert_eq!(a(2, 8).common_prefix(a(2, 4)), Some(a(2, 4)));
        assert_eq!(a(1, 2).common_prefix(a(2, 4)), None);
        assert_eq!(a(1, 2).common_prefix(a(1, 3)), None);
        assert_eq!(a(2, 4).merge(a(8, 2)), Some(a(2, 8)));
        assert_eq!(a(2, 4).merge(a(1, 2)), None);
        assert_eq!(a(2, 8).split(2), Some((a(2, 2), a(4, 4))));
        assert_eq!(a(2, 8).split(8), None);
        assert_eq!(a(2, 8).split(3), None);
    }

    #[test]
    fn an_axis_of_size_one_overlaps_itself_only() {
        let unit = a(1, 1);
        assert!(unit.overlaps(unit));
        assert!(!unit.can_merge(unit));
        assert_eq!(unit.overlap(unit), Some(unit));
        assert_eq!(unit.prefix_without_overlap(unit), None);
    }

    #[test]
    fn nonsense_gives_nothing_and_no_panic() {
        for x in [a(0, 0), a(0, 4), a(4, 0), a(u32::MAX, u32::MAX), a(1, 1)] {
            for y in [a(0, 0), a(0, 4), a(4, 0), a(u32::MAX, u32::MAX), a(1, 8)] {
                x.overlap(y);
                x.prefix_without_overlap(y);
                x.suffix_without_overlap(y);
                x.common_prefix(y);
                x.merge(y);
                y.merge(x);
            }
            assert_eq!(x.split(0), None);
        }
    }
}
