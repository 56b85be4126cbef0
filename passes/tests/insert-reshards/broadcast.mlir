// RUN: shard-opt %s --propagate --insert-reshards --dead-code
// The row is gathered, and broadcast again, rather than the broadcast gathered.
sdy.mesh @mesh = <["x"=4, "y"=2]>

func.func @main(%a: tensor<512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<256x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}, tensor<256x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %0 = stablehlo.broadcast_in_dim %a, dims = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {"x"}]>]>} : (tensor<512xf32>) -> tensor<256x512xf32>
  return %0, %0 : tensor<256x512xf32>, tensor<256x512xf32>
}
