//! Scatters: elements of a tensor changed at indices, one update after the other.

use num_complex::Complex;
use shard_ir::ops::ScatterDims;
use shard_ir::{Dims, ElementType, NumberKind};
use smallvec::SmallVec;

use super::combine::{Rows, combine};
use super::places::{Block, Numbers, Places, offsets};
use crate::ops::operands::{exactly, same_element};
use crate::region::Region;
use crate::site::{Results, Site};
use crate::strided::{each_index, strides};
use crate::{Fault, Lane, Tensor, each_width};

/// Updates are applied in the order of their places in the updates, row-major. Those whose place is
/// out of bounds are left out, each element for itself.
pub(super) fn scatter(
    numbers: &ScatterDims,
    site: &Site<'_>,
    operands: &[Tensor],
) -> Result<Results, Fault> {
    let count = operands.len() / 2;
    let (inputs, rest) = operands.split_at(count);
    let Some((indices, updates)) = rest.split_first() else {
        return Err(Fault::invalid("a scatter of nothing"));
    };
    let (Some(input), Some(update)) = (inputs.first(), updates.first()) else {
        return Err(Fault::invalid("a scatter of nothing"));
    };
    let even = inputs.iter().all(|x| x.dims() == input.dims())
        && updates.iter().all(|x| x.dims() == update.dims());
    if !even || updates.len() != count {
        return Err(Fault::invalid("inputs or updates of different shapes"));
    }
    // The region may compute in a wider type than that of the inputs.
    let widened = |tensors: &[Tensor]| -> Result<Vec<Tensor>, Fault> {
        tensors
            .iter()
            .enumerate()
            .map(|(at, tensor)| promoted(tensor, site.result_element(at)?))
            .collect()
    };
    let (inputs, updates) = (widened(inputs)?, widened(updates)?);
    let targets = Targets::new(numbers, input, indices, update)?;
    let region = site.region(0)?;
    if let (Ok([x]), Ok([update])) = (exactly(&inputs), exactly(&updates)) {
        same_element(x, update)?;
        if region.single_param() == Some(1) {
            return Ok(Results::from_iter([replaced(x, update, &|visit| targets.each_row(visit))]));
        }
        let combined = region
            .single_op()
            .and_then(|op| combine(op, x, update, &|visit| targets.each_row(visit)));
        if let Some(result) = combined {
            return Ok(Results::from_iter([result]));
        }
    }
    in_rounds(&region, inputs, &updates, &targets)
}

/// Elements replaced by their updates.
fn replaced(x: &Tensor, update: &Tensor, rows: &Rows<'_>) -> Tensor {
    let buffer = each_width!(x.buffer(), |words| {
        let mut words = words.clone();
        write_rows(&mut words, Lane::of(update.buffer()), rows);
        words
    });
    Tensor::new(x.element(), x.dims(), buffer)
}

fn write_rows<W: Lane>(words: &mut [W], updates: &[W], rows: &Rows<'_>) {
    rows(&mut |at, from, row, (step, from_step)| {
        if step == 1 && from_step == 1 {
            let (at, from) = (at as usize, from as usize);
            words[at..at + row].copy_from_slice(&updates[from..from + row]);
        } else {
            for i in 0..row as isize {
                words[(at + i * step) as usize] = updates[(from + i * from_step) as usize];
            }
        }
    });
}

/// Applies any region. Elements that are updated several times are so in several rounds; in each
/// round the region is applied to all elements that have an update left.
fn in_rounds(
    region: &Region<'_>,
    mut inputs: Vec<Tensor>,
    updates: &[Tensor],
    targets: &Targets,
) -> Result<Results, Fault> {
    let len = inputs.first().map_or(0, Tensor::len);
    let mut updates_so_far = vec![0u32; len];
    let mut rounds: Vec<Vec<(usize, usize)>> = Vec::new();
    targets.each_row(&mut |at, from, row, (step, from_step)| {
        for i in 0..row as isize {
            let (at, from) = ((at + i * step) as usize, (from + i * from_step) as usize);
            let round = updates_so_far[at] as usize;
            updates_so_far[at] += 1;
            if round == rounds.len() {
                rounds.push(Vec::new());
            }
            rounds[round].push((at, from));
        }
    });
    for round in rounds {
        let picked = |tensor: &Tensor, place: fn(&(usize, usize)) -> usize| {
            let elements =
                each_width!(tensor.buffer(), |w| round.iter().map(|p| w[place(p)]).collect());
            Tensor::new(tensor.element(), [round.len() as i64].as_slice(), elements)
        };
        let args: Vec<Tensor> = inputs
            .iter()
            .map(|x| picked(x, |p| p.0))
            .chain(updates.iter().map(|x| picked(x, |p| p.1)))
            .collect();
        let results = region.apply(&args)?;
        if results.len() != inputs.len() {
            return Err(Fault::invalid(format!(
                "a region returns {} values for {} inputs",
                results.len(),
                inputs.len()
            )));
        }
        for (input, result) in inputs.iter_mut().zip(&results) {
            same_element(input, result)?;
            match input.buffer_mut() {
                crate::Buffer::B8(words) => place(words, result, &round),
                crate::Buffer::B16(words) => place(words, result, &round),
                crate::Buffer::B32(words) => place(words, result, &round),
                crate::Buffer::B64(words) => place(words, result, &round),
                crate::Buffer::B128(words) => place(words, result, &round),
            }
        }
    }
    Ok(inputs.into_iter().collect())
}

