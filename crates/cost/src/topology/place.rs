//! A mesh laid on a machine.

use shard_ir::{AxisIndex, AxisList, AxisRef, Digit, Digits, Mesh, axes, digits};
use smallvec::SmallVec;
use thiserror::Error;

use super::{Network, Topology, TorusDim};

/// A mesh laid on a machine: device id `n` of the mesh is device `n` of the machine, row-major in
/// the dimensions of a torus. A mesh axis then runs along a part of one dimension of the torus, a
/// whole one, or several.
#[derive(Clone, Debug)]
pub struct Placement<'a> {
    /// The machine.
    pub topology: &'a Topology,
    /// The mesh.
    pub mesh: &'a Mesh,
    /// The digits of a device id, in the order of the mesh's logical indices; `None` where the
    /// mesh lists its devices in an order that isn't a transposition.
    order: Option<Digits>,
}

/// Why a mesh doesn't fit a machine.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PlacementError {
    /// The mesh has another number of devices.
    #[error(
        "the mesh has {mesh} devices, but topology `{topology}` has {devices}; choose axis sizes whose product is {devices}, or another topology"
    )]
    DeviceCount {
        /// The devices of the mesh.
        mesh: u64,
        /// The machine's name.
        topology: String,
        /// The devices of the machine.
        devices: u64,
    },
}

/// The devices of a group along one dimension of a torus: `size` of them, `stride` hops apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// The number of devices.
    pub size: u64,
    /// The hops between neighbours. Between two of a group lie `stride - 1` devices of other
    /// groups, which use the same links at the same time.
    pub stride: f64,
    /// Whether the devices form a ring.
    pub ring: bool,
}

impl Topology {
    /// Lays a mesh on the machine.
    ///
    /// # Errors
    /// [`PlacementError`] where the mesh has another number of devices.
    pub fn place<'a>(&'a self, mesh: &'a Mesh) -> Result<Placement<'a>, PlacementError> {
        let count = mesh.device_count();
        if let Some(devices) = self.device_count().filter(|&devices| devices != count) {
            let topology = self.name.clone();
            return Err(PlacementError::DeviceCount { mesh: count, topology, devices });
        }
        let order = match &mesh.device_ids {
            None => Some(Digits::from_slice(&[Digit { size: count, stride: 1 }])),
            Some(ids) if ids.first() == Some(&0) => digits::raise(ids),
            Some(_) => None,
        };
        Ok(Placement { topology: self, mesh, order })
    }
}

impl Placement<'_> {
    /// The digits of the machine's device numbers that mesh axes are.
    fn machine_digits(&self, list: &[AxisRef]) -> Option<Digits> {
        let (order, count) = (self.order.as_ref()?, self.mesh.device_count());
        let mut found = Digits::new();
        for digit in axes::digits(self.mesh, list)? {
            let outer = count.checked_div(digit.size.checked_mul(digit.stride)?)?;
            let mut runs = digits::cut(order, &[outer, digit.size, digit.stride])?.into_iter();
            found.extend(runs.nth(1)?);
        }
        Some(found)
    }

    /// The spans that devices along the given mesh axes form on a torus, one for each dimension
    /// that they run along, in the order of the dimensions. The order of the axes makes no
    /// difference. Empty for a group of one device, and on an even network.
    ///
    /// Axes that don't follow the dimensions (a mesh of 3 by 4 on a torus of 4 by 3, or devices
    /// in a shuffled order) form one line whose neighbours are as far apart as two devices are on
    /// average, and share the links accordingly.
    pub fn spans(&self, list: &[AxisRef]) -> SmallVec<[Span; 3]> {
        self.layout(list).0
    }

    /// The spans, and whether devices of a group are ordered along the axes as they are along the
    /// spans, row-major.
    pub(crate) fn layout(&self, list: &[AxisRef]) -> (SmallVec<[Span; 3]>, bool) {
        let size = axes::product(list);
        let Network::Torus { dims, .. } = &self.topology.network else {
            return (SmallVec::new(), true);
        };
        if size <= 1 {
            return (SmallVec::new(), true);
        }
        let sizes: Vec<(&str, u32)> = dims.iter().map(|dim| ("", dim.size)).collect();
        let torus = Mesh::new(&sizes);
        let along = self.machine_digits(list).and_then(|digits| axes::from_digits(&torus, &digits));
        let Some(along) = along else {
            let line = Span { size, stride: self.mean_distance(), ring: false };
            return (SmallVec::from_slice(&[line]), false);
        };
        let sorted = axes::sorted(&along);
        let span = |(dim, at): (&TorusDim, u16)| {
            let parts: AxisList =
                sorted.iter().filter(|part| part.axis == AxisIndex(at)).copied().collect();
            let (first, last) = (parts.first()?, parts.last()?);
            let (whole, size) = (f64::from(dim.size), axes::product(&parts));
            let one = parts.len() == 1;
            // Parts that don't touch leave gaps: a line, with the gaps spread over its length.
            let reach = whole / f64::from(first.pre);
            let stride = if one { whole / last.next_pre() as f64 } else { reach / size as f64 };
            Some(Span { size, stride, ring: one && dim.wraps && first.pre == 1 })
        };
        (dims.iter().zip(0u16..).filter_map(span).collect(), sorted == along)
    }

    /// The hops between two devices of the torus, on average over all pairs.
    fn mean_distance(&self) -> f64 {
        let Network::Torus { dims, .. } = &self.topology.network else { return 1.0 };
        let mean = |size: f64, wraps| if wraps { size / 4.0 } else { size / 3.0 };
        dims.iter().map(|dim| mean(f64::from(dim.size), dim.wraps)).sum::<f64>().max(1.0)
    }
}
