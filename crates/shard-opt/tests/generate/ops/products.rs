//! Contractions, convolutions and transforms.

use super::super::program::{Builder, Dice, MOST_ELEMENTS, Ty};
use super::movement::array;

fn list(numbers: &[usize]) -> String {
    let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    numbers.join(", ")
}

pub fn dot(b: &mut Builder, dice: &mut Dice) -> Option<()> {
    let left = b.find(dice, |v| v.ty.rank() > 0 && v.ty.element != "i1")?;
    let contracted = dice.below(left.ty.rank());
    let size = left.ty.dims[contracted];
    let fits = |ty: &Ty| ty.element == left.ty.element && ty.dims.contains(&size);
    let right = match b.find(dice, |v| fits(&v.ty)) {
        Some(value) => value,
        None => b.constant(dice, &Ty::new(left.ty.element, [size, 4])),
    };
    let other = right.ty.dims.iter().position(|s| *s == size)?;
    // Another dimension that both have goes along.
    let mut batch = Vec::new();
    for d in 0..left.ty.rank() {
        let same = |e: &usize| right.ty.dims[*e] == left.ty.dims[d] && *e != other;
        if d != contracted
            && batch.is_empty()
            && let Some(e) = (0..right.ty.rank()).find(same)
            && dice.chance(2)
        {
            batch.push((d, e));
        }
    }
    let mut dims: Vec<i64> = batch.iter().map(|(d, _)| left.ty.dims[*d]).collect();
    let batched =
        |d: usize, left: bool| batch.iter().any(|(l, r)| if left { *l == d } else { *r == d });
    dims.extend(
        (0..left.ty.rank())
            .filter(|d| *d != contracted && !batched(*d, true))
            .map(|d| left.ty.dims[d]),
    );
    dims.extend(
        (0..right.ty.rank())
            .filter(|d| *d != other && !batched(*d, false))
            .map(|d| right.ty.dims[d]),
    );
    let result = Ty::new(left.ty.element, dims);
    if result.elements() > MOST_ELEMENTS || result.rank() > 4 {
        return None;
    }
    let (lefts, rights): (Vec<usize>, Vec<usize>) = batch.iter().copied().unzip();
    let batching = if batch.is_empty() {
        String::new()
    } else {
        format!("batching_dims = [{}] x [{}], ", list(&lefts), list(&rights))
    };
    let exact = left.exact && right.exact && left.ty.is_integer();
    let body = format!(
        "stablehlo.dot_general {}, {}, {batching}contracting_dims = [{contracted}] x [{other}] : \
         ({}, {}) -> {}",
        left.name,
        right.name,
        left.ty.text(),
        right.ty.text(),
        result.text()
    );
    b.op(result, exact, body);
    Some(())
}

pub fn convolution(b: &mut Builder, dice: &mut Dice) -> Option<()> {
    let input = b.find(dice, |v| {
        v.ty.rank() == 3 && matches!(v.ty.element, "f32" | "i32" | "f64") && !v.ty.dims.contains(&0)
    })?;
    let [batch, width, features] = input.ty.dims[..] else { return None };
    let groups = if features % 2 == 0 && dice.chance(3) { 2 } else { 1 };
    let size = dice.between(1, 3);
    let out = *dice.pick(&[4, 2, 6]);
    let kernel = Ty::new(input.ty.element, [size, features / groups, out]);
    let kernel = b.of_type(dice, &kernel, false);
    let stride = dice.between(1, 2);
    let (low, high) = (dice.between(-1, 2), dice.between(0, 2));
    let (base, dilation) = (dice.between(1, 2), dice.between(1, 2));
    let spread = (width - 1) * base + 1 + low + high;
    let window = (size - 1) * dilation + 1;
    if spread < window {
        return None;
    }
    let length = (spread - window) / stride + 1;
    let result = Ty::new(input.ty.element, [batch, length, out]);
    if result.elements() > MOST_ELEMENTS {
        return None;
    }
    let reverse = dice.chance(3);
    let exact = input.exact && kernel.exact && input.ty.is_integer();
    let body = format!(
        "stablehlo.convolution({}, {}) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = \
         {{stride = [{stride}], pad = [[{low}, {high}]], lhs_dilate = [{base}], rhs_dilate = \
         [{dilation}], reverse = [{reverse}]}} {{batch_group_count = 1 : i64, feature_group_count \
         = {groups} : i64}} : ({}, {}) -> {}",
        input.name,
        kernel.name,
        input.ty.text(),
        kernel.ty.text(),
        result.text()
    );
    b.op(result, exact, body);
    Some(())
}

pub fn fft(b: &mut Builder, dice: &mut Dice) -> Option<()> {
    let value = b.find(dice, |v| {
        v.ty.rank() > 0 && v.ty.element == "complex<f32>" && !v.ty.dims.contains(&0)
    })?;
    let kind = *dice.pick(&["FFT", "IFFT"]);
    let length = *value.ty.dims.last()?;
    let body = format!(
        "\"stablehlo.fft\"({}) <{{fft_length = {}, fft_type = #stablehlo<fft_type {kind}>}}> : \
         ({}) -> {}",
        value.name,
        array([length]),
        value.ty.text(),
        value.ty.text()
    );
    b.op(value.ty.clone(), false, body);
    Some(())
}
