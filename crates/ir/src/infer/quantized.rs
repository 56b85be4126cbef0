//! What an op asks of quantized operands and results beyond their shapes and kinds: where there may
//! be a scale for each index of a dimension, and which parameters must agree.

use crate::ops::{Convolution, Creation, Dot, Elementwise, Movement, Op};
use crate::quant::{QuantParam, QuantParams, QuantType};
use crate::{DYNAMIC, ElementType, TensorType, Type, TypeId};

use super::context::Cx;

/// A tensor with its quantization.
struct Quantized<'a> {
    tensor: &'a TensorType,
    quant: QuantType,
}

/// The quantization of a tensor's elements.
fn quantization(cx: &Cx, ty: &TensorType) -> Option<QuantType> {
    match ty.element {
        ElementType::Quantized(text) => QuantType::parse(cx.module.str(text))?.ok(),
        _ => None,
    }
}

fn is_quantized(cx: &Cx, id: TypeId) -> bool {
    matches!(cx.module.ty(id), Type::Tensor(TensorType { element: ElementType::Quantized(_), .. }))
}

/// Whether an accumulator of one quantized type can take another: as wide, and of the same float.
pub(super) fn promotable(cx: &Cx, from: ElementType, to: ElementType) -> bool {
    let [from, to] = [from, to].map(|element| match element {
        ElementType::Quantized(text) => QuantType::parse(cx.module.str(text))?.ok(),
        _ => None,
    });
    let (Some(from), Some(to)) = (from, to) else { return true };
    from.signed == to.signed && from.width <= to.width && from.expressed == to.expressed
}

/// Checks an op that has a quantized operand or result.
pub(super) fn check(cx: &mut Cx, op: &Op) {
    let operands = cx.operand_types();
    let declared = cx.declared.unwrap_or_default();
    if !operands.iter().chain(declared).any(|&id| is_quantized(cx, id)) {
        return;
    }
    if matches!(op, Op::Opaque(_)) {
        return;
    }
    let mut all = Vec::new();
    for (list, what) in [(&operands[..], "operand"), (declared, "result")] {
        for (at, &id) in list.iter().enumerate() {
            let Some(tensor) = cx.module.ty(id).as_tensor() else { continue };
            let Some(quant) = quantization(cx, tensor) else { continue };
            value(
                cx,
                op,
                &format!("{what} {at}"),
                (what == "operand").then_some(at),
                tensor,
                &quant,
            );
            all.push((what, at, Quantized { tensor, quant }));
        }
    }
    let find = |wanted: &str, number: usize| {
        all.iter().find(|(what, at, _)| *what == wanted && *at == number).map(|(_, _, found)| found)
    };
    let operand = |at: usize| find("operand", at);
    let result = find("result", 0);
    if declared.is_empty() || !cx.errors.is_empty() {
        return;
    }
    match op {
        Op::Elementwise(Elementwise::Add) => add(cx, [operand(0), operand(1), result]),
        Op::Elementwise(Elementwise::UniformQuantize) => {
            let Some(to) = result else { return };
            let from = match (operand(0), cx.module.ty(operands[0]).as_tensor()) {
                (Some(from), _) => from.quant.expressed,
                (None, Some(from)) => from.element,
                (None, None) => return,
            };
            expressed(cx, from, to);
        }
        Op::Elementwise(Elementwise::UniformDequantize) => {
            let (Some(from), Some(to)) = (operand(0), cx.module.ty(declared[0]).as_tensor()) else {
                return;
            };
            expressed(cx, to.element, from);
        }
        Op::Movement(Movement::Transpose(op)) => {
            let (Some(x), Some(y)) = (operand(0), result) else { return };
            same_params(cx, x, y);
            if let (Some((from, _)), Some((to, _))) = (x.quant.axis(), y.quant.axis()) {
                let origin = op.permutation.get(to).copied();
                check!(
                    cx,
                    origin == Some(from as i64),
                    "the operand is quantized along dimension {from}, the result along {to}, \
                     which the permutation takes from {}",
                    origin.unwrap_or(-1)
                );
            }
        }
        Op::Movement(Movement::Reshape | Movement::DynamicReshape) => {
            if let (Some(x), Some(y)) = (operand(0), result) {
                same_params(cx, x, y);
                reshape(cx, x, y);
            }
        }
        Op::Movement(Movement::BroadcastInDim(op)) => {
            broadcast(cx, operand(0), result, &op.dimensions);
        }
        Op::Movement(Movement::DynamicBroadcastInDim(op)) => {
            broadcast(cx, operand(0), result, &op.dimensions);
        }
        Op::Dot(Dot::DotGeneral(op)) => {
            contraction(cx, [operand(0), operand(1), result]);
            if let Some(rhs) = operand(1) {
                zero_points(cx, rhs);
                if let Some((axis, _)) = rhs.quant.axis() {
                    check!(
                        cx,
                        !op.dims.rhs_contracting.contains(&(axis as i64)),
                        "rhs is quantized along its contracting dimension {axis}"
                    );
                }
            }
        }
        Op::Convolution(kind) => {
            contraction(cx, [operand(0), operand(1), result]);
            let dims = match kind {
                Convolution::Conv(op) => &op.dims,
                Convolution::DynamicConv(op) => &op.dims,
            };
            for (what, found, wanted) in [
                ("rhs", operand(1), dims.kernel_output_feature),
                ("the result", result, dims.output_feature),
            ] {
                let axis = found.and_then(|found| found.quant.axis());
                if let Some((axis, _)) = axis {
                    check!(
                        cx,
                        axis as i64 == wanted,
                        "{what} is quantized along dimension {axis}, not along its output \
                         feature dimension {wanted}"
                    );
                }
            }
        }
        _ => {}
    }
}

