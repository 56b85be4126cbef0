//! Pairs of devices for a collective permute.

use super::axes::{self, AxisList};
use super::axis::AxisRef;
use super::digits::{self, Digits};
use super::mesh::Mesh;
use super::tensor::TensorSharding;

/// The pairs of a collective permute that moves tiles from one order of axes to another, as an
/// iterator over `(source, target)` device ids. Every device is once a source and once a target;
/// devices that keep their tile are paired with themselves.
#[derive(Clone, Debug)]
pub struct PermutePairs<'a> {
    mesh: &'a Mesh,
    from: Digits,
    to: Digits,
    next: u64,
    count: u64,
}

impl<'a> PermutePairs<'a> {
    /// From tiles laid out row-major along the axes `from` to tiles laid out along `to`.
    ///
    /// Along the axes that neither list has, every copy stays in its place. `None` where the
    /// lists have different sizes, or have axes that aren't the mesh's.
    pub fn between(mesh: &'a Mesh, from: &[AxisRef], to: &[AxisRef]) -> Option<PermutePairs<'a>> {
        if axes::product(from) != axes::product(to) {
            return None;
        }
        let (free_from, free_to) = (axes::complement(mesh, from), axes::complement(mesh, to));
        let stays = axes::intersect(&free_from, &free_to);
        let digits = |list: &[AxisRef], free: &[AxisRef]| {
            let moved = axes::subtract(free, &stays);
            let all: AxisList = list.iter().chain(&moved).chain(&stays).copied().collect();
            axes::digits(mesh, &all)
        };
        let (from, to) = (digits(from, &free_from)?, digits(to, &free_to)?);
        let count = mesh.device_count();
        let whole = digits::count(&from) == count && digits::count(&to) == count;
        whole.then_some(PermutePairs { mesh, from, to, next: 0, count })
    }
}

impl Iterator for PermutePairs<'_> {
    type Item = (u64, u64);

    fn next(&mut self) -> Option<(u64, u64)> {
        if self.next >= self.count {
            return None;
        }
        let at = self.next;
        self.next += 1;
        let device = |digits| self.mesh.device_id(digits::device(digits, at));
        Some((device(&self.from)?, device(&self.to)?))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::try_from(self.count.saturating_sub(self.next)).ok();
        (0, left)
    }
}

impl TensorSharding {
    /// The pairs of a collective permute that turns this sharding into another with the same
    /// number of shards in each dimension (and as many partial values); `None` where the numbers
    /// differ.
    pub fn permute_pairs<'a>(
        &self,
        mesh: &'a Mesh,
        to: &TensorSharding,
    ) -> Option<PermutePairs<'a>> {
        if self.shard_counts() != to.shard_counts()
            || axes::product(&self.unreduced) != axes::product(&to.unreduced)
        {
            return None;
        }
        let order = |sharding: &TensorSharding| -> AxisList {
            sharding.dim_axes_in_order().chain(sharding.unreduced.iter().copied()).collect()
        };
        PermutePairs::between(mesh, &order(self), &order(to))
    }
}
