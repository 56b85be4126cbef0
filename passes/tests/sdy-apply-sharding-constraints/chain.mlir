// RUN: shard-opt %s --sdy-apply-sharding-constraints
sdy.mesh @mesh = <["x"=2, "y"=4]>

func.func @main(%a: tensor<8xf32>, %b: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = stablehlo.negate %a : tensor<8xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}]> : tensor<8xf32>
  %2 = sdy.sharding_constraint %1 <@mesh, [{"y"}]> : tensor<8xf32>
  %3 = stablehlo.add %0, %2 : tensor<8xf32>
  %4 = sdy.sharding_constraint %b <@mesh, [{"x", ?}]> : tensor<8xf32>
  return %3, %4 : tensor<8xf32>, tensor<8xf32>
}
