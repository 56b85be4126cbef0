//! Arrays on the host, and the element types that PJRT carries.

use shard_ir::ElementType;

use crate::error::InputError;

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

impl HostArray {
    /// Makes an array.
    ///
    /// # Errors
    ///
    /// Where the bytes aren't as many as the shape takes.
    pub fn new(
        element_type: ElementType,
        dims: Vec<i64>,
        bytes: Vec<u8>,
    ) -> Result<Self, InputError> {
        let array = HostArray { element_type, dims, bytes };
        array.check()?;
        Ok(array)
    }

    /// Checks that the bytes are as many as the shape takes.
    ///
    /// # Errors
    ///
    /// Where they aren't, or where the shape isn't one that fits in memory.
    pub fn check(&self) -> Result<(), InputError> {
        let needed = byte_size(self.element_type, &self.dims)?;
        if needed != self.bytes.len() {
            return Err(InputError::Bytes {
                shape: shape_text(self.element_type, &self.dims),
                needed: needed as u64,
                found: self.bytes.len() as u64,
            });
        }
        Ok(())
    }
}

/// Bytes that a dense array takes on the host.
pub(crate) fn byte_size(element_type: ElementType, dims: &[i64]) -> Result<usize, InputError> {
    let size = dims.iter().try_fold(element_type.storage_bytes(), |size, dim| {
        usize::try_from(*dim).ok().and_then(|dim| size.checked_mul(dim))
    });
    // An allocation of more than isize::MAX bytes can't be made.
    size.filter(|size| isize::try_from(*size).is_ok())
        .ok_or_else(|| InputError::Shape(shape_text(element_type, dims)))
}

fn shape_text(element_type: ElementType, dims: &[i64]) -> String {
    let mut text: String = dims.iter().map(|dim| format!("{dim}x")).collect();
    text.push_str(element_type.mlir_name());
    text
}

/// PJRT's number (`PJRT_Buffer_Type`) of each element type, which is the same in every version
/// that has the type.
const BUFFER_TYPES: &[(ElementType, u32)] = &[
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
    (ElementType::BF16, 13),
    (ElementType::C64, 14),
    (ElementType::C128, 15),
    (ElementType::F8E5M2, 16),
    (ElementType::F8E4M3FN, 17),
    (ElementType::F8E4M3B11FNUZ, 18),
    (ElementType::F8E5M2FNUZ, 19),
    (ElementType::F8E4M3FNUZ, 20),
    (ElementType::I4, 21),
    (ElementType::UI4, 22),
    (ElementType::I2, 24),
    (ElementType::UI2, 25),
    (ElementType::F8E4M3, 26),
    (ElementType::F8E3M4, 27),
    (ElementType::F8E8M0FNU, 28),
    (ElementType::F4E2M1FN, 29),
    (ElementType::F6E2M3FN, 32),
    (ElementType::F6E3M2FN, 33),
];

pub(crate) fn buffer_type(element_type: ElementType) -> Result<u32, InputError> {
    BUFFER_TYPES
        .iter()
        .find(|(ty, _)| *ty == element_type)
        .map(|(_, number)| *number)
        .ok_or_else(|| InputError::ElementType(element_type.to_string()))
}

pub(crate) fn element_type(buffer_type: u32) -> Option<ElementType> {
    BUFFER_TYPES.iter().find(|(_, number)| *number == buffer_type).map(|(ty, _)| *ty)
}
