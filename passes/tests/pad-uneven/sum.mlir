// RUN: shard-opt %s --propagate --insert-reshards --pad-uneven
// Ten rows over four devices: two are added, and don't count in the sum.
module @sum {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%x: tensor<10x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<4xf32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<10x4xf32>, tensor<f32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
