// RUN: shard-opt %s --import
module @different_meshes {
  sdy.mesh @a = <["x"=2]>
  sdy.mesh @b = <["x"=4]>
  func.func public @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}]>}, %y: tensor<4xf32> {sdy.sharding = #sdy.sharding<@b, [{"x"}]>}) -> tensor<4xf32> {
    %0 = stablehlo.add %x, %y : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
