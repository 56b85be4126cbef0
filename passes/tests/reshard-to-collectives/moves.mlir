// RUN: shard-opt %s --reshard-to-collectives
module @moves {
  sdy.mesh @mesh = <["x"=2, "y"=4]>
  func.func public @main(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>) {
    %slice = sdy.reshard %x <@mesh, [{"x"}, {"y"}]> : tensor<8x16xf32>
    %gather = sdy.reshard %slice <@mesh, [{"x"}, {}]> : tensor<8x16xf32>
    %exchange = sdy.reshard %slice <@mesh, [{}, {"y", "x"}]> : tensor<8x16xf32>
    %all = sdy.reshard %x <@mesh, [{}, {}]> : tensor<8x16xf32>
    return %slice, %gather, %exchange, %all : tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>
  }
}
