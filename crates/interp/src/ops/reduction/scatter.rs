//! `select_and_scatter`.

use shard_ir::ops::SelectAndScatter;
use shard_ir::{Dims, ElementType};

use super::super::operands::exactly as expect;
use super::super::quantized::convert;
use super::super::window::{Meeting, NOWHERE, WindowFields, window};
use super::fold::{Combine, Fold, Rounding, fold};
use super::gathered;
use crate::region::Region;
use crate::site::{Results, Site};
use crate::strided::each_index;
use crate::{Fault, Tensor, each_width};

pub(super) fn select_and_scatter(
    op: &SelectAndScatter,
    site: &Site<'_>,
    operands: &[Tensor],
) -> Result<Results, Fault> {
    let [x, source, init] = expect(operands)?;
    let fields = WindowFields {
        strides: op.strides.as_ref(),
        padding: op.padding.as_ref(),
        ..WindowFields::default()
    };
    let sizes = op.window.clone().unwrap_or_else(|| Dims::from_elem(1, x.rank()));
    if sizes.len() != x.rank() {
        return Err(Fault::invalid("a window of another rank than what it slides over"));
    }
    let meeting = Meeting::row_major(x.dims(), &window(&sizes, fields)?)?;
    if source.dims() != &meeting.places[..] || init.len() != 1 {
        return Err(Fault::invalid("a source whose shape isn't that of the window's places"));
    }
    let element = site.result_element(0)?;
    let selected = select(&site.region(0)?, x, &meeting)?;
    let (source, init) =
        (convert(source, element, site.module)?, convert(init, element, site.module)?);
    let region = site.region(1)?;
    let result = match Combine::of(&region, element, Rounding::EachStep) {
        Some(combine) => {
            let way = Scatter { to: &selected, count: x.len() };
            fold(combine, Rounding::EachStep, &source, &init, Dims::from_slice(x.dims()), &way)
        }
        None => scatter(&region, &source, &init, &selected, x)?,
    };
    Ok(Results::from_iter([result]))
}

/// Which element each window selects; none where it meets only padding.
fn select(region: &Region<'_>, x: &Tensor, meeting: &Meeting) -> Result<Vec<usize>, Fault> {
    let mut selected: Vec<usize> = Vec::new();
    let mut outcome = Ok(());
    let mut met = Vec::new();
    each_index(&meeting.taps, |tap| {
        if outcome.is_ok() {
            meeting.elements(tap, &mut met);
            selected.resize(met.len(), NOWHERE);
            outcome = challenge(region, x, &mut selected, &met);
        }
    });
    outcome?;
    selected.resize(meeting.places.iter().product::<i64>() as usize, NOWHERE);
    Ok(selected)
}

/// Where the region doesn't hold of what is selected and what is met, that is selected.
fn challenge(
    region: &Region<'_>,
    x: &Tensor,
    selected: &mut [usize],
    met: &[usize],
) -> Result<(), Fault> {
    let mut contested = Vec::new();
    let (mut holders, mut challengers) = (Vec::new(), Vec::new());
    for (place, (holder, challenger)) in selected.iter_mut().zip(met).enumerate() {
        if *holder == NOWHERE {
            *holder = *challenger;
        } else if *challenger != NOWHERE {
            contested.push(place);
            holders.push(*holder);
            challengers.push(*challenger);
        }
    }
    if contested.is_empty() {
        return Ok(());
    }
    let values = [gathered(x, &holders, x), gathered(x, &challengers, x)];
    let results = region.apply(&values)?;
    let [holds] = &results[..] else {
        return Err(Fault::invalid("a selection that doesn't return one value"));
    };
    if holds.element() != ElementType::I1 || holds.len() != contested.len() {
        return Err(Fault::invalid("a selection that doesn't return a boolean"));
    }
    for ((place, challenger), holds) in contested.iter().zip(challengers).zip(holds.lanes::<u8>()) {
        if *holds == 0 {
            selected[*place] = challenger;
        }
    }
    Ok(())
}

/// In rounds, in each of which no element is written twice; the order of the sources stays.
fn scatter(
    region: &Region<'_>,
    source: &Tensor,
    init: &Tensor,
    selected: &[usize],
    x: &Tensor,
) -> Result<Tensor, Fault> {
    let mut written = vec![0usize; x.len()];
    let mut rounds: Vec<(Vec<usize>, Vec<usize>)> = Vec::new();
    for (from, to) in selected.iter().enumerate().filter(|(_, to)| **to != NOWHERE) {
        let round = &mut written[*to];
        if rounds.len() == *round {
            rounds.push(Default::default());
        }
        rounds[*round].0.push(from);
        rounds[*round].1.push(*to);
        *round += 1;
    }
    let mut result = gathered(init, &vec![0; x.len()], init).reshaped(Dims::from_slice(x.dims()));
    for (from, to) in rounds {
        let args = [gathered(&result, &to, init), gathered(source, &from, init)];
        let values = region.apply(&args)?;
        let [values] = &values[..] else {
            return Err(Fault::invalid("a scatter that doesn't return one value"));
        };
        if values.element() != result.element() || values.len() != to.len() {
            return Err(Fault::invalid("a scatter that returns another type"));
        }
        let mut written = result.clone();
        *written.buffer_mut() = each_width!(result.buffer(), |words| {
            let mut words = words.clone();
            let values = values.buffer().bytes();
            let width = size_of_val(&words[..]) / words.len().max(1);
            for (to, value) in to.iter().zip(values.chunks_exact(width.max(1))) {
                if let Ok(value) = bytemuck::try_pod_read_unaligned(value) {
                    words[*to] = value;
                }
            }
            words
        });
        result = written;
    }
    Ok(result)
}

/// Each element of the source goes to the result that its window has selected.
struct Scatter<'a> {
    to: &'a [usize],
    count: usize,
}

impl Fold for Scatter<'_> {
    fn run<T: Copy, A: Copy>(
        &self,
        x: &[T],
        init: A,
        widen: impl Fn(T) -> A + Copy,
        combine: impl Fn(A, A) -> A + Copy,
    ) -> Vec<A> {
        let mut found = vec![init; self.count];
        for (value, to) in x.iter().zip(self.to) {
            if let Some(found) = found.get_mut(*to) {
                *found = combine(*found, widen(*value));
            }
        }
        found
    }
}