/// Checks the quantization of one value by itself.
fn value(
    cx: &mut Cx,
    op: &Op,
    name: &str,
    operand: Option<usize>,
    tensor: &TensorType,
    quant: &QuantType,
) {
    check!(
        cx,
        matches!(quant.width, 2 | 4 | 8 | 16 | 32),
        "{name} is stored in {} bits, not 2, 4, 8, 16 or 32",
        quant.width
    );
    let (low, high) = quant.bounds;
    for QuantParam { zero_point, .. } in quant.all_params() {
        require_in(cx, name, zero_point, low, high);
    }
    match &quant.params {
        QuantParams::Tensor(_) => {}
        QuantParams::Blocks { .. } => {
            complain!(cx, "{name} is quantized in blocks, which StableHLO doesn't have");
        }
        QuantParams::Axis { .. } => {
            let Some((axis, count)) = quant.axis() else { return };
            let size = tensor.dims.get(axis).copied();
            check!(
                cx,
                size.is_some_and(|size| size == DYNAMIC || size == count as i64),
                "{name} has {count} scales for dimension {axis} of {}",
                cx.show_tensor(tensor)
            );
            check!(
                cx,
                takes_axis(op, operand),
                "{name} is quantized along a dimension, which this op doesn't take"
            );
        }
    }
}

fn require_in(cx: &mut Cx, name: &str, zero_point: i64, low: i64, high: i64) {
    check!(
        cx,
        (low..=high).contains(&zero_point),
        "{name} has the zero point {zero_point}, out of the range of its storage, {low} to {high}"
    );
}

/// Whether a value of an op may have a scale for each index of a dimension. `operand` is the number
/// of the operand, `None` for a result.
fn takes_axis(op: &Op, operand: Option<usize>) -> bool {
    match op {
        Op::Elementwise(
            Elementwise::Add | Elementwise::UniformQuantize | Elementwise::UniformDequantize,
        )
        | Op::Creation(Creation::Constant(_))
        | Op::Custom(_)
        | Op::Effects(_)
        | Op::Sdy(_)
        | Op::Hlo(_)
        | Op::Opaque(_) => true,
        Op::Control(kind) => !matches!(kind, crate::ops::Control::OptimizationBarrier),
        Op::Movement(kind) => matches!(
            kind,
            Movement::BitcastConvert
                | Movement::Broadcast(_)
                | Movement::BroadcastInDim(_)
                | Movement::DynamicBroadcastInDim(_)
                | Movement::Reshape
                | Movement::DynamicReshape
                | Movement::Transpose(_)
                | Movement::GetDimensionSize(_)
        ),
        Op::Dot(_) | Op::Convolution(_) => operand != Some(0),
        Op::Elementwise(_)
        | Op::Creation(_)
        | Op::Reduction(_)
        | Op::Indexing(_)
        | Op::Sorting(_)
        | Op::Linalg(_)
        | Op::Random(_)
        | Op::Normalization(_)
        | Op::Collective(_) => false,
    }
}

fn expressed(cx: &mut Cx, wanted: ElementType, of: &Quantized) {
    check!(
        cx,
        of.quant.expressed == wanted,
        "a quantized type that stands for {} meets {}",
        of.quant.expressed,
        cx.show_element(wanted)
    );
}

/// Operand and result have the same parameters.
fn same_params(cx: &mut Cx, x: &Quantized, y: &Quantized) {
    let same = x.quant.axis().is_some() == y.quant.axis().is_some()
        && x.quant.all_params() == y.quant.all_params();
    check!(cx, same, "the operand and the result have different scales or zero points");
}

