// RUN: shard-opt %s --stablehlo-to-hlo
// HLO has no such op.
module @unknown {
  func.func public @main(%x: tensor<4xf32>, %shape: tensor<1xi64>) -> tensor<4xf32> {
    %0 = stablehlo.dynamic_reshape %x, %shape : (tensor<4xf32>, tensor<1xi64>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
