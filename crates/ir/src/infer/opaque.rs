//! Ops that are kept whole, but whose constraints are known: asynchronous collectives, and those of
//! CHLO that no program of the models has.

use crate::ops::{Collective, Movement, Op, Opaque, RaggedDims, dense_i64};
use crate::{Attr, DYNAMIC, Dims, ElementType, TensorType, Type, TypeId};

use super::context::{
    Cx, compatible_dim, compatible_element, dims_text, size, tensor_text, type_text,
};
use super::reducer::{Reduced, reducer};

/// Checks an op by its name.
pub(super) fn check(cx: &mut Cx, op: &Opaque) {
    let name = cx.module.str(op.name);
    let _ = match name {
        "stablehlo.async_start" => async_start(cx),
        "stablehlo.async_done" => async_done(cx),
        "stablehlo.collective_reduce" => collective_reduce(cx, op),
        "chlo.ragged_dot" => ragged_dot(cx, op),
        "chlo.scan" => scan(cx, op),
        _ if name.starts_with("chlo.broadcast_") => broadcasting(cx, name),
        _ => None,
    };
}

/// A property, or an attribute written beside the properties.
fn attr<'a>(cx: &Cx<'a>, op: &'a Opaque, name: &str) -> Option<&'a Attr> {
    let module = cx.module;
    let all = op.properties.iter().chain(module.attrs(cx.attrs));
    all.into_iter().find(|(key, _)| module.str(*key) == name).map(|(_, attr)| attr)
}

/// The type `!stablehlo.future<...>` of some types.
fn future_of(cx: &Cx, types: &[TypeId]) -> String {
    let list: Vec<String> = types.iter().map(|&id| type_text(cx.module, id)).collect();
    format!("!stablehlo.future<{}>", list.join(", "))
}

fn async_start(cx: &mut Cx) -> Option<()> {
    require!(cx, cx.regions.len() == 1, "has {} regions, not 1", cx.regions.len());
    let (params, returns) = (cx.region_params(0)?, cx.region_returns(0)?);
    let operands = cx.operand_types();
    cx.same_types(("operands", &operands), ("parameters of the region", &params))?;
    let module = cx.module;
    let ops = module.block_ops(module.entry(cx.regions[0]));
    let inner = match ops {
        &[inner, _] => module.kind(inner),
        _ => {
            complain!(cx, "the region has {} ops, not one and a return", ops.len());
            return None;
        }
    };
    let fits = match inner {
        Op::Collective(kind) => !matches!(kind, Collective::PartitionId | Collective::ReplicaId),
        Op::Movement(kind) => matches!(
            kind,
            Movement::Slice(_) | Movement::DynamicSlice(_) | Movement::DynamicUpdateSlice
        ),
        Op::Opaque(op) => module.str(op.name) == "stablehlo.collective_reduce",
        _ => false,
    };
    require!(cx, fits, "the op in the region is neither a collective nor a slice");
    let (wanted, given) = (future_of(cx, &returns), cx.declared?);
    let given = given.first().map_or(String::new(), |&id| type_text(module, id));
    check!(cx, given == wanted, "result 0 has type {given}, the region gives {wanted}");
    Some(())
}

fn async_done(cx: &mut Cx) -> Option<()> {
    require!(cx, cx.operands.len() == 1, "has {} operands, not 1", cx.operands.len());
    let given = type_text(cx.module, cx.operand_type(0));
    let wanted = future_of(cx, cx.declared?);
    check!(cx, given == wanted, "operand 0 has type {given}, the results need {wanted}");
    Some(())
}

