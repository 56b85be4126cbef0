//! Data movement, gathers and scatters.

use super::super::program::{Builder, Dice, MOST_ELEMENTS, Ty};

fn list(numbers: impl IntoIterator<Item = i64>) -> String {
    let numbers: Vec<String> = numbers.into_iter().map(|n| n.to_string()).collect();
    numbers.join(", ")
}

pub fn array(numbers: impl IntoIterator<Item = i64>) -> String {
    let list = list(numbers);
    if list.is_empty() { "array<i64>".to_owned() } else { format!("array<i64: {list}>") }
}

pub fn transpose(b: &mut Builder, dice: &mut Dice) -> Option<()> {
    let value = b.find(dice, |v| v.ty.rank() > 1)?;
    let mut order: Vec<i64> = (0..value.ty.rank() as i64).collect();
    for i in (1..order.len()).rev() {
        order.swap(i, dice.below(i + 1));
    }
    let dims: Vec<i64> = order.iter().map(|dim| value.ty.dims[*dim as usize]).collect();
    let result = Ty::new(value.ty.element, dims);
    let body = format!(
        "stablehlo.transpose {}, dims = [{}] : ({}) -> {}",
        value.name,
        list(order),
        value.ty.text(),
        result.text()
    );
    b.op(result, value.exact, body);
    Some(())
}

pub fn broadcast(b: &mut Builder, dice: &mut Dice) -> Option<()> {
    let value = b.find(dice, |v| v.ty.rank() < 3)?;
    let size = *dice.pick(&[4, 2, 8, 3]);
    if value.ty.elements() * size > MOST_ELEMENTS {
        return None;
    }
    let at = dice.below(value.ty.rank() + 1);
    let mut dims = value.ty.dims.clone();
    dims.insert(at, size);
    let kept = (0..value.ty.rank()).map(|dim| (dim + usize::from(dim >= at)) as i64);
    let result = Ty::new(value.ty.element, dims);
    let body = format!(
        "stablehlo.broadcast_in_dim {}, dims = [{}] : ({}) -> {}",
        value.name,
        list(kept),
        value.ty.text(),
        result.text()
    );
    b.op(result, value.exact, body);
    Some(())
}

pub fn reshape(b: &mut Builder, dice: &mut Dice) -> Option<()> {
    let value = b.find(dice, |_| true)?;
    let mut dims = value.ty.dims.clone();
    match dice.below(3) {
        // Merges two dimensions.
        0 if dims.len() > 1 => {
            let at = dice.below(dims.len() - 1);
            let size = dims.remove(at + 1);
            dims[at] *= size;
        }
        // Splits one.
        1 if !dims.is_empty() => {
            let at = dice.below(dims.len());
            let factor = *dice.pick(&[2, 3, 4]);
            if dims[at] % factor != 0 || dims.len() > 3 {
                return None;
            }
            dims[at] /= factor;
            dims.insert(at, factor);
        }
        _ if dims.len() < 4 => dims.insert(dice.below(dims.len() + 1), 1),
        _ => return None,
    }
    let result = Ty::new(value.ty.element, dims);
    let body =
        format!("stablehlo.reshape {} : ({}) -> {}", value.name, value.ty.text(), result.text());
    b.op(result, value.exact, body);
    Some(())
}

pub fn slice(b: &mut Builder, dice: &mut Dice) -> Option<()> {
    let value = b.find(dice, |v| v.ty.rank() > 0)?;
    let mut ranges = Vec::new();
    let mut dims = Vec::new();
    for &size in &value.ty.dims {
        let start = dice.between(0, size);
        let limit = dice.between(start, size);
        let (start, limit) = if dice.chance(2) { (0, size) } else { (start, limit) };
        let step = *dice.pick(&[1, 1, 2, 3]);
        ranges.push(format!("{start}:{limit}:{step}"));
        dims.push((limit - start + step - 1) / step);
    }
    let result = Ty::new(value.ty.element, dims);
    let body = format!(
        "stablehlo.slice {} [{}] : ({}) -> {}",
        value.name,
        ranges.join(", "),
        value.ty.text(),
        result.text()
    );
    b.op(result, value.exact, body);
    Some(())
}

