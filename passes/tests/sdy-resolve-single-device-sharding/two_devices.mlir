// RUN: shard-opt %s --sdy-resolve-single-device-sharding --verify-diagnostics
sdy.mesh @mesh = <["x"=4]>
sdy.mesh @first = <[], device_ids=[0]>
sdy.mesh @third = <[], device_ids=[2]>
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{different single devices}}
  %0:2 = stablehlo.custom_call @two(%a) {sdy.sharding = #sdy.sharding_per_value<[<@first, []>, <@third, []>]>} : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %0#0 : tensor<8xf32>
}
