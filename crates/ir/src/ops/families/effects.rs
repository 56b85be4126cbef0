//! Tokens, tuples, hosts and point-to-point transfers.

use super::*;

op_family! {
    /// Tokens, tuples, hosts and point-to-point transfers.
    family Effects {
        plain {
            /// A token that no op made before.
            CreateToken = "stablehlo.create_token" "" (ZERO, ONE, ZERO) NONE;
            /// A token after all operands.
            AfterAll = "stablehlo.after_all" "after-all" (ANY, ONE, ZERO) NONE;
            /// A tuple of the operands.
            Tuple = "stablehlo.tuple" "tuple" (ANY, ONE, ZERO) NONE;
        }
        fields {
            /// One element of a tuple.
            GetTupleElement = "stablehlo.get_tuple_element" "get-tuple-element" (ONE, ONE, ZERO) NONE, {
                /// Its number.
                index: i32 = "index",
            }
            /// Reads from the host.
            Infeed = "stablehlo.infeed" "infeed" (ONE, SOME, ZERO) EFFECT, {
                /// Configuration.
                config: Option<Symbol> = "infeed_config",
                /// Layout.
                layout: Option<Attr> = "layout",
            }
            /// Writes to the host.
            Outfeed = "stablehlo.outfeed" "outfeed" (SOME, ONE, ZERO) EFFECT, {
                /// Configuration.
                config: Option<Symbol> = "outfeed_config",
            }
            /// Sends to a device or the host.
            Send = "stablehlo.send" "send" (SOME, ONE, ZERO) EFFECT, {
                /// Channel.
                channel: Channel = "channel_handle",
                /// To the host.
                host: Option<bool> = "is_host_transfer",
                /// Source and target of each transfer.
                pairs: Option<Pairs> = "source_target_pairs",
            }
            /// Receives from a device or the host.
            Recv = "stablehlo.recv" "recv" (ONE, SOME, ZERO) EFFECT, {
                /// Channel.
                channel: Channel = "channel_handle",
                /// From the host.
                host: Option<bool> = "is_host_transfer",
                /// Source and target of each transfer.
                pairs: Option<Pairs> = "source_target_pairs",
            }
        }
    }
}
