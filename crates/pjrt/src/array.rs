//! The element types that PJRT carries.

use shard_ir::ElementType;

use crate::error::InputError;

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
