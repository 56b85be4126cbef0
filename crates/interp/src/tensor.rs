//! Values while a program runs: tensors, tokens and tuples.

use std::sync::Arc;

use half::{bf16, f16};
use num_complex::Complex;
use shard_ir::quant::QuantType;
use shard_ir::{Blob, Dense, DenseData, Dims, ElementType, Module, NumberKind, float};

use crate::Fault;

/// The elements of a tensor, row-major, by the width of an element's storage. What only moves
/// elements treats them by their width; see [`each_width!`](crate::each_width).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Buffer {
    /// A byte each: booleans, integers and floats of up to 8 bits.
    B8(Vec<u8>),
    /// Two bytes each.
    B16(Vec<u16>),
    /// Four bytes each.
    B32(Vec<u32>),
    /// Eight bytes each: also `complex<f32>`, the real part in the lower half.
    B64(Vec<u64>),
    /// Sixteen bytes each: `complex<f64>`, the real part in the lower half.
    B128(Vec<u128>),
}

/// Does the same with a buffer's elements whatever their width, and makes a buffer of the `Vec`
/// that comes of it: `each_width!(tensor.buffer(), |words| words.iter().rev().copied().collect())`.
#[macro_export]
macro_rules! each_width {
    ($buffer:expr, |$words:ident| $body:expr) => {
        match $buffer {
            $crate::Buffer::B8($words) => $crate::Buffer::B8($body),
            $crate::Buffer::B16($words) => $crate::Buffer::B16($body),
            $crate::Buffer::B32($words) => $crate::Buffer::B32($body),
            $crate::Buffer::B64($words) => $crate::Buffer::B64($body),
            $crate::Buffer::B128($words) => $crate::Buffer::B128($body),
        }
    };
}

impl Buffer {
    /// Number of elements.
    pub fn len(&self) -> usize {
        match self {
            Buffer::B8(words) => words.len(),
            Buffer::B16(words) => words.len(),
            Buffer::B32(words) => words.len(),
            Buffer::B64(words) => words.len(),
            Buffer::B128(words) => words.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes, little endian on every machine that this is built for.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Buffer::B8(words) => words,
            Buffer::B16(words) => bytemuck::cast_slice(words),
            Buffer::B32(words) => bytemuck::cast_slice(words),
            Buffer::B64(words) => bytemuck::cast_slice(words),
            Buffer::B128(words) => bytemuck::cast_slice(words),
        }
    }

    /// Elements of `width` bytes each (1, 2, 4, 8 or 16); bytes that make no whole one are dropped.
    pub fn from_bytes(bytes: &[u8], width: usize) -> Buffer {
        fn words<const N: usize, W>(bytes: &[u8], from: impl Fn([u8; N]) -> W) -> Vec<W> {
            bytes.as_chunks::<N>().0.iter().map(|chunk| from(*chunk)).collect()
        }
        match width {
            16 => Buffer::B128(words(bytes, u128::from_le_bytes)),
            8 => Buffer::B64(words(bytes, u64::from_le_bytes)),
            4 => Buffer::B32(words(bytes, u32::from_le_bytes)),
            2 => Buffer::B16(words(bytes, u16::from_le_bytes)),
            _ => Buffer::B8(bytes.to_vec()),
        }
    }

    /// `count` times the element that `bytes` are.
    pub fn splat(bytes: &[u8], count: usize) -> Buffer {
        let one = Buffer::from_bytes(bytes, bytes.len());
        each_width!(&one, |words| vec![words.first().copied().unwrap_or_default(); count])
    }
}

/// A Rust type that elements are computed as.
///
/// Booleans are `u8` of 0 or 1; integers of 2 and 4 bits are `i8` or `u8` and hold their value;
/// floats of up to 8 bits are their bits in a `u8`, for [`shard_ir::float`] to read.
pub trait Lane: bytemuck::Pod + PartialEq + Send + Sync + std::fmt::Debug {
    /// The elements of a buffer of this width.
    ///
    /// # Panics
    /// If the elements have another width: the caller chose the lane by the element type.
    fn of(buffer: &Buffer) -> &[Self];

    /// A buffer of elements.
    fn buffer(elements: Vec<Self>) -> Buffer;
}

