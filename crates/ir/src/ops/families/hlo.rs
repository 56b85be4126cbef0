//! What only HLO has.

use super::*;

op_family! {
    /// What only HLO has. Programs in HLO's form hold these; conversion to StableHLO takes them
    /// away.
    family Hlo {
        plain {
            /// The same value, perhaps in another layout.
            Copy = "mhlo.copy" "copy" (ONE, ONE, ZERO) NONE;
            /// The same bytes as another shape or layout.
            Bitcast = "mhlo.bitcast" "bitcast" (ONE, ONE, ZERO) NONE;
            /// The first operand, after the second.
            AddDependency = "mhlo.add_dependency" "add-dependency" (TWO, ONE, ZERO) NONE;
            /// One of several regions by a predicate or an index; each region has one parameter
            /// and takes the operand of its own.
            Conditional = "mhlo.conditional" "" (SOME, ONE, SOME) NONE;
        }
        fields {
            /// A region that is compiled as one kernel.
            Fusion = "mhlo.fusion" "fusion" (ANY, ONE, ONE) NONE, {
                /// How, such as `kLoop`.
                kind: Symbol = "fusion_kind",
            }
            /// Sends operand `i` to device `i` of each group, and has what device `i` sent as
            /// part `i` of the result.
            AllToAllTuple = "mhlo.all_to_all_tuple" "" (SOME, ONE, ZERO) COLL, {
                /// Groups.
                groups: Groups = "replica_groups",
                /// Channel.
                channel: Option<Channel> = "channel_handle",
            }
            /// Any other instruction, kept with its attributes.
            Other = "mhlo.instruction" "" (ANY, ONE, ANY) EFFECT, {
                /// Its opcode, such as `copy-start`.
                opcode: Symbol = "opcode",
            }
        }
    }
}
