//! Bytes and seconds of collectives.
//!
//! The formulas are those of "How to Scale Your Model" (the jax-ml scaling book, 2025) for rings,
//! with their counterparts for lines. With `w` the bandwidth of a link in one direction, `V` the
//! bytes of the gathered (or not yet scattered) array, `N` the bytes of a device's part, `h` the
//! delay of a hop and `n` the devices along a dimension:
//!
//! | collective | ring | line |
//! | --- | --- | --- |
//! | all-gather, reduce-scatter | max(V/2w, hn/2) | V(n-1)/(nw) + h(n-1) |
//! | all-reduce | twice that | twice that |
//! | all-to-all | nN/8w | nN/4w |
//! | shift by d hops | dN/w + hd | the same |
//!
//! A gather along several dimensions uses the links of all at once: the rates add. An all-reduce
//! goes dimension by dimension, and its payload shrinks by `n` at each. An all-to-all along
//! several dimensions is held up by the dimension that takes longest. Where the devices of a
//! group are `s` hops apart, `s` groups share the links: the rates are divided and the delays
//! multiplied by `s`.

use shard_ir::{AxisRef, axes};
use smallvec::SmallVec;

use crate::topology::{Network, Placement, Span};

/// What a collective does, as far as its cost is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CollectiveKind {
    /// Every device of a group gets the parts of all.
    AllGather,
    /// Every device of a group gets the combination of all values.
    AllReduce,
    /// Every device of a group gets its part of the combination of all values.
    ReduceScatter,
    /// Every device of a group sends a part of its value to each other one.
    AllToAll,
    /// Every device sends its value to the one so many places further along the axes, the last
    /// ones to the first ones.
    Shift {
        /// The number of places.
        places: u64,
    },
    /// Every device sends its value to some other one of the group.
    Permute,
}

/// The bytes of the array that a collective is about, given those of a device's operand: the
/// result of an all-gather, the operand otherwise. Saturating.
pub fn payload_bytes(kind: CollectiveKind, operand_bytes: u64, group_size: u64) -> u64 {
    match kind {
        CollectiveKind::AllGather => operand_bytes.saturating_mul(group_size),
        _ => operand_bytes,
    }
}

/// The bytes that a device sends, given those of its operand and the `g` devices of its group:
/// `2(g-1)/g` of the operand for an all-reduce, `(g-1)/g` of the result for an all-gather,
/// `(g-1)/g` of the operand for a reduce-scatter and an all-to-all, and all of it for a permute.
/// Rounded up; zero in a group of one.
pub fn wire_bytes(kind: CollectiveKind, operand_bytes: u64, group_size: u64) -> u64 {
    if group_size <= 1 {
        return 0;
    }
    let (n, g) = (u128::from(operand_bytes), u128::from(group_size));
    let bytes = match kind {
        CollectiveKind::AllGather => n * (g - 1),
        CollectiveKind::AllReduce => (2 * n * (g - 1)).div_ceil(g),
        CollectiveKind::ReduceScatter | CollectiveKind::AllToAll => (n * (g - 1)).div_ceil(g),
        CollectiveKind::Shift { .. } | CollectiveKind::Permute => n,
    };
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

impl Placement<'_> {
    /// The seconds that a collective takes in groups along mesh axes, given the bytes of a
    /// device's operand. All groups run at once. Zero in a group of one.
    pub fn seconds(&self, kind: CollectiveKind, list: &[AxisRef], operand_bytes: u64) -> f64 {
        let group = axes::product(list);
        if group <= 1 {
            return 0.0;
        }
        let payload = payload_bytes(kind, operand_bytes, group) as f64;
        match &self.topology.network {
            Network::Even { bandwidth, latency, .. } => {
                let wire = wire_bytes(kind, operand_bytes, group) as f64;
                let rounds = if kind == CollectiveKind::AllReduce { 2.0 } else { 1.0 };
                wire / bandwidth.value + rounds * latency.value
            }
            Network::Torus { link_bandwidth, hop, efficiency, .. } => {
                let (spans, ordered) = self.layout(list);
                let link = link_bandwidth.value * efficiency.value;
                let torus = Torus { spans, link, hop: hop.value };
                match kind {
                    CollectiveKind::AllGather | CollectiveKind::ReduceScatter => {
                        torus.gather(&torus.spans, payload)
                    }
                    CollectiveKind::AllReduce => torus.all_reduce(payload),
                    CollectiveKind::AllToAll => torus.exchange(payload, 4.0),
                    CollectiveKind::Shift { places } if ordered => {
                        torus.shift(payload, places % group)
                    }
                    CollectiveKind::Shift { .. } | CollectiveKind::Permute => {
                        torus.exchange(payload, 2.0)
                    }
                }
            }
        }
    }
}

