//! Groups of devices that take part in one collective together.

use std::sync::Arc;

use smallvec::SmallVec;

use super::axes::{self, AxisList};
use super::digits::{self, Digit, Digits};
use super::mesh::Mesh;
use crate::MeshId;

/// The most devices that are written out as a list; beyond it, functions that would list devices
/// give `None`.
pub const MAX_LISTED_DEVICES: u64 = 1 << 24;

/// The groups of a collective, in one of the forms that texts have.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Groups {
    /// Devices that differ only along these axes form a group; in a group they are ordered along
    /// the list, major first. The groups are ordered along the other axes, in mesh order.
    Axes {
        /// The mesh that the axes are of.
        mesh: MeshId,
        /// The axes.
        axes: AxisList,
    },
    /// HLO's `[num_groups,group_size]<=[dims]T(perm)`: the numbers 0, 1, 2, ... in an array of
    /// shape `dims`, transposed by `perm`, read row-major.
    Iota {
        /// The shape before the transposition.
        dims: SmallVec<[u64; 4]>,
        /// Dimension `i` after the transposition is dimension `perm[i]` before it.
        perm: SmallVec<[u32; 4]>,
        /// The number of groups.
        num_groups: u64,
        /// The number of devices in each.
        group_size: u64,
    },
    /// Device ids, one group after another; -1 fills up groups that are shorter than the longest.
    List {
        /// `num_groups * group_size` ids, row-major.
        ids: Arc<[i64]>,
        /// The number of groups.
        num_groups: u64,
        /// The number of ids of a group, fillers included.
        group_size: u64,
    },
}

impl Groups {
    /// Groups along axes of a mesh.
    pub fn along(mesh: MeshId, axes: &[super::AxisRef]) -> Groups {
        Groups::Axes { mesh, axes: axes::canonical(axes) }
    }

    /// Devices 0 to `count - 1` in one group.
    pub fn all(count: u64) -> Groups {
        Groups::Iota {
            dims: SmallVec::from_slice(&[count]),
            perm: SmallVec::from_slice(&[0]),
            num_groups: 1,
            group_size: count,
        }
    }

