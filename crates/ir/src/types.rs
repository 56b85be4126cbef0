//! Types of values: tensors, tokens, tuples, functions, and others kept as text.

use smallvec::SmallVec;

use crate::{ElementType, Symbol, TypeId};

/// The size of a dimension that is known only at run time (`?`).
pub const DYNAMIC: i64 = i64::MIN;

/// Sizes, indices or strides, one a dimension.
pub type Dims = SmallVec<[i64; 4]>;

/// A ranked tensor.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TensorType {
    /// Type of the elements.
    pub element: ElementType,
    /// Size of each dimension; [`DYNAMIC`] where it is unknown.
    pub dims: Dims,
    /// Text of the encoding attribute, such as `#stablehlo.bounds<?, 4>`.
    pub encoding: Option<Symbol>,
}

impl TensorType {
    /// A tensor without encoding.
    pub fn new(element: ElementType, dims: impl IntoIterator<Item = i64>) -> Self {
        TensorType { element, dims: dims.into_iter().collect(), encoding: None }
    }

    /// Number of dimensions.
    pub fn rank(&self) -> usize {
        self.dims.len()
    }

    /// Whether every size is known.
    pub fn is_static(&self) -> bool {
        !self.dims.contains(&DYNAMIC)
    }

    /// Number of elements, dynamic dimensions counted as one; saturates.
    pub fn elements(&self) -> u64 {
        self.dims
            .iter()
            .fold(1u64, |n, &d| if d == DYNAMIC { n } else { n.saturating_mul(d.max(0) as u64) })
    }

    /// Bytes of the whole tensor, sub-byte elements packed; saturates.
    pub fn bytes(&self) -> u64 {
        self.element.bytes(self.elements())
    }

    /// Whether 64 bits (signed) count the tensor's bytes, dynamic dimensions taken as one. Readers
    /// refuse others, so that everything behind them may multiply sizes.
    pub fn is_countable(&self) -> bool {
        let bits = u128::from(self.element.bits());
        let mut sizes = self.dims.iter().filter(|size| **size != DYNAMIC);
        self.dims.contains(&0)
            || sizes
                .try_fold(bits, |total, &size| total.checked_mul(size.unsigned_abs().into()))
                .is_some_and(|total| total <= 8 * i64::MAX as u128)
    }

    /// The same tensor with other sizes.
    pub fn with_dims(&self, dims: impl IntoIterator<Item = i64>) -> Self {
        TensorType { dims: dims.into_iter().collect(), ..self.clone() }
    }
}

/// The type of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// A ranked tensor.
    Tensor(TensorType),
    /// `tensor<*xT>`.
    Unranked(ElementType),
    /// `!stablehlo.token`.
    Token,
    /// `tuple<...>`.
    Tuple(Box<[TypeId]>),
    /// `(...) -> ...`.
    Function {
        /// Types of the arguments.
        inputs: Box<[TypeId]>,
        /// Types of the results.
        results: Box<[TypeId]>,
    },
    /// A plain number such as `i64` or `index`, as attributes and `arith` ops have it.
    Scalar(ElementType),
    /// `none`.
    None,
    /// Any other type, kept as its text.
    Opaque(Symbol),
}

impl Type {
    /// The tensor type, if it is a ranked tensor.
    pub fn as_tensor(&self) -> Option<&TensorType> {
        match self {
            Type::Tensor(t) => Some(t),
            _ => None,
        }
    }
}
