// RUN: shard-opt convert %s --to=hlo
// The reverse: every tiling as it was.
module @g attributes {mhlo.num_partitions = 8 : i32} {
  sdy.mesh @mesh = <["_axis_0"=2, "_axis_1"=2, "_axis_2"=2]>
  sdy.mesh @mesh_0 = <["_axis_0"=2, "_axis_1"=4], device_ids=[0, 3, 5, 6, 1, 2, 4, 7]>
  func.func public @main(%arg0: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"_axis_0", "_axis_1"}, {}]>}, %arg1: tensor<32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"_axis_2"}]>}) -> (tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"_axis_0"}, {"_axis_1"}]>}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<16x32xf32>, tensor<32x16xf32>) -> tensor<16x16xf32>
    %1 = sdy.sharding_constraint %0 <@mesh_0, [{"_axis_0"}, {"_axis_1"}]> {sdy.sharding = #sdy.sharding_per_value<[<@mesh_0, [{"_axis_0"}, {"_axis_1"}]>]>} : tensor<16x16xf32>
    %2 = sdy.sharding_constraint %1 <@mesh_0, [{"_axis_0", "_axis_1"}, {}]> {sdy.sharding = #sdy.sharding_per_value<[<@mesh_0, [{"_axis_0", "_axis_1"}, {}]>]>} : tensor<16x16xf32>
    %3 = stablehlo.tanh %2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"_axis_0"}, {"_axis_1"}]>]>} : tensor<16x16xf32>
    return %3 : tensor<16x16xf32>
  }
}
