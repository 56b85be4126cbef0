// RUN: shard-opt %s --stablehlo-to-hlo
// A broadcast that expands, an exchange between two dimensions, a scalar predicate, a large splat.
module @movement attributes {mhlo.num_partitions = 2 : i32} {
  func.func public @main(%x: tensor<4x1xf32>, %p: tensor<i1>) -> tensor<2x16xf32> {
    %0 = stablehlo.broadcast_in_dim %x, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x8xf32>
    %1 = "stablehlo.all_to_all"(%0) <{split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}> : (tensor<4x8xf32>) -> tensor<2x16xf32>
    %c = stablehlo.constant dense<2.5> : tensor<2x16xf32>
    %2 = stablehlo.select %p, %1, %c : tensor<i1>, tensor<2x16xf32>
    return %2 : tensor<2x16xf32>
  }
}
