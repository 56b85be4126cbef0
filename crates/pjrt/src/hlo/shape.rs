//! Shapes of a compiled program's values.

use std::fmt;

use shard_ir::ElementType;

use crate::proto;

/// The shape of a value on one device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// An array.
    Array {
        /// The type of its elements.
        element_type: ElementType,
        /// Its dimensions (of a dynamic one the bound).
        dims: Vec<u64>,
    },
    /// Several values.
    Tuple(Vec<Shape>),
    /// Something without elements: a token, or a type that isn't known here.
    Opaque,
}

impl Shape {
    pub(super) fn new(shape: &proto::Shape) -> Self {
        if shape.element_type == TUPLE {
            return Shape::Tuple(shape.tuple_shapes.iter().map(Shape::new).collect());
        }
        let known = PRIMITIVE_TYPES.iter().find(|(_, number)| *number == shape.element_type);
        let Some((element_type, _)) = known else { return Shape::Opaque };
        let dims = shape.dimensions.iter().map(|dim| u64::try_from(*dim).unwrap_or(0)).collect();
        Shape::Array { element_type: *element_type, dims }
    }

    /// Bytes of its elements, without the padding that a device's layout may add; the sum over
    /// a tuple's values.
    pub fn bytes(&self) -> u64 {
        match self {
            Shape::Array { element_type, dims } => {
                element_type.bytes(dims.iter().fold(1, |count, dim| count.saturating_mul(*dim)))
            }
            Shape::Tuple(shapes) => {
                shapes.iter().fold(0, |sum, shape| sum.saturating_add(shape.bytes()))
            }
            Shape::Opaque => 0,
        }
    }

    /// The element type of an array, or of a tuple's first array.
    pub fn element_type(&self) -> Option<ElementType> {
        match self {
            Shape::Array { element_type, .. } => Some(*element_type),
            Shape::Tuple(shapes) => shapes.iter().find_map(Shape::element_type),
            Shape::Opaque => None,
        }
    }
}

impl fmt::Display for Shape {
    /// As XLA writes it: `(f32[4,8], s32[])`, with MLIR's names of element types.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shape::Array { element_type, dims } => {
                let dims: Vec<String> = dims.iter().map(u64::to_string).collect();
                write!(f, "{element_type}[{}]", dims.join(","))
            }
            Shape::Tuple(shapes) => {
                f.write_str("(")?;
                for (position, shape) in shapes.iter().enumerate() {
                    let separator = if position == 0 { "" } else { ", " };
                    write!(f, "{separator}{shape}")?;
                }
                f.write_str(")")
            }
            Shape::Opaque => f.write_str("opaque"),
        }
    }
}

const TUPLE: i32 = 13;

/// XLA's number (`PrimitiveType`) of each element type.
const PRIMITIVE_TYPES: &[(ElementType, i32)] = &[
    (ElementType::I1, 1),
    (ElementType::I8, 2),
    (ElementType::I16, 3),
    (ElementType::I32, 4),
    (ElementType::I64, 5),
    (ElementType::UI8, 6),
    (ElementType::UI16, 7),
    (ElementType::UI32, 8),
    (ElementType::UI64, 9),
    (ElementType::F16, 10),
    (ElementType::F32, 11),
    (ElementType::F64, 12),
    (ElementType::C64, 15),
    (ElementType::BF16, 16),
    (ElementType::C128, 18),
    (ElementType::F8E5M2, 19),
    (ElementType::F8E4M3FN, 20),
    (ElementType::I4, 21),
    (ElementType::UI4, 22),
    (ElementType::F8E4M3B11FNUZ, 23),
    (ElementType::F8E5M2FNUZ, 24),
    (ElementType::F8E4M3FNUZ, 25),
    (ElementType::I2, 26),
    (ElementType::UI2, 27),
    (ElementType::F8E4M3, 28),
    (ElementType::F8E3M4, 29),
    (ElementType::F4E2M1FN, 32),
    (ElementType::F8E8M0FNU, 33),
    (ElementType::F6E3M2FN, 35),
    (ElementType::F6E2M3FN, 36),
];
