// RUN: shard-opt %s --sdy-update-non-divisible-input-output-shardings
sdy.mesh @mesh = <["x"=2, "y"=4]>

func.func @main(%a: tensor<6x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {"y"}]>}, %b: tensor<2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x"}]>}) {
  %0 = stablehlo.constant dense<0.0> : tensor<8xf32>
  return %0 : tensor<8xf32>
}
