//! Why an op was inserted: kept as a named location around that of the op it serves.

use shard_ir::{Loc, LocId, Module};

/// What every reason starts with.
pub const PREFIX: &str = "shard-opt: ";

/// A location that says why an op is there.
pub fn because(module: &mut Module, loc: LocId, reason: &str) -> LocId {
    let child = without_reason(module, loc);
    let name = module.symbol(&format!("{PREFIX}{reason}"));
    module.loc_id(Loc::Name { name, child })
}

/// The reason that a location states.
pub fn reason(module: &Module, loc: LocId) -> Option<&str> {
    match loc.input_offset() {
        Some(_) => None,
        None => match module.loc(loc) {
            Loc::Name { name, .. } => module.str(name).strip_prefix(PREFIX),
            _ => None,
        },
    }
}

/// The location of the op that an inserted op serves.
pub fn without_reason(module: &Module, loc: LocId) -> LocId {
    match module.loc(loc) {
        Loc::Name { name, child } if module.str(name).starts_with(PREFIX) => child,
        _ => loc,
    }
}
