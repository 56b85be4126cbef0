// RUN: shard-opt %s --sdy-basic-propagate
sdy.mesh @mesh = <["x"=2, "y"=4]>

func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> tensor<8xf32> {
  sdy.sharding_group %a group_id=0 : tensor<8xf32>
  sdy.sharding_group %b group_id=0 : tensor<8xf32>
  %0 = stablehlo.negate %b : tensor<8xf32>
  return %0 : tensor<8xf32>
}
