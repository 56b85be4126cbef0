//! Reductions of each window.

use shard_ir::Dims;
use shard_ir::ops::ReduceWindow;

use super::super::window::{Meeting, WindowFields, window};
use super::fold::{Combine, Fold, Rounding, fold};
use super::whole::{Order, reduce_slabs};
use super::{Inputs, gathered};
use crate::site::{Results, Site};
use crate::strided::each_index;
use crate::tensor::element_count;
use crate::{Fault, Tensor};

pub(super) fn reduce_window(
    op: &ReduceWindow,
    site: &Site<'_>,
    inputs: &Inputs,
) -> Result<Results, Fault> {
    let fields = WindowFields {
        strides: op.strides.as_ref(),
        padding: op.padding.as_ref(),
        base_dilations: op.base_dilations.as_ref(),
        window_dilations: op.window_dilations.as_ref(),
        reversal: None,
    };
    let base = inputs.dims();
    if op.window.len() != base.len() {
        return Err(Fault::invalid("a window of another rank than what it slides over"));
    }
    let meeting = Meeting::row_major(base, &window(&op.window, fields)?)?;
    let region = site.region(0)?;
    if let ([x], [init]) = (&inputs.inputs[..], &inputs.inits[..])
        && let Some(combine) = Combine::of(&region, x.element(), Rounding::EachStep)
    {
        let result =
            fold(combine, Rounding::EachStep, x, init, meeting.places.clone(), &Windows(&meeting));
        return Ok(Results::from_iter([result]));
    }
    let places = element_count(&meeting.places)?;
    let taps = element_count(&meeting.taps)?;
    // As many taps at once as fit in a moderate amount of memory.
    let at_once = ((1 << 22) / places.max(1)).clamp(1, taps.max(1));
    let mut found = inputs.inits.clone();
    let mut met: Vec<usize> = Vec::new();
    let mut waiting = 0;
    let mut flush = |met: &mut Vec<usize>, waiting: &mut usize| {
        let slabs = inputs.inputs.iter().zip(&inputs.inits).map(|(x, init)| gathered(x, met, init));
        let starts = std::mem::take(&mut found);
        found = reduce_slabs(&region, slabs.collect(), starts, places, *waiting, Order::Forwards)?;
        met.clear();
        *waiting = 0;
        Ok::<(), Fault>(())
    };
    let mut elements = Vec::new();
    let mut outcome = Ok(());
    each_index(&meeting.taps, |tap| {
        if outcome.is_err() {
            return;
        }
        meeting.elements(tap, &mut elements);
        met.extend_from_slice(&elements);
        waiting += 1;
        if waiting == at_once {
            outcome = flush(&mut met, &mut waiting);
        }
    });
    outcome?;
    flush(&mut met, &mut waiting)?;
    let shape = &meeting.places;
    Ok(found.iter().map(|found| spread(found, places, shape)).collect())
}

/// The result in its shape; what no window has changed is still one element.
fn spread(found: &Tensor, places: usize, shape: &Dims) -> Tensor {
    if found.len() == places {
        return found.reshaped(shape.clone());
    }
    gathered(found, &vec![0; places], found).reshaped(shape.clone())
}

/// Each result is of what one window meets; padding is the initial value.
struct Windows<'a>(&'a Meeting);

impl Fold for Windows<'_> {
    fn run<T: Copy, A: Copy>(
        &self,
        x: &[T],
        init: A,
        widen: impl Fn(T) -> A + Copy,
        combine: impl Fn(A, A) -> A + Copy,
    ) -> Vec<A> {
        let meeting = self.0;
        let count = |dims: &[i64]| dims.iter().product::<i64>();
        let value = |at: usize| x.get(at).map_or(init, |value| widen(*value));
        let mut met = Vec::new();
        if count(&meeting.places) < count(&meeting.taps) {
            let mut found = Vec::new();
            each_index(&meeting.places, |place| {
                meeting.taps_at(place, &mut met);
                found.push(met.iter().fold(init, |found, at| combine(found, value(*at))));
            });
            return found;
        }
        let mut found = vec![init; count(&meeting.places) as usize];
        each_index(&meeting.taps, |tap| {
            meeting.elements(tap, &mut met);
            for (found, at) in found.iter_mut().zip(&met) {
                *found = combine(*found, value(*at));
            }
        });
        found
    }
}
