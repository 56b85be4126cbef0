module @deadlock attributes {mhlo.num_partitions = 2 : i32} {
  func.func @main() -> tensor<ui32> {
    %id = stablehlo.partition_id : tensor<ui32>
    %index = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>
    %0 = "stablehlo.case"(%index) ({
      %1 = "stablehlo.collective_broadcast"(%id) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<ui32>) -> tensor<ui32>
      stablehlo.return %1 : tensor<ui32>
    }, {
      stablehlo.return %id : tensor<ui32>
    }) : (tensor<i32>) -> tensor<ui32>
    return %0 : tensor<ui32>
  }
}
