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
//! - [`DimSharding`] and [`TensorSharding`], with [`TensorSharding::verify`];
//! - [`TileMap`] (which device holds which tile), [`Groups`] (who takes part in a collective) and
//!   [`PermutePairs`] (who sends to whom);
//! - texts: [`ShardingText`], [`parse_sharding`], [`parse_mesh`], and [`HloSharding`] with its
//!   conversion to and from meshes.

pub mod axes;
mod axis;
mod cursor;
pub mod digits;
mod groups;
mod hlo;
mod hlo_convert;
mod hlo_parse;
mod mesh;
mod parse;
mod permute;
mod tensor;
mod text;
mod tiles;
mod verify;

pub use axes::{AxisList, Refinement};
pub use axis::AxisRef;
pub use cursor::ShardingTextError;
pub use digits::{Digit, Digits};
pub use groups::{Groups, MAX_LISTED_DEVICES};
pub use hlo::{
    HloSharding, HloShardingKind, NamedSharding, ShardGroup, SubgroupKind, TileAssignment,
    TileDevices, TiledSharding,
};
pub use hlo_convert::{HloShardingError, MeshSharding, common_mesh, no_mesh};
pub use mesh::{AxisIndex, Mesh, MeshAxis, MeshError};
pub use parse::{ParsedSharding, parse_mesh, parse_sharding};
pub use permute::PermutePairs;
pub use tensor::{Combiner, DimSharding, TensorSharding};
pub use text::{AxesText, AxisText, DimText, ShardingText};
pub use tiles::TileMap;
pub use verify::ShardingError;
