//! Floating-point operations of contractions: what nearly all of a model's are.

use super::graph::{Graph, Node};
use crate::proto;

/// Operations of a dot or convolution, two for a multiply and an add; 0 for anything else.
pub(super) fn of(graph: &Graph<'_>, node: Node) -> u64 {
    let proto = graph.get(node);
    let operations = match proto.opcode.as_str() {
        "dot" => dot(graph, node),
        "convolution" => convolution(graph, node),
        _ => None,
    };
    operations.unwrap_or(0)
}

fn dims<'a>(graph: &Graph<'a>, node: Node) -> Option<&'a [i64]> {
    Some(&graph.get(node).shape.as_ref()?.dimensions)
}

fn size(dims: &[i64], dim: i64) -> Option<u64> {
    u64::try_from(*dims.get(usize::try_from(dim).ok()?)?).ok()
}

/// Two for each element of the result and each position that is summed over.
fn dot(graph: &Graph<'_>, node: Node) -> Option<u64> {
    let numbers = graph.get(node).dot_dimension_numbers.clone().unwrap_or_default();
    let lhs = dims(graph, graph.operand(node, 0)?)?;
    let summed = numbers.lhs_contracting_dimensions.iter().map(|dim| size(lhs, *dim));
    let result = dims(graph, node)?.iter().map(|dim| u64::try_from(*dim).ok());
    summed.chain(result).try_fold(2u64, |product, size| product.checked_mul(size?))
}

/// Two for each element of the result and each element of the kernel that meets an element of
/// the input there, and not padding or a hole.
///
/// TPU's compiler writes a batched dot as a convolution whose window moves over the batch with
/// one such position for each, so that counting whole windows would be far off.
fn convolution(graph: &Graph<'_>, node: Node) -> Option<u64> {
    let proto = graph.get(node);
    let numbers = proto.convolution_dimension_numbers.as_ref()?;
    let input = dims(graph, graph.operand(node, 0)?)?;
    let kernel = dims(graph, graph.operand(node, 1)?)?;
    let result = dims(graph, node)?;
    // Input features in a feature group are the kernel's.
    let mut product = 2u64
        .checked_mul(size(kernel, numbers.kernel_input_feature_dimension)?)?
        .checked_mul(size(result, numbers.output_feature_dimension)?)?
        .checked_mul(size(result, numbers.output_batch_dimension)?)?;
    let window = proto.window.as_ref().map_or(&[][..], |window| &window.dimensions);
    for (position, window) in window.iter().enumerate() {
        let spatial = |dims: &[i64], numbers: &[i64]| size(dims, *numbers.get(position)?);
        let met = met(
            window,
            spatial(input, &numbers.input_spatial_dimensions)?.try_into().ok()?,
            spatial(kernel, &numbers.kernel_spatial_dimensions)?.try_into().ok()?,
            spatial(result, &numbers.output_spatial_dimensions)?.try_into().ok()?,
        );
        product = product.checked_mul(met)?;
    }
    Some(product)
}

/// Along one dimension, pairs of a position of the result and one of the kernel that meet an
/// element of the input: `o·stride + k·dilation − padding = i·holes` for an `i` inside.
fn met(window: &proto::WindowDimension, input: i64, kernel: i64, result: i64) -> u64 {
    let stride = window.stride.max(1);
    let holes = window.base_dilation.max(1);
    let last = (input - 1).saturating_mul(holes);
    let mut count = 0u64;
    for k in 0..kernel {
        let offset = k.saturating_mul(window.window_dilation.max(1)) - window.padding_low;
        // The first and the last position of the result that meet the input or a hole in it.
        let from = (-offset).max(0).div_euclid(stride) + i64::from((-offset).max(0) % stride != 0);
        let to = (last - offset).div_euclid(stride).min(result - 1);
        // Of these, those that aren't a hole come once in a period.
        let period = holes / gcd(stride, holes);
        let first = (from..=to).take(usize::try_from(period).unwrap_or(usize::MAX));
        let first = first.into_iter().find(|o| (o * stride + offset) % holes == 0);
        count += first.map_or(0, |first| ((to - first) / period + 1) as u64);
    }
    count
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By trying every pair.
    fn slowly(window: &proto::WindowDimension, input: i64, kernel: i64, result: i64) -> u64 {
        let meets = |o: i64, k: i64| {
            let place = o * window.stride + k * window.window_dilation - window.padding_low;
            place >= 0 && place % window.base_dilation == 0 && place / window.base_dilation < input
        };
        (0..result).flat_map(|o| (0..kernel).map(move |k| meets(o, k))).filter(|met| *met).count()
            as u64
    }

    #[test]
    fn positions_that_meet() {
        for stride in 1..5 {
            for window_dilation in 1..4 {
                for base_dilation in 1..5 {
                    for padding_low in -2..4 {
                        for (input, kernel, result) in [(1, 1, 1), (6, 3, 6), (5, 5, 9), (4, 8, 7)]
                        {
                            let window = proto::WindowDimension {
                                stride,
                                padding_low,
                                window_dilation,
                                base_dilation,
                            };
                            let counted = met(&window, input, kernel, result);
                            let expected = slowly(&window, input, kernel, result);
                            assert_eq!(counted, expected, "{window:?} {input} {kernel} {result}");
                        }
                    }
                }
            }
        }
    }
}
