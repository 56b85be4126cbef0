// RUN: shard-opt %s --sdy-remove-size-one-axes
sdy.mesh @mesh = <["x"=1, "y"=4]>
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {?}p2]>}) -> tensor<8x8xf32> {
  return %a : tensor<8x8xf32>
}
