// RUN: shard-opt %s --sdy-import-func-calls
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @f(tensor<8xf32>) -> tensor<8xf32>