macro_rules! lanes {
    ($($lane:ty, $buffer:ident;)*) => {$(
        impl Lane for $lane {
            fn of(buffer: &Buffer) -> &[Self] {
                match buffer {
                    Buffer::$buffer(words) => bytemuck::cast_slice(words),
                    other => panic!(
                        "{} elements of another width than {}",
                        other.len(),
                        std::any::type_name::<Self>()
                    ),
                }
            }

            fn buffer(elements: Vec<Self>) -> Buffer {
                // The same memory where the alignment is the same, too.
                Buffer::$buffer(
                    bytemuck::allocation::try_cast_vec(elements)
                        .unwrap_or_else(|(_, elements)| bytemuck::pod_collect_to_vec(&elements)),
                )
            }
        }
    )*};
}

lanes! {
    u8, B8;
    i8, B8;
    u16, B16;
    i16, B16;
    f16, B16;
    bf16, B16;
    u32, B32;
    i32, B32;
    f32, B32;
    u64, B64;
    i64, B64;
    f64, B64;
    Complex<f32>, B64;
    Complex<f64>, B128;
    u128, B128;
}

/// A tensor. Who has one shares its elements.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    element: ElementType,
    dims: Dims,
    buffer: Arc<Buffer>,
}

impl Tensor {
    /// A tensor of a buffer's elements. The buffer has the element type's width and as many
    /// elements as the shape.
    ///
    /// # Panics
    /// If the number of elements is another: a fault of the caller's.
    pub fn new(element: ElementType, dims: impl Into<Dims>, buffer: Buffer) -> Self {
        let dims = dims.into();
        let count: i64 = dims.iter().product();
        assert_eq!(count, buffer.len() as i64, "{element} of {dims:?}");
        Tensor { element, dims, buffer: Arc::new(buffer) }
    }

    /// A tensor of elements in the lane of its element type.
    pub fn from_lanes<T: Lane>(
        element: ElementType,
        dims: impl Into<Dims>,
        elements: Vec<T>,
    ) -> Self {
        Tensor::new(element, dims, T::buffer(elements))
    }

    /// A tensor whose every element is the one that `bytes` are.
    pub fn splat(element: ElementType, dims: impl Into<Dims>, bytes: &[u8]) -> Self {
        let dims = dims.into();
        let count = dims.iter().product::<i64>() as usize;
        Tensor::new(element, dims, Buffer::splat(bytes, count))
    }

    /// A boolean.
    pub fn boolean(value: bool) -> Self {
        Tensor::from_lanes(ElementType::I1, Dims::new(), vec![u8::from(value)])
    }

    /// A constant.
    ///
    /// # Errors
    /// For elements that the text doesn't hold, and for more than there is memory for.
    pub fn from_dense(dense: &Dense, module: &Module) -> Result<Tensor, Fault> {
        let Some(ty) = module.ty(dense.ty).as_tensor() else {
            return Err(Fault::unsupported("a constant that is no tensor"));
        };
        let count = element_count(&ty.dims)?;
        let width = storage_bytes(ty.element, module)?;
        let buffer = match &dense.data {
            DenseData::Splat(bytes) => Buffer::splat(bytes, count),
            DenseData::Bytes(blob) => Buffer::from_bytes(&bytes_of(blob), width),
            DenseData::Resource(_) => {
                return Err(Fault::unsupported(
                    "a constant whose elements are not in the program (dense_resource)",
                ));
            }
            DenseData::Text(text) => {
                let text = module.str(*text);
                quantized_elements(text, count, ty.element, module).ok_or_else(|| {
                    Fault::unsupported(format!("a constant with the elements '{text}'"))
                })?
            }
        };
        if buffer.len() != count {
            return Err(Fault::invalid("a constant with another number of elements than its type"));
        }
        Ok(Tensor::new(ty.element, ty.dims.clone(), buffer).normalized())
    }

    /// Integers of 2 and 4 bits, which text may hold with any upper bits, by their value.
    fn normalized(self) -> Tensor {
        let keep = |bits: u32, signed: bool| {
            let words: &[u8] = u8::of(&self.buffer);
            let shift = 8 - bits;
            let value = |w: &u8| {
                if signed { ((*w << shift) as i8 >> shift) as u8 } else { *w << shift >> shift }
            };
            Tensor::from_lanes(self.element, self.dims.clone(), words.iter().map(value).collect())
        };
        match self.element {
            ElementType::I2 => keep(2, true),
            ElementType::I4 => keep(4, true),
            ElementType::UI2 => keep(2, false),
            ElementType::UI4 => keep(4, false),
            _ => self,
        }
    }

    /// Type of the elements.
    pub fn element(&self) -> ElementType {
        self.element
    }

    /// Size of each dimension.
    pub fn dims(&self) -> &[i64] {
        &self.dims
    }

