//! Stable merge sorts, which do something sensible with whatever a comparator says.

use shard_ir::Dims;

use super::Rows;
use super::comparator::Comparator;
use crate::region::Region;
use crate::{Fault, Tensor, each_width};

/// For each place the element that comes there.
pub(super) fn sorted(rows: Rows, comparator: &Comparator) -> Vec<usize> {
    let mut order = vec![0; rows.count];
    if let Some((keys, descending)) = comparator.keys() {
        let mut pairs: Vec<(i64, usize)> = Vec::with_capacity(rows.len);
        for first in rows.firsts() {
            pairs.clear();
            let places = (0..rows.len).map(|i| first + i * rows.step);
            pairs.extend(places.map(|at| (keys[if keys.len() == 1 { 0 } else { at }], at)));
            if descending {
                pairs.sort_by_key(|(key, _)| std::cmp::Reverse(*key));
            } else {
                pairs.sort_by_key(|(key, _)| *key);
            }
            for (i, (_, at)) in pairs.iter().enumerate() {
                order[first + i * rows.step] = *at;
            }
        }
        return order;
    }
    let mut scratch = Vec::new();
    let mut holds = |a: usize, b: usize| comparator.holds(a, b, &mut scratch);
    let (mut row, mut merged) = (Vec::with_capacity(rows.len), Vec::with_capacity(rows.len));
    for first in rows.firsts() {
        row.clear();
        row.extend((0..rows.len).map(|i| first + i * rows.step));
        let mut run = 1;
        while run < rows.len {
            merged.clear();
            for pair in row.chunks(2 * run) {
                let (mut left, mut right) = pair.split_at(run.min(pair.len()));
                while let ([a, left_rest @ ..], [b, right_rest @ ..]) = (left, right) {
                    if holds(*b, *a) {
                        merged.push(*b);
                        right = right_rest;
                    } else {
                        merged.push(*a);
                        left = left_rest;
                    }
                }
                merged.extend_from_slice(left);
                merged.extend_from_slice(right);
            }
            std::mem::swap(&mut row, &mut merged);
            run *= 2;
        }
        for (i, at) in row.iter().enumerate() {
            order[first + i * rows.step] = *at;
        }
    }
    order
}

/// Two runs that are being merged: ranges of places, and where the next element goes.
struct Merge {
    left: std::ops::Range<usize>,
    right: std::ops::Range<usize>,
    next: usize,
}

/// The same with any region. All merges of the same length go on side by side, so that the region
/// is applied to many pairs at once.
pub(super) fn sorted_in_batches(
    rows: Rows,
    region: &Region<'_>,
    operands: &[Tensor],
) -> Result<Vec<usize>, Fault> {
    // Rows one after the other.
    let mut row: Vec<usize> =
        rows.firsts().flat_map(|first| (0..rows.len).map(move |i| first + i * rows.step)).collect();
    let mut run = 1;
    while run < rows.len {
        let mut merged = row.clone();
        let mut merges: Vec<Merge> = Vec::new();
        for first in (0..rows.count).step_by(rows.len) {
            let end = first + rows.len;
            for start in (first..end).step_by(2 * run) {
                let (middle, last) = ((start + run).min(end), (start + 2 * run).min(end));
                merges.push(Merge { left: start..middle, right: middle..last, next: start });
            }
        }
        // What has no other run is in its place.
        merges.retain(|merge| !merge.right.is_empty());
        while !merges.is_empty() {
            let pairs: Vec<(usize, usize)> =
                merges.iter().map(|m| (row[m.right.start], row[m.left.start])).collect();
            let right_first = holds(region, operands, &pairs)?;
            for (merge, right_first) in merges.iter_mut().zip(right_first) {
                let from = if right_first { &mut merge.right } else { &mut merge.left };
                merged[merge.next] = row[from.start];
                from.start += 1;
                merge.next += 1;
            }
            merges.retain(|merge| {
                let rest = match (merge.left.is_empty(), merge.right.is_empty()) {
                    (false, false) => return true,
                    (true, _) => merge.right.clone(),
                    (false, true) => merge.left.clone(),
                };
                merged[merge.next..merge.next + rest.len()].copy_from_slice(&row[rest]);
                false
            });
        }
        row = merged;
        run *= 2;
    }
    let mut order = vec![0; rows.count];
    let places = rows.firsts().flat_map(|first| (0..rows.len).map(move |i| first + i * rows.step));
    places.zip(&row).for_each(|(place, at)| order[place] = *at);
    Ok(order)
}

/// What the comparator says of each pair.
fn holds(
    region: &Region<'_>,
    operands: &[Tensor],
    pairs: &[(usize, usize)],
) -> Result<Vec<bool>, Fault> {
    let dims = Dims::from_slice(&[pairs.len() as i64]);
    let mut args = Vec::with_capacity(2 * operands.len());
    for x in operands {
        let left = each_width!(x.buffer(), |words| pairs.iter().map(|p| words[p.0]).collect());
        let right = each_width!(x.buffer(), |words| pairs.iter().map(|p| words[p.1]).collect());
        args.push(Tensor::new(x.element(), dims.clone(), left));
        args.push(Tensor::new(x.element(), dims.clone(), right));
    }
    let results = region.apply(&args)?;
    let fault = || Fault::invalid("a comparator that doesn't return a boolean");
    let result = results.first().ok_or_else(fault)?;
    if result.element() != shard_ir::ElementType::I1 || result.len() != pairs.len() {
        return Err(fault());
    }
    Ok(result.lanes::<u8>().iter().map(|e| *e != 0).collect())
}
