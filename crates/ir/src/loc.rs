//! Source locations, as MLIR has them.

use crate::{LocId, Symbol};

/// Where an op or a value comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Loc {
    /// Nothing is known.
    Unknown,
    /// No location was written: the byte offset in the text that was read.
    Input(u32),
    /// `"file":line:col`, perhaps with an end.
    File {
        /// File name.
        file: Symbol,
        /// Line, from 1.
        line: u32,
        /// Column, from 1.
        col: u32,
        /// Line and column of the end, if given.
        end: Option<(u32, u32)>,
    },
    /// `"name"(child)`.
    Name {
        /// The name.
        name: Symbol,
        /// Where that is; `Unknown` where only a name was given.
        child: LocId,
    },
    /// `callsite(callee at caller)`.
    CallSite {
        /// Location inside the called function.
        callee: LocId,
        /// Location of the call.
        caller: LocId,
    },
    /// `fused<metadata>[...]`.
    Fused {
        /// Text of the metadata attribute.
        metadata: Option<Symbol>,
        /// The parts.
        locs: Box<[LocId]>,
    },
}

const INPUT_BIT: u32 = 1 << 30;

impl LocId {
    /// The location of an op that has none: its byte offset in the text that was read.
    /// It needs no room in the interner. Offsets of a gigabyte and more become unknown.
    pub fn input(offset: usize) -> LocId {
        match u32::try_from(offset) {
            Ok(offset) if offset < INPUT_BIT => LocId::from_u32(offset | INPUT_BIT),
            _ => LocId::UNKNOWN,
        }
    }

    /// The byte offset, if the id is one made by [`LocId::input`].
    pub fn input_offset(self) -> Option<u32> {
        (self.as_u32() & INPUT_BIT != 0).then(|| self.as_u32() & !INPUT_BIT)
    }

    /// The id of [`Loc::Unknown`] in every interner.
    pub const UNKNOWN: LocId = LocId::from_const(0);
}