    /// Groups from lists of ids; groups shorter than the longest are filled up with -1.
    pub fn list<'a>(groups: impl IntoIterator<Item = &'a [i64]>) -> Groups {
        let groups: Vec<&[i64]> = groups.into_iter().collect();
        let size = groups.iter().map(|group| group.len()).max().unwrap_or(0);
        let filled = |group: &&'a [i64]| {
            let filler = std::iter::repeat_n(-1, size - group.len());
            group.iter().copied().chain(filler).collect::<Vec<i64>>()
        };
        Groups::List {
            ids: groups.iter().flat_map(filled).collect(),
            num_groups: groups.len() as u64,
            group_size: size as u64,
        }
    }

    /// The number of devices in a group (in the longest one, where they differ).
    pub fn group_size(&self) -> u64 {
        match self {
            Groups::Axes { axes, .. } => axes::product(axes),
            Groups::Iota { group_size, .. } | Groups::List { group_size, .. } => *group_size,
        }
    }

    /// The number of groups. The mesh is looked at only for groups along axes.
    pub fn group_count(&self, mesh: &Mesh) -> u64 {
        match self {
            Groups::Axes { axes, .. } => {
                mesh.device_count().checked_div(axes::product(axes)).unwrap_or(0)
            }
            Groups::Iota { num_groups, .. } | Groups::List { num_groups, .. } => *num_groups,
        }
    }

    /// Digits of a device's (logical) index: the group's, and the position's in the group. `None`
    /// for lists, and for iota forms whose groups cut a digit where it can't be split.
    fn digits(&self, mesh: &Mesh) -> Option<(Digits, Digits)> {
        match self {
            Groups::Axes { axes, .. } => {
                let others = axes::complement(mesh, axes);
                Some((axes::digits(mesh, &others)?, axes::digits(mesh, axes)?))
            }
            Groups::Iota { dims, perm, num_groups, group_size } => {
                let order = iota_digits(dims, perm)?;
                let mut runs = digits::cut(&order, &[*num_groups, *group_size])?.into_iter();
                Some((runs.next()?, runs.next()?))
            }
            Groups::List { .. } => None,
        }
    }

    /// The device id at a position of a group; `None` where there is none.
    pub fn member(&self, mesh: &Mesh, group: u64, index: u64) -> Option<u64> {
        let size = self.group_size();
        if index >= size || group >= self.group_count(mesh) {
            return None;
        }
        let at = group.checked_mul(size)?.checked_add(index)?;
        match self {
            Groups::Axes { .. } => {
                let (outer, inner) = self.digits(mesh)?;
                let logical =
                    digits::device(&outer, group).checked_add(digits::device(&inner, index))?;
                mesh.device_id(logical)
            }
            Groups::Iota { dims, perm, .. } => {
                let order = iota_digits(dims, perm)?;
                (at < digits::count(&order)).then(|| digits::device(&order, at))
            }
            Groups::List { ids, .. } => {
                ids.get(usize::try_from(at).ok()?).and_then(|&id| u64::try_from(id).ok())
            }
        }
    }

    /// The group that a device id is in and its position there; `None` where it is in none.
    pub fn position_of(&self, mesh: &Mesh, device_id: u64) -> Option<(u64, u64)> {
        match self {
            Groups::Axes { .. } => {
                let logical = mesh.logical_index(device_id)?;
                let (outer, inner) = self.digits(mesh)?;
                Some((digits::position(&outer, logical), digits::position(&inner, logical)))
            }
            Groups::Iota { dims, perm, group_size, .. } => {
                let digits = iota_digits(dims, perm)?;
                let at = digits::position(&digits, device_id);
                let inside = device_id < digits::count(&digits) && *group_size > 0;
                inside.then(|| (at / group_size, at % group_size))
            }
            Groups::List { ids, group_size, .. } => {
                let wanted = i64::try_from(device_id).ok()?;
                let at = ids.iter().position(|&id| id == wanted)? as u64;
                (*group_size > 0).then(|| (at / group_size, at % group_size))
            }
        }
    }

    /// The ids written out: a [`Groups::List`]. `None` where the groups don't fit the mesh, or
    /// there are more than [`MAX_LISTED_DEVICES`].
    pub fn to_list(&self, mesh: &Mesh) -> Option<Groups> {
        let (num_groups, group_size) = (self.group_count(mesh), self.group_size());
        let count = num_groups.checked_mul(group_size)?;
        if count > MAX_LISTED_DEVICES {
            return None;
        }
        let order = match self {
            Groups::List { .. } => return Some(self.clone()),
            Groups::Axes { .. } => {
                let (outer, inner) = self.digits(mesh)?;
                outer.into_iter().chain(inner).collect()
            }
            Groups::Iota { dims, perm, .. } => iota_digits(dims, perm)?,
        };
        if digits::count(&order) != count {
            return None;
        }
        let id = |at| {
            let device = digits::device(&order, at);
            let axes = matches!(self, Groups::Axes { .. });
            let id = if axes { mesh.device_id(device)? } else { device };
            i64::try_from(id).ok()
        };
        let ids = (0..count).map(id).collect::<Option<_>>()?;
        Some(Groups::List { ids, num_groups, group_size })
    }

    /// The iota form, where there is one: for groups along axes of a mesh in natural order, and
    /// for lists that follow a transposed iota (over all of 0 to n - 1). Groups may come in
    /// another order than before only where the list's order is not of that form.
    pub fn to_iota(&self, mesh: &Mesh) -> Option<Groups> {
        let (num_groups, group_size) = (self.group_count(mesh), self.group_size());
        let order = match self {
            Groups::Iota { .. } => return Some(self.clone()),
            Groups::Axes { .. } if mesh.device_ids.is_none() => {
                let (outer, inner) = self.digits(mesh)?;
                outer.into_iter().chain(inner).collect()
            }
            _ => {
                let Groups::List { ids, .. } = self.to_list(mesh)? else { return None };
                let ids: Option<Vec<u64>> = ids.iter().map(|&id| u64::try_from(id).ok()).collect();
                let ids = ids?;
                if ids.first() != Some(&0) {
                    return None;
                }
                digits::raise(&ids)?
            }
        };
        let (dims, perm) = iota_form(&order)?;
        Some(Groups::Iota { dims, perm, num_groups, group_size })
    }

    /// The groups along axes of the mesh, where they are: every device of the mesh in one group,
    /// and all groups cut the same way. The order of the groups may change, the order inside
    /// them does not.
    pub fn to_axes(&self, mesh: &Mesh, id: MeshId) -> Option<Groups> {
        let inner = match self {
            Groups::Axes { .. } => return Some(self.clone()),
            Groups::Iota { num_groups, group_size, .. }
                if mesh.device_ids.is_none()
                    && num_groups.checked_mul(*group_size) == Some(mesh.device_count())
                    && self.digits(mesh).is_some() =>
            {
                self.digits(mesh)?.1
            }
            _ => {
                let Groups::List { ids, group_size, .. } = self.to_list(mesh)? else { return None };
                list_digits(&ids, usize::try_from(group_size).ok()?, mesh)?
            }
        };
        Some(Groups::Axes { mesh: id, axes: axes::from_digits(mesh, &inner)? })
    }
}

