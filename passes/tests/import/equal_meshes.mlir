// RUN: shard-opt %s --import
// Two meshes that are equal become one.
module @equal_meshes {
  sdy.mesh @a = <["x"=2, "y"=2]>
  sdy.mesh @b = <["x"=2, "y"=2]>
  func.func public @main(%x: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}, {}]>}, %y: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@b, [{}, {"y"}]>}) -> tensor<4x4xf32> {
    %0 = stablehlo.add %x, %y : tensor<4x4xf32>
    return %0 : tensor<4x4xf32>
  }
}
