//! Calls of what the program doesn't contain.

use super::*;

op_family! {
    /// Calls of what the program doesn't contain.
    family Custom {
        plain {}
        fields {
            /// A call by name of something outside.
            CustomCall = "stablehlo.custom_call" "custom-call" (ANY, ANY, ZERO) NONE, {
                /// Its name.
                target: Symbol = "call_target_name",
                /// Must not be removed.
                has_side_effect: Option<bool> = "has_side_effect",
                /// Configuration: text, or a dictionary.
                backend_config: Option<Attr> = "backend_config",
                /// Version of the calling convention.
                api_version: Option<i32> = "api_version",
                /// Functions that it may call.
                called_computations: Option<Attr> = "called_computations",
                /// Layouts of the operands.
                operand_layouts: Option<Attr> = "operand_layouts",
                /// Layouts of the results.
                result_layouts: Option<Attr> = "result_layouts",
                /// Results that may share an operand's memory.
                aliases: Option<Attr> = "output_operand_aliases",
            }
            /// An op with a name and a decomposition into a function.
            Composite = "stablehlo.composite" "" (ANY, ANY, ANY) NONE, {
                /// Its name.
                name: Symbol = "name",
                /// Its attributes.
                attributes: Option<Attr> = "composite_attributes",
                /// The function that says what it means.
                decomposition: Callee = "decomposition",
                /// Version.
                version: Option<i32> = "version",
            }
        }
    }
}

impl CustomCall {
    /// A call of `target` about which nothing else is said.
    pub fn new(target: Symbol) -> Self {
        CustomCall {
            target,
            has_side_effect: None,
            backend_config: None,
            api_version: None,
            called_computations: None,
            operand_layouts: None,
            result_layouts: None,
            aliases: None,
        }
    }
}
