// RUN: shard-opt %s --inline-calls
module @recursive {
  func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = call @again(%x) : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @again(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = call @again(%x) : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