fn collective_reduce(cx: &mut Cx, op: &Opaque) -> Option<()> {
    let rooted = attr(cx, op, "has_dynamic_root").is_some_and(|attr| *attr != Attr::Bool(false));
    let count = cx.operands.len();
    let data = count.saturating_sub(usize::from(rooted));
    require!(cx, data > 0, "has {count} operands, of which {data} are data; at least 1 is needed");
    if rooted {
        let root = cx.tensor(data, "the root")?;
        require!(
            cx,
            root.rank() == 1 && root.element == ElementType::I32,
            "the root has type {}, not a list of i32",
            tensor_text(cx.module, root)
        );
        let n = root.dims[0];
        check!(cx, compatible_dim(n, data as i64), "the root has {n} elements for {data} operands");
    }
    if attr(cx, op, "use_global_device_ids").is_some() {
        let handle = match attr(cx, op, "channel_handle") {
            Some(Attr::Channel(channel)) => channel.handle,
            _ => 0,
        };
        check!(cx, handle > 0, "channel {handle} isn't positive, but ids are global");
    }
    let inputs = cx.tensors(0..data, "operand")?;
    let element = inputs[0].element;
    require!(cx, cx.regions.len() == 1, "has {} regions, not 1", cx.regions.len());
    reducer(cx, 0, &[Reduced { input: element, init: element }], &[])?;
    let results = cx.declared?.len();
    check!(cx, results == data, "has {results} results for {data} operands with data");
    Some(())
}

fn element_of(cx: &Cx, types: &[TypeId]) -> Option<ElementType> {
    match cx.module.ty(*types.first()?) {
        Type::Tensor(TensorType { element, .. }) | Type::Unranked(element) => Some(*element),
        _ => None,
    }
}

/// The element types agree; shapes are broadcast.
fn broadcasting(cx: &mut Cx, name: &str) -> Option<()> {
    let types = cx.operand_types();
    let elements: Vec<ElementType> =
        types.iter().map(|&id| element_of(cx, &[id])).collect::<Option<_>>()?;
    let compared = match name {
        "chlo.broadcast_select" => elements.get(1..)?,
        _ => &elements[..],
    };
    let first = *compared.first()?;
    for &other in compared {
        check!(
            cx,
            compatible_element(first, other) && same_quantization(cx, first, other),
            "operands have elements of {} and of {}",
            cx.show_element(first),
            cx.show_element(other)
        );
    }
    let result = element_of(cx, cx.declared?)?;
    if !matches!(name, "chlo.broadcast_compare" | "chlo.broadcast_complex") {
        check!(
            cx,
            compatible_element(first, result) && same_quantization(cx, first, result),
            "the result has elements of {}, the operands of {}",
            cx.show_element(result),
            cx.show_element(first)
        );
    }
    Some(())
}

/// Quantized types may differ in scale and zero point only.
fn same_quantization(cx: &Cx, a: ElementType, b: ElementType) -> bool {
    super::quantized::promotable(cx, a, b) && super::quantized::promotable(cx, b, a)
}

