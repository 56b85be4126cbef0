//! The whole table: the [`Op`] enum over all families.

use super::*;

/// Makes an op from its attributes, taking out those that are its fields.
pub type OpReader = fn(&mut Vec<(Symbol, Attr)>, &Interner) -> Result<Op, FieldError>;

/// One row of the table: what it says of an op, and how the op is made.
#[derive(Clone, Copy, Debug)]
pub struct OpRow {
    /// Names, arity and traits.
    pub info: OpInfo,
    /// Makes the op from attributes.
    pub read: OpReader,
}

/// Makes the [`Op`] enum from its families, which `families/` declares.
macro_rules! op_table {
    ($($family:ident)*) => {
        /// An operation with its typed fields; operands, results and regions are in the module.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub enum Op {
            $(#[doc = concat!("See [`", stringify!($family), "`].")] $family($family),)*
            /// An op that the table doesn't know.
            Opaque(Box<Opaque>),
        }

        impl Op {
            /// What the table says of the op.
            pub fn info(&self) -> &'static OpInfo {
                const OPAQUE: &OpInfo = &OpInfo {
                    name: "", hlo: "", operands: Arity::AtLeast(0), results: Arity::AtLeast(0),
                    regions: Arity::AtLeast(0), traits: Traits::EFFECT,
                };
                match self {
                    $(Op::$family(op) => op.info(),)*
                    Op::Opaque(_) => OPAQUE,
                }
            }

            /// Calls `visit` with each field of the op that is written in text, in the order of
            /// the table: the attribute's name and a view of its value.
            pub fn visit_fields<'a>(&'a self, visit: &mut dyn FnMut(&'static str, FieldRef<'a>)) {
                match self {
                    $(Op::$family(op) => op.visit_fields(visit),)*
                    Op::Opaque(_) => {}
                }
            }
        }

        /// Every family: its name and its rows.
        pub const OP_TABLE: &[(&str, &[OpRow])] = &[
            $((stringify!($family), $family::ROWS),)*
        ];
    };
}

op_table! {
    Elementwise
    Creation
    Dot
    Convolution
    Reduction
    Movement
    Indexing
    Sorting
    Linalg
    Random
    Normalization
    Control
    Collective
    Sdy
    Effects
    Custom
    Hlo
}
