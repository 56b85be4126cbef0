//! States of a tensor between two shardings.

use shard_ir::sharding::{
    AxisList, AxisRef, Combiner, DimSharding, Refinement, TensorSharding, axes,
};
use smallvec::SmallVec;

/// Number of an atom.
pub(super) type Atom = u8;

/// Atoms of one dimension, major to minor.
pub(super) type Atoms = SmallVec<[Atom; 4]>;

/// The pieces of mesh axes that a reshard moves around.
pub(super) struct AtomTable {
    refs: Vec<AxisRef>,
}

impl AtomTable {
    /// The atoms that the two shardings need; `None` if their sub-axes can't be cut alike, or
    /// there are more than 64.
    pub fn new(from: &TensorSharding, to: &TensorSharding) -> Option<Self> {
        let lists = || {
            [from, to]
                .into_iter()
                .flat_map(|s| s.dims.iter().map(|d| &d.axes[..]).chain([&s.unreduced[..]]))
        };
        let refinement = Refinement::of(lists())?;
        let mut refs: Vec<AxisRef> = lists().flat_map(|list| refinement.atoms(list)).collect();
        refs.sort_unstable();
        refs.dedup();
        (refs.len() <= 64).then_some(AtomTable { refs })
    }

    /// Number of atoms.
    pub fn len(&self) -> usize {
        self.refs.len()
    }

    /// Size of an atom.
    pub fn size(&self, atom: Atom) -> u64 {
        u64::from(self.refs[usize::from(atom)].size)
    }

    /// Product of the sizes of atoms.
    pub fn product(&self, atoms: &[Atom]) -> u64 {
        atoms.iter().map(|&atom| self.size(atom)).product()
    }

    /// The axes that atoms make up, merged where they are adjacent.
    pub fn axes(&self, atoms: &[Atom]) -> AxisList {
        let refs: AxisList = atoms.iter().map(|&atom| self.refs[usize::from(atom)]).collect();
        axes::canonical(&refs)
    }

    /// The axes of a set of atoms, in mesh order.
    pub fn set_axes(&self, set: u64) -> AxisList {
        let atoms: Atoms = (0..self.refs.len() as u8).filter(|a| set & (1 << a) != 0).collect();
        self.axes(&atoms)
    }

    /// The atoms of an axis list.
    fn atoms(&self, list: &[AxisRef]) -> Atoms {
        let mut atoms = Atoms::new();
        for axis in list {
            let mut inside: SmallVec<[(u32, Atom); 4]> = (0u8..)
                .zip(&self.refs)
                .filter(|(_, atom)| axis.contains(**atom))
                .map(|(index, atom)| (atom.pre, index))
                .collect();
            inside.sort_unstable();
            atoms.extend(inside.into_iter().map(|(_, index)| index));
        }
        atoms
    }

    /// The state of a sharding.
    pub fn state(&self, sharding: &TensorSharding) -> State {
        State {
            dims: sharding.dims.iter().map(|dim| self.atoms(&dim.axes)).collect(),
            unreduced: self.atoms(&sharding.unreduced).iter().fold(0, |set, a| set | (1 << a)),
        }
    }

    /// The sharding of a state.
    pub fn sharding(
        &self,
        state: &State,
        like: &TensorSharding,
        combiner: Combiner,
    ) -> TensorSharding {
        let mut sharding = TensorSharding::from_dims(
            like.mesh,
            state.dims.iter().map(|atoms| DimSharding::closed(&self.axes(atoms))),
        );
        if state.unreduced != 0 {
            sharding = sharding.with_unreduced(&self.set_axes(state.unreduced), combiner);
        }
        sharding
    }
}

/// Where each atom is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct State {
    /// Atoms of each dimension.
    pub dims: SmallVec<[Atoms; 4]>,
    /// Set of atoms along which the value is unreduced.
    pub unreduced: u64,
}

impl State {
    /// Set of the atoms that dimensions or the unreduced set use.
    pub fn used(&self) -> u64 {
        self.dims.iter().flatten().fold(self.unreduced, |set, atom| set | (1 << atom))
    }

    /// Number of shards.
    pub fn shards(&self, table: &AtomTable) -> u64 {
        self.dims.iter().map(|atoms| table.product(atoms)).product()
    }

    /// Whether every dimension has as many shards as in `other`.
    pub fn same_shape(&self, other: &State, table: &AtomTable) -> bool {
        self.dims.iter().zip(&other.dims).all(|(a, b)| table.product(a) == table.product(b))
    }
}
