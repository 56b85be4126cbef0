//! The algebra of shardings: meshes, axes and parts of axes, shardings of tensors, tiles and
//! devices, groups of devices, and their texts.
//!
//! Everything here is a pure function of small values: nothing panics, whatever the input, and
//! nothing takes time or memory in proportion to the number of devices, but for lists of devices
//! that are given or asked for explicitly.
//!
//! The parts, from the bottom up:
//! - [`Mesh`], [`AxisRef`] (a whole axis or a sub-axis) and [`axes`], the algebra on lists of them;
//! - [`Digit`]: an axis as a digit of a device's index, which is what ties axes to devices;
//! - [`DimSharding`] and [`TensorSharding`], with [`TensorSharding::verify`].

pub mod axes;
mod axis;
pub mod digits;
mod mesh;
mod tensor;
mod text;
mod verify;

pub use axes::{AxisList, Refinement};
pub use axis::AxisRef;
pub use digits::{Digit, Digits};
pub use mesh::{AxisIndex, Mesh, MeshAxis, MeshError};
pub use tensor::{Combiner, DimSharding, TensorSharding};
pub use text::{AxesText, AxisText, DimText, ShardingText};
pub use verify::ShardingError;
