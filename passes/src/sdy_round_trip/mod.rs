//! `xla-sdy-round-trip-import-pipeline` and `-export-pipeline`: Shardy's annotations as HLO carries
//! them.
//!
//! HLO has no ops of Shardy's, so XLA writes them as frontend attributes and custom calls, and
//! JAX's HLO holds them so: meshes in `xla.sdy.meshes` on the module, shardings in
//! `xla.sdy.sharding` on arguments and ops, those of results in `@xla.sdy.FuncResultSharding`
//! calls, and the body of a `shard_map` as a function between `@xla.sdy.GlobalToLocalShape` and
//! `@xla.sdy.LocalToGlobalShape`. The names are those of XLA's `spmd/shardy/constants.h`.

mod export;
mod import;
mod names;

pub use export::run as export;
pub use import::run as import;
