//! The rows of the table: one file a family.

/// Declares a family: makes an enum of its ops, a struct for each op with fields, and the family's
/// share of the functions that read, show and look up ops.
macro_rules! op_family {
    (
        $(#[$fmeta:meta])*
        family $family:ident {
            plain { $($(#[$pmeta:meta])* $plain:ident = $pname:literal $phlo:literal ($pin:expr, $pout:expr, $preg:expr) $ptraits:expr;)* }
            fields { $(
                $(#[$ometa:meta])* $op:ident = $oname:literal $ohlo:literal ($oin:expr, $oout:expr, $oreg:expr) $otraits:expr,
                { $($(#[$dmeta:meta])* $field:ident : $ty:ty = $attr:literal,)* }
            )* }
        }
    ) => {
        $(#[$fmeta])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub enum $family {
            $($(#[$pmeta])* $plain,)*
            $($(#[$ometa])* $op(Box<$op>),)*
        }

        impl From<$family> for Op {
            fn from(kind: $family) -> Op {
                Op::$family(kind)
            }
        }

        $(
            $(#[$ometa])*
            #[derive(Clone, Debug, PartialEq, Eq, Hash)]
            pub struct $op { $($(#[$dmeta])* #[doc = concat!("\n\nAttribute `", $attr, "`.")] pub $field: $ty,)* }

            impl From<$op> for Op {
                fn from(op: $op) -> Op {
                    Op::$family($family::$op(Box::new(op)))
                }
            }
        )*

        impl $family {
            /// The rows of the family.
            pub const ROWS: &[OpRow] = &[
                $(OpRow {
                    info: OpInfo {
                        name: $pname, hlo: $phlo, operands: $pin, results: $pout,
                        regions: $preg, traits: $ptraits,
                    },
                    read: |_, _| Ok(Op::$family($family::$plain)),
                },)*
                $(OpRow {
                    info: OpInfo {
                        name: $oname, hlo: $ohlo, operands: $oin, results: $oout,
                        regions: $oreg, traits: $otraits,
                    },
                    read: |attrs, interner| {
                        Ok(Op::from($op { $($field: take(attrs, $attr, interner)?,)* }))
                    },
                },)*
            ];

            /// What the table says of the op.
            pub fn info(&self) -> &'static OpInfo {
                match self {
                    $($family::$plain => const { &OpInfo {
                        name: $pname, hlo: $phlo, operands: $pin, results: $pout,
                        regions: $preg, traits: $ptraits,
                    } },)*
                    $($family::$op(_) => const { &OpInfo {
                        name: $oname, hlo: $ohlo, operands: $oin, results: $oout,
                        regions: $oreg, traits: $otraits,
                    } },)*
                }
            }

            /// See [`Op::visit_fields`].
            pub(in crate::ops) fn visit_fields<'a>(
                &'a self,
                visit: &mut dyn FnMut(&'static str, FieldRef<'a>),
            ) {
                let _ = &visit;
                match self {
                    $($family::$plain => {})*
                    $($family::$op(op) => {
                        let _ = op;
                        $(if let Some(view) = op.$field.view() {
                            visit($attr, view);
                        })*
                    })*
                }
            }
        }
    };
}

mod collective;
mod control;
mod convolution;
mod creation;
mod custom;
mod dot;
mod effects;
mod elementwise;
mod hlo;
mod indexing;
mod linalg;
mod movement;
mod normalization;
mod random;
mod reduction;
mod sdy;
mod sorting;

pub use collective::*;
pub use control::*;
pub use convolution::*;
pub use creation::*;
pub use custom::*;
pub use dot::*;
pub use effects::*;
pub use elementwise::*;
pub use hlo::*;
pub use indexing::*;
pub use linalg::*;
pub use movement::*;
pub use normalization::*;
pub use random::*;
pub use reduction::*;
pub use sdy::*;
pub use sorting::*;

// What every file of the folder uses.
use super::Arity::{self, AtLeast, Exactly};
use super::field::take;
use super::*;

const NONE: Traits = Traits::NONE;
const COMM: Traits = Traits::COMMUTATIVE;
const COLL: Traits = Traits::COLLECTIVE.and(Traits::POSITION);
const POS: Traits = Traits::POSITION;
const TERM: Traits = Traits::TERMINATOR;
const EFFECT: Traits = Traits::EFFECT;
const ONE: Arity = Exactly(1);
const TWO: Arity = Exactly(2);
const THREE: Arity = Exactly(3);
const ZERO: Arity = Exactly(0);
const ANY: Arity = AtLeast(0);
const SOME: Arity = AtLeast(1);
