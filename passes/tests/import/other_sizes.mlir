// RUN: shard-opt %s --import='mesh=x=4,y=8'
module @other_sizes {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%x: tensor<32x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<32x32xf32> {
    return %x : tensor<32x32xf32>
  }
}