    /// Number of dimensions.
    pub fn rank(&self) -> usize {
        self.dims.len()
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.buffer.len()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    /// The elements.
    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// The elements, to change them; copied if somebody shares them.
    pub fn buffer_mut(&mut self) -> &mut Buffer {
        Arc::make_mut(&mut self.buffer)
    }

    /// The elements in the lane of the element type.
    ///
    /// # Panics
    /// As [`Lane::of`].
    pub fn lanes<T: Lane>(&self) -> &[T] {
        T::of(&self.buffer)
    }

    /// The same elements in another shape of as many.
    ///
    /// # Panics
    /// As [`Tensor::new`].
    pub fn reshaped(&self, dims: impl Into<Dims>) -> Tensor {
        let dims = dims.into();
        let count: i64 = dims.iter().product();
        assert_eq!(count, self.len() as i64, "{:?} to {dims:?}", self.dims);
        Tensor { element: self.element, dims, buffer: self.buffer.clone() }
    }

    /// The same bits as another element type of the same width.
    pub fn retyped(&self, element: ElementType) -> Tensor {
        Tensor { element, dims: self.dims.clone(), buffer: self.buffer.clone() }
    }

    /// Every element of a tensor of integers or booleans. What is beyond `i64` becomes its end.
    ///
    /// # Panics
    /// For other element types.
    pub fn integers(&self) -> Vec<i64> {
        fn widen<T: Lane>(tensor: &Tensor, value: impl Fn(T) -> i64) -> Vec<i64> {
            tensor.lanes::<T>().iter().map(|e| value(*e)).collect()
        }
        use ElementType::*;
        match self.element {
            I1 | UI2 | UI4 | UI8 => widen(self, |e: u8| e.into()),
            I2 | I4 | I8 => widen(self, |e: i8| e.into()),
            I16 => widen(self, |e: i16| e.into()),
            I32 => widen(self, |e: i32| e.into()),
            I64 | Index => widen(self, |e: i64| e),
            UI16 => widen(self, |e: u16| e.into()),
            UI32 => widen(self, |e: u32| e.into()),
            UI64 => widen(self, |e: u64| e.try_into().unwrap_or(i64::MAX)),
            other => panic!("{other} is no integer"),
        }
    }

    /// The first element of a tensor of integers or booleans, such as a start index or predicate.
    ///
    /// # Errors
    /// If there is none.
    pub fn integer(&self) -> Result<i64, Fault> {
        match (self.element.kind(), self.integers_first()) {
            (NumberKind::Bool | NumberKind::Signed | NumberKind::Unsigned, Some(first)) => {
                Ok(first)
            }
            _ => Err(Fault::invalid(format!(
                "an integer is wanted, and this is {} of {:?}",
                self.element, self.dims
            ))),
        }
    }

    fn integers_first(&self) -> Option<i64> {
        if self.is_empty() {
            return None;
        }
        let first = each_width!(self.buffer(), |words| vec![words[0]]);
        let scalar = Tensor::new(self.element, Dims::new(), first);
        match self.element.kind() {
            NumberKind::Bool | NumberKind::Signed | NumberKind::Unsigned => {
                scalar.integers().first().copied()
            }
            NumberKind::Float | NumberKind::Complex | NumberKind::Quantized => None,
        }
    }

    /// Every element of a tensor of floats.
    ///
    /// # Panics
    /// For other element types.
    pub fn floats(&self) -> Vec<f64> {
        match self.element {
            ElementType::F64 => self.lanes::<f64>().to_vec(),
            ElementType::F32 | ElementType::TF32 => {
                self.lanes::<f32>().iter().map(|e| f64::from(*e)).collect()
            }
            ElementType::F16 => self.lanes::<f16>().iter().map(|e| e.to_f64()).collect(),
            ElementType::BF16 => self.lanes::<bf16>().iter().map(|e| e.to_f64()).collect(),
            other if other.is_float() => {
                let table = small_floats(other);
                self.lanes::<u8>().iter().map(|e| table[usize::from(*e)]).collect()
            }
            other => panic!("{other} is no float"),
        }
    }

    /// A tensor of floats, each rounded to the type.
    ///
    /// # Panics
    /// If the type is no float.
    pub fn from_floats(element: ElementType, dims: impl Into<Dims>, values: Vec<f64>) -> Tensor {
        match element {
            ElementType::F64 => Tensor::from_lanes(element, dims, values),
            ElementType::F32 => {
                Tensor::from_lanes(element, dims, values.iter().map(|v| *v as f32).collect())
            }
            ElementType::F16 => Tensor::from_lanes(
                element,
                dims,
                values.iter().map(|v| f16::from_f32(to_odd(*v))).collect(),
            ),
            ElementType::BF16 => Tensor::from_lanes(
                element,
                dims,
                values.iter().map(|v| bf16::from_f32(to_odd(*v))).collect(),
            ),
            ElementType::TF32 => {
                let round = |v: &f64| (float::from_f64(*v, element)) as u32;
                Tensor::from_lanes(element, dims, values.iter().map(round).collect())
            }
            other if other.is_float() => {
                let round = |v: &f64| float::from_f64(*v, other) as u8;
                Tensor::from_lanes(element, dims, values.iter().map(round).collect())
            }
            other => panic!("{other} is no float"),
        }
    }
}

/// A value in `f32` that is rounded once more, to fewer digits: where it is none of `f32`, the
/// neighbour whose last digit is odd, so that both roundings together are one.
fn to_odd(value: f64) -> f32 {
    let near = value as f32;
    let bits = near.to_bits();
    if f64::from(near) == value || !near.is_finite() || bits & 1 != 0 {
        return near;
    }
    let beyond = f64::from(near).abs() > value.abs();
    f32::from_bits(if beyond { bits.wrapping_sub(1) } else { bits + 1 })
}

/// The value of each code of a float of at most 8 bits.
pub(crate) fn small_floats(element: ElementType) -> Vec<f64> {
    (0..256).map(|code| float::to_f64(code, element)).collect()
}

/// Number of elements of a static shape.
///
/// # Errors
/// If a size isn't known, or there are more elements than memory.
pub(crate) fn element_count(dims: &[i64]) -> Result<usize, Fault> {
    const MOST: i64 = 1 << 36;
    // Without the sizes of 0, too: products of some of the sizes are taken everywhere.
    let (mut count, mut others) = (1i64, 1i64);
    for &size in dims {
        if size < 0 {
            return Err(Fault::invalid("a size that is known at run time alone stands here"));
        }
        count = count.saturating_mul(size);
        others = others.saturating_mul(size.max(1));
    }
    if count > MOST || others == i64::MAX {
        return Err(Fault::unsupported(format!("a tensor of {dims:?} elements")));
    }
    let count = count as usize;
    Ok(count)
}

/// Bytes that an element takes in a buffer; those of a quantized type are of its storage type.
pub(crate) fn storage_bytes(element: ElementType, module: &Module) -> Result<usize, Fault> {
    match element {
        ElementType::Quantized(text) => {
            let ty = quantized(module.str(text))?;
            Ok(ty.width.next_power_of_two().div_ceil(8).max(1) as usize)
        }
        other => Ok(other.storage_bytes()),
    }
}

/// A quantized type by its text.
pub(crate) fn quantized(text: &str) -> Result<QuantType, Fault> {
    match QuantType::parse(text) {
        Some(Ok(ty)) => Ok(ty),
        Some(Err(why)) => Err(Fault::invalid(format!("{text}: {why}"))),
        None => Err(Fault::unsupported(format!("elements of type {text}"))),
    }
}

/// The elements of a quantized constant, whose text holds integers of the storage type.
fn quantized_elements(
    text: &str,
    count: usize,
    element: ElementType,
    module: &Module,
) -> Option<Buffer> {
    let width = storage_bytes(element, module).ok()?;
    let words = text.split(|c: char| c == ',' || c == '[' || c == ']' || c.is_whitespace());
    let mut bytes = Vec::new();
    let mut found = 0;
    for word in words.filter(|word| !word.is_empty()) {
        let value: i64 = word.parse().ok()?;
        bytes.extend_from_slice(&value.to_le_bytes()[..width]);
        found += 1;
    }
    match found {
        1 => Some(Buffer::splat(&bytes, count)),
        _ if found == count => Some(Buffer::from_bytes(&bytes, width)),
        _ => None,
    }
}

fn bytes_of(blob: &Blob) -> Vec<u8> {
    blob.bytes().into_owned()
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A tensor.
    Tensor(Tensor),
    /// A token: its only meaning is the order of ops.
    Token,
    /// A tuple.
    Tuple(Arc<[Value]>),
}

impl Value {
    /// The tensor that it is.
    ///
    /// # Errors
    /// If it is none.
    pub fn tensor(&self) -> Result<&Tensor, Fault> {
        match self {
            Value::Tensor(tensor) => Ok(tensor),
            Value::Token => Err(Fault::invalid("a token stands where a tensor is wanted")),
            Value::Tuple(_) => Err(Fault::invalid("a tuple stands where a tensor is wanted")),
        }
    }
}

impl From<Tensor> for Value {
    fn from(tensor: Tensor) -> Self {
        Value::Tensor(tensor)
    }
}
