// RUN: shard-opt %s --xla-sdy-round-trip-export-pipeline
// Everything of Shardy's that HLO has no place for: the reverse of the import.
module @m {
  sdy.mesh @mesh = <["data"=4, "model"=2]>
  func.func public @main(%arg0: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {?}]>}) -> (tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, tensor<f32>) {
    %0 = stablehlo.tanh %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"model"}]>]>} : tensor<16x32xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{"data"}, {"model"}]> : tensor<16x32xf32>
    %2 = sdy.manual_computation(%1) in_shardings=[<@mesh, [{"data"}, {"model"}]>] out_shardings=[<@mesh, [{"data"}, {"model"}]>] manual_axes={"data"} (%arg1: tensor<4x32xf32>) {
      %8 = stablehlo.negate %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"model"}]>]>} : tensor<4x32xf32>
      sdy.return %8 : tensor<4x32xf32>
    } : (tensor<16x32xf32>) -> tensor<16x32xf32>
    %3 = sdy.propagation_barrier %2 allowed_direction=FORWARD : tensor<16x32xf32>
    sdy.sharding_group %3 group_id=3 : tensor<16x32xf32>
    %4 = sdy.named_computation<"block">(%3) in_shardings=[<@mesh, [{"data"}, {}]>] out_shardings=[<@mesh, [{}, {}]>] (%arg2: tensor<16x32xf32>) {
      %8 = stablehlo.abs %arg2 : tensor<16x32xf32>
      sdy.return %8 : tensor<16x32xf32>
    } : (tensor<16x32xf32>) -> tensor<16x32xf32>
    %5 = sdy.data_flow_edge %4 sharding=<@mesh, [{"data"}, {}]> : tensor<16x32xf32>
    %6 = sdy.constant dense<1.0> : tensor<f32>
    %7 = stablehlo.custom_call @mine(%5) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=16, j=32}, custom>} : (tensor<16x32xf32>) -> tensor<16x32xf32>
    return %7, %6 : tensor<16x32xf32>, tensor<f32>
  }
}