struct Torus {
    spans: SmallVec<[Span; 3]>,
    /// Bytes a second of a link, one way.
    link: f64,
    /// Seconds.
    hop: f64,
}

impl Torus {
    /// What a device receives along a span, in bytes a second.
    fn rate(&self, span: &Span) -> f64 {
        let links = if span.ring { 2.0 } else { 1.0 };
        links * self.link / span.stride
    }

    /// Seconds from one end of a span to the other, or half around a ring.
    fn delay(&self, span: &Span) -> f64 {
        let size = span.size as f64;
        let hops = if span.ring { size / 2.0 } else { size - 1.0 };
        self.hop * span.stride * hops
    }

    /// An all-gather or reduce-scatter of `bytes` (the whole array) along spans at once.
    fn gather(&self, spans: &[Span], bytes: f64) -> f64 {
        let group: f64 = spans.iter().map(|span| span.size as f64).product();
        let rate: f64 = spans.iter().map(|span| self.rate(span)).sum();
        let rings = spans.iter().all(|span| span.ring);
        let share = if rings { 1.0 } else { (group - 1.0) / group };
        let delay = |ring| -> f64 {
            spans.iter().filter(|span| span.ring == ring).map(|span| self.delay(span)).sum()
        };
        (bytes * share / rate + delay(false)).max(delay(true))
    }

    /// Reduce-scatter along one span after another, then gather back.
    fn all_reduce(&self, bytes: f64) -> f64 {
        // Exchanging neighbours shows the best order: by the time of a span over the part of the
        // payload that it takes away.
        let key = |span: &Span| {
            let size = span.size as f64;
            let share = if span.ring { size / (size - 1.0) } else { 1.0 };
            share / self.rate(span)
        };
        let mut order = self.spans.clone();
        order.sort_by(|a, b| key(a).total_cmp(&key(b)));
        let (mut left, mut seconds) = (bytes, 0.0);
        for span in &order {
            seconds += 2.0 * self.gather(std::slice::from_ref(span), left);
            left /= span.size as f64;
        }
        seconds
    }

    /// Every device sends all of its `bytes` to others of the group: evenly to all (`spread` 4),
    /// or in the worst pattern, all across the middle (`spread` 2).
    fn exchange(&self, bytes: f64, spread: f64) -> f64 {
        let across = |span: &Span| span.size as f64 * bytes / (spread * self.rate(span));
        let moving = self.spans.iter().map(across).fold(0.0, f64::max);
        moving.max(self.spans.iter().map(|span| self.delay(span)).sum())
    }

    /// Every device sends its `bytes` so many places along the group, the last ones to the first.
    /// On the way each link carries the values of all the devices that are passed.
    fn shift(&self, bytes: f64, places: u64) -> f64 {
        let (mut rest, mut carry) = (places, false);
        let (mut moving, mut delay) = (0.0f64, 0.0);
        for span in self.spans.iter().rev() {
            // Along this span devices go `near` places, and those with a carry one more.
            let near = rest % span.size;
            rest /= span.size;
            let mut worst = (0, 0);
            for places in [near, if carry { (near + 1) % span.size } else { near }] {
                let back = span.size - places;
                // In a line, those that would go beyond the end go back along it.
                let hops = match (places, span.ring) {
                    (0, _) => 0,
                    (_, true) => places.min(back),
                    (_, false) => places.max(back),
                };
                worst = (worst.0.max(places.min(back)), worst.1.max(hops));
            }
            moving = moving.max(worst.0 as f64 * span.stride * bytes / self.link);
            delay += worst.1 as f64 * span.stride * self.hop;
            carry |= near > 0;
        }
        moving + delay
    }
}