/// The quantized dimension survives, and as much lies before it.
fn reshape(cx: &mut Cx, x: &Quantized, y: &Quantized) {
    let (Some((from, _)), Some((to, _))) = (x.quant.axis(), y.quant.axis()) else { return };
    let (a, b) = (&x.tensor.dims, &y.tensor.dims);
    if !x.tensor.is_static() || !y.tensor.is_static() {
        return;
    }
    check!(
        cx,
        a.get(from) == b.get(to),
        "the quantized dimension {from} of the operand and {to} of the result have different sizes"
    );
    let before = |dims: &[i64], axis: usize| {
        dims.iter().take(axis).fold(1i64, |product, &dim| product.saturating_mul(dim))
    };
    let (left, right) = (before(a, from), before(b, to));
    check!(
        cx,
        left == right,
        "{left} elements lie before the quantized dimension of the operand, {right} before that \
         of the result"
    );
}

fn broadcast(cx: &mut Cx, x: Option<&Quantized>, y: Option<&Quantized>, dimensions: &[i64]) {
    let (Some(x), Some(y)) = (x, y) else { return };
    let (Some((from, _)), Some((to, _))) = (x.quant.axis(), y.quant.axis()) else {
        same_params(cx, x, y);
        return;
    };
    let mapped = dimensions.get(from).copied();
    require_axis(cx, from, to, mapped);
    if x.tensor.dims.get(from) == Some(&1) {
        let first = x.quant.all_params().first().copied();
        let same = y.quant.all_params().iter().all(|param| Some(*param) == first);
        check!(
            cx,
            same,
            "the result has other scales or zero points than the one of the operand that is \
             repeated"
        );
    } else {
        same_params(cx, x, y);
    }
}

fn require_axis(cx: &mut Cx, from: usize, to: usize, mapped: Option<i64>) {
    check!(
        cx,
        mapped == Some(to as i64),
        "the operand is quantized along dimension {from}, which becomes {}, but the result along \
         {to}",
        mapped.unwrap_or(-1)
    );
}

/// Of a sum: the types must agree, and where one operand has an axis the result has it.
fn add(cx: &mut Cx, [lhs, rhs, result]: [Option<&Quantized>; 3]) {
    let (Some(lhs), Some(rhs), Some(result)) = (lhs, rhs, result) else {
        complain!(cx, "only some of the operands and the result are quantized");
        return;
    };
    for (name, operand) in [("lhs", lhs), ("rhs", rhs)] {
        check!(
            cx,
            operand.quant.same_storage(&result.quant),
            "{name} and the result are stored differently"
        );
        check!(
            cx,
            operand.quant.expressed == result.quant.expressed,
            "{name} stands for {}, the result for {}",
            operand.quant.expressed,
            result.quant.expressed
        );
        if let Some((axis, _)) = operand.quant.axis() {
            let own = result.quant.axis().map(|(axis, _)| axis);
            check!(
                cx,
                own == Some(axis),
                "{name} is quantized along dimension {axis}, the result isn't"
            );
        }
    }
}

/// Of a product of sums: which of the three are quantized, and that their types agree.
fn contraction(cx: &mut Cx, [lhs, rhs, result]: [Option<&Quantized>; 3]) {
    let Some(rhs) = rhs else {
        complain!(cx, "rhs isn't quantized, but lhs or the result is");
        return;
    };
    match (lhs, result) {
        (Some(lhs), Some(result)) => {
            let storage =
                lhs.quant.signed == rhs.quant.signed && lhs.quant.width == rhs.quant.width;
            check!(cx, storage, "lhs and rhs are stored differently");
            let (l, r, out) = (lhs.quant.expressed, rhs.quant.expressed, result.quant.expressed);
            check!(cx, l == r && r == out, "lhs stands for {l}, rhs for {r}, the result for {out}");
            check!(
                cx,
                rhs.quant.axis().is_some() || result.quant.axis().is_none(),
                "the result is quantized along a dimension, rhs isn't"
            );
        }
        (None, None) => {
            for (name, id) in [
                ("lhs", Some(cx.operand_type(0))),
                ("the result", cx.declared.and_then(|types| types.first().copied())),
            ] {
                let element = id.and_then(|id| cx.module.ty(id).as_tensor()).map(|ty| ty.element);
                let Some(element) = element else { continue };
                check!(
                    cx,
                    element == rhs.quant.expressed,
                    "rhs stands for {}, but {name} has elements of type {}",
                    rhs.quant.expressed,
                    cx.show_element(element)
                );
            }
        }
        (Some(_), None) | (None, Some(_)) => {
            complain!(cx, "lhs and the result must both be quantized, or neither");
        }
    }
}

fn zero_points(cx: &mut Cx, rhs: &Quantized) {
    check!(
        cx,
        rhs.quant.all_params().iter().all(|param| param.zero_point == 0),
        "rhs has a zero point other than 0"
    );
}
