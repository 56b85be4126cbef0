//! Arrays on the host: what programs are given and what they give.

use thiserror::Error;

use crate::ElementType;

/// An array in the host's memory: dense, row-major, in the machine's byte order.
///
/// A boolean takes a byte of 0 or 1. Elements of less than a byte take a byte each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostArray {
    /// The type of its elements.
    pub element_type: ElementType,
    /// Its dimensions, major to minor; none for a scalar.
    pub dims: Vec<i64>,
    /// Its elements' bytes.
    pub bytes: Vec<u8>,
}

/// Bytes and shape that don't fit.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum HostArrayError {
    /// The bytes aren't as many as the shape takes.
    #[error("an array of {shape} takes {needed} bytes, not {found}")]
    Bytes {
        /// Shape and element type.
        shape: String,
        /// Bytes that it takes.
        needed: usize,
        /// Bytes that there are.
        found: usize,
    },
    /// The shape isn't one that fits in memory.
    #[error("{0} is not a shape that fits in memory")]
    Shape(String),
}

impl HostArray {
    /// Makes an array.
    ///
    /// # Errors
    /// Where the bytes aren't as many as the shape takes.
    pub fn new(
        element_type: ElementType,
        dims: Vec<i64>,
        bytes: Vec<u8>,
    ) -> Result<Self, HostArrayError> {
        let array = HostArray { element_type, dims, bytes };
        array.check()?;
        Ok(array)
    }

    /// Checks that the bytes are as many as the shape takes.
    ///
    /// # Errors
    /// Where they aren't, or where the shape isn't one that fits in memory.
    pub fn check(&self) -> Result<(), HostArrayError> {
        let needed = HostArray::size(self.element_type, &self.dims)?;
        if needed != self.bytes.len() {
            let (shape, found) = (shape_text(self.element_type, &self.dims), self.bytes.len());
            return Err(HostArrayError::Bytes { shape, needed, found });
        }
        Ok(())
    }

    /// Bytes that an array takes.
    ///
    /// # Errors
    /// Where the shape isn't one that fits in memory.
    pub fn size(element_type: ElementType, dims: &[i64]) -> Result<usize, HostArrayError> {
        let size = dims.iter().try_fold(element_type.storage_bytes(), |size, dim| {
            usize::try_from(*dim).ok().and_then(|dim| size.checked_mul(dim))
        });
        // An allocation of more than isize::MAX bytes can't be made.
        size.filter(|size| isize::try_from(*size).is_ok())
            .ok_or_else(|| HostArrayError::Shape(shape_text(element_type, dims)))
    }
}

fn shape_text(element_type: ElementType, dims: &[i64]) -> String {
    let mut text: String = dims.iter().map(|dim| format!("{dim}x")).collect();
    text.push_str(element_type.mlir_name());
    text
}
