// RUN: shard-opt %s --chlo-legalize-to-stablehlo
// Functions become their formulas; half precision is computed in single, and a constant is written once.
module @functions {
  func.func public @main(%x: tensor<4xf16>, %y: tensor<4xf32>) -> (tensor<4xf16>, tensor<4xf32>, tensor<4xi1>, tensor<4xf32>) {
    %0 = chlo.erf %x : tensor<4xf16> -> tensor<4xf16>
    %1 = chlo.atanh %y : tensor<4xf32> -> tensor<4xf32>
    %2 = chlo.is_inf %y : tensor<4xf32> -> tensor<4xi1>
    %3 = chlo.next_after %y, %1 : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
    return %0, %1, %2, %3 : tensor<4xf16>, tensor<4xf32>, tensor<4xi1>, tensor<4xf32>
  }
}
