//! Moves from a state to its neighbours.

use shard_ir::ops::AllToAllParam;
use shard_ir::sharding::AxisList;
use smallvec::SmallVec;

use super::state::{Atom, AtomTable, Atoms, State};

/// One step of a reshard, as the `sdy` collective that does it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Axes leave the minor end of dimensions; every device gets the joined shards.
    AllGather(Vec<AxisList>),
    /// Axes join the minor end of dimensions; each device keeps its part.
    AllSlice(Vec<AxisList>),
    /// Axes move from the minor end of one dimension to that of another.
    AllToAll(AllToAllParam),
    /// Shards move as wholes between devices.
    Permute,
    /// Partial values are combined along axes.
    AllReduce(AxisList),
    /// Partial values are combined along axes, which join the minor end of dimensions.
    ReduceScatter(Vec<AxisList>),
    /// A value becomes partial: one device along the axes keeps it, the others hold neutral
    /// elements.
    MakePartial(AxisList),
}

/// The kind of a step, for pricing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StepKind {
    /// [`Step::AllGather`]
    AllGather,
    /// [`Step::AllSlice`]
    AllSlice,
    /// [`Step::AllToAll`]
    AllToAll,
    /// [`Step::Permute`]
    Permute,
    /// [`Step::AllReduce`]
    AllReduce,
    /// [`Step::ReduceScatter`]
    ReduceScatter,
    /// [`Step::MakePartial`]
    MakePartial,
}

impl Step {
    /// The kind of the step.
    pub fn kind(&self) -> StepKind {
        match self {
            Step::AllGather(_) => StepKind::AllGather,
            Step::AllSlice(_) => StepKind::AllSlice,
            Step::AllToAll(_) => StepKind::AllToAll,
            Step::Permute => StepKind::Permute,
            Step::AllReduce(_) => StepKind::AllReduce,
            Step::ReduceScatter(_) => StepKind::ReduceScatter,
            Step::MakePartial(_) => StepKind::MakePartial,
        }
    }
}

/// A move: its kind, the atoms along which devices communicate, and the state it leads to.
pub(super) struct Move {
    pub kind: StepKind,
    pub atoms: Atoms,
    pub next: State,
}

/// All moves from `state` that can be of use on the way to `target`.
pub(super) fn moves(
    state: &State,
    target: &State,
    table: &AtomTable,
    visit: &mut impl FnMut(Move),
) {
    gathers(state, visit);
    slices(state, target, visit);
    exchanges(state, target, visit);
    permutes(state, target, table, visit);
    reductions(state, target, visit);
}

/// Every suffix of every dimension can be gathered.
fn gathers(state: &State, visit: &mut impl FnMut(Move)) {
    for (dim, atoms) in state.dims.iter().enumerate() {
        for keep in 0..atoms.len() {
            let mut next = state.clone();
            next.dims[dim].truncate(keep);
            let moved = atoms[keep..].into();
            visit(Move { kind: StepKind::AllGather, atoms: moved, next });
        }
    }
}

/// An atom that nothing uses can join a dimension that has it in the target, or a dimension from
/// which a permute leads to the target.
fn slices(state: &State, target: &State, visit: &mut impl FnMut(Move)) {
    let used = state.used();
    for (dim, atoms) in target.dims.iter().enumerate() {
        for &atom in atoms {
            if used & (1 << atom) == 0 {
                let mut next = state.clone();
                next.dims[dim].push(atom);
                visit(Move { kind: StepKind::AllSlice, atoms: Atoms::from_slice(&[atom]), next });
            }
        }
    }
    for atom in 0..64 {
        if target.unreduced & !used & (1 << atom) != 0 {
            let mut next = state.clone();
            next.unreduced |= 1 << atom;
            let atoms = Atoms::from_slice(&[atom]);
            visit(Move { kind: StepKind::MakePartial, atoms, next });
        }
    }
}

/// A suffix of a dimension can move to the end of a dimension that has one of its atoms in the
/// target.
fn exchanges(state: &State, target: &State, visit: &mut impl FnMut(Move)) {
    for (src, atoms) in state.dims.iter().enumerate() {
        for keep in 0..atoms.len() {
            let moved = &atoms[keep..];
            for dst in (0..state.dims.len()).filter(|&dst| dst != src) {
                if !moved.iter().any(|atom| target.dims[dst].contains(atom)) {
                    continue;
                }
                let mut next = state.clone();
                next.dims[src].truncate(keep);
                next.dims[dst].extend_from_slice(moved);
                visit(Move { kind: StepKind::AllToAll, atoms: moved.into(), next });
            }
        }
    }
}

