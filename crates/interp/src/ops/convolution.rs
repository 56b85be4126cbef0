//! Convolutions: what each window meets becomes a row of a matrix, which is multiplied by the
//! kernel.

use ndarray::ArrayViewMut2;
use shard_ir::infer::WindowDim;
use shard_ir::ops::{ConvDims, Convolution, Flags, Padding};
use shard_ir::{Dims, ElementType};

use super::numeric::single;
use super::operands::exactly as expect;
use super::product::{Product, computed_in, each_product, finish, matrix, permuted, prepare};
use super::window::{Meeting, NOWHERE, WindowFields, window};
use crate::site::{Results, Site};
use crate::strided::{self, each_index, strides};
use crate::tensor::element_count;
use crate::{Fault, Tensor};

/// What both ops have in common.
struct Attributes<'a> {
    strides: Option<&'a Dims>,
    padding: Option<&'a Padding>,
    lhs_dilation: Option<&'a Dims>,
    rhs_dilation: Option<&'a Dims>,
    reversal: Option<&'a Flags>,
    dims: &'a ConvDims,
    feature_groups: i64,
    batch_groups: i64,
}

pub(crate) fn eval(
    op: &Convolution,
    site: &Site<'_>,
    operands: &[Tensor],
) -> Result<Results, Fault> {
    let element = site.result_element(0)?;
    match op {
        Convolution::Conv(op) => {
            let [lhs, rhs] = expect(operands)?;
            let attributes = Attributes {
                strides: op.strides.as_ref(),
                padding: op.padding.as_ref(),
                lhs_dilation: op.lhs_dilation.as_ref(),
                rhs_dilation: op.rhs_dilation.as_ref(),
                reversal: op.reversal.as_ref(),
                dims: &op.dims,
                feature_groups: op.feature_groups,
                batch_groups: op.batch_groups,
            };
            convolve(&attributes, lhs, rhs, element).map(single)
        }
        Convolution::DynamicConv(op) => {
            let [lhs, rhs, padding] = expect(operands)?;
            if !padding.element().is_integer() || padding.len() != 2 * op.dims.input_spatial.len() {
                return Err(Fault::invalid("a padding that isn't two integers a dimension"));
            }
            let pairs = padding.integers().as_chunks::<2>().0.iter().copied().collect();
            let attributes = Attributes {
                strides: op.strides.as_ref(),
                padding: Some(&pairs),
                lhs_dilation: op.lhs_dilation.as_ref(),
                rhs_dilation: op.rhs_dilation.as_ref(),
                reversal: op.reversal.as_ref(),
                dims: &op.dims,
                feature_groups: op.feature_groups,
                batch_groups: op.batch_groups,
            };
            convolve(&attributes, lhs, rhs, element).map(single)
        }
    }
}

/// Sizes of a convolution.
struct Sizes {
    batch: usize,
    /// Features of the input.
    features: usize,
    /// Features of the input that one feature of the result depends on.
    group_features: usize,
    /// Features of the result.
    out_features: usize,
    feature_groups: usize,
    batch_groups: usize,
    /// Elements of the input in one index of the batch and one feature.
    spatial: usize,
    /// Places of the window.
    places: usize,
    /// Taps of the window.
    taps: usize,
}

