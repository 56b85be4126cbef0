// RUN: shard-opt %s --sdy-sharding-constraint-to-reshard
sdy.mesh @mesh = <["x"=2, "y"=4]>

func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.sharding_constraint %a <@mesh, [{"x"}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}