pub fn pad(b: &mut Builder, dice: &mut Dice) -> Option<()> {
    let value = b.find(dice, |v| v.ty.rank() > 0)?;
    let scalar = Ty::new(value.ty.element, []);
    let with = b.of_type(dice, &scalar, false);
    let (mut low, mut high, mut interior, mut dims) = (vec![], vec![], vec![], vec![]);
    for &size in &value.ty.dims {
        let inside = *dice.pick(&[0, 0, 1, 2]);
        let spread = if size > 0 { size + (size - 1) * inside } else { 0 };
        let first = dice.between(-1, 2);
        let last = dice.between(-1, 2);
        if spread + first + last < 0 {
            return None;
        }
        low.push(first);
        high.push(last);
        interior.push(inside);
        dims.push(spread + first + last);
    }
    let result = Ty::new(value.ty.element, dims);
    if result.elements() > MOST_ELEMENTS {
        return None;
    }
    let body = format!(
        "stablehlo.pad {}, {}, low = [{}], high = [{}], interior = [{}] : ({}, {}) -> {}",
        value.name,
        with.name,
        list(low),
        list(high),
        list(interior),
        value.ty.text(),
        scalar.text(),
        result.text()
    );
    b.op(result, value.exact && with.exact, body);
    Some(())
}

pub fn concatenate(b: &mut Builder, dice: &mut Dice) -> Option<()> {
    let first = b.find(dice, |v| v.ty.rank() > 0)?;
    let dim = dice.below(first.ty.rank());
    let fits = |ty: &Ty| {
        ty.element == first.ty.element
            && ty.rank() == first.ty.rank()
            && (0..ty.rank()).all(|d| d == dim || ty.dims[d] == first.ty.dims[d])
    };
    let second = b.find(dice, |v| fits(&v.ty))?;
    let mut dims = first.ty.dims.clone();
    dims[dim] += second.ty.dims[dim];
    let result = Ty::new(first.ty.element, dims);
    if result.elements() > MOST_ELEMENTS {
        return None;
    }
    let body = format!(
        "stablehlo.concatenate {}, {}, dim = {dim} : ({}, {}) -> {}",
        first.name,
        second.name,
        first.ty.text(),
        second.ty.text(),
        result.text()
    );
    b.op(result, first.exact && second.exact, body);
    Some(())
}

pub fn reverse(b: &mut Builder, dice: &mut Dice) -> Option<()> {
    let value = b.find(dice, |v| v.ty.rank() > 0)?;
    let dim = dice.below(value.ty.rank());
    let body = format!("stablehlo.reverse {}, dims = [{dim}] : {}", value.name, value.ty.text());
    b.op(value.ty.clone(), value.exact, body);
    Some(())
}

/// Start indices, some of which are out of bounds: constants, or computed.
fn starts(b: &mut Builder, dice: &mut Dice, rank: usize) -> Vec<String> {
    let scalar = Ty::new("i32", []);
    let mut names = Vec::new();
    for _ in 0..rank {
        let found = b.find(dice, |v| v.ty == scalar && v.exact);
        let name = match found {
            Some(value) if dice.chance(2) => value.name,
            _ => {
                let at = dice.between(-2, 6);
                let body = format!("stablehlo.constant dense<{at}> : tensor<i32>");
                b.op(scalar.clone(), true, body).name
            }
        };
        names.push(name);
    }
    names
}

pub fn dynamic_slice(b: &mut Builder, dice: &mut Dice) -> Option<()> {
    let value = b.find(dice, |v| v.ty.rank() > 0)?;
    let sizes: Vec<i64> = value.ty.dims.iter().map(|size| dice.between(0, *size)).collect();
    let starts = starts(b, dice, value.ty.rank());
    let result = Ty::new(value.ty.element, sizes.clone());
    let scalars = vec!["tensor<i32>"; starts.len()].join(", ");
    let body = format!(
        "stablehlo.dynamic_slice {}, {}, sizes = [{}] : ({}, {scalars}) -> {}",
        value.name,
        starts.join(", "),
        list(sizes),
        value.ty.text(),
        result.text()
    );
    b.op(result, value.exact, body);
    Some(())
}

pub fn dynamic_update_slice(b: &mut Builder, dice: &mut Dice) -> Option<()> {
    let value = b.find(dice, |v| v.ty.rank() > 0)?;
    let ty = value.ty.clone();
    let fits = |other: &Ty| {
        other.element == ty.element
            && other.rank() == ty.rank()
            && (0..ty.rank()).all(|d| other.dims[d] <= ty.dims[d])
    };
    let update = b.find(dice, |v| fits(&v.ty))?;
    let starts = starts(b, dice, ty.rank());
    let scalars = vec!["tensor<i32>"; starts.len()].join(", ");
    let body = format!(
        "stablehlo.dynamic_update_slice {}, {}, {} : ({}, {}, {scalars}) -> {}",
        value.name,
        update.name,
        starts.join(", "),
        ty.text(),
        update.ty.text(),
        ty.text()
    );
    b.op(ty, value.exact && update.exact, body);
    Some(())
}

