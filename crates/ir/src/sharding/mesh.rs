//! Meshes: named axes over the devices of a program.

use std::fmt;
use std::sync::Arc;

use smallvec::SmallVec;
use thiserror::Error;

use super::axis::AxisRef;
use super::digits::Digit;
use super::text::Quoted;

/// The position of an axis in its mesh; the major-most axis is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AxisIndex(pub u16);

impl AxisIndex {
    /// The position as an index into [`Mesh::axes`].
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// A named axis of a mesh and the number of devices along it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MeshAxis {
    /// The name, unique in the mesh.
    pub name: Arc<str>,
    /// The number of devices along the axis, at least 1.
    pub size: u32,
}

/// A multi-dimensional view of the devices: named axes, major to minor, and where it isn't the
/// natural one, the order of the devices.
///
/// A device has two numbers. Its *logical index* is its row-major position in the axes (the first
/// axis is the major-most); its *device id* is what the runtime calls it. They are equal unless
/// `device_ids` says otherwise. Every function of this module that takes a `device` takes the
/// logical index; [`Mesh::device_id`] and [`Mesh::logical_index`] convert.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Mesh {
    /// The axes, major to minor.
    pub axes: SmallVec<[MeshAxis; 4]>,
    /// The device id at each logical index, where it isn't the logical index itself.
    ///
    /// A *maximal* mesh (one device holds everything) has no axes and exactly one device id.
    pub device_ids: Option<Arc<[u64]>>,
}

impl Mesh {
    /// A mesh with the given axes, major to minor, over devices in their natural order.
    pub fn new(axes: &[(&str, u32)]) -> Mesh {
        let axis = |&(name, size): &(&str, u32)| MeshAxis { name: Arc::from(name), size };
        Mesh { axes: axes.iter().map(axis).collect(), device_ids: None }
    }

    /// The same axes over devices in the given order; the natural order is recognised and dropped.
    pub fn with_device_ids(mut self, device_ids: &[u64]) -> Mesh {
        let natural = device_ids.iter().enumerate().all(|(at, &id)| id == at as u64);
        self.device_ids = if natural && !self.axes.is_empty() || device_ids.is_empty() {
            None
        } else {
            Some(Arc::from(device_ids))
        };
        self
    }

    /// The mesh of one device that holds everything (HLO's `{maximal device=id}`).
    pub fn maximal(device_id: u64) -> Mesh {
        Mesh { axes: SmallVec::new(), device_ids: Some(Arc::from([device_id])) }
    }

    /// Whether one device holds everything.
    pub fn is_maximal(&self) -> bool {
        self.axes.is_empty() && self.device_ids.as_ref().is_some_and(|ids| ids.len() == 1)
    }

    /// The device id of a maximal mesh.
    pub fn maximal_device(&self) -> Option<u64> {
        if self.is_maximal() { self.device_ids.as_ref()?.first().copied() } else { None }
    }

    /// Whether there are neither axes nor device ids: a placeholder for a mesh.
    pub fn is_empty(&self) -> bool {
        self.axes.is_empty() && self.device_ids.as_ref().is_none_or(|ids| ids.is_empty())
    }

    /// The number of devices: the product of the axis sizes (1 without axes), saturating.
    pub fn device_count(&self) -> u64 {
        self.axes.iter().fold(1, |count, axis| count.saturating_mul(u64::from(axis.size)))
    }

    /// The axis of the given name.
    pub fn axis_index(&self, name: &str) -> Option<AxisIndex> {
        let at = self.axes.iter().position(|axis| &*axis.name == name)?;
        u16::try_from(at).ok().map(AxisIndex)
    }

    /// The size of an axis; `None` where the mesh has no such axis.
    pub fn axis_size(&self, axis: AxisIndex) -> Option<u32> {
        self.axes.get(axis.index()).map(|axis| axis.size)
    }

    /// The name of an axis; `None` where the mesh has no such axis.
    pub fn axis_name(&self, axis: AxisIndex) -> Option<&str> {
        self.axes.get(axis.index()).map(|axis| &*axis.name)
    }

