// RUN: shard-opt %s --propagate --insert-reshards --dead-code
// Of a value at hand in several shardings the nearest is taken: the scatter's result is whole
// already, and the transpose needs what the second result has gathered. A constraint is obeyed.
sdy.mesh @mesh = <["x"=4]>

func.func @main(%a: tensor<9xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %i: tensor<4xi32>, %u: tensor<4xf32>, %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<9xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<9xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.maximum %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<9xf32>, tensor<4xi32>, tensor<4xf32>) -> tensor<9xf32>
  %1 = stablehlo.negate %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x8xf32>
  %2 = stablehlo.cosine %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : tensor<8x8xf32>
  %3 = sdy.sharding_constraint %2 <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return %0, %0, %1, %1, %3 : tensor<9xf32>, tensor<9xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}
