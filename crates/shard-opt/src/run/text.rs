//! Values as text.

use shard_interp::Value;

use crate::verify::elements;

/// A value as text: its type, and its elements in nested lists, at most `most` of them.
pub fn value_text(value: &Value, most: usize) -> String {
    match value {
        Value::Tensor(tensor) => {
            let dims: String = tensor.dims().iter().map(|size| format!("{size}x")).collect();
            let mut text = format!("tensor<{dims}{}> ", tensor.element());
            let width = tensor.buffer().bytes().len() / tensor.len().max(1);
            let mut shown = 0;
            let element = |index: usize| {
                let bytes = &tensor.buffer().bytes()[index * width..(index + 1) * width];
                elements::text(tensor.element(), bytes)
            };
            list(tensor.dims(), 0, &element, most, &mut shown, &mut text);
            if shown < tensor.len() {
                text.push_str(&format!("  ({} elements)", tensor.len()));
            }
            text
        }
        Value::Token => "token".to_owned(),
        Value::Tuple(values) => {
            let parts: Vec<String> = values.iter().map(|value| value_text(value, most)).collect();
            format!("({})", parts.join(", "))
        }
    }
}

fn list(
    dims: &[i64],
    first: usize,
    element: &dyn Fn(usize) -> String,
    most: usize,
    shown: &mut usize,
    text: &mut String,
) {
    let Some((&size, inner)) = dims.split_first() else {
        text.push_str(&element(first));
        *shown += 1;
        return;
    };
    let stride: i64 = inner.iter().product();
    text.push('[');
    for index in 0..size {
        if index > 0 {
            text.push_str(", ");
        }
        if *shown >= most {
            text.push_str("...");
            break;
        }
        list(inner, first + (index * stride) as usize, element, most, shown, text);
    }
    text.push(']');
}

#[cfg(test)]
mod tests {
    use shard_interp::Tensor;
    use shard_ir::ElementType;

    use super::*;

    #[test]
    fn lists_nest_and_end() {
        let tensor = Tensor::from_lanes(ElementType::I32, vec![2i64, 2], vec![1i32, -2, 3, 4]);
        let value = Value::Tensor(tensor);
        assert_eq!(value_text(&value, 9), "tensor<2x2xi32> [[1, -2], [3, 4]]");
        assert_eq!(value_text(&value, 3), "tensor<2x2xi32> [[1, -2], [3, ...]]  (4 elements)");
        let scalar = Value::Tensor(Tensor::boolean(true));
        assert_eq!(value_text(&scalar, 9), "tensor<i1> true");
    }
}