    /// A reference to the whole axis of the given name.
    pub fn axis(&self, name: &str) -> Option<AxisRef> {
        self.axis_index(name).and_then(|axis| self.whole_axis(axis))
    }

    /// A reference to the whole of an axis.
    pub fn whole_axis(&self, axis: AxisIndex) -> Option<AxisRef> {
        self.axis_size(axis).map(|size| AxisRef::whole(axis, size))
    }

    /// References to all the axes, major to minor.
    pub fn all_axes(&self) -> impl Iterator<Item = AxisRef> + '_ {
        (0..=u16::MAX).zip(&self.axes).map(|(at, axis)| AxisRef::whole(AxisIndex(at), axis.size))
    }

    /// How far apart, in logical indices, two neighbours along an axis are: the product of the
    /// sizes of the axes minor to it.
    pub fn axis_stride(&self, axis: AxisIndex) -> Option<u64> {
        let minor = self.axes.get(axis.index() + 1..)?;
        Some(minor.iter().fold(1, |count, axis| count.saturating_mul(u64::from(axis.size))))
    }

    /// The digit of the logical index that an axis or sub-axis is; `None` where the mesh has no
    /// such axis or the sub-axis doesn't divide it.
    pub fn digit(&self, axis: AxisRef) -> Option<Digit> {
        let whole = u64::from(self.axis_size(axis.axis)?);
        let next = axis.next_pre();
        if next == 0 || whole % next != 0 {
            return None;
        }
        let stride = self.axis_stride(axis.axis)?.saturating_mul(whole / next);
        Some(Digit { size: u64::from(axis.size), stride })
    }

    /// The coordinates of a device (a logical index), one an axis; `None` where it is out of range.
    pub fn coordinates(&self, device: u64) -> Option<SmallVec<[u32; 4]>> {
        if device >= self.device_count() {
            return None;
        }
        let mut rest = device;
        let mut coordinates: SmallVec<[u32; 4]> = self
            .axes
            .iter()
            .rev()
            .map(|axis| {
                let size = u64::from(axis.size);
                let at = rest % size;
                rest /= size;
                at as u32
            })
            .collect();
        coordinates.reverse();
        Some(coordinates)
    }

    /// The logical index of the device at the given coordinates; `None` where they are too few,
    /// too many, or out of range.
    pub fn device_at(&self, coordinates: &[u32]) -> Option<u64> {
        if coordinates.len() != self.axes.len() {
            return None;
        }
        self.axes.iter().zip(coordinates).try_fold(0u64, |device, (axis, &at)| {
            if at >= axis.size {
                return None;
            }
            device.checked_mul(u64::from(axis.size))?.checked_add(u64::from(at))
        })
    }

    /// The device id at a logical index; `None` where it is out of range.
    pub fn device_id(&self, logical: u64) -> Option<u64> {
        match &self.device_ids {
            Some(ids) => ids.get(usize::try_from(logical).ok()?).copied(),
            None => (logical < self.device_count()).then_some(logical),
        }
    }

    /// The logical index of a device id; `None` where the mesh has no such device. Takes time
    /// linear in the devices where the mesh lists them, and constant time otherwise.
    pub fn logical_index(&self, device_id: u64) -> Option<u64> {
        match &self.device_ids {
            Some(ids) => ids.iter().position(|&id| id == device_id).map(|at| at as u64),
            None => (device_id < self.device_count()).then_some(device_id),
        }
    }

    /// Whether the axes are the same, whatever the order of the devices.
    pub fn same_axes(&self, other: &Mesh) -> bool {
        self.axes == other.axes && self.is_maximal() == other.is_maximal()
    }

    /// Checks the mesh by itself.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    pub fn verify(&self) -> Result<(), MeshError> {
        if self.axes.len() > usize::from(u16::MAX) {
            return Err(MeshError::TooManyAxes { count: self.axes.len() });
        }
        let mut count: u64 = 1;
        for (at, axis) in self.axes.iter().enumerate() {
            if axis.size == 0 {
                return Err(MeshError::EmptyAxis { name: axis.name.clone() });
            }
            if self.axes[..at].iter().any(|earlier| earlier.name == axis.name) {
                return Err(MeshError::DuplicateAxis { name: axis.name.clone() });
            }
            count = count.checked_mul(u64::from(axis.size)).ok_or(MeshError::TooManyDevices)?;
        }
        let Some(ids) = &self.device_ids else { return Ok(()) };
        if self.axes.is_empty() {
            return match ids.len() {
                1 => Ok(()),
                listed => Err(MeshError::MaximalNeedsOneDevice { listed }),
            };
        }
        if ids.len() as u64 != count {
            return Err(MeshError::DeviceCount { listed: ids.len(), expected: count });
        }
        let mut seen = vec![false; ids.len()];
        for &id in ids.iter() {
            match usize::try_from(id).ok().and_then(|id| seen.get_mut(id)) {
                None => return Err(MeshError::DeviceOutOfRange { id, count }),
                Some(seen) if *seen => return Err(MeshError::DuplicateDevice { id }),
                Some(seen) => *seen = true,
            }
        }
        if ids.iter().enumerate().all(|(at, &id)| id == at as u64) {
            return Err(MeshError::NaturalOrderListed);
        }
        Ok(())
    }
}

