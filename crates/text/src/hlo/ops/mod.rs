//! Opcodes and their attributes, in both directions.

mod aliasing;
mod dot_algorithm;
pub(super) mod groups;
pub(super) mod read;
pub(super) mod write;

/// Versions of custom calls by number.
const API_VERSIONS: &[(i32, &str)] = &[
    (0, "API_VERSION_UNSPECIFIED"),
    (1, "API_VERSION_ORIGINAL"),
    (2, "API_VERSION_STATUS_RETURNING"),
    (3, "API_VERSION_STATUS_RETURNING_UNIFIED"),
    (4, "API_VERSION_TYPED_FFI"),
];
