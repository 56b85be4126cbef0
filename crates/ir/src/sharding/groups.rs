//! Groups of devices that a collective joins.

use std::sync::Arc;

use super::AxisList;
use crate::MeshId;

/// Groups of devices.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Groups {
    /// The devices that differ only along these axes of the mesh.
    Axes {
        /// The mesh.
        mesh: MeshId,
        /// The axes, major to minor.
        axes: AxisList,
    },
    /// A list.
    List {
        /// Number of groups.
        rows: usize,
        /// Devices a group.
        width: usize,
        /// The devices, row-major; -1 pads a short row.
        ids: Arc<[i64]>,
    },
}

impl Groups {
    /// From a dense tensor.
    pub fn from_rows(rows: usize, width: usize, ids: &[i64]) -> Groups {
        Groups::List { rows, width, ids: ids.into() }
    }

    /// As a dense tensor: rows, width, ids; `None` for groups by axes.
    pub fn as_rows(&self) -> Option<(usize, usize, Vec<i64>)> {
        match self {
            Groups::Axes { .. } => None,
            Groups::List { rows, width, ids } => Some((*rows, *width, ids.to_vec())),
        }
    }
}
