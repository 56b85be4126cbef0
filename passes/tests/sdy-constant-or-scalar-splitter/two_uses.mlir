// RUN: shard-opt %s --sdy-constant-or-scalar-splitter
func.func @main(%s: tensor<f32>, %x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %c = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<8xf32>
  %1 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<8xf32>
  %2 = stablehlo.add %x, %0 : tensor<8xf32>
  %3 = stablehlo.multiply %2, %1 : tensor<8xf32>
  %4 = stablehlo.multiply %3, %1 : tensor<8xf32>
  return %4, %0 : tensor<8xf32>, tensor<8xf32>
}
