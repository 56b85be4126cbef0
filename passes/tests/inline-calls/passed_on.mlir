// RUN: shard-opt partition %s
// A function that a custom call passes on stays, though nothing calls it, and it may end with
// stablehlo.return; XLA refuses the mark of partitioned ops on approximate top-k.
module @passed_on {
  sdy.mesh @mesh = <["x"=4]>
  func.func private @gt(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<i1> {
    %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  }
  func.func private @unused(%a: tensor<f32>) -> tensor<f32> {
    return %a : tensor<f32>
  }
  func.func public @main(%x: tensor<16x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<16x4xf32>, tensor<16x4xi32>) {
    %0 = stablehlo.iota dim = 1 : tensor<16x64xi32>
    %1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %2 = stablehlo.constant dense<-1> : tensor<i32>
    %3:2 = stablehlo.custom_call @ApproxTopK(%x, %0, %1, %2) {called_computations = [@gt], mhlo.backend_config = {aggregate_to_topk = true, recall_target = 0.95 : f32, reduction_dim = 1 : i64, reduction_input_size_override = -1 : i64, top_k = 4 : i64}} : (tensor<16x64xf32>, tensor<16x64xi32>, tensor<f32>, tensor<i32>) -> (tensor<16x4xf32>, tensor<16x4xi32>)
    return %3#0, %3#1 : tensor<16x4xf32>, tensor<16x4xi32>
  }
}
