module @sum attributes {mhlo.num_partitions = 4 : i32} {
  func.func @main() -> (tensor<ui32>, tensor<ui32>) {
    %id = stablehlo.partition_id : tensor<ui32>
    %0 = "stablehlo.all_reduce"(%id) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
    ^bb0(%a: tensor<ui32>, %b: tensor<ui32>):
      %s = stablehlo.add %a, %b : tensor<ui32>
      stablehlo.return %s : tensor<ui32>
    }) : (tensor<ui32>) -> tensor<ui32>
    return %0, %id : tensor<ui32>, tensor<ui32>
  }
}
