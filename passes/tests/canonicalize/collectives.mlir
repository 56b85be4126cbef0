// RUN: shard-opt %s --canonicalize
sdy.mesh @mesh = <["x"=2, "y"=4]>

func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %1 = sdy.all_slice [{"x", "y"}, {}] %0 out_sharding=<@mesh, [{"x", "y"}, {}]> : tensor<8x8xf32>
  %2 = sdy.reshard %a <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  %3 = sdy.reshard %2 <@mesh, [{}, {"x"}]> : tensor<8x8xf32>
  %4 = sdy.reshard %a <@mesh, [{}, {"x"}]> : tensor<8x8xf32>
  %5 = stablehlo.negate %4 : tensor<8x8xf32>
  return %1, %3, %4 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}
