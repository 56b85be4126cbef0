// RUN: shard-opt %s --chlo-legalize-to-stablehlo
// A selection is a sort and slices, a scan a loop, a ragged product one product a group.
module @structure {
  func.func public @main(%x: tensor<2x4xf32>, %i: tensor<2xf32>, %w: tensor<2x4x3xf32>, %g: tensor<2xi64>) -> (tensor<2x3xf32>, tensor<2x3xi32>, tensor<2x4xf32>, tensor<2xf32>, tensor<2x3xf32>) {
    %0:2 = chlo.top_k(%x, k = 3) : tensor<2x4xf32> -> (tensor<2x3xf32>, tensor<2x3xi32>)
    %1:2 = chlo.scan(%x) inits(%i) dimension=1 attributes {is_reverse = true} {
    ^bb0(%a: tensor<2xf32>, %b: tensor<2xf32>):
      %c = chlo.square %a : tensor<2xf32> -> tensor<2xf32>
      %d = stablehlo.add %c, %b : tensor<2xf32>
      stablehlo.return %d, %d : tensor<2xf32>, tensor<2xf32>
    } : (tensor<2x4xf32>, tensor<2xf32>) -> (tensor<2x4xf32>, tensor<2xf32>)
    %2 = "chlo.ragged_dot"(%x, %w, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>} : (tensor<2x4xf32>, tensor<2x4x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
    return %0#0, %0#1, %1#0, %1#1, %2 : tensor<2x3xf32>, tensor<2x3xi32>, tensor<2x4xf32>, tensor<2xf32>, tensor<2x3xf32>
  }
}
