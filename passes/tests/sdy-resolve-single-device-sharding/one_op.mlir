// RUN: shard-opt %s --sdy-resolve-single-device-sharding
sdy.mesh @mesh = <["x"=4]>
sdy.mesh @third = <[], device_ids=[2]>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) -> tensor<8xf32> {
  %0 = sdy.reshard %a <@third, []> : tensor<8xf32>
  %1 = stablehlo.custom_call @log(%0) {has_side_effect = true, sdy.sharding = #sdy.sharding_per_value<[<@third, []>]>} : (tensor<8xf32>) -> tensor<8xf32>
  %2 = sdy.reshard %1 <@mesh, [{}]> : tensor<8xf32>
  return %2 : tensor<8xf32>
}
