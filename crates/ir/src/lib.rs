//! The program in memory: types, attributes, the op table, modules, meshes and shardings.

mod element_type;
mod entity;
pub mod sharding;

pub use element_type::{ELEMENT_TYPES, ElementType, NumberKind};
pub use entity::*;
pub use sharding::*;
