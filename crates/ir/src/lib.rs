//! The program in memory: types, attributes, the op table, modules, meshes and shardings.
//!
//! Start reading at [`Module`]; then [`ops`], the table of ops, and [`sharding`], the algebra.

mod attr;
mod blob;
mod builder;
pub mod clone;
mod diagnostic;
mod element_type;
mod entity;
pub mod float;
mod host;
pub mod infer;
mod interner;
mod loc;
mod module;
pub mod ops;
pub mod quant;
pub mod sharding;
mod types;
mod verify;

pub use attr::{Attr, Channel, Dense, DenseData};
pub use blob::Blob;
pub use builder::{BuildError, Builder};
pub use diagnostic::{Diagnostic, Place, Severity, place_of};
pub use element_type::{ELEMENT_TYPES, ElementType, NumberKind};
pub use entity::*;
pub use host::{HostArray, HostArrayError};
pub use interner::{Attrs, Interner};
pub use loc::Loc;
pub use module::*;
pub use sharding::*;
pub use types::{DYNAMIC, Dims, TensorType, Type};
pub use verify::verify;