fn convolve(
    op: &Attributes<'_>,
    lhs: &Tensor,
    rhs: &Tensor,
    element: ElementType,
) -> Result<Tensor, Fault> {
    let dims = op.dims;
    let order = |batch: i64, feature: i64, spatial: &[i64]| -> Result<Vec<usize>, Fault> {
        let all: Vec<i64> = [batch].iter().chain(spatial).chain(&[feature]).copied().collect();
        let rank = lhs.rank() as i64;
        let mut sorted = all.clone();
        sorted.sort_unstable();
        if !sorted.into_iter().eq(0..rank) || rhs.rank() != lhs.rank() {
            return Err(Fault::invalid("dimensions of a convolution that aren't there"));
        }
        Ok(all.iter().map(|d| *d as usize).collect())
    };
    // Spatial dimensions in the middle; of the kernel, features of the result last.
    let input = order(dims.input_batch, dims.input_feature, &dims.input_spatial)?;
    let kernel =
        order(dims.kernel_input_feature, dims.kernel_output_feature, &dims.kernel_spatial)?;
    let output = order(dims.output_batch, dims.output_feature, &dims.output_spatial)?;
    let (last, middle) = (lhs.rank() - 1, 1..lhs.rank() - 1);
    let input_dims: Dims = input.iter().map(|d| lhs.dims()[*d]).collect();
    let kernel_dims: Dims = kernel.iter().map(|d| rhs.dims()[*d]).collect();
    let window = sliding(op, &kernel_dims[middle.clone()])?;

    // Places are counted in elements of the input of one batch, which has its features innermost.
    let steps = strides(&input_dims);
    let meeting = Meeting::new(&input_dims[middle.clone()], &steps[middle], &window)?;
    let size = |value: i64| value.max(0) as usize;
    let sizes = Sizes {
        batch: size(input_dims[0]),
        features: size(input_dims[last]),
        group_features: size(kernel_dims[0]),
        out_features: size(kernel_dims[last]),
        feature_groups: size(op.feature_groups),
        batch_groups: size(op.batch_groups),
        spatial: element_count(&input_dims[1..last])?,
        places: element_count(&meeting.places)?,
        taps: element_count(&meeting.taps)?,
    };
    check(&sizes)?;

    let mut shape = Dims::from_elem((sizes.batch / sizes.batch_groups) as i64, 1);
    shape.extend(meeting.places.iter().copied());
    shape.push(sizes.out_features as i64);
    element_count(&shape)?;

    let computed = computed_in([lhs.element(), rhs.element()], element);
    let (lhs, rhs) = (prepare(lhs, computed)?, prepare(rhs, computed)?);
    // The kernel with its taps first; where it is reversed, from the last tap to the first.
    let reversed = |at: usize| op.reversal.is_some_and(|flags| flags.0.get(at) == Some(&true));
    let mut taps_first: Vec<usize> = kernel[1..last].to_vec();
    taps_first.extend([kernel[0], kernel[last]]);

    each_product!(computed, |T| {
        let input = permuted(lhs.lanes::<T>(), lhs.dims(), &input);
        let kernel = turned(rhs.lanes::<T>(), rhs.dims(), &taps_first, reversed);
        let values = products::<T>(&sizes, &meeting, &input, &kernel)?;
        let mut back = vec![0; output.len()];
        output.iter().enumerate().for_each(|(at, d)| back[*d] = at);
        let values = permuted(&values, &shape, &back).into_owned();
        let dims = back.iter().map(|at| shape[*at]).collect();
        finish(computed, dims, values, element)?
    })
}

fn check(sizes: &Sizes) -> Result<(), Fault> {
    let Sizes { feature_groups, batch_groups, .. } = *sizes;
    if feature_groups == 0 || batch_groups == 0 || feature_groups > 1 && batch_groups > 1 {
        return Err(Fault::invalid("groups of a convolution that have no meaning"));
    }
    let fits = sizes.batch.is_multiple_of(batch_groups)
        && sizes.out_features.is_multiple_of(batch_groups)
        && sizes.out_features.is_multiple_of(feature_groups)
        && Some(sizes.features) == sizes.group_features.checked_mul(feature_groups);
    if !fits {
        return Err(Fault::invalid("a convolution of shapes that don't fit its groups"));
    }
    Ok(())
}

fn sliding(op: &Attributes<'_>, sizes: &[i64]) -> Result<Vec<WindowDim>, Fault> {
    let fields = WindowFields {
        strides: op.strides,
        padding: op.padding,
        base_dilations: op.lhs_dilation,
        window_dilations: op.rhs_dilation,
        // The kernel is turned instead.
        reversal: None,
    };
    window(sizes, fields)
}