/// Indices into a dimension of some size, some of them out of bounds.
fn indices(b: &mut Builder, dice: &mut Dice, count: i64, size: i64) -> String {
    let found = b.find(dice, |v| v.exact && v.ty == Ty::new("i32", [count]));
    match found {
        Some(value) => value.name,
        None => {
            let numbers: Vec<i64> = (0..count)
                .map(|i| (i * dice.between(1, 3) + dice.between(-1, 2)) % (size + 1))
                .collect();
            let body =
                format!("stablehlo.constant dense<[{}]> : tensor<{count}xi32>", list(numbers));
            b.op(Ty::new("i32", [count]), true, body).name
        }
    }
}

pub fn gather(b: &mut Builder, dice: &mut Dice) -> Option<()> {
    let value = b.find(dice, |v| v.ty.rank() > 0 && !v.ty.dims.contains(&0))?;
    let ty = value.ty.clone();
    let dim = dice.below(ty.rank());
    let count = *dice.pick(&[4, 3, 8]);
    let indices = indices(b, dice, count, ty.dims[dim]);
    let mut sizes = ty.dims.clone();
    sizes[dim] = 1;
    let mut dims = sizes.clone();
    dims[dim] = count;
    // The indices' dimension takes the place of the one that is gathered.
    let result = Ty::new(ty.element, dims);
    if result.elements() > MOST_ELEMENTS {
        return None;
    }
    let offsets = (0..ty.rank() as i64).filter(|d| *d != dim as i64);
    let body = format!(
        "\"stablehlo.gather\"({}, {indices}) <{{dimension_numbers = #stablehlo.gather<offset_dims \
         = [{}], collapsed_slice_dims = [{dim}], start_index_map = [{dim}], index_vector_dim = \
         1>, slice_sizes = {}}}> : ({}, tensor<{count}xi32>) -> {}",
        value.name,
        list(offsets),
        array(sizes),
        ty.text(),
        result.text()
    );
    b.op(result, value.exact, body);
    Some(())
}

pub fn scatter(b: &mut Builder, dice: &mut Dice) -> Option<()> {
    let value = b.find(dice, |v| {
        v.ty.rank() > 0 && !v.ty.dims.contains(&0) && (v.ty.is_float() || v.ty.is_integer())
    })?;
    let ty = value.ty.clone();
    let dim = dice.below(ty.rank());
    let count = *dice.pick(&[4, 3, 8]);
    let indices = indices(b, dice, count, ty.dims[dim]);
    let mut dims = ty.dims.clone();
    dims[dim] = count;
    let updates_ty = Ty::new(ty.element, dims);
    let updates = b.of_type(dice, &updates_ty, false);
    let windows = (0..ty.rank() as i64).filter(|d| *d != dim as i64);
    let op = *dice.pick(&["add", "maximum", "minimum"]);
    let scalar = Ty::new(ty.element, []).text();
    let exact = value.exact && updates.exact && (op != "add" || ty.is_integer());
    let body = format!(
        "\"stablehlo.scatter\"({}, {indices}, {}) <{{scatter_dimension_numbers = \
         #stablehlo.scatter<update_window_dims = [{}], inserted_window_dims = [{dim}], \
         scatter_dims_to_operand_dims = [{dim}], index_vector_dim = 1>}}> ({{\n^bb0(%a: {scalar}, \
         %b: {scalar}):\n  %s = stablehlo.{op} %a, %b : {scalar}\n  stablehlo.return %s : \
         {scalar}\n}}) : ({}, tensor<{count}xi32>, {}) -> {}",
        value.name,
        updates.name,
        list(windows),
        ty.text(),
        updates_ty.text(),
        ty.text()
    );
    b.op(ty, exact, body);
    Some(())
}

pub fn bitcast(b: &mut Builder, dice: &mut Dice) -> Option<()> {
    let value = b.find(dice, |v| v.exact && matches!(v.ty.element, "f32" | "i32" | "ui32"))?;
    let (element, dims) = match (value.ty.element, dice.below(2)) {
        // Each element becomes four.
        (_, 1) if value.ty.rank() < 4 => {
            let mut dims = value.ty.dims.clone();
            dims.push(4);
            ("i8", dims)
        }
        ("i32", _) => ("ui32", value.ty.dims.clone()),
        _ => ("i32", value.ty.dims.clone()),
    };
    let result = Ty::new(element, dims);
    let body = format!(
        "stablehlo.bitcast_convert {} : ({}) -> {}",
        value.name,
        value.ty.text(),
        result.text()
    );
    b.op(result, true, body);
    Some(())
}
