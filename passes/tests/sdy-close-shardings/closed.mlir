// RUN: shard-opt %s --sdy-close-shardings
sdy.mesh @mesh = <["x"=2, "y"=4]>

func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}p1, {?}], replicated={"y"}>}) -> tensor<8x8xf32> {
  %0 = sdy.sharding_constraint %a <@mesh, [{?}, {"y", ?}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