/// The kernel with the dimensions in another order, and some of the spatial ones, which come
/// first, reversed.
fn turned<T: Copy>(
    values: &[T],
    dims: &[i64],
    order: &[usize],
    reversed: impl Fn(usize) -> bool,
) -> Vec<T> {
    if values.is_empty() {
        return Vec::new();
    }
    let from = strides(dims);
    let mut offset = 0;
    let mut steps: Vec<isize> = order.iter().map(|d| from[*d]).collect();
    let sizes: Vec<i64> = order.iter().map(|d| dims[*d]).collect();
    for (at, step) in steps.iter_mut().enumerate() {
        if reversed(at) && at + 2 < sizes.len() {
            offset += *step * (sizes[at] - 1) as isize;
            *step = -*step;
        }
    }
    strided::read(values, offset, &steps, &sizes)
}

/// The result with the batch first and the features last.
fn products<T: Product>(
    sizes: &Sizes,
    meeting: &Meeting,
    input: &[T],
    kernel: &[T],
) -> Result<Vec<T>, Fault> {
    /// Elements of the matrix that is made at once.
    const AT_ONCE: usize = 1 << 18;
    let Sizes { features, group_features, out_features, places, taps, .. } = *sizes;
    let groups = sizes.feature_groups * sizes.batch_groups;
    let (out_batch, columns) = (sizes.batch / sizes.batch_groups, out_features / groups);
    let zero: T = bytemuck::Zeroable::zeroed();
    let mut out = vec![zero; out_batch * places * out_features];
    let depth = taps * group_features;
    if out.is_empty() || depth == 0 {
        return Ok(out);
    }
    let chunk = (AT_ONCE / depth).clamp(1, places);
    let mut rows: Vec<T> = Vec::with_capacity(chunk * depth);
    let mut met = Vec::new();
    for group in 0..groups {
        let kernel = columns_of(kernel, out_features, group * columns, columns);
        let kernel = matrix(&kernel, depth, columns, false)?;
        let (feature, batch_group) = match sizes.feature_groups {
            1 => (0, group),
            _ => (group * group_features, 0),
        };
        for batch in 0..out_batch {
            let image = sizes.spatial * features;
            let from = (batch_group * out_batch + batch) * image;
            let image = &input[from..from + image];
            let mut place = 0;
            let mut outcome = Ok(());
            each_index(&meeting.places, |index| {
                meeting.taps_at(index, &mut met);
                for at in &met {
                    if *at == NOWHERE {
                        rows.resize(rows.len() + group_features, zero);
                    } else {
                        let from = at + feature;
                        rows.extend_from_slice(&image[from..from + group_features]);
                    }
                }
                place += 1;
                let count = rows.len() / depth;
                if count == chunk || place == places {
                    let first = (batch * places + place - count) * out_features;
                    let to = &mut out[first..first + count * out_features];
                    let product = multiply(&rows, count, kernel, to, group * columns);
                    outcome = outcome.clone().and(product);
                    rows.clear();
                }
            });
            outcome?;
        }
    }
    Ok(out)
}

/// Some columns of a matrix with so many.
fn columns_of<T: Copy>(values: &[T], width: usize, first: usize, count: usize) -> Vec<T> {
    values.chunks(width).flat_map(|row| &row[first..first + count]).copied().collect()
}

/// Writes the product to some columns of the result.
fn multiply<T: Product>(
    rows: &[T],
    count: usize,
    kernel: ndarray::ArrayView2<'_, T>,
    to: &mut [T],
    first_column: usize,
) -> Result<(), Fault> {
    let rows = matrix(rows, count, kernel.nrows(), false)?;
    let width = to.len() / count;
    let mut to = ArrayViewMut2::from_shape((count, width), to)
        .map_err(|_| Fault::invalid("a matrix of another size than its elements"))?;
    let columns = first_column..first_column + kernel.ncols();
    T::multiply(rows, kernel, to.slice_mut(ndarray::s![.., columns]));
    Ok(())
}