fn place<W: Lane>(words: &mut [W], result: &Tensor, round: &[(usize, usize)]) {
    for ((at, _), value) in round.iter().zip(W::of(result.buffer())) {
        words[*at] = *value;
    }
}

/// Where updates go.
struct Targets {
    places: Places,
    /// Where the updates of each window are.
    from: Vec<isize>,
    /// Size of a window in each dimension of the input, 1 where windows have none.
    window: Dims,
    dims: Dims,
    strides: SmallVec<[isize; 4]>,
    /// Distance of a window's updates along each dimension of the input.
    update_strides: SmallVec<[isize; 4]>,
    /// A whole window.
    block: Block,
}

impl Targets {
    fn new(
        numbers: &ScatterDims,
        input: &Tensor,
        indices: &Tensor,
        update: &Tensor,
    ) -> Result<Targets, Fault> {
        let places = Places::new(
            &Numbers {
                dropped: &numbers.inserted_window_dims,
                batching: &numbers.input_batching_dims,
                indices_batching: &numbers.scatter_indices_batching_dims,
                map: &numbers.scatter_dims_to_operand_dims,
                vector: numbers.index_vector_dim,
                window: &numbers.update_window_dims,
            },
            input,
            indices,
        )?;
        let batch_dims = places.batch_dims();
        let fits = update.rank() == places.batch.len() + places.kept.len()
            && batch_dims.iter().zip(&places.batch).all(|(d, size)| update.dims()[*d] == *size);
        if !fits {
            return Err(Fault::invalid(format!(
                "updates of shape {:?} at indices of shape {:?}",
                update.dims(),
                indices.dims()
            )));
        }
        let (own, other) = (strides(input.dims()), strides(update.dims()));
        let mut window = Dims::from_elem(1, input.rank());
        let mut update_strides: SmallVec<[isize; 4]> = SmallVec::from_elem(0, input.rank());
        for (d, to) in places.kept.iter().zip(&places.window) {
            window[*d] = update.dims()[*to];
            update_strides[*d] = other[*to];
        }
        let batch_strides: SmallVec<[isize; 4]> = batch_dims.iter().map(|d| other[*d]).collect();
        Ok(Targets {
            from: offsets(&batch_strides, &places.batch),
            block: Block::new(&window, &own, &update_strides),
            places,
            window,
            dims: Dims::from_slice(input.dims()),
            strides: own,
            update_strides,
        })
    }

    /// Calls `visit` with the place of each row of elements, that of its updates, its length, and
    /// the distance of neighbours in both.
    fn each_row(&self, visit: &mut dyn FnMut(isize, isize, usize, (isize, isize))) {
        if self.block.row == 0 {
            return;
        }
        for (start, from) in self.places.each_start().zip(&self.from) {
            let inside = start
                .iter()
                .zip(&self.window)
                .zip(&self.dims)
                .all(|((start, window), size)| *start >= 0 && *start <= size - window);
            if inside {
                let at: isize = start.iter().zip(&self.strides).map(|(i, s)| *i as isize * s).sum();
                for (row, other) in &self.block.rows {
                    visit(at + row, from + other, self.block.row, self.block.steps);
                }
            } else {
                self.each_inside(start, *from, visit);
            }
        }
    }

    /// The elements of a window that are inside, one by one.
    fn each_inside(
        &self,
        start: &[i64],
        from: isize,
        visit: &mut dyn FnMut(isize, isize, usize, (isize, isize)),
    ) {
        let ends = |d: usize| {
            let first = start[d].saturating_neg().max(0);
            (first, self.dims[d].saturating_sub(start[d]).min(self.window[d]))
        };
        let bounds: SmallVec<[(i64, i64); 4]> = (0..start.len()).map(ends).collect();
        let sizes: Dims = bounds.iter().map(|(first, end)| (end - first).max(0)).collect();
        each_index(&sizes, |index| {
            let (mut at, mut other) = (0, from);
            for (d, i) in index.iter().enumerate() {
                let i = i + bounds[d].0;
                at += (start[d] + i) as isize * self.strides[d];
                other += i as isize * self.update_strides[d];
            }
            visit(at, other, 1, (1, 1));
        });
    }
}

/// Elements as a type of the same kind that holds all of their values.
fn promoted(x: &Tensor, element: ElementType) -> Result<Tensor, Fault> {
    if x.element() == element {
        return Ok(x.clone());
    }
    match (x.element().kind(), element.kind()) {
        (NumberKind::Float, NumberKind::Float) => {
            Ok(Tensor::from_floats(element, x.dims(), x.floats()))
        }
        (NumberKind::Complex, NumberKind::Complex) if element == ElementType::C128 => {
            let wide = |e: &Complex<f32>| Complex::new(f64::from(e.re), f64::from(e.im));
            let values = x.lanes::<Complex<f32>>().iter().map(wide).collect();
            Ok(Tensor::from_lanes::<Complex<f64>>(element, x.dims(), values))
        }
        (NumberKind::Signed, NumberKind::Signed) | (NumberKind::Unsigned, NumberKind::Unsigned) => {
            let width = element.storage_bytes();
            let bytes: Vec<u8> = x
                .integers()
                .iter()
                .flat_map(|i| {
                    i.to_le_bytes().into_iter().take(width).collect::<SmallVec<[u8; 8]>>()
                })
                .collect();
            Ok(Tensor::new(element, x.dims(), crate::Buffer::from_bytes(&bytes, width)))
        }
        (from, _) => Err(Fault::unsupported(format!("a scatter of {from:?} into {element}"))),
    }
}
