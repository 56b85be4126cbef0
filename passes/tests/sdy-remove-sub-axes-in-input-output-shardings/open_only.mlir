// RUN: shard-opt %s --sdy-remove-sub-axes-in-input-output-shardings
sdy.mesh @mesh = <["x"=2, "y"=4]>

func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y":(1)2, ?}]>}, %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y":(1)2}]>}) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}