/// The digits, major to minor, of `[...]<=[dims]T(perm)`; `None` where `perm` isn't a permutation
/// or a size is zero.
pub(crate) fn iota_digits(dims: &[u64], perm: &[u32]) -> Option<Digits> {
    if dims.len() != perm.len() || dims.contains(&0) {
        return None;
    }
    let mut seen = SmallVec::<[bool; 8]>::from_elem(false, dims.len());
    let mut strides: SmallVec<[u64; 8]> = SmallVec::from_elem(1, dims.len());
    for at in (1..dims.len()).rev() {
        strides[at - 1] = strides[at].checked_mul(dims[at])?;
    }
    strides.first().map_or(Some(1), |stride| stride.checked_mul(dims[0]))?;
    let digit = |&dim: &u32| {
        let dim = dim as usize;
        let seen = seen.get_mut(dim)?;
        if std::mem::replace(seen, true) {
            return None;
        }
        Some(Digit { size: dims[dim], stride: strides[dim] })
    };
    perm.iter().map(digit).collect()
}

/// The dimensions and the permutation of a transposed iota.
pub(crate) type IotaForm = (SmallVec<[u64; 4]>, SmallVec<[u32; 4]>);

/// `(dims, perm)` of the transposed iota whose digits, major to minor, these are, in shortest
/// form; `None` where the digits aren't those of the numbers 0 to n - 1.
pub(crate) fn iota_form(order: &[Digit]) -> Option<IotaForm> {
    let order = digits::merged(order);
    if order.is_empty() {
        return Some((SmallVec::from_slice(&[1]), SmallVec::from_slice(&[0])));
    }
    let mut sorted: SmallVec<[(Digit, usize); 8]> =
        order.iter().copied().enumerate().map(|(at, digit)| (digit, at)).collect();
    sorted.sort_unstable_by_key(|&(digit, _)| std::cmp::Reverse(digit.stride));
    let mut stride = 1u64;
    for (digit, _) in sorted.iter().rev() {
        if digit.stride != stride {
            return None;
        }
        stride = stride.checked_mul(digit.size)?;
    }
    let mut perm: SmallVec<[u32; 4]> = SmallVec::from_elem(0, order.len());
    for (dim, &(_, at)) in sorted.iter().enumerate() {
        perm[at] = dim as u32;
    }
    Some((sorted.iter().map(|(digit, _)| digit.size).collect(), perm))
}

/// The digits that every group of a list runs through; `None` where groups differ in how they run
/// or don't cover the mesh.
fn list_digits(ids: &[i64], size: usize, mesh: &Mesh) -> Option<Digits> {
    let count = mesh.device_count();
    if size == 0 || ids.len() as u64 != count || !ids.len().is_multiple_of(size) {
        return None;
    }
    let mut logical_of: Vec<u64> = (0..count).collect();
    if let Some(device_ids) = &mesh.device_ids {
        for (at, &id) in device_ids.iter().enumerate() {
            *logical_of.get_mut(usize::try_from(id).ok()?)? = at as u64;
        }
    }
    let logical = |id: i64| logical_of.get(usize::try_from(id).ok()?).copied();
    let all = ids.iter().map(|&id| logical(id)).collect::<Option<Vec<u64>>>()?;
    let inner = digits::raise(all.get(..size)?)?;
    let mut seen = vec![false; all.len()];
    for group in all.chunks_exact(size) {
        let first = *group.first()?;
        if digits::position(&inner, first) != 0 {
            return None;
        }
        for (at, &device) in group.iter().enumerate() {
            let seen = seen.get_mut(usize::try_from(device).ok()?)?;
            if device != first.saturating_add(digits::device(&inner, at as u64))
                || std::mem::replace(seen, true)
            {
                return None;
            }
        }
    }
    Some(inner)
}
