// RUN: shard-opt %s --sdy-remove-propagation-debug-info
sdy.mesh @mesh = <["x"=2, "y"=4]>

func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>, sdy.sharding_origins = {x = "self"}}) -> tensor<8xf32> {
  %0 = stablehlo.negate %a {sdy.sharding_origins = {x = "input: 0"}, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}