fn ragged_dot(cx: &mut Cx, op: &Opaque) -> Option<()> {
    let Some(Attr::Text(text)) = attr(cx, op, "ragged_dot_dimension_numbers") else {
        complain!(cx, "needs ragged_dot_dimension_numbers");
        return None;
    };
    let dims = RaggedDims::from_text(cx.module.str(*text))?;
    require!(cx, cx.operands.len() == 3, "has {} operands, not 3", cx.operands.len());
    let (lhs, rhs) = (cx.tensor(0, "lhs")?, cx.tensor(1, "rhs")?);
    let sizes = cx.tensor(2, "group_sizes")?;
    let joined =
        |lists: &[&Dims]| -> Dims { lists.iter().flat_map(|l| l.iter().copied()).collect() };
    let l = cx.dims(
        "batching and contracting dimensions of lhs",
        &joined(&[&dims.batch[0], &dims.contracting[0]]),
        lhs.rank(),
    )?;
    let r = cx.dims(
        "batching, contracting and group dimensions of rhs",
        &joined(&[&dims.batch[1], &dims.contracting[1], &dims.group]),
        rhs.rank(),
    )?;
    let pairs = [(&dims.batch, "batching"), (&dims.contracting, "contracting")];
    for ([a, b], what) in pairs {
        require!(cx, a.len() == b.len(), "lhs has {} {what} dimensions, rhs {}", a.len(), b.len());
    }
    for (&a, &b) in l.iter().zip(&r) {
        require!(
            cx,
            compatible_dim(lhs.dims[a], rhs.dims[b]),
            "dimension {a} of lhs is {}, but dimension {b} of rhs {}",
            size(lhs.dims[a]),
            size(rhs.dims[b])
        );
    }
    require!(cx, dims.ragged.len() == 1, "lhs has {} ragged dimensions, not 1", dims.ragged.len());
    let ragged = cx.dim("the ragged dimension", dims.ragged[0], lhs.rank())?;
    let groups = dims.group.len();
    match l.iter().find(|&&dim| dim == ragged) {
        None => require!(cx, groups == 1, "rhs has {groups} group dimensions, not 1"),
        Some(_) => require!(
            cx,
            groups == 0,
            "rhs has {groups} group dimensions, but the ragged one is batching or contracting"
        ),
    }
    let outer: Dims = dims.outer(lhs.rank())?.iter().map(|&dim| lhs.dims[dim as usize]).collect();
    require!(cx, sizes.rank() >= 1, "group_sizes has rank 0");
    let (&last, before) = sizes.dims.split_last()?;
    if !before.is_empty() || !outer.is_empty() {
        let fits = before.is_empty()
            || before.len() == outer.len()
                && before.iter().zip(&outer).all(|(&a, &b)| compatible_dim(a, b));
        require!(
            cx,
            fits,
            "group_sizes has shape {}, expected {} before the last",
            dims_text(&sizes.dims),
            dims_text(&outer)
        );
    }
    if let Some(&group) = dims.group.first() {
        let own = rhs.dims[group as usize];
        check!(
            cx,
            own == DYNAMIC || compatible_dim(own, last),
            "the group dimension of rhs is {}, but there are {} group_sizes",
            size(own),
            size(last)
        );
    }
    Some(())
}

fn scan(cx: &mut Cx, op: &Opaque) -> Option<()> {
    let segments = |name: &str| match attr(cx, op, name) {
        Some(Attr::DenseArray(_, sizes)) => Some(sizes.clone()),
        Some(Attr::Dense(dense)) => dense_i64(dense, cx.module),
        _ => None,
    };
    let counts = segments("operandSegmentSizes")?;
    let inputs = usize::try_from(*counts.first()?).ok()?;
    require!(cx, inputs <= cx.operands.len(), "has fewer operands than operandSegmentSizes says");
    let integer = |name: &str| match attr(cx, op, name) {
        Some(Attr::Int(value, _)) => i64::try_from(*value).ok(),
        _ => None,
    };
    let (dimension, length) = (integer("dimension")?, integer("scan_dim_size"));
    require!(cx, cx.regions.len() == 1, "has {} regions, not 1", cx.regions.len());
    let params = cx.region_params(0)?;
    let count = cx.operands.len();
    require!(cx, params.len() == count, "the body has {} parameters for {count}", params.len());
    for (at, &param) in params.iter().enumerate() {
        let x = cx.tensor(at, "operand")?;
        let mut wanted = x.clone();
        if at < inputs {
            let dim = cx.dim("dimension", dimension, x.rank())?;
            let own = wanted.dims.remove(dim);
            if let Some(length) = length {
                check!(
                    cx,
                    compatible_dim(own, length),
                    "dimension {dim} of operand {at} is {}, but scan_dim_size {length}",
                    size(own)
                );
            }
        }
        let given = cx.module.ty(param).as_tensor();
        let fits = given.is_some_and(|given| {
            given.rank() == wanted.rank()
                && compatible_element(given.element, wanted.element)
                && given.dims.iter().zip(&wanted.dims).all(|(&a, &b)| compatible_dim(a, b))
        });
        check!(
            cx,
            fits,
            "parameter {at} of the body has type {}, not {}",
            cx.show(param),
            tensor_text(cx.module, &wanted)
        );
    }
    Some(())
}
