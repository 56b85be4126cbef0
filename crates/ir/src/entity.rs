//! References into a module's arenas and interners: `u32` new-types.

use cranelift_entity::entity_impl;

macro_rules! entities {
    ($($(#[$doc:meta])* $name:ident = $prefix:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(u32);
        entity_impl!($name, $prefix);

        impl $name {
            /// A reference with a number known at compile time.
            pub const fn from_const(index: u32) -> Self {
                $name(index)
            }
        }
    )*};
}

entities! {
    /// A function of a module.
    FuncId = "func";
    /// A region of an op or the body of a function.
    RegionId = "region";
    /// A block of a region.
    BlockId = "block";
    /// An operation.
    OpId = "op";
    /// A value: a result of an op or a parameter of a block.
    ValueId = "v";
    /// A mesh of a module.
    MeshId = "mesh";
    /// An interned string.
    Symbol = "sym";
    /// An interned type.
    TypeId = "ty";
    /// An interned list of named attributes.
    AttrsId = "attrs";
    /// An interned location.
    LocId = "loc";
    /// An interned tensor sharding.
    ShardingId = "sh";
}

impl AttrsId {
    /// The empty list in every interner.
    pub const EMPTY: AttrsId = AttrsId::from_const(0);
}

impl Default for AttrsId {
    fn default() -> Self {
        AttrsId::EMPTY
    }
}
