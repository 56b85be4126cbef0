// RUN: shard-opt %s --chlo-legalize-to-stablehlo
// Implied broadcasts are made, and the op on them is expanded if it is one of CHLO's too. Shardings and attributes stay with the result.
module @broadcasts {
  sdy.mesh @mesh = <["data"=2]>
  func.func public @main(%x: tensor<4xf32>, %y: tensor<2x1xf32>, %p: tensor<i1>) -> (tensor<2x4xf32>, tensor<2x4xi1>, tensor<2x4xf32>) {
    %0 = chlo.broadcast_add %x, %y {mhlo.frontend_attributes = {a = "b"}, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"data"}, {}]>]>} : (tensor<4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
    %1 = chlo.broadcast_compare %0, %x {comparison_direction = #chlo<comparison_direction LT>} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xi1>
    %2 = chlo.broadcast_next_after %y, %0 : (tensor<2x1xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %3 = chlo.broadcast_select %p, %x, %2 : (tensor<i1>, tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    return %0, %1, %3 : tensor<2x4xf32>, tensor<2x4xi1>, tensor<2x4xf32>
  }
}
