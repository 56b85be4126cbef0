// RUN: shard-opt %s --stablehlo-to-hlo
// What HLO has an opcode for stays; other functions become their formulas.
module @functions {
  func.func public @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xi1>) {
    %0 = chlo.erf %x : tensor<4xf32> -> tensor<4xf32>
    %1 = chlo.atan %y : tensor<4xf32> -> tensor<4xf32>
    %2 = chlo.is_pos_inf %y : tensor<4xf32> -> tensor<4xi1>
    return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xi1>
  }
}
