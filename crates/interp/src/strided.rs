//! Blocks of row-major elements, read and written with strides.
//!
//! Transposes, slices, reverses and broadcasts are all one thing: the element of the result at
//! `(i, j, ...)` is the element of the operand at `offset + i * strides[0] + j * strides[1] + ...`.

use smallvec::SmallVec;

/// Number of elements between neighbours along each dimension of a row-major tensor.
pub(crate) fn strides(dims: &[i64]) -> SmallVec<[isize; 4]> {
    let mut strides: SmallVec<[isize; 4]> = SmallVec::from_elem(1, dims.len());
    for i in (1..dims.len()).rev() {
        strides[i - 1] = strides[i] * dims[i].max(1) as isize;
    }
    strides
}

/// Where the elements of a block of `dims` lie: calls `visit` with the place of the first element
/// of each innermost row, in row-major order.
fn each_row(offset: isize, strides: &[isize], dims: &[i64], mut visit: impl FnMut(isize)) {
    let outer = dims.len().saturating_sub(1);
    if dims.contains(&0) {
        return;
    }
    let mut index: SmallVec<[i64; 4]> = SmallVec::from_elem(0, outer);
    let mut at = offset;
    loop {
        visit(at);
        let mut d = outer;
        loop {
            if d == 0 {
                return;
            }
            d -= 1;
            index[d] += 1;
            at += strides[d];
            if index[d] < dims[d] {
                break;
            }
            at -= strides[d] * dims[d] as isize;
            index[d] = 0;
        }
    }
}

/// Reads a block of `dims`, row-major. A stride of 0 repeats, a negative one reverses.
///
/// # Panics
/// If the block isn't within `from`.
pub(crate) fn read<W: Copy>(from: &[W], offset: isize, strides: &[isize], dims: &[i64]) -> Vec<W> {
    let count: i64 = dims.iter().product();
    let mut out = Vec::with_capacity(count as usize);
    let (row, step) = match (dims.last(), strides.last()) {
        (Some(row), Some(step)) => (*row as usize, *step),
        _ => (1, 1),
    };
    each_row(offset, strides, dims, |at| match step {
        1 => out.extend_from_slice(&from[at as usize..at as usize + row]),
        0 => out.extend(std::iter::repeat_n(from[at as usize], row)),
        _ => out.extend((0..row).map(|i| from[(at + i as isize * step) as usize])),
    });
    out
}

/// Writes a row-major block of `dims` to places with strides.
///
/// # Panics
/// If the block isn't within `to`.
pub(crate) fn write<W: Copy>(
    to: &mut [W],
    offset: isize,
    strides: &[isize],
    dims: &[i64],
    block: &[W],
) {
    let (row, step) = match (dims.last(), strides.last()) {
        (Some(row), Some(step)) => (*row as usize, *step),
        _ => (1, 1),
    };
    let mut rows = block.chunks(row.max(1));
    each_row(offset, strides, dims, |at| {
        let Some(values) = rows.next() else { return };
        if step == 1 {
            to[at as usize..at as usize + row].copy_from_slice(values);
        } else {
            for (i, value) in values.iter().enumerate() {
                to[(at + i as isize * step) as usize] = *value;
            }
        }
    });
}

/// Calls `visit` with every index of a shape, row-major.
pub fn each_index(dims: &[i64], mut visit: impl FnMut(&[i64])) {
    if dims.contains(&0) {
        return;
    }
    let mut index: SmallVec<[i64; 4]> = SmallVec::from_elem(0, dims.len());
    loop {
        visit(&index);
        let mut d = dims.len();
        loop {
            if d == 0 {
                return;
            }
            d -= 1;
            index[d] += 1;
            if index[d] < dims[d] {
                break;
            }
            index[d] = 0;
        }
    }
}
