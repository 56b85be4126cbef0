// RUN: shard-opt %s --sdy-populate-op-sharding-rules
func.func @main(%x: tensor<4x8xf32>, %i: tensor<i32>) -> tensor<2x2x8xf32> {
  %0 = stablehlo.reshape %x : (tensor<4x8xf32>) -> tensor<2x2x8xf32>
  %1 = stablehlo.custom_call @mystery(%0) : (tensor<2x2x8xf32>) -> tensor<2x2x8xf32>
  return %1 : tensor<2x2x8xf32>
}
