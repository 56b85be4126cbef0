sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @f(%arg0: tensor<4xf32>, %arg1: !stablehlo.token) {
  %0 = stablehlo.create_token : !stablehlo.token
  %1 = stablehlo.after_all %0, %arg1 : !stablehlo.token
  %2 = stablehlo.tuple %arg0, %1 : tuple<tensor<4xf32>, !stablehlo.token>
  %3 = stablehlo.get_tuple_element %2[0] : (tuple<tensor<4xf32>, !stablehlo.token>) -> tensor<4xf32>
  %4:2 = "stablehlo.infeed"(%arg1) <{infeed_config = "x", layout = [[0]]}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
  %5 = "stablehlo.send"(%arg0, %arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  %6 = stablehlo.custom_call @foo(%arg0) {backend_config = "", has_side_effect = true, mhlo.backend_config = {n = 76 : ui8}, operand_layouts = [dense<0> : tensor<1xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<0> : tensor<1xindex>]} : (tensor<4xf32>) -> tensor<4xf32>
  %7 = stablehlo.custom_call @"a b"() {api_version = 4 : i32, bytes = "\08\FF"} : () -> tensor<f32>
  stablehlo.custom_call @effect() : () -> ()
  %8 = stablehlo.composite "foo.bar" %arg0 {composite_attributes = {n = 2 : i64}, decomposition = @f, version = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
