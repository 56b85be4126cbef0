// RUN: shard-opt %s --stablehlo-to-hlo
// Names that HLO doesn't take, of functions and of values.
module @names {
  func.func public @main(%pred: tensor<i1>, %token: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
    %0 = call @"<lambda>"(%token) : (tensor<2xf32>) -> tensor<2xf32>
    %1 = call @_lambda_(%0) : (tensor<2xf32>) -> tensor<2xf32>
    %f32 = stablehlo.select %pred, %0, %1 : tensor<i1>, tensor<2xf32>
    return %f32, %1 : tensor<2xf32>, tensor<2xf32>
  }
  func.func private @"<lambda>"(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.negate %x : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
  func.func private @_lambda_(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.abs %x : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
