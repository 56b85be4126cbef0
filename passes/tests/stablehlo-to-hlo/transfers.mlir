// RUN: shard-opt %s --stablehlo-to-hlo
// Transfers begin and end (`token` is no name in HLO); dots name their algorithm, custom calls the operands whose memory they take.
module @transfers {
  func.func public @main(%x: tensor<2xf32>, %token: !stablehlo.token) -> (tensor<2xf32>, tensor<2x2xf32>, tensor<2xf32>, !stablehlo.token) {
    %0 = "stablehlo.send"(%x, %token) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true}> : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
    %1 = "stablehlo.send"(%x, %x, %0) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>, tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
    %2:2 = "stablehlo.recv"(%1) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 3>, is_host_transfer = true}> : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
    %3:3 = "stablehlo.recv"(%2#1) <{channel_handle = #stablehlo.channel_handle<handle = 4, type = 1>}> : (!stablehlo.token) -> (tensor<2xf32>, tensor<2xf32>, !stablehlo.token)
    %4 = stablehlo.dot_general %2#0, %3#0, contracting_dims = [] x [], algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 3, allow_imprecise_accumulation = false> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
    %5 = stablehlo.custom_call @f(%3#1) {output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (tensor<2xf32>) -> tensor<2xf32>
    return %2#0, %4, %5, %3#2 : tensor<2xf32>, tensor<2x2xf32>, tensor<2xf32>, !stablehlo.token
  }
}