/// Shards keep their shape and change devices: straight to the target, to a prefix of it, or by
/// swapping two atoms of one size.
fn permutes(state: &State, target: &State, table: &AtomTable, visit: &mut impl FnMut(Move)) {
    let all: u64 = if table.len() == 64 { u64::MAX } else { (1 << table.len()) - 1 };
    let mut emit = |next: State| {
        if next != *state
            && next.used().count_ones() as usize
                == next.dims.iter().map(|d| d.len()).sum::<usize>()
                    + next.unreduced.count_ones() as usize
        {
            let mut moved = Atoms::new();
            let place = |dim: &Atoms, atom: &Atom| dim.iter().position(|other| other == atom);
            for (a, b) in state.dims.iter().zip(&next.dims) {
                let differs = |atom: &&Atom| place(a, atom) != place(b, atom);
                moved.extend(a.iter().chain(b).filter(differs).copied());
            }
            moved.sort_unstable();
            moved.dedup();
            visit(Move { kind: StepKind::Permute, atoms: moved, next });
        }
    };
    if state.unreduced == target.unreduced && state.same_shape(target, table) {
        emit(target.clone());
    }
    let mut prefixed = state.clone();
    for (dim, wanted) in target.dims.iter().enumerate() {
        let size = table.product(&state.dims[dim]);
        let fits = (0..=wanted.len()).find(|&n| table.product(&wanted[..n]) == size);
        if let Some(n) = fits {
            prefixed.dims[dim] = wanted[..n].into();
        }
    }
    emit(prefixed);
    let places: SmallVec<[(usize, usize, Atom); 8]> = state
        .dims
        .iter()
        .enumerate()
        .flat_map(|(d, atoms)| atoms.iter().enumerate().map(move |(i, &a)| (d, i, a)))
        .collect();
    for (n, &(d1, i1, a1)) in places.iter().enumerate() {
        for &(d2, i2, a2) in &places[n + 1..] {
            if d1 == d2 || table.size(a1) == table.size(a2) {
                let mut next = state.clone();
                next.dims[d1][i1] = a2;
                next.dims[d2][i2] = a1;
                emit(next);
            }
        }
        let unused = all & !state.used();
        for other in (0..table.len() as u8).filter(|o| unused & (1 << o) != 0) {
            if table.size(other) == table.size(a1) {
                let mut next = state.clone();
                next.dims[d1][i1] = other;
                emit(next);
            }
        }
    }
}

/// Unreduced atoms that the target doesn't have are reduced, all at once, one by one, or with
/// those that a dimension of the target wants scattered along it.
fn reductions(state: &State, target: &State, visit: &mut impl FnMut(Move)) {
    let pending = state.unreduced & !target.unreduced;
    if pending == 0 {
        return;
    }
    let list = |set: u64| (0..64u8).filter(|a| set & (1 << a) != 0).collect::<Atoms>();
    let mut reduce = |set: u64| {
        let mut next = state.clone();
        next.unreduced &= !set;
        visit(Move { kind: StepKind::AllReduce, atoms: list(set), next });
    };
    reduce(pending);
    if pending.count_ones() > 1 {
        for atom in list(pending) {
            reduce(1 << atom);
        }
        let scattered = target.dims.iter().flatten().fold(0u64, |set, a| set | (1 << a));
        for part in [pending & scattered, pending & !scattered] {
            if part.count_ones() > 1 && part != pending {
                reduce(part);
            }
        }
    }
    for (dim, wanted) in target.dims.iter().enumerate() {
        // Runs of pending atoms in the order in which the target has them.
        for begin in 0..wanted.len() {
            let mut next = state.clone();
            let mut moved = Atoms::new();
            for &atom in &wanted[begin..] {
                if pending & (1 << atom) == 0 {
                    break;
                }
                next.dims[dim].push(atom);
                next.unreduced &= !(1 << atom);
                moved.push(atom);
                visit(Move {
                    kind: StepKind::ReduceScatter,
                    atoms: moved.clone(),
                    next: next.clone(),
                });
            }
        }
    }
}
