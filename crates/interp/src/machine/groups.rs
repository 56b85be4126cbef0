//! Which devices take part in a collective together.

use shard_ir::Module;
use shard_ir::sharding::{Groups, Mesh};

use super::World;
use crate::Fault;

/// What the numbers in a collective's groups number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ids {
    /// Replicas; each partition communicates by itself.
    Replicas,
    /// Partitions; each replica communicates by itself.
    Partitions,
    /// Replicas, with all partitions of each.
    ReplicasAndPartitions,
    /// Devices: `replica * partitions + partition`.
    Devices,
}

impl Ids {
    /// For ops that reduce or gather: the specification's `all_gather`, `all_reduce`,
    /// `reduce_scatter`.
    pub fn of_reduction(groups: &Groups, channel: i64, global: bool) -> Ids {
        match (groups, channel > 0, global) {
            // Axes of a mesh number its devices.
            (Groups::Axes { .. }, _, _) | (_, true, true) => Ids::Devices,
            (_, true, false) => Ids::ReplicasAndPartitions,
            (_, false, _) => Ids::Replicas,
        }
    }

    /// For ops that exchange: `all_to_all`, `collective_permute`, `collective_broadcast`.
    pub fn of_exchange(groups: Option<&Groups>, channel: i64) -> Ids {
        match (groups, channel > 0) {
            (Some(Groups::Axes { .. }), _) => Ids::Devices,
            (_, true) => Ids::Partitions,
            (_, false) => Ids::Replicas,
        }
    }

    /// The devices that one number stands for, in each set that communicates by itself.
    fn devices(self, id: i64, world: World) -> Result<Vec<usize>, Fault> {
        let (count, what) = match self {
            Ids::Replicas | Ids::ReplicasAndPartitions => (world.replicas, "replica"),
            Ids::Partitions => (world.partitions, "partition"),
            Ids::Devices => (world.devices(), "device"),
        };
        let Some(id) = usize::try_from(id).ok().filter(|id| *id < count) else {
            return Err(Fault::invalid(format!("there is no {what} {id}; there are {count}")));
        };
        Ok(match self {
            Ids::Replicas | Ids::ReplicasAndPartitions => {
                (0..world.partitions).map(|p| id * world.partitions + p).collect()
            }
            Ids::Partitions => (0..world.replicas).map(|r| r * world.partitions + id).collect(),
            Ids::Devices => vec![id],
        })
    }

    /// Devices by the lists of numbers of a collective.
    pub fn groups(self, lists: &[Vec<i64>], world: World) -> Result<Vec<Vec<usize>>, Fault> {
        let everything = match self {
            Ids::Replicas | Ids::ReplicasAndPartitions => world.replicas,
            Ids::Partitions => world.partitions,
            Ids::Devices => world.devices(),
        };
        let all = [(0..everything as i64).collect()];
        let lists = if lists.is_empty() { &all } else { lists };
        let mut groups = Vec::new();
        for list in lists {
            // One column a set that communicates by itself.
            let rows =
                list.iter().map(|id| self.devices(*id, world)).collect::<Result<Vec<_>, _>>()?;
            let sets = rows.first().map_or(0, Vec::len);
            if self == Ids::ReplicasAndPartitions {
                groups
                    .push((0..sets).flat_map(|set| rows.iter().map(move |row| row[set])).collect());
            } else {
                groups.extend((0..sets).map(|set| rows.iter().map(|row| row[set]).collect()));
            }
        }
        Ok(groups)
    }
}

/// The numbers in groups, without fillers.
pub(super) fn lists(groups: &Groups, module: &Module) -> Vec<Vec<i64>> {
    let none = Mesh::new(&[]);
    let mesh = match groups {
        Groups::Axes { mesh, .. } => &module.meshes[*mesh].mesh,
        Groups::Iota { .. } | Groups::List { .. } => &none,
    };
    let (count, size) = (groups.group_count(mesh), groups.group_size());
    (0..count)
        .map(|group| {
            let member = |index| groups.member(mesh, group, index);
            (0..size).filter_map(member).map(|id| id as i64).collect()
        })
        .filter(|list: &Vec<i64>| !list.is_empty())
        .collect()
}
