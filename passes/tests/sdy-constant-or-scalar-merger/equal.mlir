// RUN: shard-opt %s --sdy-constant-or-scalar-merger
sdy.mesh @mesh = <["x"=2, "y"=4]>

func.func @main() -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = sdy.constant dense<1.0> : tensor<8xf32>
  %1 = sdy.constant dense<1.0> : tensor<8xf32>
  %2 = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} dense<1.0> : tensor<8xf32>
  return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