/// The mesh as sdy writes it: `<["x"=2, "y"=4], device_ids=[7, 6, ...]>`.
impl fmt::Display for Mesh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<[")?;
        for (at, axis) in self.axes.iter().enumerate() {
            let comma = if at > 0 { ", " } else { "" };
            write!(f, "{comma}{}={}", Quoted(&axis.name), axis.size)?;
        }
        f.write_str("]")?;
        if let Some(ids) = &self.device_ids {
            f.write_str(", device_ids=[")?;
            for (at, id) in ids.iter().enumerate() {
                let comma = if at > 0 { ", " } else { "" };
                write!(f, "{comma}{id}")?;
            }
            f.write_str("]")?;
        }
        f.write_str(">")
    }
}

/// What is wrong with a mesh.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MeshError {
    /// More axes than an [`AxisIndex`] counts.
    #[error("the mesh has {count} axes; at most 65535 are supported")]
    TooManyAxes {
        /// The number of axes.
        count: usize,
    },
    /// The product of the axis sizes is beyond 64 bits.
    #[error("the product of the mesh's axis sizes is beyond 64 bits")]
    TooManyDevices,
    /// An axis of size zero.
    #[error(
        "mesh axis \"{name}\" has size 0; an axis has at least one device (leave it out, or write 1)"
    )]
    EmptyAxis {
        /// The axis.
        name: Arc<str>,
    },
    /// Two axes of one name.
    #[error("mesh axis \"{name}\" is declared twice; axis names are unique in a mesh")]
    DuplicateAxis {
        /// The name.
        name: Arc<str>,
    },
    /// No axes, and not exactly one device id.
    #[error(
        "a mesh without axes lists {listed} device ids; it can list only one, the device that holds everything"
    )]
    MaximalNeedsOneDevice {
        /// The number of ids listed.
        listed: usize,
    },
    /// The list of device ids is too short or too long.
    #[error("the mesh lists {listed} device ids, but the product of its axis sizes is {expected}")]
    DeviceCount {
        /// The number of ids listed.
        listed: usize,
        /// The product of the axis sizes.
        expected: u64,
    },
    /// A device id beyond the device count.
    #[error("device id {id} is out of range: a mesh of {count} devices uses each of 0 to {} once", count.saturating_sub(1))]
    DeviceOutOfRange {
        /// The id.
        id: u64,
        /// The number of devices.
        count: u64,
    },
    /// A device id listed twice.
    #[error("device id {id} is listed twice in the mesh")]
    DuplicateDevice {
        /// The id.
        id: u64,
    },
    /// The natural order written out.
    #[error(
        "the mesh lists its device ids in their natural order 0, 1, 2, ...; leave the list out"
    )]
    NaturalOrderListed,
}
